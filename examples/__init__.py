"""Worked examples, for people who adapt an engine of their own."""

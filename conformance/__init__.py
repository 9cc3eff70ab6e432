"""Differential-testing conformance suite for autograd engines."""

__version__ = "2026.11"

"""Judging: from an expected and an actual outcome to a verdict."""

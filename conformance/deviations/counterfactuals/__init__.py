"""Counterfactuals: what the reference would answer if it made an engine's mistake, in its rules or in the script.

An entry for a known deviation names one by its words. ``rules.RULES`` holds those that change rules while the reference runs, and
``scripts.COUNTERFACTUALS`` those that change the script; the other modules hold what these two are made of, by theme.
"""

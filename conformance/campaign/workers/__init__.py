"""Processes in which cases run, and may die: here, or on the machines of a cluster."""

"""Campaigns: many cases, in worker processes, judged and recorded."""

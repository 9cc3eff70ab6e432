"""Adapters of five engines, as somebody who meets the suite for the first time would write them; see ``README.md`` beside this."""

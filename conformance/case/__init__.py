"""The two languages: what a script says, and what an engine answers."""

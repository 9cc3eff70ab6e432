"""From failures to findings: what begins at one op is one finding, with a small case, an explanation and the votes on who is wrong."""

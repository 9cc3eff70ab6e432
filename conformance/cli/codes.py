"""Exit codes."""

CONFORMS, DIVERGES, USAGE, NO_RESULT = 0, 1, 2, 3
UNREAD = 141
"""Where nobody reads on, as in ``conformance ops | head``: what a shell says of a process that SIGPIPE ended."""

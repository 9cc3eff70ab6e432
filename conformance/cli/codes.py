"""Exit codes."""

CONFORMS, DIVERGES, USAGE, SUITE_FAULT = 0, 1, 2, 3
UNREAD = 141
"""Where nobody reads on, as in ``conformance ops | head``: what a shell says of a process that SIGPIPE ended."""

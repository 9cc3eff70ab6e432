"""The door: the commands of `conformance`, and what they print."""

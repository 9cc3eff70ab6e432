"""The reverse pass, and the calls that start one."""

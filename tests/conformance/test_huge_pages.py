"""Huge pages: what is gathered is the memory that a process allocated, and nothing in it changes."""

from __future__ import annotations

from conformance.campaign.workers.huge_pages import _ranges, gather

MAPS = """\
7f0000001000-7f0000401000 rw-p 00000000 00:00 0
7f0001000000-7f0001400000 rw-p 00000000 00:00 0                          [heap]
7f0002000000-7f0002400000 rw-p 00000000 fd:00 42                         /lib/of.so
7f0003000000-7f0003400000 r--p 00000000 00:00 0
7f0004000000-7f0004400000 rw-s 00000000 00:01 43                         /dev/zero (deleted)
7f0005000000-7f00051ff000 rw-p 00000000 00:00 0
7ffff0000000-7ffff0400000 rw-p 00000000 00:00 0                          [stack]
"""


def test_what_is_gathered_are_whole_pages_of_memory_that_the_process_allocated() -> None:
    assert [(0x7F0000200000, 2 << 20), (0x7F0001000000, 4 << 20)] == list(_ranges(MAPS))


def test_gathering_changes_no_memory() -> None:
    before = bytearray(range(256)) * (1 << 16)
    kept = bytes(before)
    gather()
    assert kept == before

"""Huge pages: what a process that forks often keeps its memory in, so that a fork copies little.

A fork copies no memory, but the tables that say where each page of it lies. With two frameworks imported these are 85,000 entries
for pages of 4 KiB, which takes 20 ms for each child, as long as two cases. In pages of 2 MiB there are 512 times fewer, and a fork
takes 6 ms. Linux makes such pages of what lies in small ones when it is asked to; where it cannot, everything stays as it is.
"""

from __future__ import annotations

import ctypes
import mmap
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COLLAPSE = 25
"""``MADV_COLLAPSE`` of madvise(2), since Linux 6.1: gather a range in huge pages now."""
SIZE = 2 << 20
"""Bytes of a huge page of x86-64, and of others with pages of 4 KiB."""
OWN = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) rw-p 0+ 00:00 0\s*(?:\[heap\])?$", re.MULTILINE)
"""A range of memory that a process allocated, as proc(5) writes it: written, private and of no file."""
MAPS = Path("/proc/self/maps")


def gather() -> None:
    """Gather what this process allocated in huge pages, as far as the system can."""
    if sys.platform != "linux" or mmap.PAGESIZE != 4096:
        return
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for start, size in _ranges(MAPS.read_text()):
        advise(start, size, COLLAPSE)  # what it answers does not matter: nothing depends on it


def _ranges(maps: str) -> Iterator[tuple[int, int]]:
    """Yield the whole huge pages, as start and size, of each range that the process allocated."""
    for first, last in OWN.findall(maps):
        start, stop = -(-int(first, 16) // SIZE) * SIZE, int(last, 16) // SIZE * SIZE
        if stop > start:
            yield start, stop - start

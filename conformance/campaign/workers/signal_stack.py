"""The stack of signal handlers: what a dying process says its last words on.

faulthandler gives the handlers of deadly signals a stack of their own among what the process allocated, in some 16 KiB, or more where
a processor has more registers to keep. Its own handler needs few of them. It then calls the one that it replaced, on the same stack,
and a framework that prints its native stack there needs more: it writes over the memory below, so that what it says is that the heap
is damaged, or it hangs, and the frame in which the case died is lost. On a stack with room everything that dies says where.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from functools import cache

ROOM = 1 << 20
"""Bytes of the stack. Paddle's handler was seen to use 25 KiB of them; what is not used takes no memory."""


class _Stack(ctypes.Structure):
    """``stack_t`` of sigaltstack(2), as Linux has it."""

    _fields_ = (("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


def make_room() -> None:
    """Give the handlers of signals in this thread a stack on which a framework can print, where the system is known to have one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).sigaltstack(ctypes.byref(_Stack(ctypes.addressof(_reserved()), 0, ROOM)), None)


def room() -> int:
    """Return how many bytes the handlers of signals in this thread have to themselves; none if they run on the thread's own stack."""
    found = _Stack()
    ctypes.CDLL(None).sigaltstack(None, ctypes.byref(found))
    return int(found.size)


@cache
def _reserved() -> ctypes.Array[ctypes.c_char]:
    """Return memory of this process alone, kept as long as it lives: a child that dies at the same time has its own copy."""
    memory = mmap.mmap(-1, ROOM, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return (ctypes.c_char * ROOM).from_buffer(memory)

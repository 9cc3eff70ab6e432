"""Watching a worker from outside: what it has under way, and the alarm that ends it where it hangs."""

from __future__ import annotations

import faulthandler
import mmap
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from pathlib import Path

ALARMS = (signal.SIGPROF, signal.SIGALRM)
"""What ends a process that hangs: the first one that computes for ever, the second one that waits for ever."""

WAITING = 4
"""How many times longer by the clock than in computing time a case may take."""
HELD_UP = 30.0
"""Seconds that a case may take by the clock in any case: for so long a busy machine may give a healthy process no turn."""

OURS = "suite"
"""What is under way of a backend where this suite computes, by the reference or the judge, and not the framework."""

PROGRESS_BYTES = 256
"""How long the note of what is under way may be."""


@contextmanager
def progress_file(path: Path) -> Iterator[mmap.mmap]:
    """Open the progress file as memory that outlives the process: noting what is under way costs no system call."""
    with path.open("w+b") as file:
        file.write(bytes(PROGRESS_BYTES))  # a full disk says so here; memory without a place on it would end the process
        file.flush()
        with mmap.mmap(file.fileno(), PROGRESS_BYTES) as progress:
            yield progress


@contextmanager
def alarm(path: Path) -> Iterator[FileIO]:
    """Arm timers that write where the process hangs and end it, also inside a framework's own code.

    The handler of faulthandler needs no interpreter, and hands on to the system's own, which ends the process. Re-arming the timers
    costs two system calls per case; a watchdog thread per case would cost more than most cases.
    """
    with path.open("wb", buffering=0) as file:
        for number in ALARMS:
            faulthandler.register(number, file=file, chain=True)
        try:
            yield file
        finally:
            set_alarm(0)
            for number in ALARMS:
                faulthandler.unregister(number)


def note(progress: mmap.mmap, index: int, name: str) -> None:
    """Say which case and backend are under way."""
    progress[:] = f"{index} {name}\n".encode().ljust(PROGRESS_BYTES)[:PROGRESS_BYTES]


def under_way(progress: Path) -> list[str]:
    """Return the words of the last note: the index of the case, then who; none if nothing was noted."""
    return progress.read_text().split() if progress.exists() else []


def rang(watchdog: Path) -> bool:
    """Whether the alarm ended the process."""
    return watchdog.exists() and watchdog.stat().st_size > 0


def set_alarm(seconds: float) -> None:
    """Let the alarm ring once this process has computed for so many seconds from now; 0 stops it.

    Computing time, because a busy machine must not make a healthy case look hung. One that waits for ever computes nothing, so after
    `WAITING` times as long by the clock, and at least `HELD_UP`, it rings as well.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, max(WAITING * seconds, HELD_UP) if seconds else 0)

"""The last words of a process: in which function of a framework it died.

Two crashes under the same condition need not be one fault. What tells them apart is the frame: a framework that catches the signal
prints its own native stack (Paddle does, on the standard output), and where it prints none, faulthandler still has the line of
Python that called into it. So what a worker prints goes to a file of its chunk, and is read once the worker is dead.
"""

from __future__ import annotations

import faulthandler
import os
import re
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.campaign.workers.signal_stack import make_room

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NATIVE = re.compile(r"^\d+\s+(\S.*)$", re.MULTILINE)
"""A frame of a native stack as Paddle prints it, the outermost first: ``2   AssignGradNode::operator()(...)``."""

PYTHON = re.compile(r'^  File "([^"]+)", line \d+ in (.+)$', re.MULTILINE)
"""A frame as faulthandler prints it, the innermost first."""

SIGNALS = {"Segmentation fault": "SIGSEGV", "Aborted": "SIGABRT", "Bus error": "SIGBUS", "Floating-point exception": "SIGFPE"}
"""What faulthandler calls the signals that end a process."""

DEADLY = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)

FATAL = re.compile(rf"^Fatal Python error: ({'|'.join(SIGNALS)})$", re.MULTILINE)
"""What faulthandler prints first; printing the native stack after it may hang, in a heap that is damaged."""

HEAP = re.compile(
    r"^(?:Fatal glibc error: )?(?:double free|free\(\)|malloc|realloc|corrupted|munmap_chunk|terminate called).*$", re.MULTILINE
)
"""What the C library says before it aborts a process whose memory is damaged."""

SAID = "[SignalInfo: "
"""What Paddle prints last, below its native stack."""

CALLERS = 3
"""How many frames of Python are told, where there is no native one."""


def silence() -> None:
    """Send what frameworks print (warnings, logs) nowhere; what matters is in the records."""
    _print_to(os.devnull)


def die_at_once() -> None:
    """Let a deadly signal end this process with no word of a framework about it."""
    for number in DEADLY:
        signal.signal(number, signal.SIG_DFL)


def has_said_all(path: Path) -> bool:
    """Whether a process has printed its native stack; what it does then, finding names for all frames once more, takes 40 ms."""
    return SAID in words_in(path)


def is_dying(path: Path) -> bool:
    """Whether a process says in what it prints that it dies."""
    return FATAL.search(words_in(path)) is not None


@contextmanager
def heard(path: Path) -> Iterator[None]:
    """Send what is printed to a file for a while, the stack of a dying process included; the file goes if nobody dies."""
    _print_to(str(path))
    faulthandler.enable(2)
    make_room()
    try:
        yield
    finally:
        silence()
        path.unlink(missing_ok=True)


def _print_to(path: str) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(opened, stream)
    os.close(opened)


def words_in(path: Path) -> str:
    """Return what was printed to a file; a process that died early may have left none, and one that ends takes it along."""
    try:
        return path.read_text(errors="replace") if path.stat().st_size else ""  # most never print, and are asked again and again
    except FileNotFoundError:
        return ""


def frame_of(words: str, exit_code: int | None) -> str:
    """Say how and where a process died, for example ``SIGSEGV in egr::Backward > egr::RunBackward > AssignGradNode::operator()``.

    Native frames are told from the outermost to the innermost, by their names alone; without any the innermost of Python, each
    after what it called.
    """
    how = f"exit code {exit_code}" if exit_code is None or exit_code >= 0 else signal.Signals(-exit_code).name
    fatal = FATAL.search(words)
    if fatal and (exit_code is None or how in ("SIGALRM", "SIGPROF")):
        how = SIGNALS[fatal[1]]
    said = HEAP.search(words)
    native = " > ".join(_name(found) for found in NATIVE.findall(_native_part(words)))
    python = " < ".join(f"{_file(path)} {function}" for path, function in PYTHON.findall(words)[:CALLERS])
    where = native or python
    return how + (f" in {where}" if where else "") + (f" ({said[0]})" if said else "")


def _native_part(words: str) -> str:
    """Return what stands between the title of a native stack and the summary below it."""
    return words.partition("C++ Traceback")[2].partition("Error Message Summary")[0]


def _file(path: str) -> str:
    return "/".join(path.split("/")[-2:])


def _name(frame: str) -> str:
    """Return the name of a C++ function without its arguments, template arguments and the type that it returns."""
    kept, depth = "", 0
    for letter in frame.replace("operator()", "operator\0").replace("operator->", "operator\1"):
        depth -= letter in ")>"
        kept += letter if depth == 0 and letter not in ")>" and letter not in "(<" else ""
        depth += letter in "(<"
    words = kept.split()
    name = next((word for word in words if "::" in word), words[0] if words else frame)
    return name.replace("\0", "()").replace("\1", "->")

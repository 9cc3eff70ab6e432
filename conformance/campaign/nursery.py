"""The nursery: throw-away processes, forked from one that is warm.

What a case does to its process (a crash, a hang, a damaged heap) must cost that case and no other. A process of its own for each would
be safe and slow: importing the frameworks takes seconds, and what they and this suite set up at first use takes longer than hundreds
of cases. So a worker does that once, runs no case itself, and forks: a child starts in milliseconds with all that in place, and may
die.
"""

from __future__ import annotations

import ctypes
import math
import os
import pickle
import select
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PR_SET_PDEATHSIG = 1
"""The option of Linux's ``prctl`` by which a process is sent a signal when its parent dies."""

GRACE = 1.0
"""Seconds in which a dying child may print its last words. That takes a fifth of it; where the heap is damaged, it may never end."""

LOOK = 0.1
"""Seconds after which a child that says nothing is looked at, and again."""


class DeathError(Exception):
    """A child ended before it had an answer.

    ``exit_code``: negative for a signal; ``None`` if its time was up.
    """

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


class _Answer(NamedTuple):
    value: Any
    error: BaseException | None


def forked(
    function: Callable[..., Any],
    arguments: Sequence[Any] = (),
    timeout: float | None = None,
    dying: Callable[[], object] = lambda: False,
) -> Any:
    """Call a function in a child of this process and return what it returned; what it raised is raised here.

    ``timeout``: seconds after which the child is ended; ``None`` waits. ``dying``: asked after each `LOOK` whether the child is on its
    way out, or lost; then it is ended after `GRACE` seconds more, or as soon as it waits and does nothing.

    Raises:
        DeathError: if there is no answer.
    """
    parent = os.getpid()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(function, arguments, writing, parent)
    os.close(writing)
    words = None
    try:
        words = _read(reading, timeout, dying, child)
    finally:
        os.close(reading)
        if words is None:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if words is None:
        raise DeathError(None)
    if not words:
        raise DeathError(os.waitstatus_to_exitcode(status))
    answer: _Answer = pickle.loads(words)  # noqa: S301 - written by our own child
    if answer.error is not None:
        raise answer.error
    return answer.value


def _read(pipe: int, timeout: float | None, dying: Callable[[], object], child: int) -> bytes | None:
    """Read until the other end is closed; ``None`` if that takes longer than ``timeout`` seconds, or than a dying child is given."""
    until = math.inf if timeout is None else time.monotonic() + timeout
    doomed = False
    done: str | None = None
    parts: list[bytes] = []
    while True:
        left = until - time.monotonic()
        if not select.select([pipe], [], [], max(0.0, min(left, LOOK)))[0]:
            if left <= LOOK:
                return None
            if doomed or dying():
                before, done = done, _work_done(child)
                if doomed and done is not None and done == before:
                    return None
                until = until if doomed else min(until, time.monotonic() + GRACE)
                doomed = True
            continue
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _work_done(child: int) -> str | None:
    """Return the time that a process has computed, as the system writes it, if it waits just now; ``None`` if it works or nobody knows.

    A dying process that waits, and has not computed since it was looked at before, waits for a lock that it holds itself.
    """
    try:
        state, *numbers = Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
    return " ".join(numbers[10:12]) if state == "S" else None  # proc(5): what was spent in the process and in the kernel for it


def _answer(function: Callable[..., Any], arguments: Sequence[Any], pipe: int, parent: int) -> NoReturn:
    """Be the child: call the function, write what came of it, and leave without tidying up, since others do not depend on it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with(parent)
    try:
        answer = _Answer(function(*arguments), None)
    except BaseException as error:  # noqa: BLE001 - the parent raises it
        answer = _Answer(None, error)
    try:
        words = pickle.dumps(answer)
    except Exception as error:  # noqa: BLE001 - as above: an answer that cannot be sent
        words = pickle.dumps(_Answer(None, TypeError(f"the answer cannot be sent: {type(error).__name__}: {error}")))
    while words:
        words = words[os.write(pipe, words) :]
    os._exit(0)


def die_with(parent: int) -> None:
    """Let the system end this process when its parent dies, where it can; a parent that is killed leaves nobody behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)

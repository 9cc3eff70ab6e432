"""The nursery: throw-away processes, forked from one that is warm.

What a case does to its process (a crash, a hang, a damaged heap) must cost that case and no other. A process of its own for each would
be safe and slow: importing the frameworks takes seconds, and what they and this suite set up at first use takes longer than hundreds
of cases. So a worker does that once, runs no case itself but such as harm nobody, and forks: a child starts in milliseconds with all
that in place, and may die.
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

GRACE = 4.0
"""Seconds in which a dying child may print its last words. That takes 0.2 of them, and more than one where the machine is busy; where
the heap is damaged, it may never end."""

ASK = 0.1
"""Seconds after which one asks whether a child that computes is on its way out."""

LOOK = 0.02
"""Seconds after which a child that says nothing is looked at, and again: one that waits is asked about at once."""

GLANCE = 0.01
"""Seconds after which one asks whether all is over with a child."""

PROCESSES = Path("/proc")
"""Where the system tells of processes, see proc(5)."""


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
    ended: Callable[[], bool] = lambda: False,
    stuck: float = math.inf,
) -> Any:
    """Call a function in a child of this process and return what it returned; what it raised is raised here.

    ``timeout``: seconds after which the child is ended, without those in which a busy machine gave it no turn; ``None`` waits.
    ``dying``: asked after each `ASK` whether the child is on its way out, or lost; then it is ended after `GRACE` seconds more, or as
    soon as it waits and does nothing. ``ended``: asked after each `GLANCE` whether nothing more is expected of it; then it is ended.
    ``stuck``: seconds after which a child that waits, with nobody in it or below it who could end that, is sent the alarm that it set
    for itself.

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
        words = _read(reading, child, timeout, _Watch(child, dying, ended, stuck))
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


def _read(pipe: int, child: int, timeout: float | None, watch: _Watch) -> bytes | None:
    """Read until the other end is closed; ``None`` if that takes the child longer than it may, or the watch gives it up."""
    allowed = math.inf if timeout is None else time.monotonic() + timeout
    until = allowed
    parts: list[bytes] = []
    while True:
        if not select.select([pipe], [], [], GLANCE)[0]:
            if time.monotonic() >= until:
                until = allowed + _held_up(child)
            if time.monotonic() >= until or watch.gives_up():
                return None
            continue
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


class _Watch:
    """Looks at a child that has no answer yet: whether it will have one, as far as one can see from outside."""

    def __init__(self, child: int, dying: Callable[[], object], ended: Callable[[], bool], stuck: float) -> None:
        self.child, self.dying, self.ended, self.stuck = child, dying, ended, stuck
        self.next_look = self.next_question = time.monotonic() + LOOK
        self.until = math.inf
        self.done: tuple[str, ...] | None = None
        self.waits = 0.0

    def gives_up(self) -> bool:
        """Whether the child is to be ended; one that is stuck is sent its alarm."""
        now = time.monotonic()
        if self.ended() or now >= self.until:
            return True
        if now < self.next_look:
            return False
        self.next_look = now + LOOK
        before, self.done = self.done, _work_done(self.child)
        does_nothing = self.done is not None and self.done == before
        self.waits = self.waits + LOOK if does_nothing else 0.0
        if self.until == math.inf and (does_nothing or now >= self.next_question):
            self.next_question = now + ASK
            if self.dying():
                self.until = now + GRACE
        if self.until < math.inf:
            return does_nothing
        if self.waits >= self.stuck and _is_alone(self.child):
            os.kill(self.child, signal.SIGALRM)
        return False


def _work_done(child: int) -> tuple[str, ...] | None:
    """Return how often and how long the threads of a process have run, as the system writes it; ``None`` if one does, or nobody knows.

    A dying process that waits, and has not run since it was looked at before, waits for a lock that it holds itself. It is any of its
    threads that dies: where a pool of them runs kernels, the first one only waits for the others.
    """
    try:
        threads = list((PROCESSES / str(child) / "task").iterdir())
        waits = all((thread / "stat").read_text().rpartition(") ")[2][:1] == "S" for thread in threads)
        return tuple((thread / "schedstat").read_text() for thread in threads) if waits else None
    except OSError:
        return None


def _held_up(child: int) -> float:
    """Return for how many seconds a process was ready to run and had no turn; 0 if nobody knows."""
    try:
        return int((PROCESSES / str(child) / "schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _is_alone(child: int) -> bool:
    """Whether a process has one thread and no children, so that there is nobody whom it may wait for; not if nobody knows."""
    threads = PROCESSES / str(child) / "task"
    try:
        return len(list(threads.iterdir())) == 1 and not (threads / str(child) / "children").read_text()
    except OSError:
        return False


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

"""The pool: worker processes, each a nursery that runs what it is given in a child of its own.

Workers are forked from a server process that has imported the frameworks, and warm up before they take the first call. What dies is a
child; a worker that is killed all the same is replaced, and another one goes on with its chunk.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import Counter, defaultdict
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing import forkserver
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from pebble import ProcessExpired, ProcessPool

from conformance.backends import BackendError
from conformance.campaign.workers.backend_cache import Unopened, describe_backend
from conformance.campaign.workers.chunk import chunk_of
from conformance.campaign.workers.dispatch import dispatched
from conformance.campaign.workers.nursery import DeathError
from conformance.campaign.workers.supervisor import cut_short, sheltered, supervised
from conformance.campaign.workers.warm_up import VARIABLE, prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from conformance.campaign.records import BackendRecord, CaseRecord
    from conformance.campaign.workers.chunk import Chunk
    from conformance.campaign.workers.supervisor import Passage
    from conformance.case.case import Case
    from conformance.laws.judging import Judging

T = TypeVar("T")
Heard: TypeAlias = "Callable[[int], None]"
"""Hears how many more of something are done."""

CALL_TIMEOUT = 120.0
PRELOADED = ["conformance.campaign.workers.warm_server"]
"""What the server that forks workers imports."""
AT_ONCE = 16
"""How many cases that must be judged one process takes: enough that it is worth its fork, few enough that all workers have some."""
LOST = (ProcessExpired, BrokenProcessPool, CancelledError)
"""What a future raises whose worker was killed from outside."""


def _context(backends: Sequence[str]) -> Any:
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    named = os.environ.get(VARIABLE, "").split(",")
    os.environ[VARIABLE] = ",".join(dict.fromkeys(filter(None, [*named, *backends])))
    context.set_forkserver_preload(PRELOADED)
    return context


def end_server() -> None:
    """End the server that forks workers, and by that the workers; the next pool starts another one.

    It may be importing a framework, for seconds in which whoever waits for a worker of it would wait, too. No public call does this.
    """
    server = getattr(getattr(forkserver, "_forkserver", None), "_forkserver_pid", None)
    if server is not None:
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGKILL)


def _each(function: Callable[..., T], arguments: Sequence[Sequence[Any]]) -> list[T]:
    return [function(*given) for given in arguments]


def _result_of(future: Any) -> Any:
    """Return what came of a call; ``None`` if its process died."""
    try:
        return future.result()
    except (DeathError, *LOST):
        return None


class Workers:
    """A pool of worker processes, opened once and used for any number of calls; a context manager.

    Every call has a process of its own, so that nothing that a case damages is there for the next. ``ended`` counts the processes that
    chunks used up, by the way in which they ended, and ``seconds`` has what each way cost beside the cases.
    """

    def __init__(self, backends: Sequence[str], jobs: int) -> None:
        self.jobs = jobs
        self.ended: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._stopped = False
        self._open = partial(ProcessPool, jobs, context=_context(backends), initializer=prepare, initargs=[tuple(backends)])
        self._pool = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and not self._stopped:
            self._pool.close()
            self._pool.join()
        else:
            self.stop()

    def stop(self) -> None:
        """End all workers and what they have under way; nothing can be called any more."""
        if not self._stopped:
            self._stopped = True
            end_server()
            self._pool.stop()
            self._pool.join()

    def schedule(self, function: Callable[..., Any], arguments: Sequence[Any], timeout: float | None = None) -> Any:
        """Schedule a call in a process of its own; its future raises `DeathError` where that dies, or outlives ``timeout`` seconds."""
        return self._scheduled(sheltered, [function, arguments, timeout])

    def _scheduled(self, function: Callable[..., Any], arguments: list[Any]) -> Any:
        if not self._pool.active:  # somebody killed its workers
            self._pool.stop()
            self._pool.join()
            self._pool = self._open()
        return self._pool.schedule(function, arguments)

    def call(self, function: Callable[..., T], *arguments: Any, timeout: float = CALL_TIMEOUT) -> T | None:
        """Call a function in a process of its own; ``None`` if that died, or did not come back within ``timeout`` seconds."""
        return next(self.calls(function, [arguments], timeout))

    def calls(
        self,
        function: Callable[..., T],
        arguments: Iterable[Sequence[Any]],
        timeout: float = CALL_TIMEOUT,
        *,
        at_once: int = 1,
        good: Callable[[T], bool] = lambda _: True,
    ) -> Iterator[T | None]:
        """Call a function with each of these arguments, in as many workers as there are; yield what `call` returns, in order.

        ``at_once``: how many calls share a process. What one of them damages may show in another, as its death or as a wrong answer; so
        of several, each that has no ``good`` answer is made again in a process of its own.
        """
        given = list(arguments)
        groups = [given[at : at + at_once] for at in range(0, len(given), at_once)]
        begun = [self.schedule(_each, [function, group], timeout * len(group)) for group in groups]
        for group, answers in zip(groups, map(_result_of, begun), strict=True):
            for one, answer in zip(group, answers or [None] * len(group), strict=True):
                alone = len(group) == 1 or (answer is not None and good(answer))
                yield answer if alone else _result_of(self.schedule(function, one, timeout))

    def describe(self, name: str) -> BackendRecord:
        """Return a backend's facts, found out in a worker.

        Raises:
            BackendError: if it cannot be opened.
        """
        described = self.call(describe_backend, name)
        if described is None:
            raise BackendError(f"backend {name!r} takes its process down when it is opened")
        if isinstance(described, Unopened):
            raise BackendError(described.error)
        return described

    def run(
        self, chunks: Iterable[Chunk], until: float | None = None, meanwhile: Callable[[int], None] = lambda _: None
    ) -> Iterator[list[CaseRecord]]:
        """Run chunks and yield the records of each, as `dispatched` does; a worker that is done finds its next chunk waiting."""
        return dispatched(self, chunks, until, meanwhile, ahead=2)

    def judged(
        self, cases: Sequence[Case], backend: str, judging: Judging | None = None, *, alone: bool = False, heard: Heard = lambda _: None
    ) -> list[CaseRecord]:
        """Judge cases on a backend as a campaign does, a few in a process, and return their records in order.

        A death costs no other case, and what is damaged by one is not there for the next. ``alone``: each has a process of its own;
        ``heard`` hears how many more are judged.
        """
        at_once = 1 if alone else AT_ONCE
        with TemporaryDirectory() as folder:
            whole = chunk_of(cases, (backend,), folder, judging)
            starts = range(0, len(cases), at_once)
            chunks = (replace(whole, name=f"given-{at}", start=at, stop=min(at + at_once, len(cases))) for at in starts)
            records = []
            for some in self.run(chunks):
                records += some
                heard(len(some))
        return sorted(records, key=lambda record: record.index)

    def room(self) -> int:
        """Return how many chunks run side by side."""
        return self.jobs

    def begin(self, chunk: Chunk) -> Future[Passage]:
        """Begin with a chunk."""
        future: Future[Passage] = self._scheduled(supervised, [chunk])
        return future

    def passed(self, chunk: Chunk, future: Future[Passage]) -> Passage:
        """Return how a chunk came through; what is left of one whose worker was killed is run by another."""
        try:
            return future.result()
        except LOST as error:
            return cut_short(chunk, getattr(error, "exitcode", None))

"""The pool: chunks of cases over worker processes, whatever happens to them.

Workers are forked from a server process that has imported the frameworks and done nothing else, so replacing one costs
milliseconds. A worker that dies or hangs costs one case: it is recorded with the case, and the rest of its chunk goes to a fresh
worker.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections import deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from conformance.backends import BackendError
from conformance.backends.registry import registration
from conformance.campaign.chunk import Death
from conformance.campaign.last_words import frame_of, silence, words_in
from conformance.campaign.record_files import read_chunk
from conformance.campaign.watchdog import rang, under_way
from conformance.campaign.worker import POISONED, Unopened, describe_backend, run_chunk
from conformance.judge.verdict import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.campaign.chunk import Chunk
    from conformance.campaign.records import BackendRecord, CaseRecord

T = TypeVar("T")

CALL_TIMEOUT = 120.0


def _context(backends: Sequence[str]) -> Any:
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    modules = []
    for name in backends:
        with suppress(BackendError):  # whoever opens it says so
            modules.append(registration(name).opens.partition(":")[0])
    context.set_forkserver_preload(["conformance.campaign.worker", "conformance.compare.rounding", *modules])
    return context


class Workers:
    """A pool of worker processes, opened once and used for any number of chunks; a context manager.

    ``fresh``: every call gets a process of its own, so that nothing a case damages is there for the next.
    """

    def __init__(self, backends: Sequence[str], jobs: int, *, fresh: bool = False) -> None:
        self.jobs = jobs
        self._open = partial(ProcessPool, jobs, int(fresh), context=_context(backends), initializer=silence)
        self._pool = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._pool.close()
        else:
            self._pool.stop()
        self._pool.join()

    def schedule(self, function: Callable[..., Any], arguments: list[Any], timeout: float | None = None) -> Any:
        """Schedule a call; a pool that broke (an idle worker died of what a case had damaged) is opened anew."""
        if not self._pool.active:
            self._pool.stop()
            self._pool.join()
            self._pool = self._open()
        return self._pool.schedule(function, arguments, timeout=timeout)

    def call(self, function: Callable[..., T], *arguments: Any, timeout: float = CALL_TIMEOUT) -> T | None:
        """Call a function in a worker; ``None`` if the worker died, or did not come back within ``timeout`` seconds."""
        return next(self.calls(function, [list(arguments)], timeout))

    def calls(self, function: Callable[..., T], arguments: Iterable[list[Any]], timeout: float = CALL_TIMEOUT) -> Iterator[T | None]:
        """Call a function with each of these arguments, in as many workers as there are; yield what `call` returns, in order."""
        for answer in [self.schedule(function, given, timeout) for given in arguments]:
            try:
                yield answer.result()
            except (ProcessExpired, BrokenProcessPool, TimeoutError):
                yield None

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

    def run(self, chunks: Iterable[Chunk]) -> Iterator[list[CaseRecord]]:
        """Run chunks and yield the records of each, in the order of the chunks."""
        coming = enumerate(chunks)
        again: deque[tuple[int, Chunk]] = deque()
        running: dict[Any, tuple[int, Chunk]] = {}
        done: dict[int, list[CaseRecord]] = {}
        following = 0
        while True:
            while len(running) < 2 * self.jobs:
                work = again.popleft() if again else next(coming, None)
                if work is None:
                    break
                running[self.schedule(run_chunk, [work[1]])] = work
            if not running:
                return
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                position, chunk = running.pop(future)
                rest = _rest(chunk, future)
                if rest is not None:
                    again.append((position, rest))
                    continue
                done[position] = read_chunk(chunk.records)
                chunk.records.unlink(missing_ok=True)
            while following in done:
                yield done.pop(following)
                following += 1


def _rest(chunk: Chunk, future: Any) -> Chunk | None:
    """Return what is left of a chunk whose worker died; ``None`` if it ran to its end."""
    try:
        future.result()
    except (ProcessExpired, BrokenProcessPool, CancelledError) as error:
        left = _after_death(chunk, error.exitcode) if isinstance(error, ProcessExpired) else replace(chunk, start=_following(chunk))
        return left if left.start < left.stop else None
    return None


def _following(chunk: Chunk) -> int:
    """Return the index of the first case of a chunk that has no record."""
    records = read_chunk(chunk.records)
    return records[-1].index + 1 if records else chunk.start


def _after_death(chunk: Chunk, exit_code: int | None) -> Chunk:
    following = _following(chunk)
    if exit_code == POISONED:
        return replace(chunk, start=following)
    if following not in chunk.deaths:  # perhaps an earlier case damaged the process: try once more in a fresh one
        return replace(chunk, start=following, deaths={**chunk.deaths, following: 1})
    hung = rang(chunk.watchdog)
    frame = frame_of(words_in(chunk.watchdog if hung else chunk.words), exit_code)
    before = chunk.fatal_backends.get(following, {})
    culprit, law = _culprit(chunk, following)
    death = Death(Bucket.TIMED_OUT if hung else Bucket.CRASHED, law, frame)
    fatal = dict.fromkeys(chunk.backends, death) if culprit in before else {**before, culprit: death}
    return replace(chunk, start=following, fatal_backends={**chunk.fatal_backends, following: fatal})


def _culprit(chunk: Chunk, index: int) -> tuple[str, str]:
    """Say which backend was under way when the worker died, and the law that was tried on it; the first one if nothing was noted."""
    match under_way(chunk.progress):
        case [number, name, *law] if number == str(index):
            return name, " ".join(law)
        case _:
            return chunk.backends[0], ""

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
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import msgspec
from pebble import ProcessExpired, ProcessPool

from conformance.backends import BackendError, names
from conformance.campaign.watch import rang, under_way
from conformance.campaign.worker import POISONED, Chunk, describe_backend, run_chunk, silence
from conformance.judge.verdict import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

CALL_TIMEOUT = 120.0


def _context(backends: Sequence[str]) -> Any:
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    targets = names()
    modules = [targets.get(b, b).partition(":")[0] for b in backends]
    context.set_forkserver_preload(["conformance.campaign.worker", "conformance.judge.disturbance", *modules])
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

    def call(self, function: Callable[..., Any], *arguments: Any, timeout: float = CALL_TIMEOUT) -> Any:
        """Call a function in a worker; ``None`` if the worker died, or did not come back within ``timeout`` seconds."""
        return next(self.calls(function, [list(arguments)], timeout))

    def calls(self, function: Callable[..., Any], arguments: Iterable[list[Any]], timeout: float = CALL_TIMEOUT) -> Iterator[Any]:
        """Call a function with each of these arguments, in as many workers as there are; yield what `call` returns, in order."""
        for answer in [self.schedule(function, given, timeout) for given in arguments]:
            try:
                yield answer.result()
            except (ProcessExpired, BrokenProcessPool, TimeoutError):
                yield None

    def describe(self, name: str) -> dict[str, Any]:
        """Return a backend's facts, found out in a worker.

        Raises:
            BackendError: if it cannot be opened.
        """
        found: dict[str, Any] | None = self.call(describe_backend, name)
        if found is None or "error" in found:
            raise BackendError(found["error"] if found else f"backend {name!r} takes its process down when it is opened")
        return found

    def run(self, chunks: Iterable[Chunk]) -> Iterator[list[dict[str, Any]]]:
        """Run chunks and yield the records of each, in the order of the chunks."""
        coming = enumerate(chunks)
        again: deque[tuple[int, Chunk]] = deque()
        running: dict[Any, tuple[int, Chunk]] = {}
        done: dict[int, list[dict[str, Any]]] = {}
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
                done[position] = read_records(chunk.records)
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
    records = read_records(chunk.records)
    return records[-1]["index"] + 1 if records else chunk.start


def _after_death(chunk: Chunk, exit_code: int | None) -> Chunk:
    following = _following(chunk)
    if exit_code == POISONED:
        return replace(chunk, start=following)
    if following not in chunk.deaths:  # perhaps an earlier case damaged the process: try once more in a fresh one
        return replace(chunk, start=following, deaths={**chunk.deaths, following: 1})
    words = under_way(chunk.progress)
    bucket = str(Bucket.TIMED_OUT if rang(chunk.watchdog) else Bucket.CRASHED)
    before = chunk.lost.get(following, {})
    culprit, *law = words[1:] if words[:1] == [str(following)] else chunk.backends[:1]
    bucket = " ".join([bucket, *law])
    lost = dict.fromkeys(chunk.backends, bucket) if culprit in before else {**before, culprit: bucket}
    return replace(chunk, start=following, lost={**chunk.lost, following: lost})


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read what a worker recorded so far; a line that it did not finish is left out."""
    if not path.exists():
        return []
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines() if line.endswith(b"}")]

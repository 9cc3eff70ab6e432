"""Dispatch: chunks go to the workers that run them, here or on other machines, and their records come back in order.

A pool of this machine and a cluster differ in how a chunk is begun, and in how it is found out what became of it: that is what a `Crew`
says. The rest is the same for both and is done here. Records come in the order of the chunks; cases that were set aside come last; what
is left of a chunk whose worker was lost is begun again; and when nobody listens any more, everything under way is cancelled.
"""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, wait
from typing import TYPE_CHECKING, Any, Protocol

from conformance.campaign.records.files import extent, read_chunk
from conformance.campaign.workers.supervisor import alone

if TYPE_CHECKING:
    from collections import Counter, defaultdict
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from conformance.campaign.records import CaseRecord
    from conformance.campaign.workers.chunk import Chunk
    from conformance.campaign.workers.supervisor import Passage

TICK = 1.0


class Crew(Protocol):
    """Who runs chunks.

    ``ended`` counts the processes that chunks used up, by the way in which they ended, and ``seconds`` says how long each way took
    beyond the cases themselves.
    """

    ended: Counter[str]
    seconds: defaultdict[str, float]

    @property
    def jobs(self) -> int:
        """The most chunks that were ever run side by side."""

    def room(self) -> int:
        """Return how many chunks can be run side by side now, at least one."""

    def begin(self, chunk: Chunk) -> Future[Any]:
        """Begin with a chunk; to cancel the future ends what is under way of it."""

    def passed(self, chunk: Chunk, future: Future[Any]) -> Passage:
        """Return how a chunk came through, once its future is done; its records are in its file."""


def dispatched(
    crew: Crew,
    chunks: Iterable[Chunk],
    until: float | None = None,
    meanwhile: Callable[[int], None] = lambda _: None,
    *,
    ahead: int = 1,
) -> Iterator[list[CaseRecord]]:
    """Run chunks and yield the records of each, in the order of the chunks; those of cases that were set aside come last.

    The file of a chunk stays until whoever takes its records comes back for more. After ``until``, by the clock of `time.monotonic`, no
    case that was set aside is started any more, but for the first. ``meanwhile`` is told every `TICK` seconds how many records there
    are that were not yet yielded. ``ahead``: how many chunks are begun for each that the crew has room for.
    """
    aside: list[Chunk] = []
    yield from in_order(crew, chunks, aside, meanwhile, ahead)
    in_time = (chunk for number, chunk in enumerate(aside) if number == 0 or until is None or time.monotonic() < until)
    yield from in_order(crew, in_time, [], meanwhile)


def in_order(
    crew: Crew, chunks: Iterable[Chunk], aside: list[Chunk], meanwhile: Callable[[int], None], ahead: int = 1
) -> Iterator[list[CaseRecord]]:
    """Run chunks and yield the records of each, in the order of the chunks.

    A case that was set aside is not run again here: the chunk of its second chance is added to ``aside``.
    """
    line = _Line(crew, chunks, aside, ahead)
    try:
        while line.begin():
            line.wait()
            for chunk in line.next_done():
                yield read_chunk(chunk.records)
                chunk.records.unlink(missing_ok=True)
            meanwhile(line.recorded())
    finally:
        line.cancel()


class _Line:
    """Chunks in a line: those still to begin, those under way, and those that are done before it is their turn to be yielded."""

    def __init__(self, crew: Crew, chunks: Iterable[Chunk], aside: list[Chunk], ahead: int) -> None:
        self._crew, self._aside, self._ahead = crew, aside, ahead
        self._coming = enumerate(chunks)
        self._again: deque[tuple[int, Chunk]] = deque()
        self._running: dict[Future[Any], tuple[int, Chunk]] = {}
        self._done: dict[int, Chunk] = {}
        self._turn = 0

    def begin(self) -> bool:
        """Begin as many chunks as there is room for; return whether any is under way."""
        room = self._ahead * self._crew.room()
        while len(self._running) < room:
            following = self._again.popleft() if self._again else next(self._coming, None)
            if following is None:
                break
            self._running[self._crew.begin(following[1])] = following
        return bool(self._running)

    def wait(self) -> None:
        """Wait until a chunk ends, for `TICK` seconds at most, and see how those that ended came through."""
        ended, _ = wait(self._running, TICK, FIRST_COMPLETED)
        for future in ended:
            position, chunk = self._running.pop(future)
            passage = self._crew.passed(chunk, future)
            self._aside += [alone(chunk, index) for index in passage.aside]
            self._crew.ended.update(passage.ended)
            for way, spent in passage.seconds.items():
                self._crew.seconds[way] += spent
            if passage.left is not None:
                self._again.append((position, passage.left))
            else:
                self._done[position] = chunk

    def next_done(self) -> Iterator[Chunk]:
        """Yield the chunks that are done and whose turn it is."""
        while self._turn in self._done:
            yield self._done.pop(self._turn)
            self._turn += 1

    def recorded(self) -> int:
        """Return how many records there are that were not yet yielded."""
        chunks = [*self._done.values(), *(chunk for _, chunk in self._running.values())]
        return sum(len(extent(chunk.records).cases) for chunk in chunks)

    def cancel(self) -> None:
        """Cancel what is under way."""
        for future in self._running:
            future.cancel()

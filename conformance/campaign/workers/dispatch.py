"""Dealing: chunks go to the workers that run them, here or on other machines, and their records come back in order.

Who runs a chunk hands over a future, and puts the records where the chunk says. What is the same for all of them is in one place: the
order, the cases that were set aside and come last, what is gone on with after a loss, and that nothing goes on when nobody listens.
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


class Hands(Protocol):
    """Who runs chunks.

    ``ended`` counts the processes that chunks used up, by the way in which they ended, and ``seconds`` has what each way cost beside
    the cases.
    """

    ended: Counter[str]
    seconds: defaultdict[str, float]

    @property
    def jobs(self) -> int:
        """How many chunks were run side by side, at most."""

    def room(self) -> int:
        """Return how many chunks they run side by side now, at least one."""

    def begin(self, chunk: Chunk) -> Future[Any]:
        """Begin with a chunk; cancelling the future ends what it has under way."""

    def passed(self, chunk: Chunk, future: Future[Any]) -> Passage:
        """Return how a chunk came through whose future is done; its records are in its file."""


def dealt(
    hands: Hands,
    chunks: Iterable[Chunk],
    until: float | None = None,
    meanwhile: Callable[[int], None] = lambda _: None,
    *,
    ahead: int = 1,
) -> Iterator[list[CaseRecord]]:
    """Run chunks and yield the records of each, in the order of the chunks; those of cases that were set aside come last.

    The file of a chunk stays until whoever takes its records comes back for more. After ``until``, by the clock of `time.monotonic`, no
    case that was set aside is started any more, but for the first. ``meanwhile`` hears every `TICK` seconds how many records there are
    that were not yet yielded. ``ahead``: how many chunks are begun for each that has room.
    """
    aside: list[Chunk] = []
    yield from one_by_one(hands, chunks, aside, meanwhile, ahead)
    in_time = (chunk for number, chunk in enumerate(aside) if number == 0 or until is None or time.monotonic() < until)
    yield from one_by_one(hands, in_time, [], meanwhile)


def one_by_one(
    hands: Hands, chunks: Iterable[Chunk], aside: list[Chunk], meanwhile: Callable[[int], None], ahead: int = 1
) -> Iterator[list[CaseRecord]]:
    """Do what `dealt` does, but leave the cases that were set aside in ``aside``, each in the chunk of its second chance."""
    coming = enumerate(chunks)
    again: deque[tuple[int, Chunk]] = deque()
    running: dict[Future[Any], tuple[int, Chunk]] = {}
    done: dict[int, Chunk] = {}
    following = 0
    try:
        while True:
            room = ahead * hands.room()
            while len(running) < room:
                work = again.popleft() if again else next(coming, None)
                if work is None:
                    break
                running[hands.begin(work[1])] = work
            if not running:
                return
            ended, _ = wait(running, TICK, FIRST_COMPLETED)
            for future in ended:
                position, chunk = running.pop(future)
                passage = hands.passed(chunk, future)
                aside += [alone(chunk, index) for index in passage.aside]
                hands.ended.update(passage.ended)
                for way, spent in passage.seconds.items():
                    hands.seconds[way] += spent
                if passage.left is not None:
                    again.append((position, passage.left))
                else:
                    done[position] = chunk
            while following in done:
                chunk = done.pop(following)
                yield read_chunk(chunk.records)
                chunk.records.unlink(missing_ok=True)
                following += 1
            under_way = [*done.values(), *(chunk for _, chunk in running.values())]
            meanwhile(sum(len(extent(chunk.records).cases) for chunk in under_way))
    finally:
        for future in running:
            future.cancel()

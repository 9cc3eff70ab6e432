"""The supervisor: it sees a chunk through, whatever its cases do to the processes that run them.

A child of the nursery runs the chunk. Where it dies, or ends because its framework no longer differentiates, the next child goes on
behind the last record. A case that takes too long is set aside: it gets the long chance that it may need in a chunk of its own, at the
end of the campaign, when it holds up nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from conformance.campaign.records.files import last_index, read_chunk
from conformance.campaign.workers.backend_cache import servers_restarted
from conformance.campaign.workers.chunk import Chunk, Death
from conformance.campaign.workers.examination import Suspicion, forget, resolved, settled
from conformance.campaign.workers.last_words import die_at_once, frame_of, has_said_all, is_dying, words_in
from conformance.campaign.workers.nursery import DeathError, forked
from conformance.campaign.workers.warm_up import prepare_for
from conformance.campaign.workers.watchdog import OURS, rang, under_way
from conformance.campaign.workers.worker import POISONED, run_chunk
from conformance.generate.scripts import find_vocabularies
from conformance.judge.canary import trust
from conformance.judge.verdict import Bucket
from conformance.laws.registry import LAWS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


MOST_KILLED = 5
"""How often a worker may be killed while it is warmed up, before the first of its cases is taken for the reason."""
STUCK = 0.2
"""The part of its time-out after which a case that waits for nobody hangs. One that computes for ever has to be waited for."""


def sheltered(function: Callable[..., Any], arguments: Sequence[Any], timeout: float | None = None) -> Any:
    """Call a function in a child of this process, as `forked` does; if that dies, it does so at once, and so do its servers."""

    def once() -> Any:
        with servers_restarted():
            return forked(_without_a_word, [function, arguments], timeout)

    return settled(once)


def _without_a_word(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    die_at_once()
    return function(*arguments)


@dataclass
class Passage:
    """How a chunk came through.

    Attributes:
        aside: the indices of the cases that were set aside.
        ended: how many processes it used up, by the way in which they ended.
        seconds: by the way in which they ended, what these processes cost beside the cases that they recorded.
        left: the chunk that another worker has to go on with, if its own was killed.
    """

    aside: tuple[int, ...] = ()
    ended: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=partial(defaultdict, float))
    left: Chunk | None = None


def supervised(chunk: Chunk) -> Passage:
    """Run a chunk in children of this process until every case is recorded or set aside."""
    passage = Passage()
    recorded = 0.0
    chunk.wipe()  # what another worker said, which was killed: until a case is under way none is to blame
    prepare_for(chunk.stop - chunk.start, chunk.backends, Path(chunk.folder), chunk.ahead)
    if chunk.cases is None:
        find_vocabularies(chunk.draw)
    while chunk.start < chunk.stop:
        started = perf_counter()
        forget()
        chunk.wipe()
        try:
            with servers_restarted():
                lost, ended = partial(_is_lost, chunk), partial(has_said_all, chunk.words)
                trust(forked(run_chunk, [chunk], dying=lost, ended=ended, stuck=STUCK * chunk.judging.timeout))
            left, way = replace(chunk, start=chunk.stop), "done"
        except (Suspicion, DeathError) as end:
            if resolved(end) or isinstance(end, Suspicion):
                left, way = replace(chunk, start=_following(chunk)), "examined"
            else:
                left = after_death(chunk, end.exit_code)
                way = _way(chunk, left, end.exit_code)
        before, recorded = recorded, sum(record.seconds["all"] for record in read_chunk(chunk.records))
        passage.ended[way] += 1
        passage.seconds[way] += perf_counter() - started - (recorded - before)
        chunk = left
    passage.aside = chunk.set_aside
    return passage


def _is_lost(chunk: Chunk) -> bool:
    """Whether the child of a chunk is on its way out, or should be gone: where the heap is damaged, tidying up may never end."""
    return is_dying(chunk.words) or _following(chunk) >= chunk.stop


def cut_short(chunk: Chunk, exit_code: int | None) -> Passage:
    """Return what is left of a chunk whose supervisor was killed, which can tell nobody any more what it had set aside.

    Where no case was under way none is to blame, unless that happens again and again.
    """
    nobody = chunk.killed < MOST_KILLED and not under_way(chunk.progress)
    left = replace(chunk, start=_following(chunk), killed=chunk.killed + 1) if nobody else after_death(chunk, exit_code)
    recorded = {record.index for record in read_chunk(chunk.records)}
    aside = {*left.set_aside, *range(chunk.start, left.start)} - recorded
    return Passage(tuple(sorted(aside)), left=replace(left, set_aside=()) if left.start < left.stop else None)


def _way(before: Chunk, after: Chunk, exit_code: int | None) -> str:
    if exit_code == POISONED:
        return "poisoned"
    if after.set_aside != before.set_aside:
        return "set aside"
    deaths = [
        death.bucket
        for index, fatal in after.fatal_backends.items()
        if before.fatal_backends.get(index) != fatal
        for death in fatal.values()
    ]
    return "hung" if Bucket.TIMED_OUT in deaths else "crashed"


def after_death(chunk: Chunk, exit_code: int | None) -> Chunk:
    """Return what is left of a chunk whose process died, and enter into it what is known of that death.

    The first death at a case may be the fault of a case before it, which damaged the process, unless there was none. So the case is run
    once more (`conformance.campaign.workers.trial`), unless its death is one that is known; a second death is its own.

    A backend that died is not run again at this case. If the process dies once more all the same, nobody knows of what, and all
    backends are left out. A backend that died under a law is an exception: one more run makes the cases of that law.

    Where this suite was computing, it is the suite that never came back. But if the process crashed then, the framework had damaged it.
    """
    following = _following(chunk)
    if exit_code == POISONED:
        return replace(chunk, start=following)
    hung = rang(chunk.watchdog) and not is_dying(chunk.words)
    if hung and chunk.patience is not None:
        return replace(chunk, start=following + 1, set_aside=(*chunk.set_aside, following))
    own = hung or (following == chunk.start and chunk.owns_first_death)
    frame = frame_of(words_in(chunk.watchdog if hung else chunk.words), exit_code)
    before = {name: death for name, death in chunk.fatal_backends.get(following, {}).items() if death.own}
    culprit, law = _culprit(chunk, following)
    law = "" if law == OURS and not hung else law
    death = Death(Bucket.TIMED_OUT if hung else Bucket.CRASHED, law, frame, own)
    lost = culprit in before and before[culprit].law not in LAWS
    fatal = dict.fromkeys(chunk.backends, death) if lost else {**before, culprit: death}
    deaths = chunk.deaths if own else {**chunk.deaths, following: 1}
    return replace(chunk, start=following, fatal_backends={**chunk.fatal_backends, following: fatal}, deaths=deaths)


def alone(chunk: Chunk, index: int) -> Chunk:
    """Return the chunk in which a case that was set aside has its second chance."""
    return replace(chunk, name=f"{chunk.name}-{index:09d}", start=index, stop=index + 1, patience=None, until=None, set_aside=())


def _following(chunk: Chunk) -> int:
    """Return the index of the first case of a chunk that has no record and is not set aside."""
    last = last_index(chunk.records)
    return chunk.start if last is None else max(chunk.start, last + 1)


def _culprit(chunk: Chunk, index: int) -> tuple[str, str]:
    """Say which backend was under way when the process died, and the law that was tried on it; the first one if nothing was noted."""
    match under_way(chunk.progress):
        case [number, name, *law] if number == str(index):
            return name, " ".join(law)
        case _:
            return chunk.backends[0], ""

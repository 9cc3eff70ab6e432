"""The measurement: all mutants over the cases of the default campaign, in worker processes, and what comes of it.

A mutant is done with at the first case in which it is found out, so ranges of cases are handed out in order, each with the mutants
that are alive by then. A worker that dies or hangs is a mutant found out; its range is run again without that mutant. What is found
does not depend on how many workers there are.
"""

from __future__ import annotations

import fnmatch
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from conformance.campaign.nursery import DeathError
from conformance.campaign.pool import LOST, Workers
from conformance.campaign.records import MutantsRecord, ScoreRecord, SurvivorRecord
from conformance.campaign.watchdog import rang, under_way
from conformance.judge.verdict import Bucket
from conformance.mutants.hunt import Hunt, Kill, run_hunt
from conformance.mutants.mutant import Kind
from conformance.mutants.records import MutantRecord
from conformance.mutants.registry import mutant, mutants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CASES = 20_000
TARGETS = {Kind.RULE: 1.0, Kind.SECOND: 0.98, Kind.ENGINE: 1.0, Kind.STATIC: 1.0}
"""The part of the mutants of each kind that must be found out within `CASES` cases."""

FIRST, WIDEST = 25, 400
"""How many cases a worker gets: few at first, when most mutants are alive."""
TIMEOUT = 30.0


class PowerError(ValueError):
    """A request for mutants that cannot be served; the message says what is allowed."""


def chosen(pattern: str | None) -> tuple[str, ...]:
    """Return the ids of the mutants that fit a pattern (as of a shell, or part of an id); all of them for ``None``.

    Raises:
        PowerError: if there is none.
    """
    fits = "*" if pattern is None else pattern if set(pattern) & set("*?[") else f"*{pattern}*"
    found = tuple(fnmatch.filter(mutants(), fits))
    if not found:
        raise PowerError(f"no mutant is called like {pattern!r}; conformance mutants --list names all")
    return found


@dataclass(frozen=True)
class Score:
    """How the mutants of one kind fared: ``median`` and ``worst`` number of cases to detection, of those that were found out."""

    kind: Kind
    total: int
    killed: int
    equivalent: int
    median: float
    worst: int

    @property
    def share(self) -> float:
        """The part that was found out, of those that can be."""
        return self.killed / max(1, self.total)


@dataclass(frozen=True)
class Power:
    """The result of a measurement."""

    kills: dict[str, Kill]
    ids: tuple[str, ...]
    cases: int
    seed: int
    seconds: float

    def scores(self) -> list[Score]:
        """Return the score of each kind that was measured."""
        found = []
        for kind in Kind:
            asked = [name for name in self.ids if mutant(name).kind is kind]
            real = [name for name in asked if not mutant(name).equivalent]
            counts = [self.kills[name].case + 1 for name in real if name in self.kills]
            if asked:
                found.append(Score(kind, len(real), len(counts), len(asked) - len(real), median(counts or [0]), max(counts, default=0)))
        return found

    def share(self) -> float:
        """Return the part of all mutants that was found out."""
        scores = self.scores()
        return sum(s.killed for s in scores) / max(1, sum(s.total for s in scores))

    def survivors(self) -> list[str]:
        """Return the ids of the mutants that were not found out."""
        return [name for name in self.ids if name not in self.kills]

    def missed(self) -> list[str]:
        """Say which targets are missed."""
        return [
            f"{s.kind}: {s.killed} of {s.total} mutants were found out within {self.cases:,} cases; the target is {TARGETS[s.kind]:.0%}"
            for s in self.scores()
            if s.share < TARGETS[s.kind]
        ]

    def record(self) -> MutantsRecord:
        """Write down the scores and the survivors."""
        scores = [ScoreRecord(s.kind, s.total, s.killed, s.equivalent, s.median, s.worst) for s in self.scores()]
        survivors = [mutant(name) for name in self.survivors()]
        return MutantsRecord(
            self.cases,
            self.seed,
            self.seconds,
            self.share(),
            tuple(scores),
            tuple(SurvivorRecord(m.id, m.kind, m.what, m.equivalent) for m in survivors),
        )

    def details(self) -> Iterator[MutantRecord]:
        """Write down each mutant."""
        for name in self.ids:
            found, kill = mutant(name), self.kills.get(name)
            yield MutantRecord(
                id=name,
                sort=found.kind,
                part=found.part,
                what=found.what,
                dialect=found.dialect.name,
                equivalent=found.equivalent,
                cases=None if kill is None else kill.case + 1,
                bucket="" if kill is None else kill.bucket,
                at="" if kill is None else kill.at,
            )


def measure(
    ids: Sequence[str],
    *,
    cases: int = CASES,
    seed: int = 1,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Power:
    """Run mutants on the first ``cases`` cases of a seed, each until it is found out.

    ``progress`` hears how many cases are done and how many mutants were found out.
    """
    started = time.perf_counter()
    kills: dict[str, Kill] = {}
    done = 0
    with tempfile.TemporaryDirectory() as folder, Workers((), jobs) as workers:
        coming = _hunts(ids, kills, cases, seed, folder)
        running: dict[Any, Hunt] = {}
        while True:
            while len(running) < jobs and (hunt := next(coming, None)) is not None:
                running[workers.schedule(run_hunt, [hunt])] = hunt
            if not running:
                break
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                hunt = running.pop(future)
                try:
                    found: dict[str, Kill] = future.result()
                except (DeathError, *LOST):
                    again = without_the_culprit(hunt)
                    running[workers.schedule(run_hunt, [again])] = again
                    continue
                for name, kill in found.items():
                    kills[name] = min(kills.get(name, kill), kill)
                done += hunt.stop - hunt.start
                if progress is not None:
                    progress(done, len(kills))
    return Power(kills, tuple(ids), cases, seed, time.perf_counter() - started)


def _hunts(ids: Sequence[str], kills: dict[str, Kill], cases: int, seed: int, folder: str) -> Iterator[Hunt]:
    start, width = 0, FIRST
    while start < cases and len(kills) < len(ids):
        stop = min(start + width, cases)
        alive = tuple(name for name in ids if name not in kills)
        yield Hunt(seed, start, stop, alive, folder, TIMEOUT)
        start, width = stop, min(2 * width, WIDEST)


def without_the_culprit(hunt: Hunt) -> Hunt:
    """Return a hunt whose worker died, with the mutant that did it counted as found out.

    Raises:
        RuntimeError: if nothing says which mutant was under way.
    """
    words = under_way(hunt.progress)
    if len(words) != 2 or words[1] in hunt.lost:
        raise RuntimeError(f"a worker died at the cases from {hunt.start} on, and no mutant did it")
    bucket = str(Bucket.TIMED_OUT if rang(hunt.watchdog) else Bucket.CRASHED)
    return replace(hunt, lost={**hunt.lost, words[1]: (int(words[0]), bucket)})

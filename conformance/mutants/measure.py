"""The measurement: all mutants over the cases of the default campaign, in worker processes, and the scores.

A mutant is done with at the first case in which it is found out, so ranges of cases are handed out in order, each with the mutants
that are alive by then. A worker that dies or hangs is a mutant found out; its range is run again without that mutant. What is found
does not depend on how many workers there are.
"""

from __future__ import annotations

import fnmatch
import tempfile
import time
from collections import defaultdict
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING, Any

from conformance.campaign.records.gate import MutantsRecord, ScoreRecord, SurvivorRecord
from conformance.campaign.workers.nursery import DeathError
from conformance.campaign.workers.pool import LOST, Workers
from conformance.case.prose import counted
from conformance.mutants.conditional.carried import REFERENCE
from conformance.mutants.conditional.chase import Caught, Chase, fault_of, run_chase
from conformance.mutants.conditional.pursuit import pursuits
from conformance.mutants.conditional.table_of_calls import UNDRAWN
from conformance.mutants.hunt import Hunt, Kill, run_hunt
from conformance.mutants.hunts import Hunts
from conformance.mutants.mutant import Kind
from conformance.mutants.records import MutantRecord
from conformance.mutants.registry import engines, mutant, mutants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.mutants.mutant import Mutant

CASES = 20_000
TARGETS = {Kind.RULE: 1.0, Kind.SECOND: 0.98, Kind.ENGINE: 1.0, Kind.STATIC: 1.0, Kind.CONDITIONAL: 0.97}
"""The part of the mutants of each kind that must be found out within `CASES` cases."""


class PowerError(ValueError):
    """A request for mutants that cannot be served; the message says what is allowed."""


def chosen(pattern: str | None, host: str = REFERENCE) -> tuple[str, ...]:
    """Return the ids of the mutants that fit a pattern (as of a shell, or part of an id); all of them for ``None``.

    ``host``: the engine that is to carry them; any other than the reference carries conditional faults alone.

    Raises:
        PowerError: if there is none.
    """
    fits = "*" if pattern is None else pattern if set(pattern) & set("*?[") else f"*{pattern}*"
    known = mutants() if host == REFERENCE else engines()
    found = tuple(name for name in fnmatch.filter(known, fits) if known[name].can_be_on(host))
    if not found:
        raise PowerError(f"no mutant is called like {pattern!r}; conformance mutants --list names all")
    return found


@dataclass(frozen=True)
class Score:
    """How the mutants of one kind fared: ``median`` and ``worst`` number of cases to detection, of those that were found out.

    Of conditional faults those cases count in which their condition holds.
    """

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
    """The result of a measurement.

    ``host``: what carried the conditional faults; ``tries``: in how many cases each of those was run;
    ``excused``: with its name, the known deviations that it was taken for; ``grid``: whether wrong rules were hunted through it first.
    """

    kills: dict[str, Kill]
    ids: tuple[str, ...]
    cases: int
    seed: int
    seconds: float
    host: str = REFERENCE
    tries: Mapping[str, int] = field(default_factory=dict)
    excused: frozenset[tuple[str, str]] = frozenset()
    grid: bool = False

    def scores(self) -> list[Score]:
        """Return the score of each kind that was measured."""
        found = []
        for kind in Kind:
            asked = [name for name in self.ids if mutant(name).kind is kind]
            real = [name for name in asked if not mutant(name).equivalent]
            counts = [self.kills[name].cases for name in real if name in self.kills]
            if asked:
                found.append(Score(kind, len(real), len(counts), len(asked) - len(real), median(counts or [0]), max(counts, default=0)))
        return found

    def only(self, kind: Kind, *, without: bool = False) -> Power:
        """Return the measurement of one kind, or of all kinds ``without`` it."""
        return replace(self, ids=tuple(name for name in self.ids if (mutant(name).kind is kind) is not without))

    @property
    def killed(self) -> int:
        """How many mutants were found out, of those that can be."""
        return sum(s.killed for s in self.scores())

    @property
    def total(self) -> int:
        """How many mutants can be found out."""
        return sum(s.total for s in self.scores())

    def share(self) -> float:
        """Return the part of all mutants that was found out."""
        return self.killed / max(1, self.total)

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
            tuple(SurvivorRecord(m.id, m.kind, m.what, self.reason(m)) for m in survivors),
            self.host,
            self.grid,
        )

    def reason(self, survivor: Mutant) -> str:
        """Say why a mutant survived, as far as is known."""
        if survivor.equivalent or survivor.kind is not Kind.CONDITIONAL:
            return survivor.equivalent
        tried = self.tries.get(survivor.id, 0)
        if tried:
            taken = sorted(deviation for name, deviation in self.excused if name == survivor.id)
            return f"no verdict in the {counted(tried, 'case')} in which its condition held" + (
                f"; taken for {', '.join(taken)}" if taken else ""
            )
        why = UNDRAWN.get(fault_of(survivor.id).condition)
        return "its condition held in no case" + (f": {why}" if why else "")

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
                cases=None if kill is None else kill.cases,
                bucket="" if kill is None else kill.bucket,
                at="" if kill is None else kill.at,
            )


def measure(
    ids: Sequence[str],
    *,
    cases: int = CASES,
    seed: int = 1,
    jobs: int = 1,
    host: str = REFERENCE,
    grid: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Power:
    """Run mutants on the first ``cases`` cases of a seed, each until it is found out; conditional faults on the grid, too.

    ``host``: what carries conditional faults; ``grid``: wrong rules are hunted through the grid first; ``progress`` hears how many
    cases are done and how many mutants were found out.
    """
    started = time.perf_counter()
    kills: dict[str, Kill] = {}
    tried: dict[str, dict[int, int]] = defaultdict(dict)
    conditional = [name for name in ids if mutant(name).kind is Kind.CONDITIONAL]
    others = [name for name in ids if name not in conditional]
    excused: set[tuple[str, str]] = set()
    done = 0
    with tempfile.TemporaryDirectory() as folder, Workers(() if host == REFERENCE else (host,), jobs) as workers:
        hunts = Hunts(others, kills, cases, seed, folder, grid)
        for hunt, found in _ended(chain(hunts, pursuits(conditional, kills, cases, seed, folder, host)), workers, jobs):
            if isinstance(found, Caught):
                excused |= found.excused
                for name, count in found.tries.items():
                    tried[name][hunt.start] = count
            for name, kill in (found.kills if isinstance(found, Caught) else found).items():
                kills[name] = min(kills.get(name, kill), kill)
            done += hunt.stop - hunt.start
            if progress is not None:
                progress(done, len(kills))
    tries = {
        name: sum(n for start, n in counts.items() if name not in kills or start <= kills[name].case) for name, counts in tried.items()
    }
    kills |= {name: kills[name]._replace(tries=count) for name, count in tries.items() if name in kills}
    if grid:
        kills |= {name: kills[name]._replace(tries=hunts.tries(name, kills[name])) for name in others if name in kills}
    return Power(kills, tuple(ids), cases, seed, time.perf_counter() - started, host, tries, frozenset(excused), grid)


def _ended(coming: Iterator[Hunt], workers: Workers, jobs: int) -> Iterator[tuple[Hunt, Caught | dict[str, Kill]]]:
    """Run hunts, ``jobs`` at a time, and yield each as it ends, with what it found; one that died or stopped early is continued."""
    running: dict[Any, Hunt] = {}

    def run(hunt: Hunt) -> None:
        running[workers.schedule(run_chase if isinstance(hunt, Chase) else run_hunt, [hunt])] = hunt

    while True:
        while len(running) < jobs and (hunt := next(coming, None)) is not None:
            run(hunt)
        if not running:
            return
        ended, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ended:
            hunt = running.pop(future)
            try:
                found = future.result()
            except (DeathError, *LOST):
                run(hunt.after_death())
                continue
            if isinstance(found, Caught) and found.stop < hunt.stop:
                run(replace(hunt, start=found.stop, alive=tuple(name for name in hunt.alive if name not in found.kills)))
            yield hunt, found

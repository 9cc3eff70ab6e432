"""The tally of a run: the ledger, what was compared, the seconds, and the failures by fingerprint."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from conformance.campaign.records import BARE, PROCESSES, Footer, NullSummary, RunVerdict
from conformance.campaign.records.accepted import AcceptedRecord
from conformance.campaign.records.fingerprint import Fingerprint, fingerprint_of
from conformance.campaign.records.grid import cell_of
from conformance.campaign.records.shares import DrawnRecord
from conformance.case.prose import counted, percent
from conformance.case.queries import ops_in
from conformance.judge.nulls import upper_bound
from conformance.judge.verdict import COMPARED, FAILING, Bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.campaign.records import CaseRecord, DeviationRecord, ExitReason, NullRecord
    from conformance.campaign.records.accepted import Accepted
    from conformance.campaign.records.grid import GridRecord, Met
    from conformance.campaign.records.verdicts import MismatchRecord, VerdictRecord
    from conformance.case.case import Case

S = TypeVar("S", bound=str)
FLOOR = 0.9
"""The fraction of cases that must really be compared, per backend."""


@dataclass
class NullTally:
    """Adds up null comparisons: for each pair of `conformance.judge.nulls` and dtype, how many there were, and the false alarms."""

    compared: Counter[tuple[str, str]] = field(default_factory=Counter)
    alarms: Counter[str] = field(default_factory=Counter)
    near_kink: int = 0

    def add(self, record: NullRecord) -> None:
        """Add one comparison."""
        self.compared[record.pair, record.dtype] += record.values
        self.alarms[record.pair] += record.alarm
        self.near_kink += record.near_kink

    def faults(self) -> list[str]:
        """Say what the judge called a divergence although both sides are right."""
        return [f"null pair {pair}: {counted(n, 'false alarm')}" for pair, n in sorted(self.alarms.items()) if n]

    def summary(self) -> NullSummary:
        """Write them down, with the bound on false alarms per million comparisons."""
        total, alarms = self.compared.total(), self.alarms.total()
        pairs: dict[str, dict[str, int]] = {}
        for (pair, dtype), count in sorted(self.compared.items()):
            pairs.setdefault(pair, {})[dtype] = count
        return NullSummary(total, alarms, self.near_kink, upper_bound(alarms, total) * 1e6, pairs)


@dataclass
class Failure:
    """All failures of one fingerprint: how many, and the first case with the fewest steps, with its index and the difference.

    Attributes:
        since: the index of the first case that its process ran, if that is known.
        ops: the ops that are in all these cases.
        at: the places at which they differ (`Fingerprint.place`).
    """

    case: Case
    index: int
    mismatch: MismatchRecord | None
    count: int = 1
    since: int | None = None
    ops: frozenset[str] = frozenset()
    at: frozenset[str] = frozenset()

    @property
    def size(self) -> tuple[int, int]:
        """How much there is to read, and which comes first of as much."""
        return len(self.case.steps), self.index

    def joined(self, other: Failure) -> Failure:
        """Return both together, shown by the smaller case."""
        smaller = min(self, other, key=lambda one: one.size)
        return replace(smaller, count=self.count + other.count, ops=self.ops & other.ops, at=self.at | other.at)


KEPT = 500
"""How many single failures of a fingerprint are kept, to find out at which op each begins."""


@dataclass
class Tally:
    """Adds up case records; in which order they come makes no difference. Most sums are those of the `Footer`.

    Attributes:
        halves: the backends of eager scripts and those of programs, where cases of both are drawn.
        failures: all failures by fingerprint.
        failing: the single ones of each fingerprint, as far as they are kept.
        accepted: those that the baseline has.
        wrong_references: the findings in which the reference is to blame and not the engine.
        misfits: how many records have not just a verdict for each backend that the case is for.
    """

    backends: Sequence[str]
    halves: Sequence[Sequence[str]] = ()
    cases: int = 0
    rich: int = 0
    bounded: int = 0
    unreproduced_deaths: int = 0
    lanes: Counter[str] = field(default_factory=Counter)
    orders: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    sampled: Counter[str] = field(default_factory=Counter)
    processes: Counter[str] = field(default_factory=Counter)
    ledger: dict[str, Counter[str]] = field(init=False)
    counts: dict[str, Counter[str]] = field(init=False)
    deviations: dict[str, Counter[str]] = field(init=False)
    drawn: Counter[str] = field(default_factory=Counter)
    drawn_deviations: dict[str, Counter[str]] = field(init=False)
    followed: dict[str, Counter[str]] = field(init=False)
    lacking: dict[str, Counter[str]] = field(init=False)
    laws: dict[str, dict[str, Counter[str]]] = field(init=False)
    ratios: dict[str, dict[str, Counter[str]]] = field(init=False)
    worst: dict[str, tuple[float, str, str]] = field(default_factory=dict)
    grid: dict[str, dict[str, dict[str, Counter[Met]]]] = field(default_factory=dict)
    nulls: NullTally = field(default_factory=NullTally)
    failures: dict[Fingerprint, Failure] = field(default_factory=dict)
    failing: dict[Fingerprint, list[Failure]] = field(default_factory=dict)
    accepted: list[AcceptedRecord] = field(default_factory=list)
    wrong_references: list[str] = field(default_factory=list)
    misfits: int = 0

    def __post_init__(self) -> None:
        self.expected = [tuple(half) for half in self.halves or [self.backends]]
        self.ledger = {b: Counter() for b in self.backends}
        self.counts = {b: Counter() for b in self.backends}
        self.deviations = {b: Counter() for b in self.backends}
        self.drawn_deviations = {b: Counter() for b in self.backends}
        self.followed = {b: Counter() for b in self.backends}
        self.lacking = {b: Counter() for b in self.backends}
        self.laws = {b: {} for b in self.backends}
        self.ratios = {b: {} for b in self.backends}

    def add(self, record: CaseRecord) -> None:
        """Add one case."""
        self.cases += 1
        self.misfits += tuple(record.verdicts) not in self.expected
        self.rich += record.rich
        self.lanes[record.lane] += 1
        self.orders[str(record.order)] += 1
        self.seconds.update(record.seconds)
        self.sampled.update(name for name in record.seconds if name.startswith(BARE))
        self.unreproduced_deaths += record.deaths
        for null in record.nulls:
            self.nulls.add(null)
        for name, statuses in record.laws.items():
            for law, status in statuses.items():
                self.laws[name].setdefault(law, Counter())[status] += 1
        if record.grid is not None:
            self._meet(record.grid)
        for name, verdict in record.verdicts.items():
            self.ledger[name][verdict.bucket] += 1
            self.counts[name].update(verdict.counts)
            self.bounded += verdict.bounded
            self.deviations[name].update(verdict.deviations)
            if record.grid is None:
                self.drawn[name] += 1
                self.drawn_deviations[name].update(verdict.deviations)
            self.followed[name].update(f"{choice}: {option}" for choice, option in verdict.followed.items())
            self.lacking[name].update(verdict.lacking)
            for step, ratio in verdict.ratios.items():
                self._err(name, step, ratio, record.id)
            if verdict.bucket in FAILING:
                self._fail(name, verdict, record)

    def add_processes(self, ended: Mapping[str, int], seconds: Mapping[str, float]) -> None:
        """Add processes that were used up, and what they cost beside their cases, both by the way in which they ended."""
        self.processes.update(ended)
        self.seconds.update({f"{PROCESSES}{way}": spent for way, spent in seconds.items()})

    def _meet(self, record: GridRecord) -> None:
        for name, met in record.met.items():
            cells = self.grid.setdefault(name, {}).setdefault(record.op, {})
            cells.setdefault(cell_of(record.row["order"], record.row["layout"]), Counter())[met] += 1

    def _err(self, backend: str, step: str, ratio: float | None, case: str) -> None:
        self.ratios[backend].setdefault(step, Counter())[decade_of(ratio)] += 1
        if ratio is not None and 0 < ratio <= 1:
            self.worst[backend] = max(self.worst.get(backend, (0.0, "", "")), (ratio, step, case))

    def _fail(self, backend: str, verdict: VerdictRecord, record: CaseRecord) -> None:
        if record.case is None:
            raise ValueError(f"case {record.id} failed on {backend}, and its record has no case")
        fingerprint = fingerprint_of(backend, verdict)
        ops, at = frozenset(ops_in(record.case)), frozenset({fingerprint.place})
        failure = Failure(record.case, record.index, verdict.mismatch, since=record.since, ops=ops, at=at)
        if len(kept := self.failing.setdefault(fingerprint, [])) < KEPT:
            kept.append(failure)
        before = self.failures.get(fingerprint)
        self.failures[fingerprint] = failure if before is None else failure.joined(before)

    def set_aside(self, accepting: Callable[[Fingerprint], Accepted | None]) -> None:
        """Take the findings that are accepted from those that are new."""
        for fingerprint in list(self.failures):
            if (one := accepting(fingerprint)) is not None:
                count = self.failures.pop(fingerprint).count
                self.accepted.append(AcceptedRecord(one.id, one.fingerprint.backend, one.summary, one.reason, count, one.until))

    def compared(self, backend: str) -> float:
        """Return the fraction of cases that were really compared."""
        return sum(self.ledger[backend][b] for b in COMPARED) / max(1, self.ledger[backend].total())

    def verdict(self) -> tuple[RunVerdict, list[str]]:
        """Decide, with the reasons."""
        faults, short = [], []
        if self.misfits:
            faults.append(f"{counted(self.misfits, 'case')} without just a verdict for each backend that it is for")
        for name in self.backends:
            if len(self.expected) > 1 and self.cases and not self.ledger[name].total():
                continue  # so few cases that none was for its half; its line says 0
            if self.compared(name) < FLOOR:
                much = f"only {percent(self.compared(name), 1)} of the cases were compared; the floor is {percent(FLOOR, 1)}"
                others = {bucket: count for bucket, count in sorted(self.ledger[name].items()) if bucket not in COMPARED}
                short.append("; ".join([f"{name}: {much}", *(f"{n} {bucket.replace('_', ' ')}" for bucket, n in others.items())]))
            if self.ledger[name][Bucket.HARNESS_ERROR]:
                faults.append(f"{name}: {counted(self.ledger[name][Bucket.HARNESS_ERROR], 'case')} hit an error of the suite itself")
        faults += [f"{finding}: the numerical oracle contradicts the reference" for finding in self.wrong_references]
        faults += self.nulls.faults()
        if faults or short:
            return RunVerdict.SUITE_ERROR if faults else RunVerdict.NO_RESULT, faults + short
        if self.failures:
            found = Counter(f.backend for f in self.failures)
            return RunVerdict.DIVERGES, [f"{name}: {counted(found[name], 'new finding')}" for name in self.backends if found[name]]
        return RunVerdict.CONFORMS, []

    def drawn_records(self) -> dict[str, DrawnRecord]:
        """Write down how many of the drawn cases showed which known deviation, by backend."""
        return {name: DrawnRecord(self.drawn[name], dict(sorted(seen.items()))) for name, seen in self.drawn_deviations.items()}

    def ranked(self) -> list[tuple[Fingerprint, Failure]]:
        """Return the failures, the most frequent first."""
        return sorted(self.failures.items(), key=lambda item: (-item[1].count, item[1].index, item[0]))

    def footer(
        self,
        exit_reason: ExitReason,
        wall: float,
        jobs: int,
        not_offered: dict[str, dict[str, str]],
        deviation_info: dict[str, DeviationRecord],
    ) -> Footer:
        """Write the footer; ``wall``: the seconds that passed outside."""
        verdict, reasons = self.verdict()
        return Footer(
            verdict=verdict,
            exit_reason=exit_reason,
            reasons=tuple(reasons),
            cases=self.cases,
            rich=self.rich,
            bounded=self.bounded,
            unreproduced_deaths=self.unreproduced_deaths,
            lanes=dict(sorted(self.lanes.items())),
            orders=dict(sorted(self.orders.items())),
            ledger=_plain(self.ledger),
            counts=_plain(self.counts),
            deviations=_plain(self.deviations),
            laws={name: _plain(dict(sorted(laws.items()))) for name, laws in self.laws.items()},
            ratios={name: _plain(dict(sorted(steps.items()))) for name, steps in self.ratios.items()},
            worst={name: self.worst[name] for name in self.backends if name in self.worst},
            nulls=self.nulls.summary(),
            findings=len(self.failures),
            accepted=tuple(self.accepted),
            jobs=jobs,
            seconds={**self.seconds, "wall": wall},
            bare={name.removeprefix(BARE): self.seconds[name] / count for name, count in self.sampled.items()},
            processes=dict(self.processes),
            not_offered=not_offered,
            deviation_info=deviation_info,
            drawn=self.drawn_records(),
            followed={name: counts for name, counts in _plain(self.followed).items() if counts},
            lacking={name: counts for name, counts in _plain(self.lacking).items() if counts},
            grid={name: {op: _plain(cells) for op, cells in ops.items()} for name, ops in self.grid.items()},
        )


def _plain(counters: Mapping[str, Counter[S]]) -> dict[str, dict[S, int]]:
    return {name: dict(sorted(counts.items())) for name, counts in counters.items()}


DECADES = ("none", "1/1000", "1/100", "1/10", "1", "beyond")
"""No error at all; up to that part of the bound; beyond the bound, which is a difference."""


def decade_of(ratio: float | None) -> str:
    """Return the decade of an error over its bound; ``None``: no error is allowed there and there is one."""
    if ratio is None or ratio > 1:
        return DECADES[-1]
    if ratio == 0:
        return DECADES[0]
    return DECADES[max(1, 4 + math.ceil(math.log10(ratio)))]

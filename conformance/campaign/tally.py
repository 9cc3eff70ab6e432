"""The tally of a run: the ledger, what was compared, the seconds, and the failures by signature."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.decades import decade_of
from conformance.judge.nulls import upper_bound
from conformance.judge.verdict import COMPARED, FAILING, Bucket
from conformance.signature import Signature, signature_of

if TYPE_CHECKING:
    from collections.abc import Sequence

FLOOR = 0.9
"""The fraction of cases that must really be compared, per backend."""


@dataclass
class NullTally:
    """Adds up null comparisons: for each pair of `conformance.judge.nulls` and dtype, how many there were, and the false alarms."""

    compared: Counter[tuple[str, str]] = field(default_factory=Counter)
    alarms: Counter[str] = field(default_factory=Counter)
    near_kink: int = 0

    def add(self, record: dict[str, Any]) -> None:
        """Add one case's."""
        self.compared[record["pair"], record["dtype"]] += record["values"]
        self.alarms[record["pair"]] += record["alarm"]
        self.near_kink += record["near_kink"]

    def faults(self) -> list[str]:
        """Say what the judge called a divergence although both sides are right."""
        return [f"null pair {pair}: {n} false alarms" for pair, n in self.alarms.items() if n]

    def record(self) -> dict[str, Any]:
        """Write them down, with the bound on false alarms per million comparisons."""
        total, alarms = self.compared.total(), self.alarms.total()
        pairs: dict[str, dict[str, int]] = {}
        for (pair, dtype), count in self.compared.items():
            pairs.setdefault(pair, {})[dtype] = count
        return {
            "comparisons": total,
            "alarms": alarms,
            "near_kink": self.near_kink,
            "per_million": upper_bound(alarms, total) * 1e6,
            "pairs": pairs,
        }


@dataclass
class Failure:
    """All failures of one signature: how many, and the record whose case has the fewest steps."""

    count: int
    record: dict[str, Any]


@dataclass
class Tally:
    """Adds up case records.

    ``wrong_references``: the findings in which the reference is to blame, not the engine.
    ``ratios``: by backend and step, how many cases in each decade of error over bound; ``worst``: the largest that was accepted, and at
    which step of which case.
    """

    backends: Sequence[str]
    cases: int = 0
    rich: int = 0
    bounded: int = 0
    collateral: int = 0
    lanes: Counter[str] = field(default_factory=Counter)
    orders: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    ledger: dict[str, Counter[str]] = field(init=False)
    counts: dict[str, Counter[str]] = field(init=False)
    deviations: dict[str, Counter[str]] = field(init=False)
    laws: dict[str, dict[str, Counter[str]]] = field(init=False)
    ratios: dict[str, dict[str, Counter[str]]] = field(init=False)
    worst: dict[str, tuple[float, str, str]] = field(default_factory=dict)
    nulls: NullTally = field(default_factory=NullTally)
    failures: dict[Signature, Failure] = field(default_factory=dict)
    wrong_references: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = {b: Counter() for b in self.backends}
        self.counts = {b: Counter() for b in self.backends}
        self.deviations = {b: Counter() for b in self.backends}
        self.laws = {b: {} for b in self.backends}
        self.ratios = {b: {} for b in self.backends}

    def add(self, record: dict[str, Any]) -> None:
        """Add one case."""
        self.cases += 1
        self.rich += record["rich"]
        self.lanes[record["lane"]] += 1
        self.orders[str(record["order"])] += 1
        self.seconds.update(record["seconds"])
        self.collateral += record.get("deaths", 0)
        for null in record["nulls"]:
            self.nulls.add(null)
        for name, statuses in record.get("laws", {}).items():
            for law, status in statuses.items():
                self.laws[name].setdefault(law, Counter())[status] += 1
        for name, verdict in record["verdicts"].items():
            self.ledger[name][verdict["bucket"]] += 1
            self.counts[name].update(verdict["counts"])
            self.bounded += verdict.get("bounded", False)
            self.deviations[name].update(verdict.get("deviations", ()))
            for step, ratio in verdict.get("ratios", {}).items():
                self._err(name, step, ratio, record["id"])
            if verdict["bucket"] in FAILING:
                self._fail(signature_of(name, verdict), record)

    def _err(self, backend: str, step: str, ratio: float | None, case: str) -> None:
        self.ratios[backend].setdefault(step, Counter())[decade_of(ratio)] += 1
        if ratio is not None and self.worst.get(backend, (0.0,))[0] < ratio <= 1:
            self.worst[backend] = (ratio, step, case)

    def _fail(self, signature: Signature, record: dict[str, Any]) -> None:
        known = self.failures.get(signature)
        if known is None:
            self.failures[signature] = Failure(1, record)
            return
        known.count += 1
        if len(record["case"]["steps"]) < len(known.record["case"]["steps"]):
            known.record = record

    def compared(self, backend: str) -> float:
        """Return the fraction of cases that were really compared."""
        return sum(self.ledger[backend][b] for b in COMPARED) / max(1, self.cases)

    def verdict(self) -> tuple[str, list[str]]:
        """Decide: ``conforms``, ``diverges`` or ``suite_error``, with the reasons."""
        faults = []
        for name in self.backends:
            if sum(self.ledger[name].values()) != self.cases:
                faults.append(f"{name}: the buckets do not sum to the {self.cases} cases")
            if self.compared(name) < FLOOR:
                faults.append(f"{name}: only {self.compared(name):.1%} of the cases were compared; the floor is {FLOOR:.0%}")
            if self.ledger[name][Bucket.HARNESS_ERROR]:
                faults.append(f"{name}: {self.ledger[name][Bucket.HARNESS_ERROR]} cases hit an error of the suite itself")
        faults += [f"{finding}: the numerical oracle contradicts the reference" for finding in self.wrong_references]
        faults += self.nulls.faults()
        if faults:
            return "suite_error", faults
        if self.failures:
            found = Counter(s.backend for s in self.failures)
            return "diverges", [f"{name}: {n} new findings" for name, n in found.items()]
        return "conforms", []

    def footer(self) -> dict[str, Any]:
        """Write the footer record."""
        verdict, reasons = self.verdict()
        return {
            "kind": "footer",
            "verdict": verdict,
            "reasons": reasons,
            "cases": self.cases,
            "rich": self.rich,
            "bounded": self.bounded,
            "collateral": self.collateral,
            "lanes": self.lanes,
            "orders": self.orders,
            "ledger": self.ledger,
            "counts": self.counts,
            "deviations": self.deviations,
            "laws": self.laws,
            "ratios": self.ratios,
            "worst": self.worst,
            "nulls": self.nulls.record(),
            "findings": len(self.failures),
            "seconds": self.seconds,
        }

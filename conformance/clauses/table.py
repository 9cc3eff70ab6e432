"""The clause table: what every backend makes of every promise and every switch, by their curated cases.

They are judged as the cases of a campaign are, so that nothing a framework damages is there for the next.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from conformance.backends.registry import registration
from conformance.campaign.records.clauses import ClauseCase, ClauseCell, ClauseRow
from conformance.campaign.records.gate import ClausesRecord
from conformance.campaign.workers.backend_cache import backend as open_in_process
from conformance.case.steps import parameters
from conformance.clauses import CURATED
from conformance.clauses.checks import CHECKS
from conformance.deviations.entries import known
from conformance.judge.documents import documents, promises
from conformance.judge.verdict import AGREEING, Bucket
from reference_impl import DIALECTS
from reference_impl.dialects.switches import SWITCHES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.campaign.records import BackendRecord
    from conformance.campaign.records.verdicts import MismatchRecord, VerdictRecord
    from conformance.campaign.workers.pool import Heard, Workers
    from conformance.case.case import Case
    from conformance.clauses import Curated
    from reference_impl import Dialect

DIED = "the process died or hung"
SWITCHED = "switches of the dialects"


class Standing(StrEnum):
    """How a backend stands to a clause, from the best to the worst."""

    CONFORMS = "conforms"
    NOT_OFFERED = "not offered"
    DEVIATES = "deviates"
    DIVERGES = "diverges"
    UNCHECKED = "unchecked"


class Result(msgspec.Struct, frozen=True):
    """One case on one backend.

    ``reason``: the finding, why it is not offered, or what differs; of a case that conforms the switches by which its dialect keeps
    another promise than the document's.
    """

    case: str
    standing: Standing
    reason: str = ""


class Cell(msgspec.Struct, frozen=True):
    """All cases of one clause on one backend."""

    results: tuple[Result, ...]

    @property
    def standing(self) -> Standing:
        """The worst of the cases: a clause is kept only if it is kept in all of them."""
        order = list(Standing)
        return max((r.standing for r in self.results), key=order.index, default=Standing.UNCHECKED)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not simply conform."""
        return tuple(dict.fromkeys(r.reason for r in self.results if r.standing is self.standing and r.reason))

    @property
    def text(self) -> str:
        """Standing, in how many of the cases, and reasons, as one line."""
        if self.standing is Standing.CONFORMS:
            switches = sorted({name for reason in self.reasons for name in reason.split(", ")})
            return f"conforms in its dialect ({', '.join(switches)})" if switches else "conforms"
        count = sum(r.standing is self.standing for r in self.results)
        part = "" if count == len(self.results) else f" in {count} of {len(self.results)} cases"
        return f"{self.standing}{part} ({'; '.join(self.reasons)})" if self.reasons else f"{self.standing}{part}"


class Row(msgspec.Struct, frozen=True):
    """One clause or switch: its id, what it promises or asks, the document, and a cell for each backend."""

    id: str
    promise: str
    document: str
    cells: dict[str, Cell]


class Table(msgspec.Struct, frozen=True):
    """The rows, and where the suite itself is at fault: a clause without a case, a reference that contradicts a document."""

    rows: tuple[Row, ...]
    faults: tuple[str, ...]

    def differing(self) -> set[str]:
        """Name the cases that differ on some backend, and no finding explains it."""
        results = (result for row in self.rows for cell in row.cells.values() for result in cell.results)
        return {result.case for result in results if result.standing is Standing.DIVERGES}

    def differences(self) -> Iterator[str]:
        """Yield, in a line each, what no finding explains."""
        for row in self.rows:
            for name, cell in row.cells.items():
                for result in cell.results:
                    if result.standing is Standing.DIVERGES:
                        yield f"{row.id} {result.case} on {name}: {result.reason}"

    def record(self) -> ClausesRecord:
        """Write the table as a record."""
        return ClausesRecord(tuple(map(_row_record, self.rows)), self.faults)


def _row_record(row: Row) -> ClauseRow:
    cells = {
        name: ClauseCell(cell.standing, cell.text, tuple(ClauseCase(r.case, r.standing, r.reason) for r in cell.results))
        for name, cell in row.cells.items()
    }
    return ClauseRow(row.id, row.promise, row.document, cells)


def clause_table(
    backends: Sequence[str], workers: Workers, curated: Iterable[Curated] = CURATED, heard: Heard = lambda _: None
) -> Table:
    """Run the curated cases on the backends, as many at once as there are workers, and draw up the table.

    ``heard`` hears of each case on each backend.

    Raises:
        BackendError: if a backend cannot be opened.
    """
    facts = {name: workers.describe(name) for name in backends}
    asked = list(curated)
    cases: dict[str, list[Curated]] = {}
    for one in asked:
        cases.setdefault(one.clause, []).append(one)
    results: dict[tuple[str, str], list[Result]] = {}
    for name in backends:
        for one, record in zip(asked, workers.judged([one.case for one in asked], name, heard=heard), strict=True):
            results.setdefault((one.clause, name), []).append(_result(one, facts[name], record.verdicts[name]))
    rows = []
    faults = []
    for clause, promise, document in _clauses():
        mine = cases.pop(clause, [])
        checks = [number for number, check in enumerate(CHECKS) if check.clause == clause]
        cells = {
            name: Cell(
                (
                    *results.get((clause, name), ()),
                    *(_checked(number, facts[name], workers) for number in checks),
                )
            )
            for name in backends
        }
        rows.append(Row(clause, promise, document, cells))
        faults += [] if mine or checks else [f"{clause} has no curated case"]
        faults += [f"{one.name}: the reference contradicts the document: {wrong}" for one in mine if (wrong := one.disagreement())]
    faults += [f"{clause} is no clause and no switch" for clause in cases]
    return Table(tuple(rows), tuple(faults))


def _clauses() -> Iterator[tuple[str, str, str]]:
    for document in documents():
        for clause, promise in document.promises.items():
            yield clause, promise, document.name
    for switch in SWITCHES:
        yield switch.field, switch.question, SWITCHED


def _result(one: Curated, backend: BackendRecord, verdict: VerdictRecord) -> Result:
    if verdict.bucket is Bucket.KNOWN_DEVIATION:
        return Result(one.title, Standing.DEVIATES, _finding(verdict.deviation))
    if verdict.bucket in AGREEING:
        refusal = _refusal(one.case, backend.not_offered)
        if refusal:
            return Result(one.title, Standing.NOT_OFFERED, refusal)
        return Result(one.title, Standing.CONFORMS, ", ".join(_otherwise(one, DIALECTS.get(backend.dialect, one.dialect))))
    return Result(one.title, Standing.DIVERGES, f"{verdict.bucket}{_differing(verdict.mismatch)}")


def _differing(found: MismatchRecord | None) -> str:
    """Say what differs; the details alone may be what the reference says when it refuses, which the engine did not."""
    if found is None:
        return ""
    detail = " ".join(found.detail.split())
    return f": {found.kind}: expected {found.expected}, actual {found.actual}{f' ({detail})' if detail else ''}"


def _checked(number: int, backend: BackendRecord, workers: Workers) -> Result:
    check, name = CHECKS[number], backend.name
    if not registration(name).static:
        reason = backend.not_offered.get("step:append_backward", "it has no static programs")
        return Result(check.title, Standing.NOT_OFFERED, reason)
    said = workers.call(disagreement, number, name)
    if said is None:
        return Result(check.title, Standing.DIVERGES, DIED)
    finding = check.known.get(name)
    if finding is None:
        return Result(check.title, Standing.DIVERGES if said else Standing.CONFORMS, said or "")
    return Result(check.title, Standing.DEVIATES if said else Standing.DIVERGES, finding if said else f"{finding} no longer shows")


def disagreement(number: int, name: str) -> str:
    """Run a check on a backend, in whatever process this is called."""
    return CHECKS[number].disagreement(open_in_process(name))


def _otherwise(one: Curated, dialect: Dialect) -> Iterator[str]:
    """Yield the switches that make a dialect answer a case differently from the document, in more than a flag."""
    if one.clause in promises():
        for switch in SWITCHES:
            set_to = getattr(dialect, switch.field)
            found = None if set_to == getattr(one.dialect, switch.field) else one.difference(**{switch.field: set_to})
            if found is not None and found.kind != "flag":
                yield switch.field


def _finding(deviation: str | None) -> str:
    return next(entry.finding for entry in known() if entry.id == deviation)


def _refusal(case: Case, not_offered: Mapping[str, str]) -> str:
    passed = (name for step in case.steps for name in parameters(step))
    return next((not_offered[name] for name in passed if name in not_offered), "")

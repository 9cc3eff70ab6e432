"""From the records of a run to what the page shows; the template only prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.campaign.records import CaseRecord, FindingRecord, Footer, Header, Interruption, RunVerdict
from conformance.campaign.records.gate import ClausesRecord, MutantsRecord, PointsRecord
from conformance.case.files import encode
from conformance.case.place import END, StepNumber
from conformance.case.prose import counted, percent
from conformance.generate.scripts import DrawOptions, odds_of, usual_later
from conformance.judge.verdict import FAILING
from conformance.laws.table import COLUMNS
from conformance.report import tables
from conformance.report.derivatives import Derivatives, derivatives_of
from conformance.report.graph import Picture, draw
from conformance.report.grid import LEGEND, GridView, grids_of
from conformance.report.words import (
    REPEATED,
    VERDICTS,
    WHO,
    accepted_text,
    again_text,
    by_reason,
    elsewhere_text,
    failed_text,
    headline,
    in_some_text,
    marked,
    node_text,
    shrinking,
    summary,
    suspects_text,
    value_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.campaign.records import Record, StepRecord

MOST_PROBLEMS = 12
"""How many reasons are listed why a run is no result."""
DRAWN = 200
"""Of more steps nobody can read a picture, and lanes between its layers are as many as steps times layers."""


@dataclass(frozen=True, slots=True)
class StepView:
    """One line of a script, with expected and actual cut where they differ. ``state``: ``diverging``, ``after`` or empty."""

    anchor: str
    number: str
    text: str
    expected: list[tuple[str, bool]]
    actual: list[tuple[str, bool]]
    state: str


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding."""

    id: str
    anchor: str
    backend: str
    bucket: str
    at: str
    title: str
    what: str
    detail: str
    who: str
    place: str
    votes: list[tuple[str, str, str, str]]
    node: str
    count: int
    index: int
    shrinking: str
    again: str
    suspects: str
    in_some: str
    elsewhere: str
    failed: str
    steps: list[StepView]
    diverging: str
    picture: Picture | None
    case: str
    before: list[str]
    replay: str
    script: str


@dataclass(frozen=True, slots=True)
class BackendView:
    """A backend as it ran."""

    name: str
    version: str
    dialect: str
    repeatable: str
    not_offered: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ReportView:
    """The page."""

    verdict: str
    title: str
    reasons: list[str]
    suite: str
    command: str
    settings: list[tuple[str, str]]
    environment: list[tuple[str, str]]
    backends: list[BackendView]
    ops_not_offered: list[tuple[str, str]]
    tiles: list[tuple[str, str, str]]
    ledger: tables.Ledger | None
    coverage: tables.Coverage | None
    derivatives: Derivatives | None
    law_columns: tuple[str, ...]
    laws: list[tuple[tables.Row, str]]
    errors: tables.Errors | None
    innocence: tables.Innocence | None
    speed: tables.Speed | None
    deviations: list[tables.KnownDeviation]
    followed: list[tuple[str, str, int]]
    clauses: list[tuple[str, list[tables.Clause]]]
    points: list[tables.Row]
    grids: list[GridView]
    grid_legend: list[tuple[str, str]]
    power: tables.Power | None
    findings: list[FindingView]
    accepted: list[tuple[str, str]]


@dataclass
class _Run:
    header: Header | None = None
    footer: Footer | None = None
    clauses: ClausesRecord | None = None
    points: PointsRecord | None = None
    mutants: MutantsRecord | None = None
    interruption: Interruption | None = None
    cases: int = 0
    footers: int = 0
    findings: list[FindingView] = field(default_factory=list)


INVALID = "INVALID: this run is no result"


def _read(records: Iterable[Record]) -> _Run:
    """Read the records once; case records are counted and let go."""
    run = _Run()
    for record in records:
        match record:
            case Header():
                run.header = record
            case CaseRecord():
                run.cases += 1
            case FindingRecord():
                run.findings.append(_finding(record))
            case ClausesRecord():
                run.clauses = record
            case PointsRecord():
                run.points = record
            case MutantsRecord():
                run.mutants = record
            case Footer():
                run.footer = record
                run.footers += 1
            case Interruption():
                run.interruption = record
    return run


def view_of(records: Iterable[Record]) -> ReportView:
    """Turn the records of a run into what its page shows."""
    run = _read(records)
    header, footer = run.header, run.footer
    described = header.backends if header else ()
    backends = [b.name for b in described] or list(footer.ledger if footer else ())
    problems = list(_problems(run, backends))
    valid = footer is not None and not problems
    return ReportView(
        verdict=footer.verdict if footer and valid else "invalid",
        title=VERDICTS[footer.verdict].capitalize() if footer and valid else INVALID,
        reasons=problems[:MOST_PROBLEMS] + list((*footer.reasons, *footer.broken) if footer else ()),
        suite=header.suite if header else "",
        command=header.command if header else "",
        settings=list(_settings(header)) if header else [],
        environment=list(header.environment.items()) if header else [],
        backends=[BackendView(b.name, b.version, b.dialect, REPEATED[b.repeatable], by_reason(b.not_offered)) for b in described],
        ops_not_offered=list(header.ops_not_offered.items()) if header else [],
        tiles=list(_tiles(run, backends)),
        ledger=tables.ledger_of(footer, backends) if footer else None,
        coverage=tables.coverage_of(footer, backends) if footer else None,
        derivatives=derivatives_of(footer, backends, header) if footer else None,
        law_columns=COLUMNS,
        laws=tables.laws_of(footer, backends) if footer else [],
        errors=tables.errors_of(footer, backends) if footer else None,
        innocence=tables.innocence_of(footer) if footer else None,
        speed=tables.speed_of(footer) if footer else None,
        deviations=tables.deviations_of(footer) if footer else [],
        followed=list(_followed(footer)) if footer else [],
        clauses=tables.clauses_of(run.clauses, backends) if run.clauses else [],
        points=_points(run.points, backends) if run.points else [],
        grids=grids_of(footer, backends) if footer else [],
        grid_legend=LEGEND,
        power=tables.power_of(run.mutants) if run.mutants else None,
        findings=run.findings,
        accepted=[(met.id, accepted_text(met).removeprefix(f"{met.id}: ")) for met in footer.accepted] if footer else [],
    )


def _followed(footer: Footer) -> Iterator[tuple[str, str, int]]:
    """Yield what backends do where nobody promises anything: the backend, what it does, and in how many cases."""
    yield from ((name, *row) for name, rows in footer.followed.items() for row in rows.items())
    yield from ((known.backend, known.reason, known.count) for known in tables.deviations_of(footer, unpromised=True))


def _points(record: PointsRecord, backends: list[str]) -> list[tables.Row]:
    """Tell how many special points ended in which bucket."""
    swept = {sweep.backend: sweep.points for sweep in record.swept}
    buckets = sorted({bucket for points in swept.values() for bucket in points})
    return [tables.Row(bucket.replace("_", " "), [swept.get(name, {}).get(bucket, 0) for name in backends]) for bucket in buckets]


def _problems(run: _Run, backends: list[str]) -> Iterator[str]:
    """Yield why the records are no result: they are incomplete, or they contradict themselves."""
    if run.header is None:
        yield "The header is missing: nothing says what was run."
    footer = run.footer
    if footer is None:
        ended = f"was interrupted ({run.interruption.reason})" if run.interruption else "did not end"
        yield f"The footer is missing: the run {ended}. From the {run.cases:,} cases recorded nothing may be concluded."
        return
    if run.footers > 1:
        yield f"There are {run.footers} footers; the records of several runs are mixed."
    if run.cases and run.cases != footer.cases:
        yield f"{run.cases:,} cases are recorded, but the footer counts {footer.cases:,}."
    if len(run.findings) != footer.findings:
        yield f"The record has {counted(len(run.findings), 'finding')}, but the footer counts {footer.findings}."
    yield from _ledger_problems(footer, backends)


def _ledger_problems(footer: Footer, backends: list[str]) -> Iterator[str]:
    conforms = footer.verdict is RunVerdict.CONFORMS
    totals = {tables.total_of(footer, name) for name in backends}
    for name in backends:
        entries = footer.ledger.get(name, {})
        total = tables.total_of(footer, name)
        if footer.cases not in (total, sum(totals)):  # the sum is that of the halves, of eager scripts and of programs
            yield f"{name}: the buckets sum to {total:,}, but {footer.cases:,} cases were generated."
        if conforms and not tables.compared(footer, name) and (total or len(totals) == 1):
            yield f"{name}: nothing was compared, so nothing conforms."
        accepted = sum(met.count for met in footer.accepted if met.backend == name)
        if conforms and sum(entries.get(b, 0) for b in FAILING) > accepted:
            yield f"{name}: the ledger has failing cases, but the verdict is that it conforms."


def _settings(header: Header) -> Iterator[tuple[str, str]]:
    yield "started", header.started
    yield "seed", str(header.seed)
    yield "cases", f"{header.cases:,}" + (f", {header.grid:,} of them of the grid" if header.grid else "")
    yield "lanes", ", ".join(header.lanes)
    yield "ops", "all" if header.ops is None else ", ".join(header.ops)
    yield "jobs", str(header.jobs)
    if header.profile != "usual":
        yield "profile", header.profile
    usual = odds_of(DrawOptions(profile=header.profile, later=usual_later(header.ops, header.profile)))
    if unusual := {name: value for name, value in header.odds.items() if value != usual.get(name)}:
        yield "odds other than usual", ", ".join(f"{name} = {value:g}" for name, value in unusual.items())


def _tiles(run: _Run, backends: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the numbers at the top: number, what it is, tone."""
    count, footer = len(run.findings), run.footer
    yield f"{count:,}", "finding" if count == 1 else "findings", "bad" if count else ""
    if footer is None:
        yield f"{run.cases:,}", "cases recorded", ""
        return
    yield f"{footer.cases:,}", "cases", ""
    shares = [(tables.compared(footer, name), total) for name in backends if (total := tables.total_of(footer, name))]
    if shares:  # a run of few cases may have none for programs
        yield percent(*min(shares, key=lambda share: share[0] / share[1])), "really compared", ""
    yield f"{sum(c.get('gradients', 0) for c in footer.counts.values()):,}", "gradients compared", ""
    yield f"{len(tables.deviations_of(footer))}", "known deviations seen", ""


def _finding(record: FindingRecord) -> FindingView:
    anchor = "finding-" + re.sub(r"[^\w.-]", "-", record.id)
    found = record.mismatch
    number = None if found is None else found.place
    steps = [_step(anchor, i, step, number) for i, step in enumerate(record.steps)]
    if found is not None and found.place is END:
        expected, actual = marked(found.expected, found.actual)
        steps.append(StepView(f"{anchor}-end", "end", "after the last step", expected, actual, "diverging"))
    return FindingView(
        id=record.id,
        anchor=anchor,
        backend=record.backend,
        bucket=record.bucket.replace("_", " "),
        at=record.at,
        title=headline(record),
        what=summary(record),
        detail="" if found is None or found.detail == value_name(found) else found.detail,
        who=WHO[record.blame.who] if record.blame else "",
        place=record.blame.node if record.blame else "",
        votes=[(v.voter, v.accused, v.reference, v.reason) for v in record.blame.votes] if record.blame else [],
        node=node_text(record),
        count=record.count,
        index=record.index,
        shrinking=shrinking(record),
        again=again_text(record),
        suspects=suspects_text(record),
        in_some=in_some_text(record),
        elsewhere=elsewhere_text(record),
        failed=failed_text(record),
        steps=steps,
        diverging=next((s.anchor for s in steps if s.state == "diverging"), ""),
        picture=draw(record.case, number) if len(record.case.steps) <= DRAWN else None,
        case=encode(record.case),
        before=[encode(case) for case in record.before],
        replay=record.replay,
        script=record.script,
    )


def _step(anchor: str, index: int, step: StepRecord, diverging: StepNumber | None) -> StepView:
    expected, actual = marked(*(side.replace("; ", "\n") for side in (step.expected, step.actual)))
    after = isinstance(diverging, int) and diverging < index
    state = "diverging" if index == diverging else "after" if after else ""
    return StepView(f"{anchor}-step-{index}", str(index), step.text, expected, actual, state)

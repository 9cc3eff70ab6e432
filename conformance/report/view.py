"""From the records of a run to what the page shows; the template only prints."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from conformance.case import Case, encode
from conformance.judge.verdict import FAILING
from conformance.laws.table import COLUMNS
from conformance.report import tables
from conformance.report.graph import AT_END, Picture, draw
from conformance.report.words import headline, marked, summary, value_name
from conformance.texts import blame_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_PROBLEMS = 12


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
    blame: list[str]
    count: int
    index: str
    steps: list[StepView]
    diverging: str
    picture: Picture | None
    case: str
    replay: str
    script: str


@dataclass(frozen=True, slots=True)
class BackendView:
    """A backend as it ran."""

    name: str
    version: str
    dialect: str
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
    law_columns: tuple[str, ...]
    laws: list[tuple[tables.Row, str]]
    errors: tables.Errors | None
    innocence: tables.Innocence | None
    speed: tables.Speed | None
    deviations: list[tables.KnownDeviation]
    clauses: list[tuple[str, list[tables.Clause]]]
    points: list[tables.Row]
    power: tables.Power | None
    findings: list[FindingView]


@dataclass
class _Run:
    header: dict[str, Any] | None = None
    footer: dict[str, Any] | None = None
    clauses: dict[str, Any] | None = None
    points: dict[str, Any] | None = None
    mutants: dict[str, Any] | None = None
    seen: Counter[str] = field(default_factory=Counter)
    findings: list[FindingView] = field(default_factory=list)


TITLES = {
    "conforms": "Conforms",
    "diverges": "Diverges",
    "suite_error": "Fault of the suite",
    "invalid": "INVALID: this run is no result",
}


def view_of(records: Iterable[dict[str, Any]]) -> ReportView:
    """Read the records once; case records are counted and let go."""
    run = _Run()
    for record in records:
        kind = str(record.get("kind"))
        run.seen[kind] += 1
        if kind == "header":
            run.header = record
        elif kind == "footer":
            run.footer = record
        elif kind == "clauses":
            run.clauses = record
        elif kind == "points":
            run.points = record
        elif kind == "mutants":
            run.mutants = record
        elif kind == "finding":
            run.findings.append(_finding(record))
    header, footer = run.header or {}, run.footer
    backends = [str(b["name"]) for b in header.get("backends", [])] or list((footer or {}).get("ledger", {}))
    problems = list(_problems(run, backends))
    claimed = str(footer.get("verdict")) if footer else ""
    verdict = "invalid" if problems or claimed not in TITLES else claimed
    reasons = problems[:MOST_PROBLEMS] + [str(r) for r in (footer or {}).get("reasons", [])]
    return ReportView(
        verdict=verdict,
        title=TITLES[verdict],
        reasons=reasons,
        suite=str(header.get("suite", "")),
        command=str(header.get("command", "")),
        settings=list(_settings(header)),
        environment=[(str(k), str(v)) for k, v in header.get("environment", {}).items()],
        backends=[
            BackendView(str(b["name"]), str(b.get("version", "")), str(b.get("dialect", "")), sorted(b.get("not_offered", {}).items()))
            for b in header.get("backends", [])
        ],
        ops_not_offered=list(header.get("ops_not_offered", {}).items()),
        tiles=list(_tiles(run, backends)),
        ledger=tables.ledger_of(footer, backends) if footer else None,
        coverage=tables.coverage_of(footer, backends) if footer else None,
        law_columns=COLUMNS,
        laws=tables.laws_of(footer, backends) if footer else [],
        errors=tables.errors_of(footer, backends) if footer else None,
        innocence=tables.innocence_of(footer) if footer else None,
        speed=tables.speed_of(footer, backends) if footer else None,
        deviations=tables.deviations_of(footer) if footer else [],
        clauses=tables.clauses_of(run.clauses, backends) if run.clauses else [],
        points=_points(run.points, backends) if run.points else [],
        power=tables.power_of(run.mutants) if run.mutants else None,
        findings=run.findings,
    )


def _points(record: dict[str, Any], backends: list[str]) -> list[tables.Row]:
    """Tell how many special points ended in which bucket."""
    swept = {found["backend"]: found["points"] for found in record["swept"]}
    buckets = sorted({bucket for points in swept.values() for bucket in points})
    return [tables.Row(bucket.replace("_", " "), [swept.get(name, {}).get(bucket, 0) for name in backends]) for bucket in buckets]


def _problems(run: _Run, backends: list[str]) -> Iterator[str]:
    """Yield why the records are no result: they are incomplete, or they contradict themselves."""
    if run.header is None:
        yield "The header is missing: nothing says what was run."
    if run.footer is None:
        cases = run.seen["case"]
        yield f"The footer is missing: the run did not end. From the {cases:,} cases recorded nothing may be concluded."
        return
    footer = run.footer
    if run.seen["footer"] > 1:
        yield f"There are {run.seen['footer']} footers; the records of several runs are mixed."
    claimed = footer.get("verdict")
    if claimed not in TITLES:
        yield f"The footer's verdict {claimed!r} is unknown."
    cases = int(footer.get("cases", 0))
    if run.seen["case"] and run.seen["case"] != cases:
        yield f"{run.seen['case']:,} cases are recorded, but the footer counts {cases:,}."
    if run.seen["finding"] != footer.get("findings", run.seen["finding"]):
        yield f"{run.seen['finding']} findings are recorded, but the footer counts {footer['findings']}."
    yield from _ledger_problems(footer, backends)


def _ledger_problems(footer: dict[str, Any], backends: list[str]) -> Iterator[str]:
    cases, claimed = int(footer.get("cases", 0)), footer.get("verdict")
    for name in backends:
        entries = footer.get("ledger", {}).get(name, {})
        total = sum(entries.values())
        if total != cases:
            yield f"{name}: the buckets sum to {total:,}, but {cases:,} cases were generated."
        if claimed == "conforms" and not tables.compared(footer, name):
            yield f"{name}: nothing was compared, so nothing conforms."
        if claimed == "conforms" and any(entries.get(b) for b in FAILING):
            yield f"{name}: the ledger has failing cases, but the verdict is that it conforms."


def _settings(header: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("started", "seed", "cases", "lanes", "ops", "jobs"):
        value = header.get(name)
        if name == "ops" and value is None and header:
            value = "all"
        if value is not None:
            text = f"{value:,}" if name == "cases" else str(value)
            yield name, ", ".join(map(str, value)) if isinstance(value, list) else text


def _tiles(run: _Run, backends: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the numbers at the top: number, what it is, tone."""
    count = len(run.findings)
    yield f"{count:,}", "finding" if count == 1 else "findings", "bad" if count else ""
    if run.footer is None:
        yield f"{run.seen['case']:,}", "cases recorded", ""
        return
    cases = int(run.footer.get("cases", 0))
    yield f"{cases:,}", "cases", ""
    if backends:
        yield tables.percent(min(tables.compared(run.footer, n) for n in backends), cases), "really compared", ""
    counts = run.footer.get("counts", {})
    yield f"{sum(c.get('gradients', 0) for c in counts.values()):,}", "gradients compared", ""
    yield f"{len(tables.deviations_of(run.footer))}", "known deviations seen", ""


def _finding(record: dict[str, Any]) -> FindingView:
    name = str(record.get("id", ""))
    anchor = "finding-" + re.sub(r"[^\w.-]", "-", name)
    found = record.get("mismatch") or {}
    number = found.get("step")
    steps = [_step(anchor, i, step, number) for i, step in enumerate(record.get("steps", []))]
    if number == AT_END:
        text = "after the last step"
        expected, actual = marked(str(found.get("expected", "")), str(found.get("actual", "")))
        steps.append(StepView(f"{anchor}-end", "end", text, expected, actual, "diverging"))
    picture, text = _case(record.get("case"), number)
    return FindingView(
        id=name,
        anchor=anchor,
        backend=str(record.get("backend", "")),
        bucket=str(record.get("bucket", "")).replace("_", " "),
        at=str(record.get("at", "")),
        title=headline(record),
        what=summary(record),
        detail="" if found.get("detail") == value_name(found) else str(found.get("detail", "")),
        blame=blame_text(record.get("blame")),
        count=int(record.get("count", 1)),
        index=str(record.get("index", "?")),
        steps=steps,
        diverging=next((s.anchor for s in steps if s.state == "diverging"), ""),
        picture=picture,
        case=text,
        replay=str(record.get("replay", "")),
        script=str(record.get("script", "")),
    )


def _step(anchor: str, index: int, step: dict[str, Any], diverging: int | None) -> StepView:
    expected, actual = marked(*(str(step.get(side) or "").replace("; ", "\n") for side in ("expected", "actual")))
    after = diverging is not None and 0 <= diverging < index
    state = "diverging" if index == diverging else "after" if after else ""
    return StepView(f"{anchor}-step-{index}", str(index), str(step.get("text", "")), expected, actual, state)


def _case(recorded: Any, diverging: int | None) -> tuple[Picture | None, str]:
    """Draw and write the case; one of another schema is written as it stands, without a picture."""
    try:
        case = msgspec.convert(msgspec.to_builtins(recorded), Case)
    except msgspec.ValidationError:
        return None, json.dumps(recorded, indent=1, default=str)
    return draw(case, diverging), encode(case)

"""The summary of a run in the terminal: a line for each backend, what the suite was measured by, what is new, and the verdict.

Nobody reads a hundred lines after every run, so that is all; the tables are in `details`, and on the page.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from conformance.campaign.records import CaseRecord, ExitReason, FindingRecord, Footer, Header, RecordError, RunVerdict
from conformance.case.place import END, read_recorded
from conformance.case.prose import counted
from conformance.deviations.entries import CRASH
from conformance.judge.verdict import AGREEING, COMPARED, CONVENTION, Bucket
from conformance.report.costs import pace
from conformance.report.tables import deviations_of, share_compared, total_of
from conformance.report.words import (
    AGAIN,
    VERDICTS,
    WHO,
    accepted_text,
    failed_text,
    in_some_text,
    lacking_texts,
    node_text,
    per_million,
    summary,
    suspects_text,
)
from reference_impl.dialects.conventions import plain_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from rich.console import Console

    from conformance.campaign.findings.explain import Explanation
    from conformance.campaign.records import BackendRecord, Record
    from conformance.campaign.records.verdicts import VerdictRecord

COLOURS = {
    RunVerdict.CONFORMS: "bold green",
    RunVerdict.DIVERGES: "bold red",
    RunVerdict.NO_RESULT: "bold yellow",
    RunVerdict.SUITE_ERROR: "bold magenta",
}
HEADINGS = ("cases", "agree", "known deviations", "new findings", "compared")
LOST = {
    Bucket.CRASHED: "crashed",
    Bucket.TIMED_OUT: "did not come back",
    "poisoned": "left damaged",
    "deaths": "died and did not die again alone",
}
"""Why a process was replaced, in words."""
OPS_SHOWN = 4
BROKEN_SHOWN = 20


@dataclass
class Run:
    """What a summary tells of a finished run.

    ``lost``: how many cases cost their process, by the reasons of `LOST`.
    """

    header: Header
    footer: Footer
    findings: list[FindingRecord] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)

    @property
    def names(self) -> dict[str, str]:
        """What each backend is called where room is scarce."""
        return short_names(self.header.backends)


@dataclass
class Checked:
    """What a gate found beside its campaign; of a plain run only its baseline is checked.

    Attributes:
        broken: what is not as it should be, a line each, which the footer gets.
        measures: the sums, such as ``points 1696/1696``.
        tables: what only those see who ask for details.
        notes: what is as it may be, and worth a line.
    """

    broken: list[str] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    measures: list[str] = field(default_factory=list)
    tables: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run_of(records: Iterable[Record]) -> Run:
    """Gather what the summary needs of the records of a run.

    Raises:
        RecordError: if the run did not end.
    """
    header, footer = None, None
    findings: list[FindingRecord] = []
    lost: Counter[str] = Counter()
    for record in records:
        match record:
            case Header():
                header = record
            case Footer():
                footer = record
            case FindingRecord():
                findings.append(record)
            case CaseRecord():
                lost.update(_lost(record))
    if header is None or footer is None:
        raise RecordError("the record has no footer: the run did not end")
    return Run(header, footer, findings, lost)


def _lost(record: CaseRecord) -> Counter[str]:
    found = [v.mismatch for v in record.verdicts.values() if v.mismatch is not None and v.mismatch.kind == CRASH]
    return Counter({**Counter(m.actual for m in found), "poisoned": record.poisoned, "deaths": record.deaths})


def short_names(backends: Sequence[BackendRecord]) -> dict[str, str]:
    """Give every backend a short name of its own.

    That is its name, but for one that was given as ``module:attribute``: what it calls itself, or else its plain name.
    """
    named = {b.name: b.name for b in backends if not set(b.name) & set(":.")}
    for backend in backends:
        if backend.name not in named:
            names = backend.title, plain_name(backend.name), backend.name
            named[backend.name] = next(n for n in names if n and n not in named.values())
    return named


def show_summary(console: Console, run: Run, page: Path, checked: Checked) -> None:
    """Print the summary of a run, or of a gate; ``page`` is the file of its report."""
    console.print(_backends(run))
    for line in [*_flowed([*checked.measures, *_measures(run)], console.width), *_replaced(run)]:
        console.print(Text(line))
    for finding in run.findings:
        console.print(Text(_wrapped(finding_line(finding), console.width), "red"))
        console.print(Text(f"  {finding.replay}"), soft_wrap=True)
    short = run.footer.verdict is RunVerdict.NO_RESULT  # else it is a detail for what too little was compared
    lacking = lacking_texts(run.footer, run.names) if short else ()
    for line in [*lacking, *_unmapped(run), *_other_releases(run), *checked.notes]:
        console.print(Text(_wrapped(line, console.width)))
    for met in run.footer.accepted:
        console.print(Text(_wrapped(accepted_text(met), console.width)))
    broken = run.footer.broken
    rest = len(broken) - BROKEN_SHOWN
    more = [f"and {rest} more, in {page}"] if rest > 0 else []
    for line in [*broken[:BROKEN_SHOWN], *more, *run.footer.faults]:
        console.print(Text(_wrapped(line, console.width), "red"))
    verdict = run.footer.verdict
    console.print(Text.assemble((VERDICTS[verdict], COLOURS[verdict]), f".  Details: {page}"), soft_wrap=True)


def _wrapped(text: str, width: int) -> str:
    """Break a text into lines, and no word that has hyphens: it may be a name."""
    return fill(text, width, subsequent_indent="  ", break_on_hyphens=False)


def _backends(run: Run) -> Table:
    """Return a line for each backend: how its cases ended."""
    footer, found = run.footer, Counter(f.backend for f in run.findings)
    table = Table(box=None, pad_edge=False, header_style="")
    table.add_column("", overflow="fold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for backend in run.header.backends:
        ledger = footer.ledger[backend.name]
        agree = sum(ledger.get(b, 0) for b in COMPARED if b in AGREEING)
        entries = sum(known.backend == backend.name for known in deviations_of(footer))
        of = f" ({entries} {'entry' if entries == 1 else 'entries'})" if entries else ""
        known = f"{ledger.get(Bucket.KNOWN_DEVIATION, 0)}{of}"
        new = Text(str(found[backend.name]), "bold red" if found[backend.name] else "")
        name = f"{run.names[backend.name]} {backend.version.partition('+')[0]}"
        cases, compared = str(total_of(footer, backend.name)), share_compared(footer, backend.name)
        table.add_row(Text(name), cases, str(agree), known, new, compared)
    return table


def _measures(run: Run) -> list[str]:
    nulls, ended = run.footer.nulls, run.footer.exit_reason
    said = []
    if nulls.comparisons:
        alarms = f"{counted(nulls.alarms, 'false alarm')} in {nulls.comparisons}"
        said.append(alarms if nulls.alarms else f"false alarms < {per_million(nulls)} per million")
    spent = ["the budget is spent"] if ended is ExitReason.BUDGET else []
    return [*said, *pace(run.footer), *spent]


def _flowed(parts: Sequence[str], width: int) -> list[str]:
    """Set parts beside each other as far as they fit, and break none."""
    lines = [parts[0]]
    for part in parts[1:]:
        joined = f"{lines[-1]}   {part}"
        lines[-1:] = [joined] if len(joined) <= width else [lines[-1], part]
    return lines


def _replaced(run: Run) -> list[str]:
    reasons = [f"{run.lost[reason]} {words}" for reason, words in LOST.items() if run.lost[reason]]
    return [f"processes replaced: {', '.join(reasons)}"] if reasons else []


def _unmapped(run: Run) -> Iterator[str]:
    """Say of exceptions that no category is given where an adapter gives them one: until then each message is a finding of its own."""
    found = Counter(f.backend for f in run.findings if f.mismatch is not None and f.mismatch.actual == "unmapped")
    others = _others(run)
    for backend, count in found.items():
        which = f"{counted(count, 'finding')} {'is an exception' if count == 1 else 'are exceptions'} without a category (unmapped)"
        if backend in others:
            known, version = others[backend]
            meant = f"the adapter knows in which words {known} refuses, and {version} may word some of it otherwise"
        else:
            meant = "name what is meant as a refusal in category() of the adapter, and what the engine lacks in not_offered"
        yield f"{run.names[backend]}: {which}: {meant}; the rest are its bugs"


def _other_releases(run: Run) -> Iterator[str]:
    """Say of findings of a release other than the one that the suite knows that they may be of that release alone."""
    found = {finding.backend for finding in run.findings}
    for name, (known, version) in _others(run).items():
        if name in found:
            yield f"{name} {known} is what the suite knows; what is new in {version} may not be there in {known}"


def _others(run: Run) -> dict[str, tuple[str, str]]:
    """Return the backends of a release other than the one that the suite knows, each with that one and its own."""
    found = {}
    for backend in run.header.backends:
        version = backend.version.partition("+")[0]
        match backend.conventions.split():
            case [backend.name, known, _] if known != version:
                found[backend.name] = known, version
    return found


def finding_line(finding: FindingRecord) -> str:
    """Say in one line what a finding is: the difference, the ops, the node, and who is wrong."""
    more = f" and {len(finding.ops) - OPS_SHOWN} more" if len(finding.ops) > OPS_SHOWN else ""
    ops = f" with {', '.join(finding.ops[:OPS_SHOWN])}{more}" if finding.ops and finding.at != f"op:{' '.join(finding.ops)}" else ""
    blame = finding.blame
    who = ["nobody could be asked who is wrong"] if blame is None else [node_text(finding), WHO[blame.who]]
    also = f" and {counted(len(finding.also_at), 'other op')}" if finding.also_at and finding.fingerprint.kind != CONVENTION else ""
    what = f"{finding.bucket.replace('_', ' ')} at {finding.at or 'run'}{also}{ops}, {counted(finding.count, 'case')}"
    once = [AGAIN[finding.again]] if AGAIN[finding.again] else []
    suspect = [text for text in (in_some_text(finding), suspects_text(finding)) if text]
    failed = [text] if (text := failed_text(finding)) else []
    return "; ".join([f"{finding.id}: {what}: {summary(finding)}", *suspect, *once, *who, *failed])


def replay_lines(explained: Explanation, death: VerdictRecord | None = None) -> list[str]:
    """Write a case that was run again: its steps, expected and actual, the laws that were tried, and the verdict.

    That is on a ``death`` where the case, which came through by itself, ended its process when laws were tried on it.
    """
    lines = []
    for number, step in enumerate(explained.steps):
        lines.append(f"{number:>4}  {step.text}")
        if step.expected == step.actual:
            lines.append(f"        both     {step.expected}")
        else:
            lines += [f"        expected {step.expected}", f"        actual   {step.actual}"]
    for tried in explained.laws:
        place = "whole script" if read_recorded(tried.step) is END else f"step {tried.step}"
        lines.append(f"law {tried.law}, {place}: {tried.status}{': ' if tried.detail else ''}{tried.detail}")
    return lines + verdict_lines(death or explained.verdict)


def verdict_lines(verdict: VerdictRecord) -> list[str]:
    """Write what came of a case that was run again; it may have ended its process, so that no step of it was seen."""
    mismatch = verdict.mismatch
    lines = [f"followed, since no document says what is right: {choice}: {option}" for choice, option in verdict.followed.items()]
    lines.append(f"verdict: {verdict.bucket}{f' ({verdict.deviation})' if verdict.deviation else ''}")
    if mismatch is not None:
        lines.append(f"  step {mismatch.step} ({mismatch.at}): expected {mismatch.expected}, got {mismatch.actual}")
        lines.append(f"  {' '.join(mismatch.detail.split())[:300]}")
    return lines

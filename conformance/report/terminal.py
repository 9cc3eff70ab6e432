"""The summary of a run in the terminal: what was compared, the ledger, what was found."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from rich.table import Table

from conformance.campaign.coverage import CELLS, ORDERS, gaps, key_of
from conformance.campaign.records import ExitReason, RunVerdict
from conformance.case.place import END, read_recorded
from conformance.judge.verdict import COMPARED, Bucket
from conformance.laws.table import COLUMNS, law_rows
from conformance.report.words import COUNTERS, blame_text, shrinking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from conformance.campaign.explain import Explanation
    from conformance.campaign.records import FindingRecord, Footer

GAPS_SHOWN = 8
DEVIATIONS_SHOWN = 6
BLAME_SHOWN = 2
VERDICTS = {
    RunVerdict.CONFORMS: "[bold green]conforms[/]",
    RunVerdict.DIVERGES: "[bold red]diverges[/]",
    RunVerdict.SUITE_ERROR: "[bold magenta]suite error[/]",
}
ENDED = {ExitReason.CASES: "", ExitReason.BUDGET: ", when the budget was spent"}
COUNTED = ("calls", "gradients", "gradient_elements", "absent", "errors", "ops", "elements", "events", "order 1", "order 2", "order 3")
"""The counters that the terminal shows; the page shows all."""


def show_summary(console: Console, footer: Footer, findings: Sequence[FindingRecord]) -> None:
    """Print the ledger, the coverage, the findings and the verdict."""
    backends = list(footer.ledger)
    console.print(_ledger(footer, backends))
    console.print(_coverage(footer, backends))
    console.print(_parameters(footer, backends))
    if law_rows(footer.laws, backends):
        console.print(_laws(footer, backends))
    for line in _gaps(footer, backends):
        console.print(line, highlight=False)
    for line in [*_deviations(footer, backends), *_after_known(footer, backends)]:
        console.print(line, highlight=False)
    if footer.unreproduced_deaths:
        console.print(
            f"  {footer.unreproduced_deaths} worker deaths did not recur when the case was run alone in a fresh process: "
            "an earlier case of the same process damaged it",
            highlight=False,
        )
    for finding in findings:
        console.print("\n    ".join(_finding(finding)), highlight=False)
    seconds = defaultdict(float, footer.seconds)
    framework = sum(seconds.get(name, 0.0) for name in backends)
    console.print(
        f"{footer.cases} cases in {seconds['wall']:.1f} s{ENDED[footer.exit_reason]}; frameworks {framework:.1f} s, "
        f"reference {seconds['reference']:.1f} s, "
        f"all {seconds['all']:.1f} s: total / framework = {seconds['all'] / max(framework, 1e-9):.2f}",
        highlight=False,
    )
    console.print(
        f"{footer.rich / max(1, footer.cases):.1%} of the cases have a derivative of order 2 or more, an accumulation, a shared "
        f"sub-graph or an expected refusal; lanes {dict(footer.lanes)}; {footer.bounded} comparisons needed derived bounds",
        highlight=False,
    )
    for line in _errors(footer, backends):
        console.print(line, highlight=False)
    nulls = footer.nulls
    console.print(
        f"{nulls.comparisons} null comparisons (right against right): {nulls.alarms} false alarms; with 95 % confidence at most "
        f"{nulls.per_million:.3g} per million",
        highlight=False,
    )
    for reason in footer.reasons:
        console.print(f"  {reason}", highlight=False)
    console.print(f"verdict: {VERDICTS[footer.verdict]}", highlight=False)


def _finding(finding: FindingRecord) -> list[str]:
    mismatch = finding.mismatch
    expected, actual, detail = (
        ("an end", finding.bucket, "") if mismatch is None else (mismatch.expected, mismatch.actual, mismatch.detail)
    )
    first = (
        f"[red]finding[/] {finding.id}: {finding.backend} {finding.bucket} at {finding.at or 'run'}, with "
        f"{', '.join(finding.ops) or 'no op'}, {finding.count} cases: expected {expected}, got {actual}"
    )
    rest = [" ".join(detail.split())[:160], *blame_text(finding.blame)[:BLAME_SHOWN], shrinking(finding), finding.replay]
    return [first, *filter(None, rest)]


def _table(title: str, backends: list[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for name in backends:
        table.add_column(name, justify="right")
    return table


def _ledger(footer: Footer, backends: list[str]) -> Table:
    table = _table("Ledger (cases)", backends)
    for bucket in Bucket:
        row = [footer.ledger[name].get(bucket, 0) for name in backends]
        if any(row):
            table.add_row(bucket.replace("_", " "), *map(str, row))
    cases = max(1, footer.cases)
    shares = [sum(footer.ledger[name].get(b, 0) for b in COMPARED) / cases for name in backends]
    table.add_row("really compared", *(f"{share:.1%}" for share in shares))
    return table


def _coverage(footer: Footer, backends: list[str]) -> Table:
    table = _table("Compared", backends)
    for counter in COUNTED:
        table.add_row(COUNTERS[counter], *(str(footer.counts[name].get(counter, 0)) for name in backends))
    return table


def _parameters(footer: Footer, backends: list[str]) -> Table:
    table = _table("Steps compared, per parameter and order", [f"{name} {order}" for name in backends for order in ("1", "2", "3+")])
    for cell in CELLS:
        offered = {name: cell.offered(footer.not_offered[name]) for name in backends}
        numbers = [(offered[n], footer.counts[n].get(key_of(cell.words, order), 0)) for n in backends for order in ORDERS]
        if any(number for _, number in numbers):
            table.add_row(cell.words, *(str(number) if there else "-" for there, number in numbers))
    return table


def _laws(footer: Footer, backends: list[str]) -> Table:
    table = _table("Laws (cases)", [f"{name} {word}" for name in backends for word in COLUMNS])
    for row in law_rows(footer.laws, backends):
        table.add_row(row.law, *map(str, row.numbers))
    return table


def _errors(footer: Footer, backends: list[str]) -> list[str]:
    lines = []
    for name in backends:
        counted = sum(sum(decades.values()) for decades in footer.ratios.get(name, {}).values())
        if name in footer.worst:
            ratio, step, case = footer.worst[name]
            lines.append(f"  {name}: error over derived bound, in {counted} steps: at most {ratio:.2g}, at {step} of case {case}")
    return lines


def _deviations(footer: Footer, backends: list[str]) -> list[str]:
    lines = []
    for name in backends:
        seen = sorted(footer.deviations[name].items(), key=lambda item: -item[1])
        lines += [f"  known deviation [bold]{entry}[/]: {count} cases" for entry, count in seen[:DEVIATIONS_SHOWN]]
        if len(seen) > DEVIATIONS_SHOWN:
            rest = sum(count for _, count in seen[DEVIATIONS_SHOWN:])
            lines.append(f"  {len(seen) - DEVIATIONS_SHOWN} more known deviations of {name}: {rest} cases; the report lists all")
    return lines


def _after_known(footer: Footer, backends: list[str]) -> list[str]:
    """Say how far the comparison went on after known deviations, and what it set aside as their consequence."""
    counts = {name: footer.counts[name] for name in backends}
    return [
        f"  {name}: after known deviations {c.get('after_known', 0)} more steps were compared and agree; "
        f"{c.get('shadowed', 0)} differences may be consequences"
        for name, c in counts.items()
        if c.get("after_known", 0) + c.get("shadowed", 0)
    ]


def _gaps(footer: Footer, backends: list[str]) -> list[str]:
    lines = []
    for name in backends:
        missing = gaps(footer.counts[name], footer.not_offered[name])
        if missing:
            more = f" and {len(missing) - GAPS_SHOWN} more" if len(missing) > GAPS_SHOWN else ""
            lines.append(f"  {name}: offered and not covered: {', '.join(missing[:GAPS_SHOWN])}{more}")
    return lines


def replay_lines(explained: Explanation) -> list[str]:
    """Write a case that was run again: its steps, expected and actual, the laws that were tried, and the verdict."""
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
    verdict = explained.verdict
    mismatch = verdict.mismatch
    lines.append(f"verdict: {verdict.bucket}{f' ({verdict.deviation})' if verdict.deviation else ''}")
    if mismatch is not None:
        lines.append(f"  step {mismatch.step} ({mismatch.at}): expected {mismatch.expected}, got {mismatch.actual}")
        lines.append(f"  {' '.join(mismatch.detail.split())[:300]}")
    return lines

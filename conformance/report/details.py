"""The tables of a run in the terminal: the ledger, what was compared, the laws, the known deviations, and the findings in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from conformance.campaign.records.coverage import CELLS, ORDERS, gaps, key_of
from conformance.case.prose import counted
from conformance.judge.verdict import Bucket
from conformance.laws.table import COLUMNS, law_rows
from conformance.report.costs import over_bare, rows
from conformance.report.derivatives import derivatives_of, in_words
from conformance.report.tables import deviations_of, share_compared
from conformance.report.words import COUNTERS, again_text, blame_text, lacking_texts, per_million, share_text, shrinking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from conformance.campaign.records import FindingRecord, Footer
    from conformance.report.terminal import Run

GAPS_SHOWN = 8
DEVIATIONS_SHOWN = 6
BLAME_SHOWN = 2
COUNTED = ("calls", "gradients", "gradient_elements", "absent", "errors", "ops", "elements", "events", "order 1", "order 2", "order 3")
"""The counters that the terminal shows; the page shows all."""


def show_details(console: Console, run: Run) -> None:
    """Print the ledger, the coverage, the laws, the known deviations, the findings, and the times."""
    footer, names = run.footer, run.names
    console.print(_ledger(footer, names))
    console.print(_coverage(footer, names))
    console.print(_parameters(footer, names))
    console.print(_costs(footer))
    if law_rows(footer.laws, [*names]):
        console.print(_laws(footer, names))
    lines = [
        *_gaps(footer, names),
        *in_words(derivatives_of(footer, [*names], run.header), [*names.values()]),
        *_deviations(footer, names),
        *_followed(footer, names),
        *lacking_texts(footer, names),
        *_after_known(footer, names),
        _kinds(footer),
    ]
    for line in [*lines, *_errors(footer, names), _nulls(footer)]:
        console.print(Text(line))
    for finding in run.findings:
        for line in _finding(finding):
            console.print(Text(line), soft_wrap=True)


def _costs(footer: Footer) -> Table:
    ratio = over_bare(footer)
    times = f", {ratio:.1f} times what the frameworks need alone" if ratio is not None else ""
    table = Table(title=f"Seconds of the workers{times}", title_justify="left", box=None, pad_edge=False)
    for heading, justify in (("", "left"), ("seconds", "right"), ("", "right")):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for words, spent, count in rows(footer):
        table.add_row(words, f"{spent:.1f}", count)
    return table


def _kinds(footer: Footer) -> str:
    lanes = ", ".join(f"{lane} {count}" for lane, count in footer.lanes.items())
    much = "a derivative of order 2 or more, an accumulation, a shared sub-graph or an expected refusal"
    bounded = f"{counted(footer.bounded, 'comparison')} needed derived bounds"
    return f"{footer.rich / max(1, footer.cases):.1%} of the cases have {much}; lanes: {lanes}; {bounded}"


def _nulls(footer: Footer) -> str:
    nulls = footer.nulls
    return (
        f"{counted(nulls.comparisons, 'null comparison')} (right against right): {counted(nulls.alarms, 'false alarm')}; "
        f"with 95 % confidence at most {per_million(nulls)} per million"
    )


def _finding(finding: FindingRecord) -> list[str]:
    mismatch = finding.mismatch
    expected, actual, detail = (
        ("an end", finding.bucket, "") if mismatch is None else (mismatch.expected, mismatch.actual, mismatch.detail)
    )
    first = (
        f"finding {finding.id}: {finding.backend} {finding.bucket} at {finding.at or 'run'}, with "
        f"{', '.join(finding.ops) or 'no op'}, {counted(finding.count, 'case')}: expected {expected}, got {actual}"
    )
    rest = [
        " ".join(detail.split())[:160],
        again_text(finding),
        *blame_text(finding.blame)[:BLAME_SHOWN],
        shrinking(finding),
        finding.replay,
    ]
    return [first, *(f"    {line}" for line in rest if line)]


def _table(title: str, names: Mapping[str, str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("", overflow="fold")
    for name in names.values():
        table.add_column(Text(name), justify="right")
    return table


def _ledger(footer: Footer, names: Mapping[str, str]) -> Table:
    table = _table("Ledger (cases)", names)
    for bucket in Bucket:
        row = [footer.ledger[name].get(bucket, 0) for name in names]
        if any(row):
            table.add_row(bucket.replace("_", " "), *map(str, row))
    table.add_row("really compared", *(share_compared(footer, name) for name in names))
    return table


def _coverage(footer: Footer, names: Mapping[str, str]) -> Table:
    table = _table("Compared", names)
    for counter in COUNTED:
        table.add_row(COUNTERS[counter], *(str(footer.counts[name].get(counter, 0)) for name in names))
    return table


def _parameters(footer: Footer, names: Mapping[str, str]) -> Table:
    """Return the table of the parameters; the three orders of a backend share a column, so that two fit a terminal."""
    table = _table(f"Steps compared, per parameter, at order {' / '.join(map(str, ORDERS))}+", names)
    for cell in CELLS:
        numbers = {
            name: [footer.counts[name].get(key_of(cell.words, order), 0) for order in ORDERS if cell.offered(offers_not, order)]
            for name, offers_not in footer.not_offered.items()
        }
        if any(any(numbers[name]) for name in names):
            table.add_row(cell.words, *(" / ".join(map(str, numbers[name])) or "-" for name in names))
    return table


def _laws(footer: Footer, names: Mapping[str, str]) -> Table:
    """Return the table of the laws: how many of the cases held, and what became of the others."""
    table = _table("Laws (cases that held)", names)
    for row in law_rows(footer.laws, [*names]):
        table.add_row(row.law, *(_held(row.numbers[i : i + len(COLUMNS)]) for i in range(0, len(row.numbers), len(COLUMNS))))
    return table


def _held(numbers: Sequence[int]) -> str:
    count = dict(zip(COLUMNS, numbers, strict=True))
    tried, held = count.pop("tried"), count.pop("held")
    others = ", ".join(f"{number} {word}" for word, number in count.items() if number)
    return f"{f'{others}   ' if others else ''}{held} of {tried}"


def _errors(footer: Footer, names: Mapping[str, str]) -> list[str]:
    lines = []
    for name, short in names.items():
        steps = sum(sum(decades.values()) for decades in footer.ratios.get(name, {}).values())
        if name in footer.worst:
            ratio, step, case = footer.worst[name]
            said = f"in {counted(steps, 'step')}: at most {ratio:.2g}, at {step} of case {case}"
            lines.append(f"  {short}: error over derived bound, {said}")
    return lines


def _deviations(footer: Footer, names: Mapping[str, str]) -> list[str]:
    lines = []
    for name, short in names.items():
        seen = [known for known in deviations_of(footer) if known.backend == name]
        shown = seen[:DEVIATIONS_SHOWN]
        lines += [f"  known deviation {known.id}: {counted(known.count, 'case')}{_usual(footer, known.id)}" for known in shown]
        if len(seen) > DEVIATIONS_SHOWN:
            rest = counted(sum(known.count for known in seen[DEVIATIONS_SHOWN:]), "case")
            lines.append(f"  {len(seen) - DEVIATIONS_SHOWN} more of {short}: {rest}; the report lists all")
    return lines


def _usual(footer: Footer, entry: str) -> str:
    known = footer.deviation_info.get(entry)
    share = None if known is None else known.share
    if share is None:
        return ""
    return f"; of the drawn ones {share.fewest} to {share.most} are usual: {share_text(share.shown, share.cases)}"


def _followed(footer: Footer, names: Mapping[str, str]) -> list[str]:
    """Say where nobody promises anything and something else was done than was expected."""
    return [
        f"  {short}: {choice}, where no document says what is right: {counted(count, 'case')}"
        for name, short in names.items()
        for choice, count in [
            *footer.followed.get(name, {}).items(),
            *((known.reason, known.count) for known in deviations_of(footer, unpromised=True) if known.backend == name),
        ]
    ]


def _after_known(footer: Footer, names: Mapping[str, str]) -> list[str]:
    """Say how far the comparison went on after known deviations, and what it set aside as their consequence."""
    counts = {short: footer.counts[name] for name, short in names.items()}
    return [
        f"  {short}: after known deviations {counted(c.get('after_known', 0), 'more step')} agreed; "
        f"{counted(c.get('shadowed', 0), 'difference')} may be consequences"
        for short, c in counts.items()
        if c.get("after_known", 0) + c.get("shadowed", 0)
    ]


def _gaps(footer: Footer, names: Mapping[str, str]) -> list[str]:
    lines = []
    for name, short in names.items():
        missing = gaps(footer.counts[name], footer.not_offered[name])
        if missing:
            more = f" and {len(missing) - GAPS_SHOWN} more" if len(missing) > GAPS_SHOWN else ""
            lines.append(f"  {short}: offered and not covered: {', '.join(missing[:GAPS_SHOWN])}{more}")
    return lines

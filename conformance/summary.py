"""The summary of a run in the terminal: what was compared, the ledger, what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from conformance.coverage import CELLS, ORDERS, gaps, key_of
from conformance.judge.verdict import COMPARED, Bucket
from conformance.laws.table import COLUMNS, law_rows
from conformance.texts import blame_text

if TYPE_CHECKING:
    from rich.console import Console

GAPS_SHOWN = 8
DEVIATIONS_SHOWN = 6
BLAME_SHOWN = 2
WORDS = {
    "conforms": "[bold green]conforms[/]",
    "diverges": "[bold red]diverges[/]",
    "suite_error": "[bold magenta]suite error[/]",
}


def show_summary(console: Console, footer: dict[str, Any], findings: list[dict[str, Any]]) -> None:
    """Print the ledger, the coverage, the findings and the verdict."""
    backends = list(footer["ledger"])
    console.print(_ledger(footer, backends))
    console.print(_coverage(footer, backends))
    console.print(_parameters(footer, backends))
    if law_rows(footer, backends):
        console.print(_laws(footer, backends))
    for line in _gaps(footer, backends):
        console.print(line, highlight=False)
    for line in [*_deviations(footer, backends), *_after_known(footer, backends)]:
        console.print(line, highlight=False)
    if footer["collateral"]:
        console.print(
            f"  {footer['collateral']} worker deaths did not recur when the case was run alone in a fresh process: "
            "an earlier case of the same process damaged it",
            highlight=False,
        )
    for found in findings:
        where = found["mismatch"] or {}
        ops = ", ".join(found["ops"]) or "no op"
        console.print(
            f"[red]finding[/] {found['id']}: {found['backend']} {found['bucket']} at {found['at'] or 'run'}, with {ops}, "
            f"{found['count']} cases: expected {where.get('expected', 'an end')}, got {where.get('actual', found['bucket'])}"
            f"\n    {' '.join(str(where.get('detail', '')).split())[:160]}"
            f"{''.join(f'{chr(10)}    {line}' for line in blame_text(found.get('blame'))[:BLAME_SHOWN])}\n    {found['replay']}",
            highlight=False,
        )
    seconds = footer["seconds"]
    framework = sum(seconds.get(name, 0.0) for name in backends)
    console.print(
        f"{footer['cases']} cases in {seconds['wall']:.1f} s; frameworks {framework:.1f} s, reference {seconds['reference']:.1f} s, "
        f"all {seconds['all']:.1f} s: total / framework = {seconds['all'] / max(framework, 1e-9):.2f}",
        highlight=False,
    )
    console.print(
        f"{footer['rich'] / max(1, footer['cases']):.1%} of the cases have a derivative of order 2 or more, an accumulation, a shared "
        f"sub-graph or an expected refusal; lanes {dict(footer['lanes'])}; {footer['bounded']} comparisons needed derived bounds",
        highlight=False,
    )
    for line in _errors(footer, backends):
        console.print(line, highlight=False)
    nulls = footer["nulls"]
    console.print(
        f"{nulls['comparisons']} null comparisons (right against right): {nulls['alarms']} false alarms; with 95 % confidence at most "
        f"{nulls['per_million']:.3g} per million",
        highlight=False,
    )
    for reason in footer["reasons"]:
        console.print(f"  {reason}", highlight=False)
    console.print(f"verdict: {WORDS[footer['verdict']]}", highlight=False)


def _table(title: str, backends: list[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for name in backends:
        table.add_column(name, justify="right")
    return table


def _ledger(footer: dict[str, Any], backends: list[str]) -> Table:
    table = _table("Ledger (cases)", backends)
    for bucket in Bucket:
        row = [footer["ledger"][name].get(bucket, 0) for name in backends]
        if any(row):
            table.add_row(bucket.replace("_", " "), *map(str, row))
    cases = max(1, footer["cases"])
    shares = [sum(footer["ledger"][name].get(b, 0) for b in COMPARED) / cases for name in backends]
    table.add_row("really compared", *(f"{share:.1%}" for share in shares))
    return table


def _coverage(footer: dict[str, Any], backends: list[str]) -> Table:
    table = _table("Compared", backends)
    words = {
        "calls": "autograd calls",
        "gradients": "gradient tensors",
        "gradient_elements": "gradient elements",
        "absent": "absent gradients",
        "errors": "refusals",
        "ops": "op steps",
        "elements": "elements in all",
        "events": "calls of hooks",
        "order 1": "calls of order 1",
        "order 2": "calls of order 2",
        "order 3": "calls of order 3",
    }
    for key, word in words.items():
        table.add_row(word, *(str(footer["counts"][name].get(key, 0)) for name in backends))
    return table


def _parameters(footer: dict[str, Any], backends: list[str]) -> Table:
    table = _table("Steps compared, per parameter and order", [f"{name} {order}" for name in backends for order in ("1", "2", "3+")])
    for cell in CELLS:
        offered = {name: cell.offered(footer["not_offered"][name]) for name in backends}
        numbers = [(offered[n], footer["counts"][n].get(key_of(cell.words, order), 0)) for n in backends for order in ORDERS]
        if any(number for _, number in numbers):
            table.add_row(cell.words, *(str(number) if there else "-" for there, number in numbers))
    return table


def _laws(footer: dict[str, Any], backends: list[str]) -> Table:
    table = _table("Laws (cases)", [f"{name} {word}" for name in backends for word in COLUMNS])
    for row in law_rows(footer, backends):
        table.add_row(row.law, *map(str, row.numbers))
    return table


def _errors(footer: dict[str, Any], backends: list[str]) -> list[str]:
    lines = []
    for name in backends:
        counted = sum(sum(decades.values()) for decades in footer.get("ratios", {}).get(name, {}).values())
        if name in footer.get("worst", {}):
            ratio, step, case = footer["worst"][name]
            lines.append(f"  {name}: error over derived bound, in {counted} steps: at most {ratio:.2g}, at {step} of case {case}")
    return lines


def _deviations(footer: dict[str, Any], backends: list[str]) -> list[str]:
    lines = []
    for name in backends:
        seen = sorted(footer["deviations"][name].items(), key=lambda item: -item[1])
        lines += [f"  known deviation [bold]{entry}[/]: {count} cases" for entry, count in seen[:DEVIATIONS_SHOWN]]
        if len(seen) > DEVIATIONS_SHOWN:
            rest = sum(count for _, count in seen[DEVIATIONS_SHOWN:])
            lines.append(f"  {len(seen) - DEVIATIONS_SHOWN} more known deviations of {name}: {rest} cases; the report lists all")
    return lines


def _after_known(footer: dict[str, Any], backends: list[str]) -> list[str]:
    """Say how far the comparison went on after known deviations, and what it set aside as their consequence."""
    counts = {name: footer["counts"][name] for name in backends}
    return [
        f"  {name}: after known deviations {c.get('after_known', 0)} more steps were compared and agree; "
        f"{c.get('shadowed', 0)} differences may be consequences"
        for name, c in counts.items()
        if c.get("after_known", 0) + c.get("shadowed", 0)
    ]


def _gaps(footer: dict[str, Any], backends: list[str]) -> list[str]:
    lines = []
    for name in backends:
        missing = gaps(footer["counts"][name], footer["not_offered"][name])
        if missing:
            more = f" and {len(missing) - GAPS_SHOWN} more" if len(missing) > GAPS_SHOWN else ""
            lines.append(f"  {name}: offered and not covered: {', '.join(missing[:GAPS_SHOWN])}{more}")
    return lines

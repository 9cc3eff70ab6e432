"""Two tables that people read: clauses by backend, and two dialects side by side; each also as JSON."""

from __future__ import annotations

import io
import shutil
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec
from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from conformance.clauses.table import Standing
from reference_impl import DIALECTS
from reference_impl.dialects.switches import GROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.clauses.table import Table

WIDTH = 100
STYLES = {
    Standing.CONFORMS: "green",
    Standing.NOT_OFFERED: "dim",
    Standing.DEVIATES: "yellow",
    Standing.DIVERGES: "bold red",
    Standing.UNCHECKED: "bold magenta",
}


def clauses_page(table: Table, backends: Sequence[str], *, as_json: bool) -> str:
    """Write the clause table: a section for each document, a row for each clause, a column for each backend."""
    if as_json:
        return _json(table.record())
    pages: list[Any] = []
    for document, rows in groupby(table.rows, key=lambda row: row.document):
        grid = _grid(document)
        grid.add_column("clause", no_wrap=True)
        grid.add_column("promise", ratio=4)
        for name in backends:
            grid.add_column(name, ratio=3, overflow="fold")
        for row in rows:
            cells = [row.cells[name] for name in backends]
            grid.add_row(row.id, row.promise, *(Text(cell.text, STYLES[cell.standing]) for cell in cells))
        pages.append(grid)
    pages.append(_sums(table, backends))
    return _printed(pages)


def _sums(table: Table, backends: Sequence[str]) -> Grid:
    grid = _grid("in all")
    grid.add_column("clauses and switches")
    for name in backends:
        grid.add_column(name, justify="right")
    for standing in Standing:
        counts = [sum(row.cells[name].standing is standing for row in table.rows) for name in backends]
        if any(counts):
            grid.add_row(Text(standing, STYLES[standing]), *map(str, counts))
    return grid


def differences(one: str, other: str) -> list[dict[str, str]]:
    """Return the switches in which two dialects differ, by group, each with what both do and who says so."""
    rows = []
    for group, switches in GROUPS.items():
        for switch in switches:
            answers = {name: switch.answer(DIALECTS[name]) for name in (one, other)}
            same = getattr(DIALECTS[one], switch.field) == getattr(DIALECTS[other], switch.field)
            if not (same and answers[one] == answers[other]):
                rows.append({"switch": switch.field, "group": group, "question": switch.question, **answers, "source": switch.source})
    return rows


def dialects_page(one: str, other: str, *, as_json: bool) -> str:
    """Write what two dialects do differently: a section for each part of the calling contract, a row for each switch."""
    rows = differences(one, other)
    if as_json:
        return _json(rows)
    pages: list[Any] = [] if rows else [f"The dialects {one} and {other} do not differ."]
    for group, members in groupby(rows, key=lambda row: row["group"]):
        grid = _grid(group, lines=True)
        grid.add_column("", ratio=5)
        for name in (one, other):
            grid.add_column(name, ratio=4)
        for row in members:
            said = Padding(Text(f"{row['switch']}: {row['source']}", "dim"), (0, 0, 0, 2))
            grid.add_row(Group(Text(row["question"]), said), Text(row[one]), Text(row[other]))
        pages.append(grid)
    return _printed(pages)


def printed_table(sections: Mapping[str, Sequence[Sequence[str]]], columns: Sequence[str], *, as_json: bool) -> str:
    """Write rows of text under these columns, in sections; those without a row are left out."""
    if as_json:
        return _json({title: [dict(zip(columns, row, strict=True)) for row in rows] for title, rows in sections.items() if rows})
    pages: list[Any] = []
    for title, rows in sections.items():
        if rows:
            grid = _grid(title)
            name, *others = columns
            grid.add_column(Text(name), no_wrap=True)
            for number, column in enumerate(others):
                grid.add_column(Text(column), ratio=2 + number)
            for row in rows:
                grid.add_row(*map(Text, row))
            pages.append(grid)
    return _printed(pages or ["There is nothing to show."])


def _grid(title: str, *, lines: bool = False) -> Grid:
    return Grid(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, expand=True, show_lines=lines, pad_edge=False
    )


def _printed(pages: Sequence[Any]) -> str:
    """Render as wide as the terminal, or for a file as wide as a page; colours for a terminal only."""
    terminal = sys.stdout.isatty()
    width = max(80, shutil.get_terminal_size((WIDTH, 24)).columns) if terminal else WIDTH
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, highlight=False)
    for page in pages:
        console.print(page)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _json(data: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(data)).decode() + "\n"

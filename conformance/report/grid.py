"""The picture of the grid: for every op and order a cell for each layout, coloured by what was really compared there.

A cell holds a few cases. It shows the best that came of one of them, since one derivative that was compared is one that was met, but
for a divergence, which hides behind nothing. What was compared nowhere is named below the picture, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.campaign.records.grid import Met, cell_of
from conformance.generate.grid import ORDERS
from conformance.generate.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.campaign.records import Footer

TONES = {
    Met.DIVERGED: "bad",
    Met.AGREED: "good",
    Met.KNOWN: "known",
    Met.REFUSED: "fair",
    Met.NOT_OFFERED: "hollow",
    Met.NOTHING: "hollow",
}
"""The colours, in the order in which one speaks for a cell."""
WHY = {
    Met.KNOWN: "known deviations alone",
    Met.REFUSED: "refused, as promised",
    Met.NOT_OFFERED: "asked for in a way that is not offered",
    Met.NOTHING: "nothing to differentiate, because of what came before",
}
"""Why a cell was not compared."""
ABSENT = ("none", "no such tensor")
"""A cell that no case can have: a number has no layout but one."""


@dataclass(frozen=True, slots=True)
class GridView:
    """The grid on one backend.

    ``rows``: op, and for each order the tone and the words of each layout; ``uncompared``: order, why, and the ops with their layouts.
    """

    backend: str
    layouts: tuple[str, ...]
    orders: tuple[str, ...]
    rows: list[tuple[str, list[list[tuple[str, str]]]]]
    compared: int
    cells: int
    uncompared: list[tuple[str, str, str]]


LEGEND = [(TONES[met], met.value) for met in (Met.AGREED, Met.KNOWN, Met.REFUSED, Met.NOTHING, Met.DIVERGED)]


def grids_of(footer: Footer, backends: list[str]) -> list[GridView]:
    """Draw the grid of each backend that has run one."""
    return [_grid(name, footer.grid[name]) for name in backends if name in footer.grid]


def _grid(backend: str, ops: Mapping[str, Mapping[str, Mapping[Met, int]]]) -> GridView:
    layouts = tuple(LAYOUTS)
    rows = [(op, [[_cell(op, order, name, cells) for name in layouts] for order in ORDERS]) for op, cells in ops.items()]
    shown = [met for cells in ops.values() for found in cells.values() if (met := _speaking(found)) is not None]
    compared = sum(met in (Met.AGREED, Met.DIVERGED) for met in shown)
    return GridView(backend, layouts, ORDERS, rows, compared, len(shown), list(_uncompared(ops)))


def _speaking(found: Mapping[Met, int]) -> Met | None:
    return next((met for met in TONES if found.get(met)), None)


def _cell(op: str, order: str, layout: str, cells: Mapping[str, Mapping[Met, int]]) -> tuple[str, str]:
    found = cells.get(cell_of(order, layout), {})
    met = _speaking(found)
    if met is None:
        return ABSENT
    return TONES[met], f"{op}, order {order}, {layout}: {', '.join(f'{found[m]} {m.value}' for m in TONES if found.get(m))}"


def _uncompared(ops: Mapping[str, Mapping[str, Mapping[Met, int]]]) -> Iterator[tuple[str, str, str]]:
    for order in ORDERS:
        for met, why in WHY.items():
            named = []
            for op, cells in ops.items():
                present = [name for name in LAYOUTS if cell_of(order, name) in cells]
                alike = [name for name in present if _speaking(cells[cell_of(order, name)]) is met]
                if alike:
                    named.append(op if alike == present else f"{op} ({', '.join(alike)})")
            if named:
                yield order, why, ", ".join(named)

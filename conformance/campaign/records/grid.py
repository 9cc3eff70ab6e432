"""What the record of a run says of the grid: what each case is, and what became of the order that it asks for.

A case of the grid that agrees may still have compared nothing at its order: an op may have no third derivative, and refuse as promised.
So it is recorded what was met there, and the page shows which cells of the grid were really compared.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Met(StrEnum):
    """What became of the derivatives of the highest order of a case, on one backend."""

    AGREED = "agreed"
    KNOWN = "known deviation"
    DIVERGED = "diverged"
    REFUSED = "refused"
    NOT_OFFERED = "not offered"
    NOTHING = "nothing"


def cell_of(order: str, layout: str) -> str:
    """Return the key of the cases of the grid that have this order and this layout of their operands."""
    return f"{order} {layout}"


class GridRecord(msgspec.Struct, frozen=True):
    """What a case is in the grid: its op, and the value of each dimension; ``met``: by backend, what became of its order."""

    op: str
    row: dict[str, str]
    met: dict[str, Met]

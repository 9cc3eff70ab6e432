"""The canary of an op: a small case whose answer is known, the simplest point of the op's grid."""

from __future__ import annotations

import functools
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING

from conformance.generate.grid import Point
from conformance.generate.grid.places import DRAWN
from conformance.ops import catalogue
from conformance.ops.dtypes import COMPLEX, REAL

if TYPE_CHECKING:
    from conformance.case.case import Case

PLAIN = {"beside": "same", "layout": "contiguous", "seed": "contiguous", "order": "1", "call": "grad", "asked": "all"}
"""The point of the grid at which an op is asked."""
RANKS = ("2", "1", "3", "4", "0", "5")
"""Of the operands; an op is asked at the first that it takes."""
SIZES = ("few", "16+")
"""How many elements they have; the same."""


@functools.cache
def canary_of(op: str) -> Case | None:
    """Return the canary of an op: the simplest point of its grid, exact if the op is; ``None`` if it has no such point."""
    row = catalogue()[op]
    for kind, size, rank in product(("real", "complex"), SIZES, RANKS):
        lane = "exact" if row.is_exact(on_complex=kind == "complex") else "numeric"
        dtype = (REAL if kind == "real" else COMPLEX)[0]
        if row.numbers.taken in ("both", kind):
            point = Point(
                op,
                {
                    **PLAIN,
                    "argument": DRAWN,
                    "rank": rank,
                    "size": size if rank != "0" else "one",
                    "lane": lane,
                    "kind": kind,
                    "dtype": dtype,
                },
            )
            with suppress(LookupError):
                return point.case()
    return None

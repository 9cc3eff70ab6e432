"""To which order an engine that speaks a dialect differentiates an op, as far as its row and the dialect say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl import OPS
from reference_impl.tape.primitive import Primitive

if TYPE_CHECKING:
    from reference_impl import Dialect

THIRD = 3
"""The highest order that is told apart: an engine that has the third derivative of an op has all."""
OF_PARTS = 0
"""Stands for the orders of an op that is a formula of others: it has those that all its parts have."""


def highest_order(op: str, dialect: Dialect) -> int:
    """Return the highest order of derivative of an op, at most `THIRD`; `OF_PARTS` for a formula."""
    node = dialect.spelled.get(op, op)
    return min(THIRD, dialect.conventions.highest_order(node)) if isinstance(OPS[node], Primitive) else OF_PARTS

"""Norms of vectors, and distances: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import given
from conformance.ops.draws import axis_of, has_elements, has_matrices, has_rows, is_matrix
from conformance.ops.numbers import UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, ROWS, Drawn, Growth, op, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.ops.sampler import Arguments, Draw, Sampler

ORDERS = (2.0, 1.0, "inf", 3.0, 4.0)
OF_VECTORS = (*ORDERS, "-inf")
OF_PAIRS = (*ORDERS, 0.5)
OF_DIFFERENCES = (2.0, 1.0, "inf")
"""Orders of the norm of a difference as one number: the bounds of third derivatives of others take longer than a case may."""
OF_SLICES = (2.0, 1.0, 3.0, "inf")


def _along_one(s: Sampler) -> Arguments | None:
    """Draw a norm along one axis, or of all elements."""
    x = s.take(has_elements)
    axis = None if not x.shape or s.source.chance(0.3) else axis_of(s, x)
    return [x], {"p": s.source.choice(OF_VECTORS), "axis": axis, "keepdims": s.source.chance(0.3)}


def _along_last(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    return [x], {"p": s.source.choice(OF_VECTORS), "axis": -1, "keepdims": s.source.chance(0.3)}


def _pairs(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 2 <= len(d.shape) <= 3 and 0 not in d.shape)
    y = s.take_shaped((*x.shape[:-2], s.source.integer(1, 3), x.shape[-1]))
    return [x, y], {"p": s.source.choice(ORDERS)}


def _all_pairs(s: Sampler) -> Arguments | None:
    return [s.take(lambda d: is_matrix(d) and d.shape[0] > 1, shape=(3, 2))], {"p": s.source.choice(OF_PAIRS)}


def _bounded(s: Sampler) -> Arguments | None:
    x = s.take(has_matrices)
    return [x], {"p": s.source.choice(OF_SLICES), "axis": axis_of(s, x), "largest": s.source.choice((1.0, 0.5, 2.0))}


def _difference(s: Sampler) -> Arguments | None:
    x = s.take(has_elements)
    return [x, s.take_shaped(x.shape)], {"p": s.source.choice(OF_DIFFERENCES)}


def _orders(draw: Draw, orders: Sequence[float | str]) -> dict[str, Draw]:
    return {f"p {p}": given(draw, p=p) for p in orders}


_row = partial(op, exact=False, numbers=real_only(UNEXAMINED), growth=Growth.COMPOUNDS, points=PLAIN, drawn=Drawn.NAMED)

ENTRIES = rows(
    "norms",
    _row(
        "norm",
        rank=83,
        draw=_along_one,
        points=ROWS,
        calls=both("torch.norm(x, float(p), axis, keepdims)"),
        corners=_orders(_along_one, OF_VECTORS),
    ),
    _row(
        "linalg_norm",
        base="norm",
        rank=83,
        draw=_along_last,
        points=ROWS,
        calls=both("torch.linalg.norm(x, float(p), axis, keepdims)"),
        corners=_orders(_along_last, OF_VECTORS),
    ),
    _row(
        "vector_norm",
        rank=121,
        draw=_along_one,
        points=ROWS,
        calls=both("torch.linalg.vector_norm(x, float(p), axis, keepdims)"),
        corners=_orders(_along_one, OF_VECTORS),
    ),
    _row(
        "renorm",
        rank=289,
        draw=_bounded,
        growth=Growth.BOUNDED,
        calls=both("torch.renorm(x, float(p), axis, largest)"),
        corners=_orders(_bounded, OF_SLICES),
    ),
    _row(
        "pdist",
        rank=311,
        draw=_all_pairs,
        calls={"torch": "torch.nn.functional.pdist(x, float(p))", "paddle": "paddle.pdist(x, float(p))"},
        corners=_orders(_all_pairs, OF_PAIRS),
    ),
    _row("cdist", rank=175, draw=_pairs, calls=both("torch.cdist(x, y, float(p))"), corners=_orders(_pairs, ORDERS)),
    _row(
        "dist",
        rank=229,
        draw=_difference,
        calls=both("torch.dist(x, y, float(p))"),
        corners=_orders(_difference, OF_DIFFERENCES),
    ),
)

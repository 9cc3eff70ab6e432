"""Norms of vectors, and distances: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.corners import given
from conformance.ops.draws import axis_of
from conformance.ops.numbers import real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, OpSpec, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draw, Sampler

COMPLEX_LATER = real_only("what the frameworks make of complex ones has not been looked at yet")
ORDERS = (2.0, 1.0, "inf", 3.0, 4.0)
OF_DIFFERENCES = (2.0, 1.0, "inf")
"""Orders of the norm of a difference as one number: the bounds of third derivatives of others take longer than a case may."""


def _along_one(s: Sampler) -> Arguments | None:
    """Draw a norm along one axis, or of all elements."""
    x = s.take(lambda d: 0 not in d.shape)
    axis = None if not x.shape or s.source.chance(0.3) else axis_of(s, x)
    return [x], {"p": s.source.choice(ORDERS), "axis": axis, "keepdims": s.source.chance(0.3)}


def _along_last(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 1 and 0 not in d.shape)
    return [x], {"p": s.source.choice(ORDERS), "axis": -1, "keepdims": s.source.chance(0.3)}


def _pairs(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 2 <= len(d.shape) <= 3 and 0 not in d.shape)
    y = s.take_shaped((*x.shape[:-2], s.source.integer(1, 3), x.shape[-1]))
    return [x, y], {"p": s.source.choice(ORDERS)}


def _difference(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 0 not in d.shape)
    return [x, s.take_shaped(x.shape)], {"p": s.source.choice(OF_DIFFERENCES)}


def _orders(draw: Draw) -> dict[str, Draw]:
    return {f"p {p}": given(draw, p=p) for p in (OF_DIFFERENCES if draw is _difference else ORDERS)}


def _row(name: str, rank: int, draw: Draw, torch: str, paddle: str, base: str = "") -> OpSpec:
    return op(
        name,
        base=base or name,
        rank=rank,
        draw=draw,
        exact=False,
        numbers=COMPLEX_LATER,
        points=PLAIN,
        growth=Growth.COMPOUNDS,
        drawn=Drawn.NAMED,
        corners=_orders(draw),
        torch=f"torch.{torch}",
        paddle=f"paddle.{paddle}",
    )


_NORM = "(x, float(p), axis, keepdims)"

ENTRIES = rows(
    "norms",
    _row("norm", 83, _along_one, f"norm{_NORM}", f"norm{_NORM}"),
    _row("linalg_norm", 83, _along_last, f"linalg.norm{_NORM}", f"linalg.norm{_NORM}", base="norm"),
    _row("vector_norm", 121, _along_one, f"linalg.vector_norm{_NORM}", f"linalg.vector_norm{_NORM}"),
    _row("cdist", 175, _pairs, "cdist(x, y, float(p))", "cdist(x, y, float(p))"),
    _row("dist", 229, _difference, "dist(x, y, float(p))", "dist(x, y, float(p))"),
)

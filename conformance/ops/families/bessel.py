"""Modified Bessel functions: one row per op."""

from __future__ import annotations

from conformance.ops.draws import unary
from conformance.ops.in_place import LATER
from conformance.ops.numbers import UNREGISTERED, real_only
from conformance.ops.spec import ELEMENTS, Drawn, Growth, OpSpec, op, rows


def _function(name: str, rank: int, growth: Growth) -> OpSpec:
    return op(
        name,
        rank=rank,
        draw=unary(),
        calls={"torch": f"torch.special.{name}(x)", "paddle": f"paddle.{name}(x)"},
        exact=False,
        numbers=real_only(UNREGISTERED),
        growth=growth,
        points=ELEMENTS,
        in_place=LATER if name == "i0" else None,
        drawn=Drawn.NAMED,
    )


ENTRIES = rows(
    "bessel",
    _function("i0", 337, Growth.UNBOUNDED),
    _function("i0e", 338, Growth.BOUNDED),
    _function("i1", 339, Growth.UNBOUNDED),
    _function("i1e", 340, Growth.BOUNDED),
)

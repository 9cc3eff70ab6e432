"""Special functions of one number: one row per op."""

from __future__ import annotations

from conformance.ops.calls import both
from conformance.ops.draws import unary
from conformance.ops.in_place import LATER
from conformance.ops.numbers import UNREGISTERED, real_only
from conformance.ops.spec import ELEMENTS, Drawn, Growth, OpSpec, op, rows
from reference_impl.tape.primitive import Domain


def _function(name: str, rank: int, domain: Domain | None = None, *, growth: Growth = Growth.BOUNDED) -> OpSpec:
    """Make the row of a function of one number, which both frameworks call alike."""
    return op(
        name,
        rank=rank,
        draw=unary(domain),
        calls=both(f"torch.{name}(x)"),
        exact=False,
        numbers=real_only(UNREGISTERED),
        growth=growth,
        points=ELEMENTS,
        in_place=LATER,
        drawn=Drawn.NAMED,
    )


ENTRIES = rows(
    "special",
    _function("sinc", 165),
    _function("erfinv", 200, Domain.UNIT),
)

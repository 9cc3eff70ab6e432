"""More elementary functions: one row per op."""

from __future__ import annotations

from conformance.ops.calls import both
from conformance.ops.draws import unary
from conformance.ops.in_place import LATER
from conformance.ops.numbers import real_only
from conformance.ops.spec import ELEMENTS, Drawn, Growth, OpSpec, op, rows
from reference_impl.tape.primitive import Domain

PLANE = real_only("its values on the complex plane, with their branch cuts, come with the complex family")


def _function(name: str, rank: int, domain: Domain | None = None, growth: Growth = Growth.BOUNDED) -> OpSpec:
    """Make the row of a function of one number, which both frameworks call alike."""
    return op(
        name,
        rank=rank,
        draw=unary(domain),
        calls=both(f"torch.{name}(x)"),
        exact=False,
        numbers=PLANE,
        growth=growth,
        points=ELEMENTS,
        in_place=LATER,
        drawn=Drawn.NAMED,
    )


ENTRIES = rows(
    "transcendental",
    _function("expm1", 133, growth=Growth.UNBOUNDED),
    _function("log2", 144, Domain.POSITIVE),
    _function("atan", 152),
    _function("atanh", 173, Domain.UNIT),
    _function("log1p", 180, Domain.POSITIVE),
    _function("asin", 182, Domain.UNIT),
    _function("acos", 206, Domain.UNIT),
    _function("asinh", 207),
    _function("log10", 208, Domain.POSITIVE),
    _function("acosh", 212, Domain.BEYOND_ONE),
    _function("cosh", 213, growth=Growth.UNBOUNDED),
    _function("sinh", 217, growth=Growth.UNBOUNDED),
    _function("tan", 218, growth=Growth.UNBOUNDED),
    _function("deg2rad", 183),
)

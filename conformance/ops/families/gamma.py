"""The gamma function and its relatives: one row per op.

They are drawn at positive numbers, where nothing is a pole; a corner of each is at numbers of any sign that are away from 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.ops.calls import both
from conformance.ops.corners import given
from conformance.ops.draws import has_elements, nested, unary
from conformance.ops.in_place import LATER
from conformance.ops.numbers import UNREGISTERED, real_only
from conformance.ops.spec import ELEMENTS, PLAIN, Drawn, Growth, OpSpec, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.ops.sampler import Arguments, Sampler

ORDERS = (1, 2, 3)
SHAPES = (2.0, 0.5, 1.0, 3.0, 1.5)
"""Orders of the incomplete functions: below 1 the density has a pole at 0, at 1 it does not begin at 0."""
DIMENSIONS = (2, 3, 1)
"""Of dimension 3 the function is defined above 1."""


def _polygamma(s: Sampler) -> Arguments | None:
    return [s.take(domain=Domain.POSITIVE)], {"n": s.source.choice(ORDERS)}


def _multigammaln(s: Sampler) -> Arguments | None:
    return [s.take(domain=Domain.BEYOND_ONE)], {"p": s.source.choice(DIMENSIONS)}


def _gammainc(s: Sampler) -> Arguments | None:
    """Draw positive numbers, and an order for each of them, or one for all."""
    x = s.take(domain=Domain.POSITIVE)
    return [x], {"a": nested(x.shape if s.source.chance(0.5) and has_elements(x) else (), lambda: s.source.choice(SHAPES))}


def _row(name: str, rank: int, calls: Mapping[str, str], **facts: Any) -> OpSpec:
    return op(
        name,
        **{
            "rank": rank,
            "draw": unary(Domain.POSITIVE),
            "calls": calls,
            "exact": False,
            "numbers": real_only(UNREGISTERED),
            "growth": Growth.UNBOUNDED,
            "points": ELEMENTS,
            "in_place": LATER,
            "corners": {"of any sign": unary(Domain.NONZERO)},
            "drawn": Drawn.NAMED,
            **facts,
        },
    )


def _part(name: str, rank: int) -> OpSpec:
    return _row(
        name,
        rank,
        {
            "torch": f"torch.special.{name}(torch.tensor(a, dtype=x.dtype), x)",
            "paddle": f"paddle.{name}(paddle.to_tensor(a, dtype=x.dtype).expand_as(x), x)",
        },
        draw=_gammainc,
        points=PLAIN,
        growth=Growth.BOUNDED,
        in_place=None,
        corners={"of order 1": given(_gammainc, a=1.0), "of high order": given(_gammainc, a=7.5)},
    )


ENTRIES = rows(
    "gamma",
    _row("lgamma", 332, both("torch.lgamma(x)")),
    _row("digamma", 333, both("torch.digamma(x)")),
    _row("gammaln", 334, {"torch": "torch.special.gammaln(x)", "paddle": "paddle.gammaln(x)"}, in_place=None),
    _row(
        "polygamma",
        335,
        {"torch": "torch.polygamma(n, x)", "paddle": "paddle.polygamma(x, n)"},
        draw=_polygamma,
        corners={
            "digamma": given(_polygamma, n=0),
            "order 6": given(_polygamma, n=6),
            "of any sign": given(unary(Domain.NONZERO), n=1),
            "of any sign, order 2": given(unary(Domain.NONZERO), n=2),
        },
    ),
    _row(
        "multigammaln",
        336,
        {"torch": "torch.mvlgamma(x, p)", "paddle": "paddle.multigammaln(x, p)"},
        draw=_multigammaln,
        points=PLAIN,
        in_place=None,
        corners={"dimension 1": given(_multigammaln, p=1), "dimension 3": given(_multigammaln, p=3)},
    ),
    _part("gammainc", 341),
    _part("gammaincc", 342),
)

"""More functions of one or two numbers: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import given
from conformance.ops.draws import binary, nested, unary, with_choices
from conformance.ops.in_place import LATER, ONE_ALONE
from conformance.ops.numbers import BOTH, UNIMPLEMENTED, UNORDERED, UNREGISTERED, real_only
from conformance.ops.spec import ELEMENTS, Drawn, Growth, Memory, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _replaced(s: Sampler) -> Arguments | None:
    return [s.take()], {"nan": s.number(), "posinf": s.number(), "neginf": s.number()}


def _scaled(s: Sampler) -> Arguments | None:
    x = s.take()
    trailing = () if 0 in x.shape else x.shape[s.source.integer(0, len(x.shape)) :]
    shape = s.source.choice((trailing, (2, *x.shape))) if trailing == x.shape else trailing
    return [x], {"exponent": nested(shape if 0 not in shape else (), lambda: s.source.integer(-3, 3))}


_slopes = with_choices(lower=(0.25, 0.125, 0.0), upper=(0.5, 0.375))
_row = partial(op, exact=False, numbers=real_only(UNIMPLEMENTED), points=ELEMENTS, drawn=Drawn.NAMED)

ENTRIES = rows(
    "elementwise",
    _row(
        "reciprocal",
        rank=123,
        draw=unary(Domain.NONZERO),
        calls=both("torch.reciprocal(x)"),
        numbers=BOTH,
        growth=Growth.UNBOUNDED,
        in_place=LATER,
    ),
    _row(
        "nan_to_num",
        rank=156,
        draw=_replaced,
        calls=both("torch.nan_to_num(x, nan, posinf, neginf)"),
        exact=True,
        numbers=real_only("which part of a complex number that is none is replaced nobody promises"),
        corners={"zero for NaN": given(_replaced, nan=0.0, posinf=2.0, neginf=-3.0)},
        in_place=LATER,
    ),
    _row(
        "ldexp",
        rank=224,
        draw=_scaled,
        calls=both("torch.ldexp(x, torch.tensor(exponent))"),
        exact=True,
        numbers=real_only("Paddle's page has real dtypes alone, and it drops the imaginary part"),
        corners={"a fraction": given(_scaled, exponent=-1)},
        in_place=LATER,
    ),
    _row(
        "frexp",
        rank=233,
        draw=unary(),
        calls=both("torch.frexp(x)[0]"),
        exact=True,
        numbers=real_only("the parts of a complex number have mantissas of their own; both frameworks refuse"),
    ),
    _row("positive", rank=215, draw=unary(), calls=both("torch.positive(x)"), exact=True, numbers=BOTH, memory=Memory.ITSELF),
    _row(
        "hypot",
        rank=222,
        draw=binary(),
        calls=both("torch.hypot(x, y)"),
        in_place=LATER,
    ),
    _row(
        "copysign",
        rank=223,
        draw=binary(Domain.NONZERO, of="x"),
        calls=both("torch.copysign(x, y)"),
        exact=True,
        numbers=real_only(UNORDERED),
        in_place=LATER,
    ),
    _row("rad2deg", rank=184, draw=unary(), calls=both("torch.rad2deg(x)"), in_place=LATER),
    _row(
        "rrelu",
        rank=234,
        draw=_slopes,
        calls=both("torch.nn.functional.rrelu(x, lower, upper, training=False)"),
        corners={"steep": given(_slopes, lower=0.75, upper=1.0)},
        in_place=LATER,
    ),
    _row(
        "atan2",
        rank=164,
        draw=binary(Domain.NONZERO),
        calls=both("torch.atan2(x, y)"),
        numbers=real_only(UNORDERED),
        in_place=ONE_ALONE,
    ),
    _row(
        "logaddexp",
        rank=225,
        draw=binary(),
        calls=both("torch.logaddexp(x, y)"),
        numbers=real_only(UNREGISTERED),
    ),
    _row("remainder", rank=202, draw=binary(Domain.NONZERO), calls=both("torch.remainder(x, y)"), in_place=LATER),
    _row(
        "logit",
        rank=201,
        draw=unary(Domain.SHARE),
        calls=both("torch.logit(x)"),
        numbers=real_only(UNORDERED),
        growth=Growth.UNBOUNDED,
        in_place=LATER,
    ),
)

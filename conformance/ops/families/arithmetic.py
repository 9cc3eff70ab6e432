"""Arithmetic ops: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import rounded, several
from conformance.ops.draws import binary, unary, with_number
from conformance.ops.dtypes import OTHER_KIND, OTHER_PRECISION
from conformance.ops.in_place import ONE_ALONE, InPlaceForm, attribute
from conformance.ops.numbers import BOTH, MIXED, ROUNDED_IF_COMPLEX
from conformance.ops.spec import ELEMENTS, Drawn, Growth, Memory, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _power(s: Sampler) -> Arguments | None:
    if s.exact or s.source.chance(0.6):
        return [s.take()], {"exponent": float(s.source.integer(0, 3))}
    return [s.take(domain=Domain.POSITIVE)], {"exponent": s.source.choice([-1.0, -0.5, 0.5, 1.5, 2.5])}


def _cast(s: Sampler) -> Arguments | None:
    x = s.take()
    others = [OTHER_PRECISION, OTHER_KIND] if s.complex else [OTHER_PRECISION]
    return [x], {"dtype": s.source.choice(others)[x.dtype]}  # to its own dtype, a tensor comes back itself


def _other_kind(s: Sampler) -> Arguments | None:
    x = s.take()
    return [x], {"dtype": OTHER_KIND[x.dtype]}


_other = attribute("other", lambda s: s.number())

_row = partial(op, exact=True, points=ELEMENTS)

ENTRIES = rows(
    "arithmetic",
    _row(
        "add",
        rank=1,
        draw=binary(),
        calls=both("torch.add(x, y)"),
        numbers=MIXED,
        in_place=InPlaceForm(both("x.add_(y)"), by_itself=True),
    ),
    _row(
        "sub",
        rank=29,
        draw=binary(),
        calls={"torch": "torch.sub(x, y)", "paddle": "paddle.subtract(x, y)"},
        numbers=MIXED,
        in_place=InPlaceForm({"torch": "x.sub_(y)", "paddle": "x.subtract_(y)"}),
    ),
    _row(
        "mul",
        rank=3,
        draw=binary(),
        calls={"torch": "torch.mul(x, y)", "paddle": "paddle.multiply(x, y)"},
        numbers=MIXED,
        growth=Growth.COMPOUNDS,
        in_place=InPlaceForm({"torch": "x.mul_(y)", "paddle": "x.multiply_(y)"}, by_itself=True),
    ),
    _row(
        "div",
        rank=23,
        draw=binary(Domain.NONZERO),
        calls={"torch": "torch.div(x, y)", "paddle": "paddle.divide(x, y)"},
        exact=False,
        numbers=MIXED,
        in_place=InPlaceForm({"torch": "x.div_(y)", "paddle": "x.divide_(y)"}),
    ),
    _row(
        "neg",
        rank=26,
        draw=unary(),
        calls=both("torch.neg(x)"),
        numbers=BOTH,
        in_place=InPlaceForm(both("x.neg_()")),
    ),
    _row(
        "add_scalar",
        base="add",
        rank=1,
        draw=with_number(),
        calls=both("x + other"),
        numbers=BOTH,
        corners=several("other", 0.0, 1.0, 7.5, -6.0, draw=with_number()),
        in_place=InPlaceForm({"torch": "x.add_(other)", "paddle": "x.scale_(1.0, other)"}, draw=_other, turn=1),
    ),
    _row(
        "rsub_scalar",
        base="sub",
        rank=29,
        draw=with_number(),
        calls=both("other - x"),
        numbers=BOTH,
        corners=several("other", 0.0, 1.0, 7.5, -6.0, draw=with_number()),
    ),
    _row(
        "mul_scalar",
        base="mul",
        rank=3,
        draw=with_number(),
        calls=both("x * other"),
        numbers=BOTH,
        corners=several("other", 0.0, 1.0, 7.5, -6.0, draw=with_number()),
        in_place=InPlaceForm({"torch": "x.mul_(other)", "paddle": "x.scale_(other)"}, draw=_other),
    ),
    _row(
        "rdiv_scalar",
        base="div",
        rank=23,
        draw=with_number(Domain.NONZERO),
        calls=both("other / x"),
        exact=False,
        numbers=BOTH,
        growth=Growth.UNBOUNDED,
        corners=several("other", 0.0, 7.5, -6.0, draw=with_number(Domain.NONZERO)),
    ),
    _row(
        "pow_scalar",
        base="pow",
        rank=17,
        draw=_power,
        calls=both("torch.pow(x, exponent)"),
        numbers=ROUNDED_IF_COMPLEX,
        growth=Growth.UNBOUNDED,
        corners={
            **several("exponent", 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, draw=unary()),
            **several("exponent", -1.0, -3.0, 0.5, 4.5, draw=rounded(unary(Domain.POSITIVE))),
        },
        in_place=InPlaceForm(both("x.pow_(exponent)"), draw=attribute("exponent", lambda s: float(s.source.integer(0, 3))), turn=1),
    ),
    _row(
        "square",
        rank=75,
        draw=unary(),
        calls=both("torch.square(x)"),
        numbers=BOTH,
        growth=Growth.COMPOUNDS,
        in_place=InPlaceForm(both("x.square_()")),
    ),
    _row("clone", rank=56, draw=unary(), calls=both("torch.clone(x)"), numbers=BOTH),
    _row(
        "cast",
        rank=25,
        draw=_cast,
        calls={"torch": "x.to(getattr(torch, dtype))", "paddle": "paddle.cast(x, dtype)"},
        numbers=BOTH,
        corners={"other kind": _other_kind},
        in_place=ONE_ALONE,
    ),
    _row(
        "cast_to_own_dtype",
        rank=25,
        draw=unary(),
        calls={"torch": "x.to(x.dtype)", "paddle": "paddle.cast(x, x.dtype)"},
        numbers=BOTH,
        memory=Memory.ITSELF,
        drawn=Drawn.NAMED,
    ),
)

"""Elementary functions and activations: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import several
from conformance.ops.draws import binary, unary
from conformance.ops.in_place import ONE_ALONE, InPlaceForm, NotOffered
from conformance.ops.numbers import BOTH, UNIMPLEMENTED, UNREGISTERED, real_only
from conformance.ops.spec import ELEMENTS, Growth, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _softplus(s: Sampler) -> Arguments | None:
    return [s.take()], {"beta": s.source.choice([1.0, 0.5, 1.5, 2.0])}


def _pow(s: Sampler) -> Arguments | None:
    """Positive bases; or whole ones that may be 0, with whole exponents that are not negative."""
    if s.exact or s.complex or not s.source.chance(WHOLE):
        return binary("positive", of="x")(s)
    shape = s.shape()
    return [s.fresh(shape, domain="count"), s.fresh(shape, domain="count")], {}


WHOLE = 0.3
"""How often powers are whole, so that 0^0, 0^1 and 0^n are met."""

ENTRIES = rows(
    "elementary",
    op(
        "exp",
        rank=55,
        draw=unary(),
        calls=both("torch.exp(x)"),
        exact=False,
        numbers=BOTH,
        growth=Growth.UNBOUNDED,
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.exp_()")),
    ),
    op(
        "log",
        rank=80,
        draw=unary("positive"),
        calls=both("torch.log(x)"),
        exact=False,
        numbers=BOTH,
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.log_()")),
    ),
    op(
        "sqrt",
        rank=82,
        draw=unary("positive"),
        calls=both("torch.sqrt(x)"),
        exact=False,
        numbers=BOTH,
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.sqrt_()")),
    ),
    op(
        "rsqrt",
        rank=24,
        draw=unary("positive"),
        calls=both("torch.rsqrt(x)"),
        exact=False,
        numbers=real_only(UNREGISTERED),
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.rsqrt_()")),
    ),
    op(
        "sin",
        rank=62,
        draw=unary(),
        calls=both("torch.sin(x)"),
        exact=False,
        numbers=BOTH,
        growth=Growth.IF_COMPLEX,
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.sin_()")),
    ),
    op(
        "cos",
        rank=67,
        draw=unary(),
        calls=both("torch.cos(x)"),
        exact=False,
        numbers=BOTH,
        growth=Growth.IF_COMPLEX,
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.cos_()")),
    ),
    op(
        "tanh",
        rank=51,
        draw=unary(),
        calls=both("torch.tanh(x)"),
        exact=False,
        numbers=BOTH,
        growth=Growth.IF_COMPLEX,
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.tanh_()")),
    ),
    op(
        "sigmoid",
        rank=36,
        draw=unary(),
        calls={"torch": "torch.sigmoid(x)", "paddle": "paddle.nn.functional.sigmoid(x)"},
        exact=False,
        numbers=BOTH,
        growth=Growth.IF_COMPLEX,
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.sigmoid_()")),
    ),
    op(
        "erf",
        rank=134,
        draw=unary(),
        calls=both("torch.erf(x)"),
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        points=ELEMENTS,
        in_place=ONE_ALONE,
    ),
    op(
        "pow",
        rank=17,
        draw=_pow,
        calls=both("torch.pow(x, y)"),
        exact=False,
        numbers=BOTH,
        points=ELEMENTS,
        in_place=NotOffered("Paddle takes a number only"),
    ),
    op(
        "silu",
        rank=21,
        draw=unary(),
        calls=both("torch.nn.functional.silu(x)"),
        exact=False,
        numbers=real_only("PyTorch: silu does not support automatic differentiation for outputs with complex dtype"),
        points=ELEMENTS,
        in_place=ONE_ALONE,
    ),
    op(
        "gelu",
        rank=18,
        draw=unary(),
        calls=both("torch.nn.functional.gelu(x)"),
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        growth=Growth.UNBOUNDED,
        points=ELEMENTS,
    ),
    op(
        "softplus",
        rank=71,
        draw=_softplus,
        calls=both("torch.nn.functional.softplus(x, beta)"),
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        growth=Growth.UNBOUNDED,
        corners=several("beta", 6.0, 0.25, draw=unary()),
        points=ELEMENTS,
    ),
)

"""Elementary functions and activations: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.corners import several
from conformance.ops.draws import binary, unary
from conformance.ops.in_place import ONE_ALONE, InPlaceForm, NotOffered, both
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
F = "torch.nn.functional"
P = "paddle.nn.functional"

ENTRIES = rows(
    "elementary",
    op(
        "exp",
        rank=55,
        draw=unary(),
        torch="torch.exp(x)",
        paddle="paddle.exp(x)",
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
        torch="torch.log(x)",
        paddle="paddle.log(x)",
        exact=False,
        numbers=BOTH,
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.log_()")),
    ),
    op(
        "sqrt",
        rank=82,
        draw=unary("positive"),
        torch="torch.sqrt(x)",
        paddle="paddle.sqrt(x)",
        exact=False,
        numbers=BOTH,
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.sqrt_()")),
    ),
    op(
        "rsqrt",
        rank=24,
        draw=unary("positive"),
        torch="torch.rsqrt(x)",
        paddle="paddle.rsqrt(x)",
        exact=False,
        numbers=real_only(UNREGISTERED),
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.rsqrt_()")),
    ),
    op(
        "sin",
        rank=62,
        draw=unary(),
        torch="torch.sin(x)",
        paddle="paddle.sin(x)",
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
        torch="torch.cos(x)",
        paddle="paddle.cos(x)",
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
        torch="torch.tanh(x)",
        paddle="paddle.tanh(x)",
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
        torch="torch.sigmoid(x)",
        paddle="paddle.nn.functional.sigmoid(x)",
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
        torch="torch.erf(x)",
        paddle="paddle.erf(x)",
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        points=ELEMENTS,
        in_place=ONE_ALONE,
    ),
    op(
        "pow",
        rank=17,
        draw=_pow,
        torch="torch.pow(x, y)",
        paddle="paddle.pow(x, y)",
        exact=False,
        numbers=BOTH,
        points=ELEMENTS,
        in_place=NotOffered("Paddle takes a number only"),
    ),
    op(
        "silu",
        rank=21,
        draw=unary(),
        torch=f"{F}.silu(x)",
        paddle=f"{P}.silu(x)",
        exact=False,
        numbers=real_only("PyTorch: silu does not support automatic differentiation for outputs with complex dtype"),
        points=ELEMENTS,
        in_place=ONE_ALONE,
    ),
    op(
        "gelu",
        rank=18,
        draw=unary(),
        torch=f"{F}.gelu(x)",
        paddle=f"{P}.gelu(x)",
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        growth=Growth.UNBOUNDED,
        points=ELEMENTS,
    ),
    op(
        "softplus",
        rank=71,
        draw=_softplus,
        torch=f"{F}.softplus(x, beta)",
        paddle=f"{P}.softplus(x, beta)",
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        growth=Growth.UNBOUNDED,
        corners=several("beta", 6.0, 0.25, draw=unary()),
        points=ELEMENTS,
    ),
)

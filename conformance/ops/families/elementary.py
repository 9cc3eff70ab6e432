"""Elementary functions and activations: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import several
from conformance.ops.draws import binary, unary, with_choices
from conformance.ops.in_place import ONE_ALONE, InPlaceForm, NotOffered
from conformance.ops.numbers import BOTH, UNIMPLEMENTED, UNREGISTERED, real_only
from conformance.ops.spec import ELEMENTS, Growth, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _pow(s: Sampler) -> Arguments | None:
    """Positive bases; or whole ones that may be 0, with whole exponents that are not negative."""
    if s.exact or s.complex or not s.source.chance(WHOLE):
        return binary(Domain.POSITIVE, of="x")(s)
    shape = s.shape()
    return [s.fresh(shape, domain=Domain.COUNT), s.fresh(shape, domain=Domain.COUNT)], {}


WHOLE = 0.3
"""How often powers are whole, so that 0^0, 0^1 and 0^n are met."""

_row = partial(op, exact=False, points=ELEMENTS)

ENTRIES = rows(
    "elementary",
    _row(
        "exp",
        rank=55,
        draw=unary(),
        calls=both("torch.exp(x)"),
        numbers=BOTH,
        growth=Growth.UNBOUNDED,
        in_place=InPlaceForm(both("x.exp_()")),
    ),
    _row(
        "log",
        rank=80,
        draw=unary(Domain.POSITIVE),
        calls=both("torch.log(x)"),
        numbers=BOTH,
        in_place=InPlaceForm(both("x.log_()")),
    ),
    _row(
        "sqrt",
        rank=82,
        draw=unary(Domain.POSITIVE),
        calls=both("torch.sqrt(x)"),
        numbers=BOTH,
        in_place=InPlaceForm(both("x.sqrt_()")),
    ),
    _row(
        "rsqrt",
        rank=24,
        draw=unary(Domain.POSITIVE),
        calls=both("torch.rsqrt(x)"),
        numbers=real_only(UNREGISTERED),
        in_place=InPlaceForm(both("x.rsqrt_()")),
    ),
    _row(
        "sin",
        rank=62,
        draw=unary(),
        calls=both("torch.sin(x)"),
        numbers=BOTH,
        growth=Growth.IF_COMPLEX,
        in_place=InPlaceForm(both("x.sin_()")),
    ),
    _row(
        "cos",
        rank=67,
        draw=unary(),
        calls=both("torch.cos(x)"),
        numbers=BOTH,
        growth=Growth.IF_COMPLEX,
        in_place=InPlaceForm(both("x.cos_()")),
    ),
    _row(
        "tanh",
        rank=51,
        draw=unary(),
        calls=both("torch.tanh(x)"),
        numbers=BOTH,
        growth=Growth.IF_COMPLEX,
        in_place=InPlaceForm(both("x.tanh_()")),
    ),
    _row(
        "sigmoid",
        rank=36,
        draw=unary(),
        calls={"torch": "torch.sigmoid(x)", "paddle": "paddle.nn.functional.sigmoid(x)"},
        numbers=BOTH,
        growth=Growth.IF_COMPLEX,
        in_place=InPlaceForm(both("x.sigmoid_()")),
    ),
    _row(
        "erf",
        rank=134,
        draw=unary(),
        calls=both("torch.erf(x)"),
        numbers=real_only(UNIMPLEMENTED),
        in_place=ONE_ALONE,
    ),
    _row(
        "pow",
        rank=17,
        draw=_pow,
        calls=both("torch.pow(x, y)"),
        numbers=BOTH,
        in_place=NotOffered("Paddle takes a number only"),
    ),
    _row(
        "silu",
        rank=21,
        draw=unary(),
        calls=both("torch.nn.functional.silu(x)"),
        numbers=real_only("PyTorch: silu does not support automatic differentiation for outputs with complex dtype"),
        in_place=ONE_ALONE,
    ),
    _row(
        "gelu",
        rank=18,
        draw=unary(),
        calls=both("torch.nn.functional.gelu(x)"),
        numbers=real_only(UNIMPLEMENTED),
        growth=Growth.UNBOUNDED,
    ),
    _row(
        "softplus",
        rank=71,
        draw=with_choices(beta=(1.0, 0.5, 1.5, 2.0)),
        calls=both("torch.nn.functional.softplus(x, beta)"),
        numbers=real_only(UNIMPLEMENTED),
        growth=Growth.UNBOUNDED,
        corners=several("beta", 6.0, 0.25, draw=unary()),
    ),
)

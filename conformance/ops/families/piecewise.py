"""Piecewise linear and piecewise constant functions: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import given, several
from conformance.ops.draws import unary, with_choices
from conformance.ops.in_place import LATER, ONE_ALONE, InPlaceForm
from conformance.ops.numbers import ROUNDED_IF_COMPLEX, UNORDERED, real_only
from conformance.ops.spec import ELEMENTS, Drawn, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _abs(s: Sampler) -> Arguments | None:
    return [s.take(domain=Domain.NONZERO if s.complex else None)], {}


_row = partial(op, exact=True, numbers=real_only(UNORDERED), points=ELEMENTS)

ENTRIES = rows(
    "piecewise",
    _row(
        "abs",
        rank=96,
        draw=_abs,
        calls=both("torch.abs(x)"),
        numbers=ROUNDED_IF_COMPLEX,
        in_place=InPlaceForm(both("x.abs_()")),
    ),
    _row(
        "relu",
        rank=31,
        draw=unary(),
        calls=both("torch.nn.functional.relu(x)"),
        in_place=InPlaceForm({"torch": "x.relu_()", "paddle": "paddle.nn.functional.relu_(x)"}, turn=1),
    ),
    _row("relu6", rank=135, draw=unary(), calls=both("torch.nn.functional.relu6(x)"), in_place=ONE_ALONE),
    _row(
        "hardtanh",
        rank=104,
        draw=with_choices(low=(-1.0, -0.5, 0.0), high=(1.0, 0.5, 2.0)),
        calls=both("torch.nn.functional.hardtanh(x, low, high)"),
        corners={"wide": given(unary(), low=-5.0, high=6.0), "narrow": given(unary(), low=-0.25, high=0.25)},
        in_place=LATER,
    ),
    _row(
        "leaky_relu",
        rank=122,
        draw=with_choices(slope=(0.25, 0.5, 0.125)),
        calls=both("torch.nn.functional.leaky_relu(x, slope)"),
        corners=several("slope", 5.0, -0.5, 0.0, draw=unary()),
        in_place=LATER,
    ),
    _row(
        "hardshrink",
        rank=237,
        draw=with_choices(bound=(0.5, 1.0, 0.25)),
        calls=both("torch.nn.functional.hardshrink(x, bound)"),
        corners=several("bound", 5.0, 0.0, draw=unary()),
    ),
    _row("floor", rank=114, draw=unary(), calls=both("torch.floor(x)"), in_place=LATER),
    _row("ceil", rank=129, draw=unary(), calls=both("torch.ceil(x)"), in_place=LATER),
    _row("round", rank=151, draw=unary(), calls=both("torch.round(x)"), in_place=LATER),
    *(
        _row(
            name,
            rank=rank,
            draw=unary(),
            calls=both(f"torch.{name}(x)"),
            in_place=ONE_ALONE if name == "sign" else LATER,
            drawn=Drawn.NAMED,
        )
        for name, rank in (("sign", 132), ("frac", 214), ("trunc", 219))
    ),
)

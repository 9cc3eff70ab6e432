"""Piecewise linear and piecewise constant functions: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.corners import given, several
from conformance.ops.draws import unary
from conformance.ops.in_place import LATER, ONE_ALONE, InPlaceForm, both
from conformance.ops.numbers import ROUNDED_IF_COMPLEX, UNORDERED, real_only
from conformance.ops.spec import ELEMENTS, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _abs(s: Sampler) -> Arguments | None:
    return [s.take(domain="nonzero" if s.complex else None)], {}


def _leaky(s: Sampler) -> Arguments | None:
    return [s.take()], {"slope": s.source.choice([0.25, 0.5, 0.125])}


def _shrunk(s: Sampler) -> Arguments | None:
    return [s.take()], {"bound": s.source.choice([0.5, 1.0, 0.25])}


def _clipped(s: Sampler) -> Arguments | None:
    return [s.take()], {"low": s.source.choice([-1.0, -0.5, 0.0]), "high": s.source.choice([1.0, 0.5, 2.0])}


F = "torch.nn.functional"
P = "paddle.nn.functional"

ENTRIES = rows(
    "piecewise",
    op(
        "abs",
        rank=96,
        draw=_abs,
        torch="torch.abs(x)",
        paddle="paddle.abs(x)",
        exact=True,
        numbers=ROUNDED_IF_COMPLEX,
        points=ELEMENTS,
        in_place=InPlaceForm(both("x.abs_()")),
    ),
    op(
        "relu",
        rank=31,
        draw=unary(),
        torch=f"{F}.relu(x)",
        paddle=f"{P}.relu(x)",
        exact=True,
        numbers=real_only(UNORDERED),
        points=ELEMENTS,
        in_place=InPlaceForm({"torch": "x.relu_()", "paddle": "paddle.nn.functional.relu_(x)"}, turn=1),
    ),
    op(
        "relu6",
        rank=135,
        draw=unary(),
        torch=f"{F}.relu6(x)",
        paddle=f"{P}.relu6(x)",
        exact=True,
        numbers=real_only(UNORDERED),
        points=ELEMENTS,
        in_place=ONE_ALONE,
    ),
    op(
        "hardtanh",
        rank=104,
        draw=_clipped,
        torch=f"{F}.hardtanh(x, low, high)",
        paddle=f"{P}.hardtanh(x, low, high)",
        exact=True,
        numbers=real_only(UNORDERED),
        corners={"wide": given(unary(), low=-5.0, high=6.0), "narrow": given(unary(), low=-0.25, high=0.25)},
        points=ELEMENTS,
        in_place=LATER,
    ),
    op(
        "leaky_relu",
        rank=122,
        draw=_leaky,
        torch=f"{F}.leaky_relu(x, slope)",
        paddle=f"{P}.leaky_relu(x, slope)",
        exact=True,
        numbers=real_only(UNORDERED),
        corners=several("slope", 5.0, -0.5, 0.0, draw=unary()),
        points=ELEMENTS,
        in_place=LATER,
    ),
    op(
        "hardshrink",
        rank=237,
        draw=_shrunk,
        torch=f"{F}.hardshrink(x, bound)",
        paddle=f"{P}.hardshrink(x, bound)",
        exact=True,
        numbers=real_only(UNORDERED),
        corners=several("bound", 5.0, 0.0, draw=unary()),
        points=ELEMENTS,
    ),
    op(
        "floor",
        rank=114,
        draw=unary(),
        torch="torch.floor(x)",
        paddle="paddle.floor(x)",
        exact=True,
        numbers=real_only(UNORDERED),
        points=ELEMENTS,
        in_place=LATER,
    ),
    op(
        "ceil",
        rank=129,
        draw=unary(),
        torch="torch.ceil(x)",
        paddle="paddle.ceil(x)",
        exact=True,
        numbers=real_only(UNORDERED),
        points=ELEMENTS,
        in_place=LATER,
    ),
    op(
        "round",
        rank=151,
        draw=unary(),
        torch="torch.round(x)",
        paddle="paddle.round(x)",
        exact=True,
        numbers=real_only(UNORDERED),
        points=ELEMENTS,
        in_place=LATER,
    ),
    *(
        op(
            name,
            rank=rank,
            draw=unary(),
            torch=f"torch.{name}(x)",
            paddle=f"paddle.{name}(x)",
            exact=True,
            numbers=real_only(UNORDERED),
            points=ELEMENTS,
            in_place=ONE_ALONE if name == "sign" else LATER,
            drawn=Drawn.NAMED,
        )
        for name, rank in (("sign", 132), ("frac", 214), ("trunc", 219))
    ),
)

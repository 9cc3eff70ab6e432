"""More functions of one or two numbers: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.ops.corners import given
from conformance.ops.draws import binary, unary
from conformance.ops.in_place import LATER, ONE_ALONE
from conformance.ops.numbers import BOTH, UNIMPLEMENTED, UNORDERED, UNREGISTERED, real_only
from conformance.ops.spec import ELEMENTS, PLAIN, Drawn, Growth, OpSpec, op, rows

if TYPE_CHECKING:
    from conformance.ops.numbers import Numbers
    from conformance.ops.sampler import Arguments, Draw, Sampler

F = "torch.nn.functional"
P = "paddle.nn.functional"


def _row(name: str, rank: int, draw: Draw, torch: str, paddle: str | None = None, **more: Any) -> OpSpec:
    """Make a row; what Paddle calls it is what PyTorch does, but for the name of the package."""
    numbers: Numbers = real_only(UNORDERED)
    calls = {"torch": torch, "paddle": torch.replace("torch.", "paddle.") if paddle is None else paddle}
    return op(
        name, rank=rank, draw=draw, **{"exact": True, "numbers": numbers, "points": ELEMENTS, "drawn": Drawn.NAMED, **calls, **more}
    )


def _replaced(s: Sampler) -> Arguments | None:
    return [s.take()], {"nan": s.number(), "posinf": s.number(), "neginf": s.number()}


def _slopes(s: Sampler) -> Arguments | None:
    return [s.take()], {"lower": s.source.choice([0.25, 0.125, 0.0]), "upper": s.source.choice([0.5, 0.375])}


ENTRIES = rows(
    "elementwise",
    _row(
        "reciprocal",
        123,
        unary("nonzero"),
        "torch.reciprocal(x)",
        exact=False,
        numbers=BOTH,
        growth=Growth.UNBOUNDED,
        in_place=LATER,
    ),
    _row(
        "nan_to_num",
        156,
        _replaced,
        "torch.nan_to_num(x, nan, posinf, neginf)",
        numbers=real_only("which part of a complex number that is none is replaced nobody promises"),
        corners={"zero for NaN": given(_replaced, nan=0.0, posinf=2.0, neginf=-3.0)},
        in_place=LATER,
    ),
    _row(
        "rad2deg",
        184,
        unary(),
        "torch.rad2deg(x)",
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        in_place=LATER,
    ),
    _row(
        "rrelu",
        234,
        _slopes,
        f"{F}.rrelu(x, lower, upper, training=False)",
        f"{P}.rrelu(x, lower, upper, training=False)",
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        corners={"steep": given(_slopes, lower=0.75, upper=1.0)},
        in_place=LATER,
    ),
    _row("atan2", 164, binary("nonzero"), "torch.atan2(x, y)", exact=False, points=PLAIN, in_place=ONE_ALONE),
    _row("logaddexp", 225, binary(), "torch.logaddexp(x, y)", exact=False, numbers=real_only(UNREGISTERED), points=PLAIN),
    _row("logit", 201, unary("share"), "torch.logit(x)", exact=False, growth=Growth.UNBOUNDED, points=PLAIN, in_place=LATER),
)

"""Activations that are smooth in pieces, and interpolation: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.ops.corners import several
from conformance.ops.draws import unary
from conformance.ops.in_place import LATER, ONE_ALONE
from conformance.ops.numbers import UNIMPLEMENTED, UNORDERED, real_only
from conformance.ops.spec import ELEMENTS, PLAIN, Drawn, Growth, OpSpec, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draw, Sampler

F = "torch.nn.functional"
P = "paddle.nn.functional"
ALPHAS = (1.0, 0.5, 1.5, 2.0)
BOUNDS = (0.5, 1.0, 0.25)
SELU = {"alpha": 1.6732632423543772848170429916717, "scale": 1.0507009873554804934193349852946}
"""The documented numbers, and the only ones that PyTorch has; they are attributes so that one can ask what rounding them would do."""


def _with(name: str, *values: float) -> Draw:
    """Draw one operand, and an attribute out of some."""
    return lambda s: ([s.take()], {name: s.source.choice(values)})


def _cut(s: Sampler) -> Arguments | None:
    return [s.take()], {"bound": s.source.choice((0.5, -0.5, 1.0)), "value": s.source.choice((0.0, -0.75, 2.0))}


def _row(name: str, rank: int, torch: str, paddle: str, draw: Draw | None = None, *, exact: bool = False, **more: Any) -> OpSpec:
    """Make the row of an activation."""
    return op(
        name,
        rank=rank,
        draw=draw or unary(),
        torch=f"{F}.{torch}",
        paddle=f"{P}.{paddle}",
        exact=exact,
        numbers=real_only(UNORDERED if exact else UNIMPLEMENTED),
        points=ELEMENTS,
        drawn=Drawn.NAMED,
        **more,
    )


def _between(s: Sampler) -> Arguments | None:
    x = s.take()
    return [x, s.take_shaped(x.shape), s.take_shaped(x.shape)], {}


def _weighed(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 0 not in d.shape)
    return [x, s.take_shaped((x.shape[1] if len(x.shape) > 1 and s.source.chance(0.6) else 1,))], {}


def _weighed_channels(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) > 1 and 0 not in d.shape, shape=(2, 3))
    return [x, s.take_shaped((x.shape[1],))], {}


def _weighed_alike(s: Sampler) -> Arguments | None:
    return [s.take(), s.take_shaped((1,))], {}


ENTRIES = rows(
    "activations",
    _row("hardswish", 88, "hardswish(x)", "hardswish(x)"),
    _row("hardsigmoid", 89, "hardsigmoid(x)", "hardsigmoid(x, slope)", _with("slope", 1.0 / 6.0)),
    _row("logsigmoid", 119, "logsigmoid(x)", "log_sigmoid(x)"),
    _row(
        "elu",
        130,
        "elu(x, alpha)",
        "elu(x, alpha)",
        _with("alpha", *ALPHAS),
        corners=several("alpha", 6.0, 0.25, draw=unary()),
        in_place=LATER,
    ),
    _row("mish", 172, "mish(x)", "mish(x)", in_place=ONE_ALONE),
    _row("celu", 193, "celu(x, alpha)", "celu(x, alpha)", _with("alpha", *ALPHAS), corners=several("alpha", 6.0, 0.25, draw=unary())),
    _row("selu", 194, "selu(x)", "selu(x, scale, alpha)", lambda s: ([s.take()], SELU), in_place=ONE_ALONE),
    _row("softsign", 235, "softsign(x)", "softsign(x)"),
    _row(
        "softshrink",
        236,
        "softshrink(x, bound)",
        "softshrink(x, bound)",
        _with("bound", *BOUNDS),
        exact=True,
        corners=several("bound", 5.0, 0.0, draw=unary()),
    ),
    _row("tanhshrink", 238, "tanhshrink(x)", "tanhshrink(x)"),
    _row("threshold", 239, "threshold(x, bound, value)", "thresholded_relu(x, bound, value)", _cut, exact=True, in_place=LATER),
    op(
        "lerp",
        rank=169,
        draw=_between,
        torch="torch.lerp(x, y, weight)",
        paddle="paddle.lerp(x, y, weight)",
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        growth=Growth.COMPOUNDS,
        points=PLAIN,
        in_place=LATER,
        drawn=Drawn.NAMED,
    ),
    op(
        "prelu",
        rank=147,
        draw=_weighed,
        torch="torch.nn.functional.prelu(x, weight)",
        paddle="paddle.nn.functional.prelu(x, weight)",
        exact=True,
        numbers=real_only(UNORDERED),
        growth=Growth.COMPOUNDS,
        points=PLAIN,
        corners={"a weight for each channel": _weighed_channels, "one weight": _weighed_alike},
        drawn=Drawn.NAMED,
    ),
)

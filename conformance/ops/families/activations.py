"""Activations that are smooth in pieces, and interpolation: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import given, several
from conformance.ops.draws import unary, with_choices
from conformance.ops.in_place import LATER, ONE_ALONE
from conformance.ops.numbers import UNIMPLEMENTED, UNORDERED, real_only
from conformance.ops.spec import ELEMENTS, PLAIN, Drawn, Growth, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler

ALPHAS = (1.0, 0.5, 1.5, 2.0)
SELU = {"alpha": 1.6732632423543772848170429916717, "scale": 1.0507009873554804934193349852946}
"""The documented numbers, and the only ones that PyTorch has; they are attributes so that one can ask what rounding them would do."""


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


_row = partial(op, draw=unary(), exact=False, numbers=real_only(UNIMPLEMENTED), points=ELEMENTS, drawn=Drawn.NAMED)

ENTRIES = rows(
    "activations",
    _row("hardswish", rank=88, calls=both("torch.nn.functional.hardswish(x)")),
    _row(
        "hardsigmoid",
        rank=89,
        draw=with_choices(slope=(1.0 / 6.0,)),
        calls={"torch": "torch.nn.functional.hardsigmoid(x)", "paddle": "paddle.nn.functional.hardsigmoid(x, slope)"},
    ),
    _row(
        "logsigmoid",
        rank=119,
        calls={"torch": "torch.nn.functional.logsigmoid(x)", "paddle": "paddle.nn.functional.log_sigmoid(x)"},
    ),
    _row(
        "gelu_tanh",
        base="gelu",
        rank=18,
        calls={"torch": "torch.nn.functional.gelu(x, approximate='tanh')", "paddle": "paddle.nn.functional.gelu(x, approximate=True)"},
        growth=Growth.UNBOUNDED,
    ),
    _row(
        "elu",
        rank=130,
        draw=with_choices(alpha=ALPHAS),
        calls=both("torch.nn.functional.elu(x, alpha)"),
        corners=several("alpha", 6.0, 0.25, draw=unary()),
        in_place=LATER,
    ),
    _row("mish", rank=172, calls=both("torch.nn.functional.mish(x)"), in_place=ONE_ALONE),
    _row(
        "celu",
        rank=193,
        draw=with_choices(alpha=ALPHAS),
        calls=both("torch.nn.functional.celu(x, alpha)"),
        corners=several("alpha", 6.0, 0.25, draw=unary()),
    ),
    _row(
        "selu",
        rank=194,
        draw=given(unary(), **SELU),
        calls={"torch": "torch.nn.functional.selu(x)", "paddle": "paddle.nn.functional.selu(x, scale, alpha)"},
        in_place=ONE_ALONE,
    ),
    _row("softsign", rank=235, calls=both("torch.nn.functional.softsign(x)")),
    _row(
        "softshrink",
        rank=236,
        draw=with_choices(bound=(0.5, 1.0, 0.25)),
        calls=both("torch.nn.functional.softshrink(x, bound)"),
        exact=True,
        numbers=real_only(UNORDERED),
        corners=several("bound", 5.0, 0.0, draw=unary()),
    ),
    _row("tanhshrink", rank=238, calls=both("torch.nn.functional.tanhshrink(x)")),
    _row(
        "threshold",
        rank=239,
        draw=with_choices(bound=(0.5, -0.5, 1.0), value=(0.0, -0.75, 2.0)),
        calls={
            "torch": "torch.nn.functional.threshold(x, bound, value)",
            "paddle": "paddle.nn.functional.thresholded_relu(x, bound, value)",
        },
        exact=True,
        numbers=real_only(UNORDERED),
        in_place=LATER,
    ),
    _row(
        "lerp",
        rank=169,
        draw=_between,
        calls=both("torch.lerp(x, y, weight)"),
        growth=Growth.COMPOUNDS,
        points=PLAIN,
        in_place=LATER,
    ),
    op(
        "prelu",
        rank=147,
        draw=_weighed,
        calls=both("torch.nn.functional.prelu(x, weight)"),
        exact=True,
        numbers=real_only(UNORDERED),
        growth=Growth.COMPOUNDS,
        points=PLAIN,
        corners={"a weight for each channel": _weighed_channels, "one weight": _weighed_alike},
        drawn=Drawn.NAMED,
    ),
)

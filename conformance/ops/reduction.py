"""Reductions and running sums: how to draw their arguments, and their calls in each framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.draws import along_axis, exact_mean, reduction
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn


def _mse(s: Sketch) -> Drawn:
    x = s.take(lambda d: 0 not in d.shape)
    return [x, s.take_shaped(x.shape)], {}


_sum = reduction(one_axis=False)
_extremum = reduction(one_axis=True, nonempty=True)

ENTRIES = rows(
    "reduction",
    ("sum", "sum", 32, _sum, "torch.sum(x, axis, keepdims)", "paddle.sum(x, axis, keepdim=keepdims)"),
    ("mean", "mean", 14, exact_mean, "torch.mean(x, axis, keepdims)", "paddle.mean(x, axis, keepdim=keepdims)"),
    ("max", "max", 68, _extremum, "torch.max(x, axis, keepdims)[0]", "paddle.max(x, axis, keepdim=keepdims)"),
    ("min", "min", 108, _extremum, "torch.min(x, axis, keepdims)[0]", "paddle.min(x, axis, keepdim=keepdims)"),
    (
        *("amax", "amax", 103, reduction(one_axis=False, nonempty=True)),
        "torch.amax(x, [] if axis is None else axis, keepdims)",
        "paddle.amax(x, axis, keepdim=keepdims)",
    ),
    (
        *("amin", "amin", 146, reduction(one_axis=False, nonempty=True)),
        "torch.amin(x, [] if axis is None else axis, keepdims)",
        "paddle.amin(x, axis, keepdim=keepdims)",
    ),
    (
        *("prod", "prod", 102, _extremum),
        "torch.prod(x, axis, keepdims)",
        "paddle.prod(x, axis, keepdim=keepdims)",
    ),
    (
        *("logsumexp", "logsumexp", 109, _extremum),
        "torch.logsumexp(x, axis, keepdims)",
        "paddle.logsumexp(x, axis, keepdim=keepdims)",
    ),
    ("cumsum", "cumsum", 64, along_axis(), "torch.cumsum(x, axis)", "paddle.cumsum(x, axis)"),
    (
        *("mse_loss", "mse_loss", 41, _mse),
        "torch.nn.functional.mse_loss(x, y)",
        "paddle.nn.functional.mse_loss(x, y)",
    ),
    inexact={"prod", "logsumexp", "mse_loss"},
)

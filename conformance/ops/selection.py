"""Ops that select: how to draw their arguments, and their calls in each framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.draws import axis_of, binary, mask_for
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn


def _clamp(s: Sketch) -> Drawn:
    low, high = sorted([s.number(), s.number()])
    return [s.take()], {"low": low, "high": high}


def _masked(s: Sketch) -> Drawn:
    x = s.take(lambda d: 0 not in d.shape)
    return [x], {"mask": mask_for(s, x.shape), "value": s.number()}


def _masked_tensor(s: Sketch) -> Drawn:
    x = s.take(lambda d: 0 not in d.shape)
    return [x, s.take_shaped(())], {"mask": mask_for(s, x.shape)}


def _where(s: Sketch) -> Drawn:
    x = s.take(lambda d: 0 not in d.shape)
    return [x, s.partner(x)], {"mask": mask_for(s, x.shape)}


def _topk(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) >= 1 and 0 not in d.shape, domain="distinct")
    axis = axis_of(s, x)
    return [x], {"k": s.source.integer(1, x.shape[axis]), "axis": axis}


ENTRIES = rows(
    "selection",
    ("maximum", "maximum", 110, binary(), "torch.maximum(x, y)", "paddle.maximum(x, y)"),
    ("minimum", "minimum", 112, binary(), "torch.minimum(x, y)", "paddle.minimum(x, y)"),
    ("fmax", "fmax", 220, binary(), "torch.fmax(x, y)", "paddle.fmax(x, y)"),
    ("fmin", "fmin", 221, binary(), "torch.fmin(x, y)", "paddle.fmin(x, y)"),
    ("clamp", "clamp", 54, _clamp, "torch.clamp(x, low, high)", "paddle.clip(x, low, high)"),
    ("where", "where", 53, _where, "torch.where(torch.tensor(mask), x, y)", "paddle.where(paddle.to_tensor(mask), x, y)"),
    (
        *("masked_fill", "masked_fill", 49, _masked),
        "torch.masked_fill(x, torch.tensor(mask), value)",
        "paddle.masked_fill(x, paddle.to_tensor(mask), value)",
    ),
    (
        *("masked_fill_tensor", "masked_fill", 49, _masked_tensor),
        "torch.masked_fill(x, torch.tensor(mask), value)",
        "paddle.masked_fill(x, paddle.to_tensor(mask), value)",
    ),
    ("topk", "topk", 46, _topk, "torch.topk(x, k, axis)[0]", "paddle.topk(x, k, axis)[0]"),
)

"""The softmax family: how to draw its arguments, and its calls in each framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.draws import along_axis
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn


def _glu(s: Sketch) -> Drawn:
    return [s.take(lambda d: len(d.shape) >= 1 and d.shape[-1] in (2, 4), shape=(2, 4))], {"axis": -1}


F = "torch.nn.functional"
P = "paddle.nn.functional"

ENTRIES = rows(
    "softmax",
    ("softmax", "softmax", 28, along_axis(), f"{F}.softmax(x, axis)", f"{P}.softmax(x, axis)"),
    ("log_softmax", "log_softmax", 40, along_axis(), f"{F}.log_softmax(x, axis)", f"{P}.log_softmax(x, axis)"),
    ("glu", "glu", 84, _glu, f"{F}.glu(x, axis)", f"{P}.glu(x, axis)"),
    inexact={"softmax", "log_softmax", "glu"},
)

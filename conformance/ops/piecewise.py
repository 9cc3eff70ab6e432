"""Piecewise linear and piecewise constant functions: how to draw their arguments, and their calls in each framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.draws import unary
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn


def _abs(s: Sketch) -> Drawn:
    return [s.take(domain="nonzero" if s.complex else None)], {}


def _leaky(s: Sketch) -> Drawn:
    return [s.take()], {"slope": s.source.choice([0.25, 0.5, 0.125])}


def _shrunk(s: Sketch) -> Drawn:
    return [s.take()], {"bound": s.source.choice([0.5, 1.0, 0.25])}


def _clipped(s: Sketch) -> Drawn:
    return [s.take()], {"low": s.source.choice([-1.0, -0.5, 0.0]), "high": s.source.choice([1.0, 0.5, 2.0])}


F = "torch.nn.functional"
P = "paddle.nn.functional"

ENTRIES = rows(
    "piecewise",
    ("abs", "abs", 96, _abs, "torch.abs(x)", "paddle.abs(x)"),
    ("relu", "relu", 31, unary(), f"{F}.relu(x)", f"{P}.relu(x)"),
    ("relu6", "relu6", 135, unary(), f"{F}.relu6(x)", f"{P}.relu6(x)"),
    ("hardtanh", "hardtanh", 104, _clipped, f"{F}.hardtanh(x, low, high)", f"{P}.hardtanh(x, low, high)"),
    ("leaky_relu", "leaky_relu", 122, _leaky, f"{F}.leaky_relu(x, slope)", f"{P}.leaky_relu(x, slope)"),
    ("hardshrink", "hardshrink", 237, _shrunk, f"{F}.hardshrink(x, bound)", f"{P}.hardshrink(x, bound)"),
    ("floor", "floor", 114, unary(), "torch.floor(x)", "paddle.floor(x)"),
    ("ceil", "ceil", 129, unary(), "torch.ceil(x)", "paddle.ceil(x)"),
    ("round", "round", 151, unary(), "torch.round(x)", "paddle.round(x)"),
)

"""Elementary functions and activations: how to draw their arguments, and their calls in each framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.draws import binary, unary
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn


def _softplus(s: Sketch) -> Drawn:
    return [s.take()], {"beta": s.source.choice([1.0, 0.5, 1.5, 2.0])}


def _pow(s: Sketch) -> Drawn:
    """Positive bases; or whole ones that may be 0, with whole exponents that are not negative."""
    if s.exact or s.complex or not s.source.chance(WHOLE):
        return binary("positive", of="x")(s)
    shape = s.shape()
    return [s.fresh(shape, domain="count"), s.fresh(shape, domain="count")], {}


WHOLE = 0.3
"""How often powers are whole, so that 0^0, 0^1 and 0^n are met."""
F = "torch.nn.functional"
P = "paddle.nn.functional"

ENTRIES = rows(
    "elementary",
    ("exp", "exp", 55, unary(), "torch.exp(x)", "paddle.exp(x)"),
    ("log", "log", 80, unary("positive"), "torch.log(x)", "paddle.log(x)"),
    ("sqrt", "sqrt", 82, unary("positive"), "torch.sqrt(x)", "paddle.sqrt(x)"),
    ("rsqrt", "rsqrt", 24, unary("positive"), "torch.rsqrt(x)", "paddle.rsqrt(x)"),
    ("sin", "sin", 62, unary(), "torch.sin(x)", "paddle.sin(x)"),
    ("cos", "cos", 67, unary(), "torch.cos(x)", "paddle.cos(x)"),
    ("tanh", "tanh", 51, unary(), "torch.tanh(x)", "paddle.tanh(x)"),
    ("sigmoid", "sigmoid", 36, unary(), "torch.sigmoid(x)", "paddle.nn.functional.sigmoid(x)"),
    ("erf", "erf", 134, unary(), "torch.erf(x)", "paddle.erf(x)"),
    ("pow", "pow", 17, _pow, "torch.pow(x, y)", "paddle.pow(x, y)"),
    ("silu", "silu", 21, unary(), f"{F}.silu(x)", f"{P}.silu(x)"),
    ("gelu", "gelu", 18, unary(), f"{F}.gelu(x)", f"{P}.gelu(x)"),
    ("softplus", "softplus", 71, _softplus, f"{F}.softplus(x, beta)", f"{P}.softplus(x, beta)"),
    inexact={
        *("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid"),
        *("pow", "silu", "gelu", "softplus", "erf"),
    },
)

"""Arithmetic ops: how to draw their arguments, and their calls in each framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.draws import binary, unary, with_number
from conformance.ops.kinds import OTHER_KIND, OTHER_PRECISION
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn


def _power(s: Sketch) -> Drawn:
    if s.exact or s.source.chance(0.6):
        return [s.take()], {"exponent": float(s.source.integer(0, 3))}
    return [s.take(domain="positive")], {"exponent": s.source.choice([-1.0, -0.5, 0.5, 1.5, 2.5])}


def _cast(s: Sketch) -> Drawn:
    x = s.take()
    others = [OTHER_PRECISION, OTHER_KIND] if s.complex else [OTHER_PRECISION]
    return [x], {"dtype": s.source.choice(others)[x.dtype]}  # to its own dtype, a tensor comes back itself


ENTRIES = rows(
    "arithmetic",
    ("add", "add", 1, binary(), "torch.add(x, y)", "paddle.add(x, y)"),
    ("sub", "sub", 29, binary(), "torch.sub(x, y)", "paddle.subtract(x, y)"),
    ("mul", "mul", 3, binary(), "torch.mul(x, y)", "paddle.multiply(x, y)"),
    ("div", "div", 23, binary("nonzero"), "torch.div(x, y)", "paddle.divide(x, y)"),
    ("neg", "neg", 26, unary(), "torch.neg(x)", "paddle.neg(x)"),
    ("add_scalar", "add", 1, with_number("other"), "x + other", "x + other"),
    ("rsub_scalar", "sub", 29, with_number("other"), "other - x", "other - x"),
    ("mul_scalar", "mul", 3, with_number("other"), "x * other", "x * other"),
    ("rdiv_scalar", "div", 23, with_number("other", "nonzero"), "other / x", "other / x"),
    ("pow_scalar", "pow", 17, _power, "torch.pow(x, exponent)", "paddle.pow(x, exponent)"),
    ("square", "square", 75, unary(), "torch.square(x)", "paddle.square(x)"),
    ("clone", "clone", 56, unary(), "torch.clone(x)", "paddle.clone(x)"),
    ("cast", "cast", 25, _cast, "x.to(getattr(torch, dtype))", "paddle.cast(x, dtype)"),
    inexact={"div", "rdiv_scalar"},
)

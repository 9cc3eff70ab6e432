"""The in-place forms of ops: what each framework calls them. The first operand is the tensor that is changed."""

from __future__ import annotations

IN_PLACE: dict[str, dict[str, str]] = {
    "add": {"torch": "x.add_(y)", "paddle": "x.add_(y)"},
    "sub": {"torch": "x.sub_(y)", "paddle": "x.subtract_(y)"},
    "mul": {"torch": "x.mul_(y)", "paddle": "x.multiply_(y)"},
    "mul_scalar": {"torch": "x.mul_(other)", "paddle": "x.scale_(other)"},
    "add_scalar": {"torch": "x.add_(other)", "paddle": "x.scale_(1.0, other)"},
}

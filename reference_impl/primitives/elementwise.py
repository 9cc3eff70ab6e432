"""More functions of one or two numbers: the parts of a number, what replaces one that is none, remainders, and lengths.

Sources: the pages of ``torch`` and ``paddle`` on each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, div, mul, mul_scalar, neg, square, sub
from reference_impl.primitives.elementary import sigmoid
from reference_impl.primitives.fused import fused
from reference_impl.primitives.piecewise import floor, jumps, leaky_relu
from reference_impl.primitives.promotion import to_operand
from reference_impl.tape.primitive import Domain, array_of, composite, primitive, zeros_like


@composite
def rad2deg(x: Any) -> Any:
    """Return radians in degrees."""
    return mul_scalar(x, other=180.0 / math.pi)


@fused()
def rrelu(x: Any, *, lower: float, upper: float) -> Any:
    """Return ``x`` where it is positive, else the mean of two slopes times ``x``: what a random slope is in evaluation."""
    return leaky_relu(x, slope=(lower + upper) / 2.0)


@primitive(branch_sides=jumps)
def finite(x: Any) -> Any:
    """Return 0 at infinities and NaN, else 1 (piecewise constant)."""
    return np.isfinite(x).astype(x.dtype)


@primitive(ulps=0)
def nan_to_num(x: Any, *, nan: float, posinf: float, neginf: float) -> Any:
    """Put numbers in the place of NaN and of the infinities; nothing flows through these."""
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@nan_to_num.vjp("x")
def nan_to_num_vjp_x(g: Any, out: Any, x: Any, *, nan: float, posinf: float, neginf: float) -> Any:
    return mul(g, finite(array_of(x)))


@primitive(branch_sides=jumps)
def turned(x: Any, y: Any) -> Any:
    """Return -1 where two numbers have opposite signs, 0 where ``x`` is 0, else 1 (piecewise constant)."""
    return (np.sign(x) * np.copysign(1.0, y)).astype(np.result_type(x, y))


@primitive(ulps=0, domain={"x": Domain.NONZERO, "y": Domain.NONZERO})
def copysign(x: Any, y: Any) -> Any:
    """Return the size of ``x`` with the sign of ``y``; the derivative at 0 is 0 (both frameworks)."""
    return np.copysign(x, y)


@copysign.vjp("x")
def copysign_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, turned(array_of(x), array_of(y))), x)


@copysign.vjp("y")
def copysign_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return zeros_like(y)


@composite
def ldexp(x: Any, *, exponent: Any) -> Any:
    """Return ``x 2^exponent``; exponents are whole numbers of the shape of ``x``."""
    return mul(x, np.exp2(np.asarray(exponent, dtype=float)).astype(x.dtype))


@primitive(branch_sides=jumps)
def power_of_two(x: Any) -> Any:
    """Return the power of two that `frexp` takes out (piecewise constant)."""
    return np.ldexp(np.ones_like(x), np.frexp(x)[1])


@primitive(ulps=0, domain={"x": Domain.NONZERO})
def frexp(x: Any) -> Any:
    """Return what is left of a number without its power of two: between 1/2 and 1."""
    return np.divide(x, power_of_two(x))


@frexp.vjp("x")
def frexp_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return div(g, power_of_two(array_of(x)))


@primitive(branch_sides=jumps)
def whole_quotient(x: Any, y: Any) -> Any:
    """Return ``x / y`` rounded down (piecewise constant)."""
    return np.floor_divide(x, y)


@primitive(error_scale=lambda out, x, y: np.abs(x) + np.abs(y), domain={"y": Domain.NONZERO})
def remainder(x: Any, y: Any) -> Any:
    """Return what is left of ``x`` when ``y`` is taken away as often as it can be, with the sign of ``y``."""
    with np.errstate(invalid="ignore"):
        taken = np.multiply(whole_quotient(x, y), y)
        return np.where(np.isfinite(taken), np.subtract(x, taken), np.remainder(x, y))


@remainder.vjp("x")
def remainder_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(g, x)


@remainder.vjp("y")
def remainder_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(neg(mul(g, floor(div(x, y)))), y)


@primitive(ulps=2, domain={"y": Domain.NONZERO})
def hypot(x: Any, y: Any) -> Any:
    """Return the length of the hypotenuse of a right triangle, the root of ``x^2 + y^2``."""
    return np.hypot(x, y)


@hypot.vjp("x")
def hypot_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, div(x, out)), x)


@hypot.vjp("y")
def hypot_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, div(y, out)), y)


@primitive(ulps=2, domain={"y": Domain.NONZERO})
def atan2(x: Any, y: Any) -> Any:
    """Return the angle of the point with the abscissa ``y`` and the ordinate ``x``, between -pi and pi."""
    return np.arctan2(x, y)


def _over_square(x: Any, y: Any, numerator: Any) -> Any:
    return div(numerator, add(square(x), square(y)))


@atan2.vjp("x")
def atan2_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, _over_square(x, y, y)), x)


@atan2.vjp("y")
def atan2_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(neg(mul(g, _over_square(x, y, x))), y)


@primitive(ulps=4, error_scale=lambda out, x, y: np.abs(out) + np.exp(-np.abs(x - y)))
def logaddexp(x: Any, y: Any) -> Any:
    """Return ``log(e^x + e^y)``."""
    return np.logaddexp(x, y)


@logaddexp.vjp("x")
def logaddexp_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, sigmoid(sub(x, y))), x)


@logaddexp.vjp("y")
def logaddexp_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, sigmoid(sub(y, x))), y)

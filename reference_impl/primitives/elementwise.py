"""More elementwise functions: what replaces NaN and infinities, angles, logarithms of sums and of odds, leaky slopes in evaluation.

Sources: the pages of ``torch`` and ``paddle`` on each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import div, mul, mul_scalar, neg, reciprocal, rsub_scalar, sloped, sub
from reference_impl.primitives.elementary import sigmoid
from reference_impl.primitives.fused import fused
from reference_impl.primitives.norms import power_unless_zero
from reference_impl.primitives.piecewise import abs as absolute
from reference_impl.primitives.piecewise import jumps, leaky_relu, sign
from reference_impl.primitives.promotion import to_operand
from reference_impl.primitives.selection import masked_fill
from reference_impl.primitives.shape import expand
from reference_impl.tape.primitive import Domain, Symbol, alias, array_of, composite, primitive, shape_of, zeros_like


@fused(saves=())
def rad2deg(x: Any) -> Any:
    """Return radians in degrees."""
    return mul_scalar(x, other=180.0 / math.pi)


@fused()
def rrelu(x: Any, *, lower: float, upper: float) -> Any:
    """Return ``x`` where it is positive, else the mean of two slopes times ``x``: what a random slope is in evaluation."""
    return leaky_relu(x, slope=(lower + upper) / 2.0)


@primitive(ulps=0)
def ldexp(x: Any, *, exponent: Any) -> Any:
    """Return ``x`` times powers of two with whole exponents, which broadcast."""
    return np.ldexp(x, exponent)


@ldexp.vjp("x")
def ldexp_vjp_x(g: Any, out: Any, x: Any, *, exponent: Any) -> Any:
    return to_operand(ldexp(g, exponent=exponent), x)


@composite
def ldexp_of_parts(x: Any, *, exponent: Any) -> Any:
    """Return the same as `ldexp`; Paddle makes the powers, and multiplies."""
    return mul(x, np.ldexp(np.ones((), x.dtype), exponent))


@primitive(branch_sides=jumps)
def unit_of_mantissa(x: Any) -> Any:
    """Return the power of two that brings a number between 1/2 and 1 in size, and 1 at 0, infinities and NaN (piecewise constant)."""
    exponents = np.where(np.isfinite(x), np.frexp(x)[1], 0)
    with np.errstate(over="ignore"):
        return np.ldexp(np.ones_like(x), -exponents)


@sloped(lambda out, x: unit_of_mantissa(array_of(x)), ulps=0)
def frexp(x: Any) -> Any:
    """Return the mantissa of a number, ``x`` times a power of two, which jumps at each power of two and is 0 at 0."""
    unit = unit_of_mantissa(x)
    with np.errstate(all="ignore"):
        scaled = np.multiply(x, unit)
    return np.where(np.isfinite(unit) & (unit >= np.finfo(x.dtype).tiny), scaled, np.frexp(x)[0])


@primitive(branch_sides=jumps)
def finite(x: Any) -> Any:
    """Return 0 at infinities and NaN, else 1 (piecewise constant)."""
    return np.isfinite(x).astype(x.dtype)


@sloped(lambda out, x, *, nan, posinf, neginf: finite(array_of(x)), ulps=0)
def nan_to_num(x: Any, *, nan: float, posinf: float, neginf: float) -> Any:
    """Put numbers in the place of NaN and of the infinities; nothing flows through these."""
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@primitive(ulps=2, domain={"y": Domain.NONZERO})
def atan2(x: Any, y: Any) -> Any:
    """Return the angle of the point with the abscissa ``y`` and the ordinate ``x``, between -pi and pi."""
    return np.arctan2(x, y)


@primitive(ulps=2)
def distance(x: Any, y: Any) -> Any:
    """Return how far a point is from the origin, without squares, which leave the range long before the root does."""
    return np.hypot(x, y)


@distance.vjp("x")
def distance_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, cosine(x, out)), x)


@distance.vjp("y")
def distance_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, cosine(y, out)), y)


@primitive(ulps=1)
def cosine(x: Any, length: Any) -> Any:
    """Return ``x / length``: 0 where the length is 0, and one of the sign of ``x`` where that is infinite."""
    with np.errstate(all="ignore"):
        shares = np.where(np.isinf(x), np.sign(x), np.divide(x, length))
    return np.where(np.equal(length, 0), 0, shares).astype(x.dtype)


@cosine.vjp("x")
def cosine_vjp_x(g: Any, out: Any, x: Any, length: Any) -> Any:
    return to_operand(mul(g, reciprocal(length)), x)


@cosine.vjp("length")
def cosine_vjp_length(g: Any, out: Any, x: Any, length: Any) -> Any:
    return neg(mul(mul(g, out), reciprocal(length)))


hypot = alias("hypot", distance)


@primitive(branch_sides=lambda out, x, y: (-np.abs(out + np.equal(x, 0)), np.abs(out + np.equal(x, 0))))
def turn(x: Any, y: Any) -> Any:
    """Return 1 where two numbers have the same sign and -1 where not, also that of a zero ``y``, and 0 where ``x`` is 0."""
    return np.multiply(np.sign(x), np.copysign(1.0, y)).astype(np.result_type(x, y))


@primitive(ulps=0)
def copysign(x: Any, y: Any) -> Any:
    """Return the size of ``x`` with the sign of ``y``; the derivative in ``x`` is 0 at 0, as that of `abs` (PyTorch)."""
    return np.copysign(x, y)


@copysign.vjp("x")
def copysign_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, turn(x, out)), x)


@copysign.vjp("y")
def copysign_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return zeros_like(y)


turn_by_quotient = alias("turn_by_quotient", turn)
turn_by_quotient.rules = [None, None]


def _share(g: Any, x: Any) -> Any:
    """Return ``g / x``, and 0 where ``x`` is 0."""
    return mul(mul(g, sign(x)), power_unless_zero(absolute(x), exponent=-1.0))


@turn_by_quotient.vjp("x")
def turn_by_quotient_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:  # as of the quotient y / x of the same size
    return neg(mul(_share(g, x), out))


@turn_by_quotient.vjp("y")
def turn_by_quotient_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return _share(g, x)


copysign_by_quotient = alias("copysign_by_quotient", copysign)
copysign_by_quotient.rules = [None, copysign_vjp_y]


@copysign_by_quotient.vjp("x")
def copysign_by_quotient_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:  # PyTorch divides the result: in derivatives terms cancel
    return to_operand(mul(g, turn_by_quotient(expand(x, shape=shape_of(out)), out)), x)


@composite
def positive(x: Any) -> Any:
    """Return the operand itself."""
    return x


@primitive(branch_sides=jumps)
def whole_quotient(x: Any, y: Any) -> Any:
    """Return ``x / y``, rounded down (piecewise constant)."""
    return np.floor_divide(x, y)


@turn.vjp("x")
@whole_quotient.vjp("x")
def constant_in_pieces_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return zeros_like(x)


@turn.vjp("y")
@whole_quotient.vjp("y")
def constant_in_pieces_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return zeros_like(y)


@primitive(ulps=2, error_scale=lambda out, x, y: np.broadcast_to(np.abs(y), out.shape), domain={"y": Domain.NONZERO})
def remainder(x: Any, y: Any) -> Any:
    """Return what is left of ``x`` less a whole number of ``y``, with the sign of ``y``."""
    return np.remainder(x, y)


@remainder.vjp("x")
def remainder_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(g, x)


@remainder.vjp("y")
def remainder_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(neg(mul(g, whole_quotient(x, y))), y)


def _slope_of_angle(x: Any, y: Any, numerator: Any) -> Any:
    """Return ``numerator / (x^2 + y^2)``, which vanishes at infinity; at the origin it is 0 times infinity, and nothing is promised."""
    length = distance(x, y)
    return mul(cosine(numerator, length), reciprocal(length))


@atan2.vjp("x")
def atan2_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, _slope_of_angle(x, y, y)), x)


@atan2.vjp("y")
def atan2_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(neg(mul(g, _slope_of_angle(x, y, x))), y)


@composite
def atan2_of_expanded(x: Any, y: Any) -> Any:
    """Return the same as `atan2`; Paddle expands operands of different shapes first."""
    if shape_of(x) == shape_of(y):
        return atan2(x, y)
    shape = np.broadcast_shapes(shape_of(x), shape_of(y))
    return atan2(expand(x, shape=shape), expand(y, shape=shape))


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


@primitive(ulps=4, error_scale=lambda out, x: np.abs(out) + 1.0, domain={"x": Domain.SHARE})
def logit(x: Any) -> Any:
    """Return ``log(x / (1 - x))`` of numbers between 0 and 1, and NaN of others."""
    return np.log(np.divide(x, np.subtract(1.0, x)))


@logit.vjp("x")
def logit_vjp_x(g: Any, out: Any, x: Any) -> Any:
    slope = div(g, mul(x, rsub_scalar(x, other=1.0)))
    if isinstance(x, Symbol):
        return slope
    return masked_fill(slope, mask=np.isnan(array_of(out)), value=np.nan)

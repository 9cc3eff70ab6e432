"""Special functions of one number: the cardinal sine, and the inverse of the error function.

The derivatives of the cardinal sine are primitives of their own: written as differences, as a product rule would have them, they cancel
near 0, and at 0 they are 0 / 0. Sources: the NIST Digital Library of Mathematical Functions, sections 6.2 and 7.17.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import mul, mul_scalar, sloped, square
from reference_impl.primitives.elementary import exp
from reference_impl.tape.primitive import Domain, primitive

HALF_SQRT_PI = math.sqrt(math.pi) / 2.0
NEAR = 2.0
"""Up to here, in multiples of 1/pi, a derivative of the cardinal sine is a sum of powers; beyond, the recurrence does not amplify."""
TERMS = 24
"""With so many terms the sum of powers is exact to the last place of a longdouble."""
STEPS = 4
"""How often an approximation of the inverse of the error function is improved; each step squares the error, or more."""


def _shifted_sine(u: Any, order: int) -> Any:
    """Return the derivative of the sine of an order."""
    turned = np.cos(u) if order % 2 else np.sin(u)
    return -turned if order % 4 > 1 else turned


def _sum_of_powers(u: Any, order: int) -> Any:
    """Return the derivative of ``sin(u) / u`` of an order: the sum of ``(-1)^k u^(2k - n) / ((2k + 1) (2k - n)!)``."""
    out = np.zeros_like(u)
    for k in reversed(range((order + 1) // 2, (order + 1) // 2 + TERMS)):
        out = out + (-1.0) ** k * u ** (2 * k - order) / ((2 * k + 1) * math.factorial(2 * k - order))
    return out


def _by_recurrence(u: Any, turn: Any, order: int) -> Any:
    """Return the same far from 0, of ``u f^(n) = sin^(n) - n f^(n - 1)``; ``turn``: ``u`` without its whole turns."""
    out = np.sin(turn) / u
    for n in range(1, order + 1):
        out = (_shifted_sine(turn, n) - n * out) / u
    return out


def _of_cardinal_sine(x: Any, order: int) -> Any:
    wide = np.asarray(x, np.result_type(x, np.float64))
    pi = np.arccos(wide.dtype.type(-1.0))
    with np.errstate(invalid="ignore", over="ignore"):  # of an infinite number there is no sine
        u = np.multiply(wide, pi)
        near = np.less(np.abs(u), NEAR)
        turn = np.multiply(np.subtract(wide, 2.0 * np.rint(wide / 2.0)), pi)
        far = _by_recurrence(np.where(near, np.ones_like(u), u), turn, order)
    return (np.where(near, _sum_of_powers(np.where(near, u, np.zeros_like(u)), order), far) * pi**order).astype(x.dtype)


@primitive(ulps=8, error_scale=lambda out, x, *, order: np.abs(out) + math.pi**order)
def sinc_slope(x: Any, *, order: int) -> Any:
    """Return the derivative of `sinc` of an order: 0 at 0 if that is odd, else plus or minus ``pi^order / (order + 1)``."""
    return _of_cardinal_sine(x, order)


@sinc_slope.vjp("x")
def sinc_slope_vjp_x(g: Any, out: Any, x: Any, *, order: int) -> Any:
    return mul(g, sinc_slope(x, order=order + 1))


@sloped(lambda out, x: sinc_slope(x, order=1), ulps=4, error_scale=lambda out, x: np.abs(out) + 1.0)
def sinc(x: Any) -> Any:
    """Return ``sin(pi x) / (pi x)``, and 1 at 0; the sine of infinity is no number."""
    return _of_cardinal_sine(x, 0)


def _inverse_error(x: float, rest: float) -> float:
    """Return the number whose error function is ``x``; ``rest`` is ``1 - |x|``, from which large numbers are told apart."""
    if math.isnan(x) or rest < 0:
        return math.nan
    if rest == 0:
        return math.copysign(math.inf, x)
    if x == 0:
        return x
    if rest > 0.5:
        y = x * HALF_SQRT_PI
        for _ in range(STEPS):
            y -= (math.erf(y) - x) * HALF_SQRT_PI * math.exp(y * y)
        return y
    y = math.sqrt(-math.log(rest))
    for _ in range(2 * STEPS):
        left = math.erfc(y)
        y += math.log1p((left - rest) / rest) * left * HALF_SQRT_PI * math.exp(y * y)
    return math.copysign(y, x)


_inverse = np.frompyfunc(_inverse_error, 2, 1)


@primitive(ulps=4, domain={"x": Domain.UNIT})
def erfinv(x: Any) -> Any:
    """Return the number whose error function is ``x``: infinite at 1 and -1, and NaN beyond.

    It is found by Newton's method, on the error function itself, and in its tails on the logarithm of what is left to 1.
    """
    return np.asarray(_inverse(x, np.subtract(1.0, np.abs(x)))).astype(x.dtype)


@erfinv.vjp("x")
def erfinv_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, mul_scalar(exp(square(erfinv(x))), other=HALF_SQRT_PI))

"""Special functions: of the gamma and the Bessel family, the inverse of the error function, and the logarithm of odds.

NumPy has none of them, so they are computed here, in the widest dtype that it has, by the formulas of NIST's Digital Library of
Mathematical Functions (https://dlmf.nist.gov): sums that do not cancel, and asymptotic series where these are exact to the last bit.
Their derivatives are functions of the same family, so that every order follows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, add_scalar, div, mul, mul_scalar, rsub_scalar, square, sub
from reference_impl.primitives.elementary import SQRT_PI, exp, log
from reference_impl.primitives.fused import fused
from reference_impl.primitives.piecewise import sign
from reference_impl.tape.primitive import Domain, alias, primitive

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
"""The Bernoulli numbers of even index, from the second on."""
FAR = 20
"""From here on the asymptotic series of the gamma family are exact."""


def _log_gamma(x: float) -> float:
    if math.isnan(x):
        return x
    if x <= 0 and x == math.floor(x):  # a pole; of -inf, too, infinity is what C promises
        return math.inf
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


_lgamma = np.frompyfunc(_log_gamma, 1, 1)


@primitive(ulps=4, error_scale=lambda out, x: np.abs(out) + np.minimum(np.abs(x), 1.0), domain={"x": Domain.POSITIVE})
def lgamma(x: Any) -> Any:
    """Return the logarithm of the absolute value of the gamma function."""
    return np.asarray(_lgamma(x)).astype(np.asarray(x).dtype)


@lgamma.vjp("x")
def lgamma_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, polygamma(x, n=0))


gammaln = alias("gammaln", lgamma)


def _digamma(x: Any) -> Any:
    """Return the derivative of `lgamma`: DLMF 5.5.4 to the right half, 5.5.2 far enough, and 5.11.2 there."""
    right = np.where(x < 0.5, 1 - x, x)
    before = np.zeros_like(right)
    for _ in range(FAR):
        near = right < FAR
        before = np.where(near, before - 1 / np.where(near, right, 1), before)
        right = np.where(near, right + 1, right)
    series = np.log(right) - 0.5 / right
    for k, number in enumerate(BERNOULLI, 1):
        series = series - number / (2 * k) * right ** (-2.0 * k)
    found = before + series
    turned = x - np.rint(x)  # what a period is long; the tangent of a large number would be rounded
    return np.where(x < 0.5, found - np.pi / np.tan(np.longdouble("3.14159265358979323846") * turned), found)


def _zeta(s: int, x: Any) -> Any:
    """Return the sum of ``(x + k)^-s`` over all natural k: DLMF 25.11.28, the Euler-Maclaurin formula."""
    total = np.zeros_like(x)
    for k in range(FAR):
        total = total + (x + k) ** (-float(s))
    far = x + FAR
    total = total + far ** (1.0 - s) / (s - 1) + 0.5 * far ** (-float(s))
    factor = float(s)
    for k, number in enumerate(BERNOULLI, 1):
        total = total + number / math.factorial(2 * k) * factor * far ** (1.0 - s - 2 * k)
        factor *= (s + 2 * k - 1) * (s + 2 * k)
    return total


@primitive(ulps=8, error_scale=lambda out, x, *, n: np.abs(out) + (n == 0), domain={"x": Domain.POSITIVE})
def polygamma(x: Any, *, n: int) -> Any:
    """Return the derivative of order ``n + 1`` of `lgamma`."""
    wide = np.asarray(x, np.longdouble)
    with np.errstate(all="ignore"):
        found = _digamma(wide) if n == 0 else (-1) ** (n + 1) * math.factorial(n) * _zeta(n + 1, wide)
    return found.astype(x.dtype)


@polygamma.vjp("x")
def polygamma_vjp_x(g: Any, out: Any, x: Any, *, n: int) -> Any:
    return mul(g, polygamma(x, n=n + 1))


@fused(domain={"x": Domain.POSITIVE})
def digamma(x: Any) -> Any:
    """Return the derivative of `lgamma`."""
    return polygamma(x, n=0)


@fused(domain={"x": Domain.BEYOND_ONE})
def multigammaln(x: Any, *, p: int) -> Any:
    """Return the logarithm of the gamma function of ``p`` dimensions; ``x`` is above ``(p - 1) / 2``."""
    total = lgamma(x)
    for j in range(1, p):
        total = add(total, lgamma(add_scalar(x, other=-j / 2)))
    return add_scalar(total, other=p * (p - 1) / 4 * math.log(math.pi))


NOTHING = 2.0**-70
"""What adds nothing to a sum in any dtype."""
SMALL = 30.0
"""Below it the power series of the Bessel functions is short; from it on their asymptotic series is exact."""


def _scaled_bessel(x: Any, order: int) -> Any:
    """Return ``e^-|x| I_order(x)``: DLMF 10.25.2, a sum of positive terms, or 10.40.1."""
    size = np.abs(x)
    near = np.minimum(size, SMALL)
    term = (near / 2) ** order / math.factorial(order)
    total = term
    for k in range(1, 90):
        term = term * (near / 2) ** 2 / (k * (k + order))
        total = total + term
        if np.all(term <= total * NOTHING):
            break
    far = np.maximum(size, SMALL)
    part = series = np.ones_like(far)
    for k in range(1, 30):
        part = part * ((2 * k - 1) ** 2 - 4 * order**2) / (8 * k * far)
        series = series + part
    found = np.where(size < SMALL, total * np.exp(-near), series / np.sqrt(2 * np.longdouble(np.pi) * far))
    found = np.where(np.isnan(x), x, found)
    return np.where(x < 0, (-1) ** order * found, found)


@primitive(ulps=8)
def bessel(x: Any, *, order: int, scaled: bool) -> Any:
    """Return the modified Bessel function of the first kind of a whole order; ``scaled``: times ``e^-|x|``."""
    wide = np.asarray(x, np.longdouble)
    with np.errstate(all="ignore"):
        found = _scaled_bessel(wide, order)
        return (found if scaled else np.where(found == 0, found, found * np.exp(np.abs(wide)))).astype(x.dtype)


@bessel.vjp("x")
def bessel_vjp_x(g: Any, out: Any, x: Any, *, order: int, scaled: bool) -> Any:
    """Follow DLMF 10.29.1: half the sum of the neighbours."""
    neighbours = (bessel(x, order=abs(order + step), scaled=scaled) for step in (-1, 1))
    slope = mul_scalar(add(*neighbours), other=0.5)
    return mul(g, sub(slope, mul(sign(x), out)) if scaled else slope)


@fused()
def i0(x: Any) -> Any:
    """Return the modified Bessel function of order 0."""
    return bessel(x, order=0, scaled=False)


@fused()
def i0e(x: Any) -> Any:
    """Return the modified Bessel function of order 0, times ``e^-|x|``."""
    return bessel(x, order=0, scaled=True)


@fused()
def i1(x: Any) -> Any:
    """Return the modified Bessel function of order 1."""
    return bessel(x, order=1, scaled=False)


@fused()
def i1e(x: Any) -> Any:
    """Return the modified Bessel function of order 1, times ``e^-|x|``."""
    return bessel(x, order=1, scaled=True)


def _lower(a: Any, x: Any) -> Any:
    """Return the part of the gamma function below ``x``, DLMF 8.11.4: a sum of positive terms."""
    term = total = 1 / a
    for k in range(1, 120):
        term = term * x / (a + k)
        total = total + term
        if np.all(term <= total * NOTHING):
            break
    return total * _height(a, x)


def _upper(a: Any, x: Any) -> Any:
    """Return the part above, DLMF 8.9.2: a continued fraction, from its end on."""
    below = np.zeros_like(x)
    for k in range(300, 0, -1):
        below = k * (k - a) / (x + 2 * k + 1 - a - below)
    return _height(a, x) / (x + 1 - a - below)


def _height(a: Any, x: Any) -> Any:
    return np.exp(a * np.log(x) - x - np.asarray(_lgamma(a.astype(float))).astype(a.dtype))


def _incomplete(a: Any, x: Any, *, lower: bool) -> Any:
    wide = np.asarray(x, np.longdouble)
    orders = np.broadcast_to(np.asarray(a, np.longdouble), wide.shape)
    with np.errstate(all="ignore"):
        near = wide < orders + 1
        part = np.where(near, _lower(orders, np.minimum(wide, orders + 1)), _upper(orders, np.maximum(wide, orders + 1)))
        found = np.where(near == lower, part, 1 - part)
    found = np.where(np.isnan(wide) | (wide < 0), np.nan, found)
    return np.where(np.isinf(wide), float(lower), np.where(wide == 0, float(not lower), found)).astype(x.dtype)


def _density(x: Any, a: Any) -> Any:
    """Return the slope of the lower part: ``x^(a-1) e^-x / gamma(a)``."""
    orders = np.asarray(a, dtype=x.dtype)
    height = np.asarray(_lgamma(np.asarray(a, float))).astype(x.dtype)
    return exp(sub(mul(log(x), np.subtract(orders, 1)), add(x, height)))


@primitive(
    ulps=8, error_scale=lambda out, x, *, a: np.abs(out) * (1 + np.abs(np.log(x)) * np.abs(a) + x), domain={"x": Domain.POSITIVE}
)
def gammainc(x: Any, *, a: Any) -> Any:
    """Return the part of the gamma function of ``a`` that lies below ``x``; nothing flows to ``a``, an attribute."""
    return _incomplete(a, x, lower=True)


@gammainc.vjp("x")
def gammainc_vjp_x(g: Any, out: Any, x: Any, *, a: Any) -> Any:
    return mul(g, _density(x, a))


@primitive(
    ulps=8, error_scale=lambda out, x, *, a: np.abs(out) * (1 + np.abs(np.log(x)) * np.abs(a) + x), domain={"x": Domain.POSITIVE}
)
def gammaincc(x: Any, *, a: Any) -> Any:
    """Return the part of the gamma function of ``a`` that lies above ``x``; nothing flows to ``a``, an attribute."""
    return _incomplete(a, x, lower=False)


@gammaincc.vjp("x")
def gammaincc_vjp_x(g: Any, out: Any, x: Any, *, a: Any) -> Any:
    return mul_scalar(mul(g, _density(x, a)), other=-1.0)


def _inverse_error(x: float) -> float:
    """Return what has the error function ``x``: Newton's steps, in the tail on the complement, which keeps its digits."""
    size = abs(x)
    if not size < 1:
        return math.copysign(math.inf, x) if size == 1 else math.nan
    if size < 1e-9:
        return x * SQRT_PI / 2
    spread = math.log1p(-size * size)
    middle = 2 / (math.pi * 0.147) + spread / 2  # S. Winitzki's approximation, good to two digits
    y = math.sqrt(math.sqrt(middle**2 - spread / 0.147) - middle)
    for _ in range(12):
        beyond = (1 - size) - math.erfc(y) if size > 0.5 else math.erf(y) - size
        y -= beyond / (2 / SQRT_PI * math.exp(-y * y))
    return math.copysign(y, x)


_erfinv = np.frompyfunc(_inverse_error, 1, 1)


@primitive(ulps=4, domain={"x": Domain.UNIT})
def erfinv(x: Any) -> Any:
    """Return the inverse of the error function."""
    return np.asarray(_erfinv(x)).astype(np.asarray(x).dtype)


@erfinv.vjp("x")
def erfinv_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, mul_scalar(exp(square(out)), other=SQRT_PI / 2))


@fused(domain={"x": Domain.SHARE})
def logit(x: Any) -> Any:
    """Return ``log(x / (1 - x))`` of numbers between 0 and 1."""
    return log(div(x, rsub_scalar(x, other=1.0)))

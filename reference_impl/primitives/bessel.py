"""Modified Bessel functions of the first kind, of orders 0 and 1, as they are and damped by ``e^-|x|``, and all their derivatives.

``I_0(x)`` is the mean of ``e^(x cos t)`` over half a turn, so its derivatives are means of ``cos(t)^n e^(x cos t)``, ``I_1`` is the
first of them, and those of the damped function at positive numbers are means of ``(cos(t) - 1)^n e^(x (cos(t) - 1))``. The terms of
such a mean have one sign, where the differences of functions in the documents of the frameworks cancel. Means of periodic
functions are sums over a few points; far out, where the peak is narrow, they are Watson's series. Source: the NIST Digital Library of
Mathematical Functions, sections 10.32 and 10.40.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import mul
from reference_impl.primitives.piecewise import abs as size
from reference_impl.primitives.piecewise import sign
from reference_impl.tape.primitive import primitive

FAR = 40.0
POINTS = 64
"""With so many points over half a turn the sum is exact to the last place of a longdouble, up to `FAR`."""
TERMS = 40
"""With so many terms the series is, from there on."""
PI = np.arccos(np.longdouble(-1.0))


def _near(a: Any, order: int, twice: int) -> Any:
    """Return the mean of ``(cos(t) - 1)^order e^(a (cos(t) - 1)) sin(t)^twice``, at numbers that are not negative."""
    t = np.arange(POINTS + 1) * PI / POINTS
    weight = np.where((t == 0) | (np.arange(POINTS + 1) == POINTS), 0.5, 1.0) / POINTS
    fall = -2 * np.sin(t / 2) ** 2
    return (weight * fall**order * np.sin(t) ** twice * np.exp(a[..., None] * fall)).sum(-1)


def _far(a: Any, order: int, twice: int) -> Any:
    """Return the same by the series of Watson's lemma, of ``s = 1 - cos(t)``."""
    power, half = order + (twice - 1) / 2, (twice - 1) / 2
    term = (-1.0) ** order * np.longdouble(2.0) ** half / PI * _gamma_of_half(power + 1) * a ** -(power + 1)
    out = np.zeros_like(a)
    for j in range(TERMS):
        out = out + term
        term = term * ((half - j) / (j + 1) * -0.5 * (power + 1 + j)) / a
    return out


def _gamma_of_half(x: float) -> Any:
    out = np.sqrt(PI)
    for k in range(int(x)):
        out = out * (0.5 + k)
    return out


def _damped(a: Any, order: int, twice: int = 0) -> Any:
    near = np.less(a, FAR)
    return np.where(near, _near(np.where(near, a, 0), order, twice), _far(np.where(near, FAR, a), order, twice))


def _derivative(x: Any, order: int) -> Any:
    """Return the derivative of an order of ``I_0``."""
    wide = np.asarray(x, np.longdouble)
    a = np.abs(wide)
    with np.errstate(all="ignore"):
        c = np.sin(np.arange(POINTS // 2, -1, -1) * PI / POINTS)
        weight = np.where((c == 0) | (c == c.max()), 0.5, 1.0) * 2 / POINTS
        of = np.sinh if order % 2 else np.cosh
        near = (weight * c**order * of(np.where(a < FAR, wide, 0)[..., None] * c)).sum(-1)
        mean = sum(math.comb(order, j) * _damped(a, j) for j in range(order + 1))
        far = np.where(np.isinf(a), a, np.exp(a / 2) * mean * np.exp(a / 2)) * np.sign(wide) ** order
        return np.where(a < FAR, near, far).astype(x.dtype)


def _tilted(x: Any, order: int, tilt: int) -> Any:
    """Return the derivative of an order of ``e^-a I_tilt(a)``, at numbers that are not negative."""
    a = np.asarray(x, np.longdouble)
    with np.errstate(all="ignore"):
        if not tilt:
            out = _damped(a, order)
        elif order:
            out = _damped(a, order) + _damped(a, order + 1)
        else:
            out = np.where(np.isinf(a), 0, a * _damped(a, 0, twice=2))
    return out.astype(x.dtype)


@primitive(ulps=8)
def i0(x: Any) -> Any:
    """Return the modified Bessel function of order 0."""
    return _derivative(x, 0)


@i0.vjp("x")
def i0_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, i1(x))


@primitive(ulps=8)
def i1(x: Any) -> Any:
    """Return the modified Bessel function of order 1, the derivative of that of order 0."""
    return _derivative(x, 1)


@i1.vjp("x")
def i1_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, bessel_slope(x, order=2))


@primitive(ulps=8)
def bessel_slope(x: Any, *, order: int) -> Any:
    """Return the derivative of `i0` of an order."""
    return _derivative(x, order)


@bessel_slope.vjp("x")
def bessel_slope_vjp_x(g: Any, out: Any, x: Any, *, order: int) -> Any:
    return mul(g, bessel_slope(x, order=order + 1))


@primitive(ulps=8)
def i0e(x: Any) -> Any:
    """Return ``e^-|x|`` times `i0`."""
    return _tilted(np.abs(x), 0, 0)


@i0e.vjp("x")
def i0e_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, mul(sign(x), damped_slope(size(x), order=1, tilt=0)))


@primitive(ulps=8)
def i1e(x: Any) -> Any:
    """Return ``e^-|x|`` times `i1`."""
    return np.copysign(_tilted(np.abs(x), 0, 1), x)


@i1e.vjp("x")
def i1e_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, damped_slope(size(x), order=1, tilt=1))


def _slope_scale(out: Any, x: Any, *, order: int, tilt: int) -> Any:
    return np.abs(_tilted(x, order, 0)) + np.abs(_tilted(x, order + 1, 0)) if tilt else np.abs(out)


@primitive(ulps=8, error_scale=_slope_scale)
def damped_slope(x: Any, *, order: int, tilt: int) -> Any:
    """Return the derivative of an order of `i0e`, or with ``tilt`` 1 of `i1e`, at numbers that are not negative."""
    return _tilted(x, order, tilt)


@damped_slope.vjp("x")
def damped_slope_vjp_x(g: Any, out: Any, x: Any, *, order: int, tilt: int) -> Any:
    return mul(g, damped_slope(x, order=order + 1, tilt=tilt))

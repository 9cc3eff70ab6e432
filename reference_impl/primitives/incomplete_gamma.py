"""The incomplete gamma functions: which part of the integral of ``t^(a-1) e^-t`` lies below a number, and which above.

The order ``a`` is an attribute: the derivative in it is implemented in neither framework. Both parts are computed in longdouble, by the
series where the number is small and by the continued fraction where it is large, so that neither is what the other leaves of 1.
Source: the NIST Digital Library of Mathematical Functions, sections 8.4, 8.7, 8.8 and 8.9.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import mul, neg, rsub_scalar, sub
from reference_impl.primitives.gamma import log_gamma
from reference_impl.tape.primitive import Domain, composite, primitive

TERMS = 400
"""How many terms a series or a fraction has at most; where numbers are far larger than these, one part is 0."""


def _wide(x: Any, a: Any) -> tuple[Any, Any]:
    wide, orders = np.broadcast_arrays(np.asarray(x, np.longdouble), np.asarray(a, np.longdouble))
    return wide, orders


def _density(x: Any, a: Any) -> Any:
    """Return ``x^(a-1) e^-x / gamma(a)``; ``1 / gamma`` is 0 at whole numbers that are not positive, and has a sign between them."""
    whole = np.less_equal(a, 0) & np.equal(a, np.floor(a))
    sign = np.where(np.less(a, 0) & np.not_equal(np.mod(np.floor(a), 2), 0), -1.0, 1.0)
    power = np.where(np.equal(a, 1), 0.0, (a - 1) * np.log(x))  # also of 0
    size = np.exp(power - x - log_gamma(np.where(whole, 1, a)))
    inside = np.where(whole, 0.0, sign * np.where(np.isposinf(x), 0.0, size))
    return np.where(np.isnan(x) | np.less(x, 0), np.nan, inside)


def _parts(x: Any, a: Any) -> tuple[Any, Any]:
    """Return the part below and the part above."""
    small = np.less(x, a + 1)
    near, far = np.where(small, x, 1), np.where(small, a + 2, x)
    term = total = 1 / a
    for n in range(1, TERMS):
        term = term * near / (a + n)
        total = total + term
    below = _density(near, a) * near * total
    b = far + 1 - a
    c, d = np.full_like(b, np.inf), 1 / b
    fraction = d
    for n in range(1, TERMS):
        step = n * (a - n)
        b = b + 2
        d = 1 / (step * d + b)
        c = b + step / c
        fraction = fraction * d * c
    above = np.where(np.isinf(far), 0, _density(far, a) * far * fraction)
    below = np.where(np.equal(near, 0), 0, below)
    known = np.where(np.isnan(x) | np.less(x, 0), np.nan, 0)
    return known + np.where(small, below, 1 - above), known + np.where(small, 1 - below, above)


def _part(x: Any, a: Any, which: int) -> Any:
    with np.errstate(all="ignore"):
        return _parts(*_wide(x, a))[which].astype(x.dtype)


def _scale(out: Any, x: Any, *, a: Any) -> Any:
    """Return the part, and what roundings of the exponent ``a log x - x`` do to the smaller one, by which either is computed."""
    wide, order = _wide(x, a)
    with np.errstate(all="ignore"):
        less = np.minimum(*_parts(wide, order))
        exponent = np.abs(order * np.log(wide)) + wide + np.abs(log_gamma(order + 1))
        return np.abs(out) + np.where(np.greater(less, 0) & np.isfinite(exponent), less * exponent, 0).astype(out.dtype)


@primitive(ulps=8, error_scale=_scale, domain={"x": Domain.POSITIVE})
def gammainc(x: Any, *, a: Any) -> Any:
    """Return the part below, 0 at 0 and 1 at infinity; negative numbers have none."""
    return _part(x, a, 0)


@primitive(ulps=8, error_scale=_scale, domain={"x": Domain.POSITIVE})
def gammaincc(x: Any, *, a: Any) -> Any:
    """Return the part above: what is left to 1."""
    return _part(x, a, 1)


@composite
def gammainc_of_rest(x: Any, *, a: Any) -> Any:
    """Return the same as `gammainc`, as what `gammaincc` leaves (Paddle)."""
    return rsub_scalar(gammaincc(x, a=a), other=1.0)


def _scale_of_exponent(out: Any, x: Any, *, a: Any) -> Any:
    wide, order = _wide(x, a)
    with np.errstate(all="ignore"):
        exponent = np.abs((order - 1) * np.log(wide)) + np.abs(wide) + 1
        return np.abs(out) * np.where(np.isfinite(exponent), exponent, 1).astype(out.dtype)


@primitive(ulps=8, error_scale=_scale_of_exponent, domain={"x": Domain.POSITIVE})
def gamma_density(x: Any, *, a: Any) -> Any:
    """Return ``x^(a-1) e^-x / gamma(a)``, the slope of the part below."""
    with np.errstate(all="ignore"):
        return _density(*_wide(x, a)).astype(x.dtype)


@gamma_density.vjp("x")
def gamma_density_vjp_x(g: Any, out: Any, x: Any, *, a: Any) -> Any:
    return mul(g, sub(gamma_density(x, a=np.asarray(a) - 1.0), out))


@gammainc.vjp("x")
def gammainc_vjp_x(g: Any, out: Any, x: Any, *, a: Any) -> Any:
    return mul(g, gamma_density(x, a=a))


@gammaincc.vjp("x")
def gammaincc_vjp_x(g: Any, out: Any, x: Any, *, a: Any) -> Any:
    return neg(mul(g, gamma_density(x, a=a)))

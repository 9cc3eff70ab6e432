"""Special functions: parts of the gamma function, and the logarithm of odds.

NumPy has none of them, so they are computed here, in the widest dtype that it has, by the formulas of NIST's Digital Library of
Mathematical Functions (https://dlmf.nist.gov): sums that do not cancel, and fractions where these would be long.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, div, mul, mul_scalar, rsub_scalar, sub
from reference_impl.primitives.elementary import exp, log
from reference_impl.primitives.fused import fused
from reference_impl.tape.primitive import Domain, primitive


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


NOTHING = 2.0**-70
"""What adds nothing to a sum in any dtype."""


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


@fused(domain={"x": Domain.SHARE})
def logit(x: Any) -> Any:
    """Return ``log(x / (1 - x))`` of numbers between 0 and 1."""
    return log(div(x, rsub_scalar(x, other=1.0)))

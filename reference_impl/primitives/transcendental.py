"""More elementary functions: logarithms and exponentials near 1 and 0, circular and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add_scalar, mul, mul_scalar, neg, rsub_scalar, sloped, square
from reference_impl.primitives.elementary import rsqrt
from reference_impl.primitives.fused import fused
from reference_impl.tape.primitive import Domain, primitive

LN_2 = math.log(2.0)
LN_10 = math.log(10.0)


@sloped(lambda out, x: add_scalar(out, other=1.0), ulps=2)
def expm1(x: Any) -> Any:
    """Return ``e^x - 1``, without the cancellation near 0."""
    return np.expm1(x)


@sloped(over=lambda out, x: add_scalar(x, other=1.0), ulps=2, domain={"x": Domain.POSITIVE})
def log1p(x: Any) -> Any:
    """Return ``log(1 + x)``, without the rounding of the sum."""
    return np.log1p(x)


@sloped(over=lambda out, x: mul_scalar(x, other=LN_2), ulps=2, domain={"x": Domain.POSITIVE})
def log2(x: Any) -> Any:
    """Logarithm to the base 2."""
    return np.log2(x)


@sloped(over=lambda out, x: mul_scalar(x, other=LN_10), ulps=2, domain={"x": Domain.POSITIVE})
def log10(x: Any) -> Any:
    """Logarithm to the base 10."""
    return np.log10(x)


@sloped(lambda out, x: add_scalar(square(out), other=1.0), ulps=4)
def tan(x: Any) -> Any:
    """Tangent; angles in radians."""
    return np.tan(x)


@sloped(lambda out, x: _secant(x), ulps=2, domain={"x": Domain.UNIT})
def asin(x: Any) -> Any:
    """Inverse sine, between -pi/2 and pi/2."""
    return np.arcsin(x)


def _secant(x: Any) -> Any:  # 1 / cos(asin x)
    return rsqrt(rsub_scalar(square(x), other=1.0))


@sloped(lambda out, x: neg(_secant(x)), ulps=2, domain={"x": Domain.UNIT})
def acos(x: Any) -> Any:
    """Inverse cosine, between 0 and pi."""
    return np.arccos(x)


@sloped(over=lambda out, x: add_scalar(square(x), other=1.0), ulps=2)
def atan(x: Any) -> Any:
    """Inverse tangent, between -pi/2 and pi/2."""
    return np.arctan(x)


@primitive(ulps=4)
def cosh(x: Any) -> Any:
    """Hyperbolic cosine."""
    return np.cosh(x)


@cosh.vjp("x")
def cosh_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, sinh(x))


@sloped(lambda out, x: cosh(x), ulps=4)
def sinh(x: Any) -> Any:
    """Hyperbolic sine."""
    return np.sinh(x)


@sloped(lambda out, x: rsqrt(add_scalar(square(x), other=1.0)), ulps=4)
def asinh(x: Any) -> Any:
    """Inverse hyperbolic sine."""
    return np.arcsinh(x)


@sloped(lambda out, x: rsqrt(add_scalar(square(x), other=-1.0)), ulps=4, domain={"x": Domain.BEYOND_ONE})
def acosh(x: Any) -> Any:
    """Inverse hyperbolic cosine, not negative."""
    return np.arccosh(x)


@sloped(over=lambda out, x: rsub_scalar(square(x), other=1.0), ulps=4, domain={"x": Domain.UNIT})
def atanh(x: Any) -> Any:
    """Inverse hyperbolic tangent."""
    return np.arctanh(x)


@fused(saves=())
def deg2rad(x: Any) -> Any:
    """Return degrees in radians."""
    return mul_scalar(x, other=math.pi / 180.0)

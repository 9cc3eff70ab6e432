"""More elementary functions: logarithms and exponentials near 1 and 0, circular and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add_scalar, div, mul, mul_scalar, neg, rsub_scalar, square
from reference_impl.primitives.elementary import rsqrt
from reference_impl.primitives.fused import fused
from reference_impl.tape.primitive import Domain, primitive

LN_2 = math.log(2.0)
LN_10 = math.log(10.0)


@primitive(ulps=2)
def expm1(x: Any) -> Any:
    """Return ``e^x - 1``, without the cancellation near 0."""
    return np.expm1(x)


@expm1.vjp("x")
def expm1_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, add_scalar(out, other=1.0))


@primitive(ulps=2, domain={"x": Domain.POSITIVE})
def log1p(x: Any) -> Any:
    """Return ``log(1 + x)``, without the rounding of the sum."""
    return np.log1p(x)


@log1p.vjp("x")
def log1p_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return div(g, add_scalar(x, other=1.0))


@primitive(ulps=2, domain={"x": Domain.POSITIVE})
def log2(x: Any) -> Any:
    """Logarithm to the base 2."""
    return np.log2(x)


@log2.vjp("x")
def log2_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return div(g, mul_scalar(x, other=LN_2))


@primitive(ulps=2, domain={"x": Domain.POSITIVE})
def log10(x: Any) -> Any:
    """Logarithm to the base 10."""
    return np.log10(x)


@log10.vjp("x")
def log10_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return div(g, mul_scalar(x, other=LN_10))


@primitive(ulps=4)
def tan(x: Any) -> Any:
    """Tangent; angles in radians."""
    return np.tan(x)


@tan.vjp("x")
def tan_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, add_scalar(square(out), other=1.0))


@primitive(ulps=2, domain={"x": Domain.UNIT})
def asin(x: Any) -> Any:
    """Inverse sine, between -pi/2 and pi/2."""
    return np.arcsin(x)


def _secant(x: Any) -> Any:  # 1 / cos(asin x)
    return rsqrt(rsub_scalar(square(x), other=1.0))


@asin.vjp("x")
def asin_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, _secant(x))


@primitive(ulps=2, domain={"x": Domain.UNIT})
def acos(x: Any) -> Any:
    """Inverse cosine, between 0 and pi."""
    return np.arccos(x)


@acos.vjp("x")
def acos_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, neg(_secant(x)))


@primitive(ulps=2)
def atan(x: Any) -> Any:
    """Inverse tangent, between -pi/2 and pi/2."""
    return np.arctan(x)


@atan.vjp("x")
def atan_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return div(g, add_scalar(square(x), other=1.0))


@primitive(ulps=4)
def sinh(x: Any) -> Any:
    """Hyperbolic sine."""
    return np.sinh(x)


@sinh.vjp("x")
def sinh_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, cosh(x))


@primitive(ulps=4)
def cosh(x: Any) -> Any:
    """Hyperbolic cosine."""
    return np.cosh(x)


@cosh.vjp("x")
def cosh_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, sinh(x))


@primitive(ulps=4)
def asinh(x: Any) -> Any:
    """Inverse hyperbolic sine."""
    return np.arcsinh(x)


@asinh.vjp("x")
def asinh_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, rsqrt(add_scalar(square(x), other=1.0)))


@primitive(ulps=4, domain={"x": Domain.BEYOND_ONE})
def acosh(x: Any) -> Any:
    """Inverse hyperbolic cosine, not negative."""
    return np.arccosh(x)


@acosh.vjp("x")
def acosh_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, rsqrt(add_scalar(square(x), other=-1.0)))


@primitive(ulps=4, domain={"x": Domain.UNIT})
def atanh(x: Any) -> Any:
    """Inverse hyperbolic tangent."""
    return np.arctanh(x)


@atanh.vjp("x")
def atanh_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return div(g, rsub_scalar(square(x), other=1.0))


@fused(saves=())
def deg2rad(x: Any) -> Any:
    """Return degrees in radians."""
    return mul_scalar(x, other=math.pi / 180.0)

"""Elementary functions and smooth activations, elementwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import (
    add,
    add_scalar,
    div,
    mul,
    mul_scalar,
    neg,
    pow_scalar,
    rsub_scalar,
    sloped,
    square,
    sub,
)
from reference_impl.primitives.complex import complex, conj, conjugate, from_imag, sgn
from reference_impl.primitives.piecewise import abs, inside
from reference_impl.primitives.promotion import to_operand
from reference_impl.primitives.selection import masked_fill
from reference_impl.primitives.shape import expand
from reference_impl.tape.primitive import Domain, Symbol, alias, array_of, composite, primitive, shape_of

SQRT_2 = math.sqrt(2.0)
SQRT_2_PI = math.sqrt(2.0 * math.pi)
SQRT_PI = math.sqrt(math.pi)

_erf = np.frompyfunc(math.erf, 1, 1)


@sloped(lambda out, x: out, ulps=2)
def exp(x: Any) -> Any:
    """Return ``e^x``."""
    return np.exp(x)


@sloped(over=lambda out, x: x, ulps=2, domain={"x": Domain.POSITIVE})
def log(x: Any) -> Any:
    """Natural logarithm."""
    return np.log(x)


@primitive(domain={"x": Domain.POSITIVE}, ulps=4)
def pow(x: Any, y: Any) -> Any:  # noqa: A001 - an op is called what the frameworks call it
    """Power ``x**y`` of positive bases."""
    return np.power(x, y)


@primitive(saves=(), ulps=0)
def flat(x: Any, y: Any, *, along: str) -> Any:
    """Return 1 where ``x^y`` is constant along an operand, though what its formula is made of is not finite, else 0.

    ``x^0`` is 1 everywhere, also at 0 and NaN; ``0^y`` is 0 for positive y, and every engine has the derivative 0 at 0^0, too.
    """
    if along == "y":
        found = np.equal(x, 0) & np.greater_equal(y, 0)
    else:
        with np.errstate(all="ignore"):
            found = np.equal(y, 0) & ~np.isfinite(np.power(x, -1.0))
    return found.astype(x.dtype)


def _base(x: Any, y: Any, along: str) -> Any:
    """Return the base, and 1 where that is flat; a program, which is written for all elements, finds out where when it runs."""
    shape = list(np.broadcast_shapes(shape_of(x), shape_of(y)))
    symbolic = isinstance(x, Symbol) or isinstance(y, Symbol)
    places = flat(x, y, along=along) if symbolic else flat(array_of(x), array_of(y), along=along)
    return masked_fill(expand(x, shape=shape), mask=places, value=1.0) if symbolic or places.any() else x


@pow.vjp("x")
def pow_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:  # d(x^y)/dx = y x^(y-1)
    return to_operand(mul(g, conjugate(mul(y, pow(_base(x, y, "x"), sub(y, 1.0))))), x)


@pow.vjp("y")
def pow_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:  # d(x^y)/dy = x^y log x
    return to_operand(mul(g, conjugate(mul(out, log(_base(x, y, "y"))))), y)


@sloped(over=lambda out, x: mul_scalar(out, other=2.0), domain={"x": Domain.POSITIVE})
def sqrt(x: Any) -> Any:
    """Square root."""
    return np.sqrt(x)


@sloped(lambda out, x: mul_scalar(pow_scalar(out, exponent=3.0), other=-0.5), ulps=3, domain={"x": Domain.POSITIVE})  # -x^(-3/2)/2
def rsqrt(x: Any) -> Any:
    """Return ``x^(-1/2)``."""
    return np.divide(1.0, np.sqrt(x))


@primitive(ulps=2)
def cos(x: Any) -> Any:
    """Cosine; angles in radians."""
    return np.cos(x)


@cos.vjp("x")
def cos_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, conjugate(neg(sin(x))))


@sloped(lambda out, x: cos(x), ulps=2)
def sin(x: Any) -> Any:
    """Sine; angles in radians."""
    return np.sin(x)


@sloped(lambda out, x: rsub_scalar(square(out), other=1.0), ulps=2)
def tanh(x: Any) -> Any:
    """Hyperbolic tangent."""
    return np.tanh(x)


tanh_by_factors = alias("tanh_by_factors", tanh)
tanh_by_factors.rules = [None]


@tanh_by_factors.vjp("x")
def tanh_by_factors_vjp_x(g: Any, out: Any, x: Any) -> Any:
    """Return ``g (1 + out) (1 - out)``: near 1 it keeps more digits than ``1 - out²``, and near 0 a second derivative keeps fewer."""
    return mul(add(g, mul(g, out)), rsub_scalar(out, other=1.0))


def logistic(x: Any) -> Any:
    """Return ``1/(1 + e^-x)`` of an array: ``e^-|x|`` cannot overflow, so the tail on the left is right down to the smallest number."""
    if x.dtype.kind == "c":
        return np.divide(1.0, np.add(1.0, np.exp(np.negative(x))))
    z = np.exp(np.negative(np.abs(x)))
    return np.divide(np.where(np.less(x, 0), z, np.ones_like(z)), np.add(1.0, z))


@sloped(lambda out, s: add_scalar(mul_scalar(s, other=-2.0), other=1.0), ulps=2)
def logistic_slope(s: Any) -> Any:
    """Return ``s (1 - s)``, the slope of `sigmoid` where its value is ``s``; one op, for inf (1 - s) - inf s is no number."""
    return np.multiply(s, np.subtract(1.0, s))


@sloped(lambda out, x: logistic_slope(out), ulps=4)
def sigmoid(x: Any) -> Any:
    """Logistic function ``1/(1 + e^-x)``."""
    return logistic(x)


SOFTPLUS_THRESHOLD = 20.0


@primitive(ulps=4)
def softplus_slope(x: Any, *, beta: float) -> Any:
    """Return the derivative of `softplus`: ``sigmoid(beta x)``, and 1 beyond the threshold."""
    return np.where(np.multiply(x, beta) > SOFTPLUS_THRESHOLD, 1.0, logistic(np.multiply(x, beta))).astype(x.dtype)


@softplus_slope.vjp("x")
def softplus_slope_vjp_x(g: Any, out: Any, x: Any, *, beta: float) -> Any:
    """Return ``beta s (1 - s)``, and 0 beyond the threshold; ``1 - s`` is the `sigmoid` of ``-beta x``, which does not cancel."""
    z = mul_scalar(x, other=beta)
    curved = inside(array_of(x), low=-np.inf, high=SOFTPLUS_THRESHOLD / beta)
    return mul(mul_scalar(mul(g, curved), other=beta), mul(sigmoid(z), sigmoid(neg(z))))


@sloped(
    lambda out, x, *, beta: softplus_slope(x, beta=beta),
    ulps=4,
    error_scale=lambda out, x, *, beta: np.abs(out) + np.exp(-np.abs(beta * x)),
)
def softplus(x: Any, *, beta: float) -> Any:
    """Return ``log(1 + e^(beta x)) / beta``, and ``x`` itself where ``beta x`` exceeds 20 (both frameworks document it)."""
    smooth = np.divide(np.logaddexp(0.0, np.multiply(x, beta)), beta)
    return np.where(np.multiply(x, beta) > SOFTPLUS_THRESHOLD, x, smooth).astype(x.dtype)


@primitive(ulps=4)
def silu(x: Any) -> Any:
    """Return ``x sigmoid(x)``."""
    return np.multiply(x, logistic(x))


@silu.vjp("x")
def silu_vjp_x(g: Any, out: Any, x: Any) -> Any:  # s + x s (1 - s)
    s = sigmoid(x)
    return mul(g, mul(s, add_scalar(mul(x, rsub_scalar(s, other=1.0)), other=1.0)))


silu_by_result = alias("silu_by_result", silu)
silu_by_result.rules = [None]


@silu_by_result.vjp("x")
def silu_by_result_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return silu_pulled(g, x, out)


@primitive(ulps=6, error_scale=lambda out, g, x, result: np.abs(g) * logistic(x) * (1.0 + np.abs(x) * logistic(-x)))
def silu_pulled(g: Any, x: Any, result: Any) -> Any:
    """Return the gradient of `silu`, which does not depend on the ``result`` that is there already; its derivative does."""
    s = logistic(x)
    return np.multiply(g, np.multiply(s, np.add(np.multiply(x, np.subtract(1.0, s)), 1.0)))


@silu_pulled.vjp("g")
def silu_pulled_vjp_g(g: Any, out: Any, of: Any, x: Any, result: Any) -> Any:
    s = sigmoid(x)
    return mul(mul(g, s), add_scalar(mul(x, rsub_scalar(s, other=1.0)), other=1.0))


@silu_pulled.vjp("x")
def silu_pulled_vjp_x(g: Any, out: Any, of: Any, x: Any, result: Any) -> Any:  # s (1 - s) (2 + x (1 - s) - x s)
    s = sigmoid(x)
    other = rsub_scalar(s, other=1.0)
    bent = add_scalar(sub(add_scalar(mul(x, other), other=1.0), result), other=1.0)
    return mul(mul(mul(mul(g, s), of), bent), other)


@sloped(lambda out, x: mul_scalar(exp(neg(square(x))), other=2.0 / SQRT_PI), ulps=2)
def erf(x: Any) -> Any:
    """Error function."""
    return np.asarray(_erf(x)).astype(np.asarray(x).dtype)


def _density(x: Any) -> Any:
    return mul_scalar(exp(mul_scalar(square(x), other=-0.5)), other=1.0 / SQRT_2_PI)


@primitive(ulps=4, error_scale=lambda out, x: np.abs(out) + 1.0)
def gelu_slope(x: Any) -> Any:
    """Return the derivative of `gelu`: ``Phi(x) + x phi(x)``, phi being the density of the standard normal."""
    cumulative = np.multiply(np.add(1.0, np.asarray(_erf(np.divide(x, SQRT_2))).astype(x.dtype)), 0.5)
    return np.add(cumulative, np.multiply(x, _density(x)))


@gelu_slope.vjp("x")
def gelu_slope_vjp_x(g: Any, out: Any, x: Any) -> Any:  # phi(x) (2 - x^2), so that x^2 cannot overflow where phi is 0
    density = _density(x)
    return mul(g, sub(mul_scalar(density, other=2.0), mul(x, mul(x, density))))


@sloped(lambda out, x: gelu_slope(x), ulps=4, error_scale=lambda out, x: np.abs(x))
def gelu(x: Any) -> Any:
    """Return ``x Phi(x)``, Phi being the distribution function of the standard normal (the exact form)."""
    return np.multiply(np.multiply(x, 0.5), np.add(1.0, np.asarray(_erf(np.divide(x, SQRT_2))).astype(x.dtype)))


@sgn.vjp("x")
def sgn_vjp_x(g: Any, out: Any, x: Any) -> Any:  # d sgn = (dx - sgn^2 conj(dx)) / (2 |x|), which is its own transpose
    return div(sub(g, mul(mul(out, out), conj(g))), mul_scalar(abs(x), other=2.0))


@primitive(ulps=2, error_scale=lambda out, x: np.abs(out) + 1.0)
def angle(x: Any) -> Any:
    """Return the argument of complex numbers, between -pi and pi."""
    return np.angle(x)


@angle.vjp("x")
def angle_vjp_x(g: Any, out: Any, x: Any) -> Any:  # d angle = Im(dx / x)
    return div(from_imag(g), conj(x))


@composite
def polar(size: Any, turn: Any) -> Any:
    """Return ``size e^(i turn)`` of two real tensors that broadcast."""
    return complex(mul(size, cos(turn)), mul(size, sin(turn)))

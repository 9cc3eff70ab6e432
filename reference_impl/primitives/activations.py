"""Activations that are smooth in pieces: exponential linear units, piecewise linear gates, shrinkage; and linear interpolation.

What would cancel or overflow is a primitive; where a formula says it all, the op is `fused`. At a kink the answer is a convention, as
in `piecewise`: it is a piecewise constant op that decides it, so that a judge may ask for the other side.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, add_scalar, div, mul, mul_scalar, neg, rsub_scalar, sloped, square, sub
from reference_impl.primitives.elementary import exp, sigmoid, tanh
from reference_impl.primitives.fused import as_one, fused
from reference_impl.primitives.piecewise import abs as absolute
from reference_impl.primitives.piecewise import between, exceeds, hardtanh, inside, outside, step
from reference_impl.primitives.promotion import to_operand
from reference_impl.primitives.selection import clamp
from reference_impl.primitives.shape import reshape, sum_to
from reference_impl.tape.primitive import array_of, composite, primitive, shape_of


def _unit(x: Any, alpha: float, rate: float) -> Any:
    """Return ``x`` where it is positive, else ``alpha (e^(rate x) - 1)``."""
    return np.where(np.greater(x, 0), x, np.multiply(np.expm1(np.multiply(np.minimum(x, 0), rate)), alpha)).astype(x.dtype)


def _unit_slope(x: Any, alpha: float, rate: float) -> Any:
    """Return the derivative of `_unit`, at 0 that of the exponential.

    Where ``x`` is positive the exponential is taken of 0, so that it does not overflow.
    """
    straight = step(array_of(x), array_of(x))
    bent = mul_scalar(exp(mul_scalar(clamp(x, low=-np.inf, high=0.0), other=rate)), other=alpha * rate)
    return add(mul(bent, rsub_scalar(straight, other=1.0)), straight)


@sloped(lambda out, x, *, alpha: _unit_slope(x, alpha, 1.0), ulps=4)
def elu(x: Any, *, alpha: float) -> Any:
    """Return ``x`` where it is positive, else ``alpha (e^x - 1)``, without cancellation near 0; the derivative at 0 is ``alpha``."""
    return _unit(x, alpha, 1.0)


@sloped(lambda out, x, *, alpha: _unit_slope(x, alpha, 1.0 / alpha), ulps=4)
def celu(x: Any, *, alpha: float) -> Any:
    """Return ``x`` where it is positive, else ``alpha (e^(x / alpha) - 1)``, whose derivative is 1 at 0."""
    return _unit(x, alpha, 1.0 / alpha)


@sloped(lambda out, x, *, alpha, scale: mul_scalar(_unit_slope(x, alpha, 1.0), other=scale), ulps=4)
def selu(x: Any, *, alpha: float, scale: float) -> Any:
    """Return `elu` times a number; two numbers that both frameworks document keep the mean and the variance of what is normalized."""
    return np.multiply(_unit(x, alpha, 1.0), scale).astype(x.dtype)


@primitive(ulps=4)
def hardswish(x: Any) -> Any:
    """Return 0 where ``x <= -3``, ``x`` where ``x >= 3``, and ``x (x + 3) / 6`` between."""
    middle = np.clip(x, -3, 3)
    return np.where(np.greater(x, 3), x, np.multiply(middle, np.add(middle, 3)) / 6).astype(x.dtype)


@hardswish.vjp("x")
def hardswish_vjp_x(g: Any, out: Any, x: Any) -> Any:  # x / 3 + 1 / 2 between the kinks; beyond them, and at them, 0 and 1
    upper = inside(array_of(x), low=0.0, high=np.inf)
    tilted = sub(add_scalar(mul_scalar(clamp(x, low=-3.0, high=3.0), other=1.0 / 3.0), other=0.5), upper)
    return mul(g, add(mul(tilted, between(array_of(x), low=-3.0, high=3.0)), upper))


@fused()
def hardsigmoid(x: Any, *, slope: float) -> Any:
    """Clip ``slope x + 1/2`` to ``[0, 1]``; the derivative at a bound is 0 (both frameworks)."""
    return hardtanh(add_scalar(mul_scalar(x, other=slope), other=0.5), low=0.0, high=1.0)


@sloped(lambda out, x: sigmoid(neg(x)), ulps=4)
def logsigmoid(x: Any) -> Any:
    """Return ``-log(1 + e^-x)``, the logarithm of `sigmoid`."""
    return np.negative(np.logaddexp(0.0, np.negative(x))).astype(x.dtype)


@sloped(lambda out, x: mul(rsub_scalar(square(out), other=1.0), sigmoid(x)), ulps=6)
def mish_gate(x: Any) -> Any:
    """Return ``tanh(log(1 + e^x))``, a quotient of polynomials of ``e^-|x|``, which cannot overflow."""
    m = np.exp(np.negative(np.abs(x)))
    below, above = m * (m + 2), 1 + 2 * m
    return np.where(np.less(x, 0), below / (below + 2), above / (above + 2 * m * m)).astype(x.dtype)


@fused()
def mish(x: Any) -> Any:
    """Return ``x tanh(log(1 + e^x))``."""
    return mul(x, mish_gate(x))


@sloped(lambda out, x, *, bound: outside(x, bound=bound), error_scale=lambda out, x, *, bound: np.abs(x) + bound)
def softshrink(x: Any, *, bound: float) -> Any:
    """Bring ``x`` nearer to 0 by ``bound``, or to 0; the derivative at the bounds is 0 (both frameworks)."""
    return np.where(np.less_equal(np.abs(x), bound), 0, np.subtract(x, np.copysign(bound, x))).astype(x.dtype)


def _of_channels(weight: Any, x: Any) -> Any:
    """Shape the weights of channels as ``x`` broadcasts them: they lie along its axis 1; one weight is for all."""
    rank = len(shape_of(x))
    return weight if shape_of(weight) in ((), (1,)) else reshape(weight, shape=(-1, *(1 for _ in range(rank - 2))))


@primitive()
def prelu(x: Any, weight: Any) -> Any:
    """Return ``x`` where it is positive, else ``x`` times its channel's weight; at 0 the weight is the slope (both frameworks)."""
    return np.where(np.greater(x, 0), x, np.multiply(x, _of_channels(weight, x))).reshape(x.shape).astype(x.dtype)


@prelu.vjp("x")
def prelu_vjp_x(g: Any, out: Any, x: Any, weight: Any) -> Any:
    straight = step(array_of(x), array_of(x))
    bent = mul(rsub_scalar(straight, other=1.0), _of_channels(weight, x))
    return reshape(mul(g, add(straight, bent)), shape=shape_of(x))


@prelu.vjp("weight")
def prelu_vjp_weight(g: Any, out: Any, x: Any, weight: Any) -> Any:
    bent = mul(x, rsub_scalar(step(array_of(x), array_of(x)), other=1.0))
    shared = shape_of(weight) in ((), (1,))
    spread = () if shared else shape_of(_of_channels(weight, x))
    return reshape(sum_to(mul(g, bent), spread), shape=shape_of(weight))


@sloped(lambda out, x, *, bound, value: exceeds(x, bound=bound), ulps=0)
def threshold(x: Any, *, bound: float, value: float) -> Any:
    """Return ``x`` where it exceeds ``bound``, else ``value``; NaN stays."""
    return np.where(np.less_equal(x, bound), value, x).astype(x.dtype)


@composite
def softsign(x: Any) -> Any:
    """Return ``x / (1 + |x|)``."""
    return div(x, add_scalar(absolute(x), other=1.0))


softsign_as_one = as_one(softsign)


@composite
def tanhshrink(x: Any) -> Any:
    """Return ``x - tanh(x)``."""
    return sub(x, tanh(x))


tanhshrink_as_one = as_one(tanhshrink)


@primitive(ulps=4, error_scale=lambda out, x, y, weight: (np.abs(x) + np.abs(y)) * (1.0 + np.abs(weight)))
def lerp(x: Any, y: Any, weight: Any) -> Any:
    """Return ``x + weight (y - x)`` of operands that broadcast."""
    return np.add(x, np.multiply(weight, np.subtract(y, x)))


@lerp.vjp("x")
def lerp_vjp_x(g: Any, out: Any, x: Any, y: Any, weight: Any) -> Any:
    return to_operand(mul(g, rsub_scalar(weight, other=1.0)), x)


@lerp.vjp("y")
def lerp_vjp_y(g: Any, out: Any, x: Any, y: Any, weight: Any) -> Any:
    return to_operand(mul(g, weight), y)


@lerp.vjp("weight")
def lerp_vjp_weight(g: Any, out: Any, x: Any, y: Any, weight: Any) -> Any:
    return to_operand(mul(g, sub(y, x)), weight)


FLAT = 30.0
"""From here on the tangent in `gelu_tanh` is 1 in every dtype, and its slope 0: it need not be asked of a cube that overflows."""


@fused()
def gelu_tanh(x: Any) -> Any:
    """Return ``x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))``, as documented, with what rounding leaves of the sum in the tail."""
    near = clamp(x, low=-FLAT, high=FLAT)
    cubic = mul(near, add_scalar(mul_scalar(square(near), other=0.044715), other=1.0))
    share = add_scalar(tanh(mul_scalar(cubic, other=math.sqrt(2.0 / math.pi))), other=1.0)
    return mul(mul_scalar(clamp(x, low=-FLAT, high=np.inf), other=0.5), share)

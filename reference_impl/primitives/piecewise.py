"""Piecewise linear functions, elementwise, and the piecewise constant ones that are their slopes.

At a kink the answer is a convention. Which one, and what else would be a subgradient, stands beside each function: ``branch_sides`` of
the slope lists its values on either side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import mul, sloped, sub
from reference_impl.primitives.complex import is_complex, sgn
from reference_impl.tape.primitive import alias, array_of, composite, primitive, straight_through, zeros_like
from reference_impl.tape.tensor import Mode


def jumps(out: Any, *_: Any, **__: Any) -> tuple[Any, ...]:
    """Return no sides: a function that jumps has no derivative at the jump, and 0 elsewhere."""
    return ()


@primitive(branch_sides=lambda out, x, *, low, high: (out, np.logical_and(np.greater(x, low), np.less(x, high)).astype(x.dtype)))
def inside(x: Any, *, low: float, high: float) -> Any:
    """Return 1 where ``low <= x <= high``, else 0 (piecewise constant)."""
    return np.logical_and(np.greater_equal(x, low), np.less_equal(x, high)).astype(x.dtype)


@primitive(branch_sides=lambda out, x: (out - np.equal(x, 0), out + np.equal(x, 0)))
def sign(x: Any) -> Any:
    """Sign, 0 at 0; its derivative is 0 everywhere (both frameworks)."""
    return np.sign(x)


@primitive(ulps=2, error_scale=lambda out, x: out if is_complex(x) else np.zeros_like(out))  # a sign bit, or the root of a sum
def abs(x: Any) -> Any:  # noqa: A001 - an op is called what the frameworks call it
    """Absolute value; the derivative at 0 is 0 (both frameworks)."""
    return np.abs(x)


@abs.vjp("x")
def abs_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, sgn(x) if is_complex(x) else sign(x))


@primitive(branch_sides=lambda out, x, below: (out, out + np.equal(below, 0)))
def step(x: Any, below: Any) -> Any:
    """Return 1 where ``x > 0``, else 0; its derivative is 0 everywhere. ``x`` is the ReLU of ``below``; the kink is where that is 0."""
    return np.greater(x, 0).astype(x.dtype)


@sloped(lambda out, x: step(out, array_of(x)), ulps=0)
def relu(x: Any) -> Any:
    """Return ``max(x, 0)``; the derivative at 0 is 0 (both frameworks)."""
    return np.maximum(x, 0)


@primitive(branch_sides=lambda out, x, *, slope, at_zero: [np.where(np.equal(x, 0), s, out) for s in (slope, 1.0)])
def leaky_slope(x: Any, *, slope: float, at_zero: float) -> Any:
    """Return 1 where ``x > 0``, ``at_zero`` at 0, else ``slope``; its derivative is 0 everywhere."""
    return np.where(np.equal(x, 0), at_zero, np.where(np.greater(x, 0), 1.0, slope)).astype(x.dtype)


@sloped(lambda out, x, *, slope: leaky_slope(x, slope=slope, at_zero=slope if Mode.leaky_at_zero == "slope" else 1.0))
def leaky_relu(x: Any, *, slope: float) -> Any:
    """Return ``x`` where it is positive, else ``slope x``; the derivative at 0 follows the dialect."""
    return np.where(np.greater(x, 0), x, np.multiply(x, slope)).astype(x.dtype)


@primitive(branch_sides=jumps)
def outside(x: Any, *, bound: float) -> Any:
    """Return 1 where ``|x| > bound``, else 0; its derivative is 0 everywhere."""
    return np.greater(np.abs(x), bound).astype(x.dtype)


@sloped(lambda out, x, *, bound: outside(x, bound=bound), ulps=0)
def hardshrink(x: Any, *, bound: float) -> Any:
    """Return ``x`` where ``|x| > bound``, else 0 (both frameworks document that 0 holds at the bounds)."""
    return np.where(np.logical_or(outside(x, bound=bound), np.isnan(x)), x, 0).astype(x.dtype)


def _hardshrink_signed(x: Any, *, bound: float) -> Any:
    return np.where(np.logical_or(outside(x, bound=bound), np.isnan(x)), x, np.copysign(np.zeros_like(x), x))


hardshrink_signed = alias("hardshrink_signed", hardshrink, forward=_hardshrink_signed)
"""The same where what is not beyond is multiplied by 0: a zero of the sign of what was there, on which the side of an angle hangs."""


@primitive(
    branch_sides=lambda out, x, *, low, high: (out, np.logical_and(np.greater_equal(x, low), np.less_equal(x, high)).astype(x.dtype))
)
def between(x: Any, *, low: float, high: float) -> Any:
    """Return 1 where ``low < x < high``, else 0; its derivative is 0 everywhere."""
    return np.logical_and(np.greater(x, low), np.less(x, high)).astype(x.dtype)


@sloped(lambda out, x, *, low, high: between(x, low=low, high=high), ulps=0)
def hardtanh(x: Any, *, low: float, high: float) -> Any:
    """Clip to ``[low, high]``; the derivative at a bound is 0 (both frameworks), unlike that of `clamp`."""
    return np.minimum(np.maximum(x, low), high)


@sloped(lambda out, x: between(x, low=0.0, high=6.0), ulps=0)
def relu6(x: Any) -> Any:
    """Clip to ``[0, 6]``; the derivative at a bound is 0 (both frameworks)."""
    return np.minimum(np.maximum(x, 0), 6)


@primitive(saves=(), branch_sides=jumps)
def floor(x: Any) -> Any:
    """Round down; the derivative is 0 everywhere (both frameworks)."""
    return np.floor(x)


@primitive(saves=(), branch_sides=jumps)
def ceil(x: Any) -> Any:
    """Round up; the derivative is 0 everywhere (both frameworks)."""
    return np.ceil(x)


@primitive(saves=(), branch_sides=jumps)
def round(x: Any) -> Any:  # noqa: A001 - an op is called what the frameworks call it
    """Round to the nearest integer; the derivative is 0 everywhere (both frameworks)."""
    return np.rint(x)


@primitive(saves=(), branch_sides=jumps)
def trunc(x: Any) -> Any:
    """Round towards 0; the derivative is 0 everywhere (both frameworks)."""
    return np.trunc(x)


@primitive(branch_sides=jumps)
def exceeds(x: Any, *, bound: float) -> Any:
    """Return 1 where ``x > bound``, else 0; its derivative is 0 everywhere."""
    return np.greater(x, bound).astype(x.dtype)


@sign.vjp("x")
@step.vjp("x")
@leaky_slope.vjp("x")
@outside.vjp("x")
@between.vjp("x")
@floor.vjp("x")
@ceil.vjp("x")
@trunc.vjp("x")
@round.vjp("x")
@exceeds.vjp("x")
def constant_in_pieces_vjp_x(g: Any, out: Any, x: Any, *_: Any, **attrs: Any) -> Any:
    return zeros_like(x)


@straight_through
@primitive(saves=(), ulps=0)
def frac(x: Any) -> Any:
    """Return what is left of ``x`` without its whole part, with its sign; the derivative is 1 everywhere (both frameworks)."""
    return np.subtract(x, np.trunc(x))


@composite
def frac_of_parts(x: Any) -> Any:
    """Return the same as `frac`, which is a difference in Paddle."""
    return sub(x, trunc(x))

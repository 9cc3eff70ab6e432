"""The softmax family, along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import mul, sub
from reference_impl.primitives.elementary import exp, logistic_slope, sigmoid
from reference_impl.primitives.reduction import count_reduced
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.shape import cat, narrow, split
from reference_impl.tape.primitive import axes_reversed, composite, primitive, shape_of


def _top(x: Any, axis: int) -> Any:
    return np.maximum.reduce(x, axis=axis, keepdims=True)


@primitive(
    ulps=4,
    error_scale=lambda out, x, *, axis: np.where(out == 0, 0.0, np.abs(out) * (1.0 + np.abs(x - _top(x, axis)))),
    summands=lambda x, *, axis: count_reduced(x.shape, axis),
    reordered=axes_reversed,
)
def softmax(x: Any, *, axis: int) -> Any:
    """Return ``e^x / sum(e^x)``."""
    e = np.exp(np.subtract(x, _top(x, axis)))
    return np.divide(e, np.add.reduce(e, axis=axis, keepdims=True))


@softmax.vjp("x")
def softmax_vjp_x(g: Any, out: Any, x: Any, *, axis: int) -> Any:  # s (g - sum(g s))
    return mul(out, sub(g, add_up(mul(g, out), axis=axis, keepdims=True)))


@primitive(  # 1: a relative rounding of the sum is an absolute one of its logarithm
    ulps=4,
    error_scale=lambda out, x, *, axis: np.abs(out) + np.abs(x) + np.abs(_top(x, axis)) + 1.0,
    summands=lambda x, *, axis: count_reduced(x.shape, axis),
    reordered=axes_reversed,
)
def log_softmax(x: Any, *, axis: int) -> Any:
    """Return ``x - log(sum(e^x))``."""
    shifted = np.subtract(x, _top(x, axis))
    return np.subtract(shifted, np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True)))


@log_softmax.vjp("x")
def log_softmax_vjp_x(g: Any, out: Any, x: Any, *, axis: int) -> Any:  # g - softmax(x) sum(g)
    return sub(g, mul(exp(out), add_up(g, axis=axis, keepdims=True)))


@primitive(ulps=4)
def glu(x: Any, *, axis: int) -> Any:
    """Return ``a sigmoid(b)`` for the two halves of ``x`` along an axis of even length."""
    a, b = np.split(x, 2, axis=axis)
    return np.divide(a, np.add(1.0, np.exp(np.negative(b))))


@glu.vjp("x")
def glu_vjp_x(g: Any, out: Any, x: Any, *, axis: int) -> Any:
    half = shape_of(x)[axis] // 2
    a = narrow(x, axis=axis, start=0, length=half)
    s = sigmoid(narrow(x, axis=axis, start=half, length=half))
    return cat(mul(g, s), mul(g, mul(a, logistic_slope(s))), axis=axis)


@composite
def glu_of_parts(x: Any, *, axis: int) -> Any:
    """Return the same as `glu`, as a product of two halves."""
    half = x.shape[axis] // 2
    a, b = split(x, sections=[half, half], axis=axis)
    return mul(a, sigmoid(b))

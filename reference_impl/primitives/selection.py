"""Ops that select: the larger, the smaller, the clipped, the masked, the k largest.

Where they select is piecewise constant: the mask of a rule is computed on arrays and is no function of the operands.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import mul, rsub_scalar
from reference_impl.primitives.indexing import scatter_add
from reference_impl.primitives.piecewise import inside
from reference_impl.primitives.promotion import of_one_dtype, of_one_precision, to_operand
from reference_impl.primitives.shape import expand, sum_to
from reference_impl.tape.primitive import Domain, array_of, composite, primitive, shape_of


@primitive(branch_sides=lambda out, x, y: (np.greater(x, y).astype(out.dtype), np.greater_equal(x, y).astype(out.dtype)))
def preference(x: Any, y: Any) -> Any:
    """Share of a cotangent that goes to the larger operand: 1, 0, or one half at a tie (piecewise constant)."""
    share = np.where(x > y, 1.0, np.where(x == y, 0.5, 0.0))
    return share.astype(np.result_type(x, y))


@primitive(ulps=0)
def maximum(x: Any, y: Any) -> Any:
    """Return the larger of two elements; at a tie each gets half of the cotangent (both frameworks)."""
    return np.maximum(x, y)


@maximum.vjp("x")
def maximum_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return sum_to(mul(g, preference(array_of(x), array_of(y))), shape_of(x))


@maximum.vjp("y")
def maximum_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return sum_to(mul(g, preference(array_of(y), array_of(x))), shape_of(y))


@primitive(ulps=0)
def minimum(x: Any, y: Any) -> Any:
    """Return the smaller of two elements; at a tie each gets half of the cotangent (both frameworks)."""
    return np.minimum(x, y)


@minimum.vjp("x")
def minimum_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return sum_to(mul(g, preference(array_of(y), array_of(x))), shape_of(x))


@minimum.vjp("y")
def minimum_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return sum_to(mul(g, preference(array_of(x), array_of(y))), shape_of(y))


@primitive(branch_sides=lambda out, x, y, *, larger: [np.where(np.equal(x, y), s, out) for s in (0.0, 1.0)])
def chosen(x: Any, y: Any, *, larger: bool) -> Any:
    """Return 1 where ``x`` is what `fmax` (or `fmin`) chooses, else 0: at a tie, and where ``y`` is NaN, it is (piecewise constant)."""
    better = np.greater_equal(x, y) if larger else np.less_equal(x, y)
    return np.logical_or(better, np.isnan(y)).astype(np.result_type(x, y))


@primitive(ulps=0)
def fmax(x: Any, y: Any) -> Any:
    """Return the larger of two elements, or the one that is not NaN; at a tie ``x`` gets the cotangent (both frameworks)."""
    return np.fmax(x, y)


@primitive(ulps=0)
def fmin(x: Any, y: Any) -> Any:
    """Return the smaller of two elements, or the one that is not NaN; at a tie ``x`` gets the cotangent (both frameworks)."""
    return np.fmin(x, y)


def _choice_vjp(g: Any, out: Any, x: Any, y: Any, *, first: bool, larger: bool) -> Any:
    return _of_one(g, chosen(array_of(x), array_of(y), larger=larger), x, y, first=first)


def _of_one(g: Any, taken: Any, x: Any, y: Any, *, first: bool) -> Any:
    """Return the cotangent of the first of two operands, where that is ``taken`` (1, else 0), or the rest of it, of the second."""
    return sum_to(mul(g, taken if first else rsub_scalar(taken, other=1.0)), shape_of(x if first else y))


for _made, _larger in ((fmax, True), (fmin, False)):
    _made.vjp("x")(partial(_choice_vjp, first=True, larger=_larger))
    _made.vjp("y")(partial(_choice_vjp, first=False, larger=_larger))


@primitive(ulps=0)
def clamp(x: Any, *, low: float | None, high: float | None) -> Any:
    """Clip to ``[low, high]``, without an end where it is ``None``; the derivative at a bound is 1 (both frameworks)."""
    low, high = ends(low, high)
    return np.minimum(np.maximum(x, low), high)


def ends(low: float | None, high: float | None) -> tuple[float, float]:
    """Return the ends of an interval that may have none."""
    return -np.inf if low is None else low, np.inf if high is None else high


@clamp.vjp("x")
def clamp_vjp_x(g: Any, out: Any, x: Any, *, low: float | None, high: float | None) -> Any:
    low, high = ends(low, high)
    return mul(g, inside(array_of(x), low=low, high=high))


@primitive(branch_sides=lambda out, x, y: [np.where(np.equal(x, y), s, out) for s in (0.0, 1.0)])
def not_below(x: Any, y: Any) -> Any:
    """Return 1 where ``x >= y``, else 0 (piecewise constant)."""
    return np.greater_equal(x, y).astype(np.result_type(x, y))


@primitive(ulps=0)
def clamp_low_tensor(x: Any, y: Any) -> Any:
    """Return ``x``, or ``y`` where that is larger; at a tie ``x`` gets the cotangent, as at a bound of `clamp`."""
    return np.maximum(x, y)


@primitive(ulps=0)
def clamp_high_tensor(x: Any, y: Any) -> Any:
    """Return ``x``, or ``y`` where that is smaller; at a tie ``x`` gets the cotangent, as at a bound of `clamp`."""
    return np.minimum(x, y)


def _bounded_vjp(g: Any, out: Any, x: Any, y: Any, *, first: bool, low: bool) -> Any:
    kept = not_below(array_of(x), array_of(y)) if low else not_below(array_of(y), array_of(x))
    return _of_one(g, kept, x, y, first=first)


for _made, _low in ((clamp_low_tensor, True), (clamp_high_tensor, False)):
    _made.vjp("x")(partial(_bounded_vjp, first=True, low=_low))
    _made.vjp("y")(partial(_bounded_vjp, first=False, low=_low))


def _where(mask: Any, x: Any, y: Any) -> Any:
    return np.where(np.asarray(mask, dtype=bool), x, y)


@primitive(ulps=0)
def where(x: Any, y: Any, *, mask: Any) -> Any:
    """Return ``x`` where the mask is true, else ``y``; all three broadcast."""
    return _where(mask, *of_one_precision(x, y))


@where.vjp("x")
def where_vjp_x(g: Any, out: Any, x: Any, y: Any, *, mask: Any) -> Any:
    return to_operand(masked_fill(g, mask=np.logical_not(mask), value=0.0), x)


@where.vjp("y")
def where_vjp_y(g: Any, out: Any, x: Any, y: Any, *, mask: Any) -> Any:
    return to_operand(masked_fill(g, mask=mask, value=0.0), y)


@composite
def where_of_parts(x: Any, y: Any, *, mask: Any) -> Any:
    """Return the same as `where`; an operand of another shape is expanded first, and then one of another dtype is cast."""
    shape = np.broadcast_shapes(shape_of(x), shape_of(y), np.shape(mask))
    x, y = (operand if shape_of(operand) == shape else expand(operand, shape=shape) for operand in (x, y))
    return where(*of_one_dtype(x, y), mask=mask)


@primitive(ulps=0)
def masked_fill(x: Any, *, mask: Any, value: float) -> Any:
    """Put a number where the mask is true; each is broadcast to the other."""
    return _where(mask, np.asarray(value, dtype=x.dtype), x)


@masked_fill.vjp("x")
def masked_fill_vjp_x(g: Any, out: Any, x: Any, *, mask: Any, value: float) -> Any:
    return sum_to(masked_fill(g, mask=mask, value=0.0), shape_of(x))


@primitive(ulps=0)
def masked_fill_tensor(x: Any, value: Any, *, mask: Any) -> Any:
    """Put a 0-d tensor where the mask is true; the mask and ``x`` are broadcast to each other."""
    return _where(mask, value, x)


@masked_fill_tensor.vjp("x")
def masked_fill_tensor_vjp_x(g: Any, out: Any, x: Any, value: Any, *, mask: Any) -> Any:
    return sum_to(masked_fill(g, mask=mask, value=0.0), shape_of(x))


@masked_fill_tensor.vjp("value")
def masked_fill_tensor_vjp_value(g: Any, out: Any, x: Any, value: Any, *, mask: Any) -> Any:
    return sum_to(masked_fill(g, mask=np.logical_not(mask), value=0.0), shape_of(value))


def _either_way(out: Any, x: Any, *, k: int, axis: int) -> tuple[Any, Any]:
    """Return the positions with the first, and with the last of equal elements in front."""
    back = np.flip(np.argsort(x, axis=axis, kind="stable"), axis)
    return out, np.take(back, np.arange(k), axis=axis)


@primitive(branch_sides=_either_way)
def largest(x: Any, *, k: int, axis: int) -> Any:
    """Return the positions of the k largest along an axis, the largest first (piecewise constant)."""
    order = np.flip(np.asarray(x).shape[axis] - 1 - np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)  # NaN is the largest
    return np.take(order, np.arange(k), axis=axis)


@primitive(ulps=0, domain={"x": Domain.DISTINCT})
def topk(x: Any, *, k: int, axis: int) -> Any:
    """Return the k largest elements along an axis, the largest first."""
    return np.take_along_axis(x, largest(x, k=k, axis=axis), axis)


@topk.vjp("x")
def topk_vjp_x(g: Any, out: Any, x: Any, *, k: int, axis: int) -> Any:
    index = largest(array_of(x), k=k, axis=axis)
    return scatter_add(g, axis=axis, index=index, shape=shape_of(x))

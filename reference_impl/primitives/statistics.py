"""Variances, sums without NaN, integrals of sampled functions, and running products and logarithms of running sums.

Sources: the pages of ``torch`` and ``paddle`` on each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, div, div_by_quotient, mul, mul_scalar, neg, sloped, sub
from reference_impl.primitives.complex import conjugate
from reference_impl.primitives.fused import as_one, fused, of_parts
from reference_impl.primitives.piecewise import jumps
from reference_impl.primitives.reduction import count_reduced, cumsum, numpy_axes, restore_axes, running
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.selection import masked_fill
from reference_impl.primitives.shape import cat, expand, flip, narrow, reshape, unsqueeze
from reference_impl.tape.primitive import Domain, Symbol, array_of, axes_reversed, composite, own_transpose, primitive, shape_of


def _mean(x: Any, axis: Any) -> Any:
    """Return the mean along axes; where the sum of finite numbers leaves the range, that of their shares, which lies among them."""
    over, count = numpy_axes(axis), np.asarray(count_reduced(shape_of(x), axis) or 1, dtype=x.dtype)
    means = np.add.reduce(x, axis=over, keepdims=True) / count
    if np.isfinite(means).all():
        return means
    shared = np.add.reduce(x / count, axis=over, keepdims=True)
    among = np.clip(shared, np.min(x, axis=over, keepdims=True), np.max(x, axis=over, keepdims=True))
    return np.where(np.isfinite(means), means, among)


@own_transpose
@primitive(
    saves=(),
    error_scale=lambda out, x, *, axis: np.abs(out) + _mean(np.abs(x), axis),
    summands=lambda x, *, axis: 2 + count_reduced(shape_of(x), axis),
    reordered=axes_reversed,
)
def centred(x: Any, *, axis: Any) -> Any:
    """Return each number less the mean along axes; a projection that is its own transpose, and so its own rule."""
    return np.subtract(x, _mean(x, axis))


def _share(x: Any, axis: Any, *, unbiased: bool) -> float:
    return 1.0 / (count_reduced(shape_of(x), axis) - unbiased)


def _uncertain(out: Any, x: Any, *, axis: Any, unbiased: bool, keepdims: Any) -> Any:
    """Return what the roundings of a variance are relative to: each distance is a difference of a number and of a mean."""
    mean = _mean(x, axis)
    terms = np.abs(x - mean) * (np.abs(x - mean) + np.abs(x) + _mean(np.abs(x), axis))
    return np.add.reduce(terms, axis=numpy_axes(axis), keepdims=keepdims) * _share(x, axis, unbiased=unbiased)


@primitive(
    ulps=2,
    error_scale=_uncertain,
    summands=lambda x, *, axis, unbiased, keepdims: 2 + count_reduced(shape_of(x), axis),
    reordered=axes_reversed,
)
def var(x: Any, *, axis: Any, unbiased: bool, keepdims: Any) -> Any:
    """Return the mean square distance from the mean along axes; ``unbiased``: the sum over one less than there are."""
    squares = np.square(np.subtract(x, _mean(x, axis)))
    total = np.add.reduce(squares, axis=numpy_axes(axis), keepdims=keepdims)
    return np.multiply(total, np.asarray(_share(x, axis, unbiased=unbiased), dtype=x.dtype))


@var.vjp("x")
def var_vjp_x(g: Any, out: Any, x: Any, *, axis: Any, unbiased: bool, keepdims: bool) -> Any:
    """Scale the distances from the mean, as PyTorch does; to centre the product once more would change its rounding alone."""
    g = restore_axes(g, shape_of(x), axis, keepdims=keepdims)
    return mul(mul_scalar(g, other=2.0 * _share(x, axis, unbiased=unbiased)), centred(x, axis=axis))


def _half_uncertain(out: Any, x: Any, *, axis: Any, unbiased: bool, keepdims: Any) -> Any:
    """Return what the roundings of a root are relative to: half of what they are of its square, and no more than their root."""
    of_square = np.sqrt(_uncertain(out, x, axis=axis, unbiased=unbiased, keepdims=keepdims))
    return out + of_square * np.minimum(np.divide(of_square, 2.0 * out, where=np.not_equal(out, 0), out=np.ones_like(out)), 1.0)


@primitive(
    ulps=3,
    error_scale=_half_uncertain,
    summands=lambda x, *, axis, unbiased, keepdims: 2 + count_reduced(shape_of(x), axis),
    reordered=axes_reversed,
    domain={"x": Domain.DISTINCT},
)
def std(x: Any, *, axis: Any, unbiased: bool, keepdims: Any) -> Any:
    """Return the root of the variance along axes; the squares are those of shares of the farthest number, which keep to the range."""
    apart = np.subtract(x, _mean(x, axis))
    sizes = np.abs(apart)
    farthest = np.max(sizes, axis=numpy_axes(axis), keepdims=True, initial=0.0)
    unit = np.where(np.isfinite(farthest) & (farthest > 0), np.exp2(np.floor(np.log2(farthest))), 1.0).astype(x.dtype)
    total = np.add.reduce(np.square(np.divide(apart, unit)), axis=numpy_axes(axis), keepdims=True)
    roots = np.multiply(np.sqrt(np.multiply(total, np.asarray(_share(x, axis, unbiased=unbiased), dtype=x.dtype))), unit)
    return roots if keepdims else np.squeeze(roots, axis=numpy_axes(axis))


@std.vjp("x")
def std_vjp_x(g: Any, out: Any, x: Any, *, axis: Any, unbiased: bool, keepdims: bool) -> Any:
    """Halve what arrives, divide it by the result, and go on as below a variance."""
    return var_vjp_x(div(mul_scalar(g, other=0.5), out), out, x, axis=axis, unbiased=unbiased, keepdims=keepdims)


@primitive(branch_sides=jumps)
def numbered(x: Any) -> Any:
    """Return 0 where there is NaN, else 1 (piecewise constant)."""
    return np.logical_not(np.isnan(x)).astype(x.dtype)


@sloped(lambda out, x: numbered(array_of(x)), ulps=0)
def without_nan(x: Any) -> Any:
    """Return 0 for NaN, and each number itself."""
    return np.where(np.isnan(x), 0, x).astype(x.dtype)


@fused()
def nansum(x: Any, *, axis: Any, keepdims: Any) -> Any:
    """Return the sum along axes of what is not NaN."""
    return add_up(without_nan(x), axis=axis, keepdims=keepdims)


nansum_of_parts = of_parts(nansum)


def _numbers(x: Any, axis: Any, *, keepdims: Any) -> Any:
    return add_up(numbered(array_of(x)), axis=axis, keepdims=keepdims)


@composite
def nanmean(x: Any, *, axis: Any, keepdims: Any) -> Any:
    """Return the mean along axes of what is not NaN."""
    return div(nansum(x, axis=axis, keepdims=keepdims), _numbers(x, axis, keepdims=keepdims))


@composite
def nanmean_of_parts(x: Any, *, axis: Any, keepdims: Any) -> Any:
    """Return the same as `nanmean`, of `nansum_of_parts`."""
    return div_by_quotient(nansum_of_parts(x, axis=axis, keepdims=keepdims), _numbers(x, axis, keepdims=keepdims))


def _ends(x: Any, axis: int) -> tuple[Any, Any]:
    """Return all elements along an axis but the first, and all but the last."""
    length = shape_of(x)[axis] - 1
    return narrow(x, axis=axis, start=1, length=length), narrow(x, axis=axis, start=0, length=length)


def _strips(y: Any, x: Any, axis: int) -> Any:
    """Return twice the areas below a function at equal distances, or at the places ``x``."""
    doubled = add(*_ends(y, axis))
    return doubled if x is None else mul(sub(*_ends(x, axis)), doubled)


@fused(saves=())
def trapezoid(y: Any, *, dx: float, axis: int) -> Any:
    """Return the area below straight lines through the elements along an axis, a distance ``dx`` apart."""
    return mul_scalar(add_up(_strips(y, None, axis), axis=[axis], keepdims=False), other=dx / 2.0)


@fused()
def trapezoid_x(y: Any, x: Any, *, axis: int) -> Any:
    """Return the area below straight lines through the elements along an axis, at the places ``x``."""
    return mul_scalar(add_up(_strips(y, x, axis), axis=[axis], keepdims=False), other=0.5)


@fused(saves=())
def cumulative_trapezoid(y: Any, *, dx: float, axis: int) -> Any:
    """Return the areas up to each element along an axis but the first, a distance ``dx`` apart."""
    return cumsum(mul_scalar(_strips(y, None, axis), other=dx / 2.0), axis=axis)


@fused()
def cumulative_trapezoid_x(y: Any, x: Any, *, axis: int) -> Any:
    """Return the areas up to each element along an axis but the first, at the places ``x``."""
    return cumsum(mul_scalar(_strips(y, x, axis), other=0.5), axis=axis)


@composite
def trapezoid_x_of_parts(y: Any, x: Any, *, axis: int) -> Any:
    """Return the same as `trapezoid_x`, each step a node of its own."""
    return mul_scalar(add_up(_strips_of_parts(y, x, axis), axis=[axis], keepdims=False), other=0.5)


@composite
def cumulative_trapezoid_x_of_parts(y: Any, x: Any, *, axis: int) -> Any:
    """Return the same as `cumulative_trapezoid_x`, each step a node of its own."""
    return mul_scalar(cumsum(_strips_of_parts(y, x, axis), axis=axis), other=0.5)


def _strips_of_parts(y: Any, x: Any, axis: int) -> Any:
    """Return the same as `_strips`; in Paddle the places are the second factor."""
    return mul(add(*_ends(y, axis)), sub(*_ends(x, axis)))


@primitive(
    ulps=4,
    summands=lambda x, *, axis: count_reduced(x.shape, axis),
    error_scale=lambda out, x, *, axis: running(np.cumprod, np.abs(x), axis),  # said of the operand: a complex product is a sum
    domain={"x": Domain.NONZERO},
)
def cumprod(x: Any, *, axis: int) -> Any:
    """Return running products along an axis."""
    return running(np.cumprod, x, axis)


def _from_there_on(x: Any, axis: int) -> Any:
    """Return the sums of each element and all after it."""
    return flip(cumsum(flip(x, axis=axis), axis=axis), axis=axis)


@cumprod.vjp("x")
def cumprod_vjp_x(g: Any, out: Any, x: Any, *, axis: int) -> Any:
    """Divide each by itself the products that it stands in, as PyTorch does; where that is 0 or overflows, multiply the others."""
    length = count_reduced(shape_of(x), axis)
    if length == 1:
        return g
    if isinstance(x, Symbol) or not array_of(x).all():
        return _by_the_others(g, x, axis)
    products = _from_there_on(mul(g, conjugate(out)), axis)
    in_range = array_of(out).all() and np.isfinite(array_of(products)).all()
    return div(products, conjugate(x)) if in_range or length > AFFORDED else _by_the_others(g, x, axis)


AFFORDED = 16
"""How many elements are multiplied anew where products leave the range: tables of a third derivative have the fourth power of that."""


def _by_the_others(g: Any, x: Any, axis: int) -> Any:
    """Return the sums over all j of ``g_j`` times the product of all elements up to j but i: those of a table with ones at (i, i)."""
    length = shape_of(x)[axis]
    axis %= len(shape_of(x))
    over = (length, length, *(1,) * (len(shape_of(x)) - axis - 1))
    itself, before = np.eye(length, dtype=bool).reshape(over), np.tri(length, length, -1, dtype=bool).reshape(over)
    others = cumprod(masked_fill(_at_each(x, axis), mask=itself, value=1.0), axis=axis + 1)
    terms = masked_fill(mul(_at_each(g, axis), conjugate(others)), mask=before, value=0.0)
    return add_up(terms, axis=[axis + 1], keepdims=False)


def _at_each(of: Any, axis: int) -> Any:
    """Return the same at each place of a new axis in front of one, which is as long."""
    shape = shape_of(of)
    return expand(reshape(of, shape=(*shape[:axis], 1, *shape[axis:])), shape=(*shape[:axis], shape[axis], *shape[axis:]))


@composite
def vander(x: Any, *, count: int) -> Any:
    """Return the powers of each element of a vector, from 0 on, so many in a row."""
    rows = expand(unsqueeze(x, axis=-1), shape=(*shape_of(x), count - 1))
    return cat(np.ones((*shape_of(x), 1), x.dtype), cumprod(rows, axis=-1), axis=-1)


vander_as_one = as_one(vander)


def _left_of_sums(out: Any, axis: int) -> Any:
    """Return the size of the largest sum up to each, as far as its rounding is left: by its share in the sum of exponentials.

    Beside the least number, with which an engine may begin, the rounding of that number would be all that is left of the others.
    """
    sums = np.asarray(out, np.float64)  # a float32 sum of millions would swallow the logarithm that is added to it
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(np.isfinite(sums), np.log(np.abs(sums)) + sums, -np.inf)  # of |s| * e^s, the logarithm
        return np.where(np.isfinite(sums), np.exp(np.maximum.accumulate(shares, axis=axis) - sums), 0.0)


@primitive(
    ulps=4,
    error_scale=lambda out, x, *, axis: np.abs(out) + _left_of_sums(out, axis) + 1.0,
    summands=lambda x, *, axis: x.shape[axis],
)  # 1: a relative rounding of the sum is an absolute one of its logarithm
def logcumsumexp(x: Any, *, axis: int) -> Any:
    """Return ``log(e^x_0 + ... + e^x_i)`` along an axis."""
    return np.ascontiguousarray(np.logaddexp.accumulate(x, axis=axis))  # NumPy keeps the gaps of an operand


@logcumsumexp.vjp("x")
def logcumsumexp_vjp_x(g: Any, out: Any, x: Any, *, axis: int) -> Any:
    """Return the sums over all j of ``g_j`` times the share of an element in the exponentials up to j."""
    axis %= len(shape_of(x))
    return add_up(mul(_at_each(g, axis), running_shares(x, out, axis=axis)), axis=[axis + 1], keepdims=False)


def _reached(shape: tuple[int, ...], axis: int) -> Any:
    """Return at (i, j) along an axis and the next one, whether i is among the first up to j."""
    return np.tri(shape[axis], dtype=bool).T.reshape((shape[axis], shape[axis], *(1,) * (len(shape) - axis - 1)))


def _among(x: Any, axis: int) -> tuple[Any, Any]:
    """Return at (i, j) the element i if it is among the first up to j, else -inf; and for each j the largest of these."""
    table = np.where(_reached(x.shape, axis), np.expand_dims(x, axis + 1), -np.inf).astype(x.dtype)
    return table, np.maximum.reduce(table, axis=axis, keepdims=True, initial=-np.inf)


def _relative(out: Any, x: Any, _: Any, *, axis: int) -> Any:
    table, top = _among(x, axis)
    return np.where(out == 0, 0.0, np.abs(out) * (1.0 + np.abs(table - top)))


@primitive(ulps=4, error_scale=_relative, summands=lambda x, total, *, axis: x.shape[axis])
def running_shares(x: Any, total: Any, *, axis: int) -> Any:
    """Return at (i, j) the share ``e^(x_i - total_j)`` of an element in all up to j, and 0 where i is behind j.

    ``total`` has the logarithms of the sums. A share depends on both, as in PyTorch, but is not taken of their difference, of which
    nothing is left where they are large. Infinite numbers have the limit: one alone has all, and of several nobody knows the shares.
    """
    table, top = _among(x, axis)
    with np.errstate(all="ignore"):
        e = np.exp(np.subtract(table, top))
        shares = np.divide(e, np.add.reduce(e, axis=axis, keepdims=True))
    largest = np.equal(table, top) & _reached(x.shape, axis)
    alone = np.equal(np.add.reduce(largest, axis=axis, keepdims=True), 1)
    shares = np.where(np.isinf(top) & (alone | ~largest), largest, shares)
    return np.where(_reached(x.shape, axis), shares, 0.0).astype(x.dtype)


@running_shares.vjp("x")
def running_shares_vjp_x(g: Any, out: Any, x: Any, total: Any, *, axis: int) -> Any:
    return add_up(mul(g, out), axis=[axis + 1], keepdims=False)


@running_shares.vjp("total")
def running_shares_vjp_total(g: Any, out: Any, x: Any, total: Any, *, axis: int) -> Any:
    return neg(add_up(mul(g, out), axis=[axis], keepdims=False))

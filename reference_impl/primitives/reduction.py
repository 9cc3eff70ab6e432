"""Reductions along axes. ``axis`` is a list of axes, or ``None`` for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import add, div, mul, mul_scalar, neg, square, sub
from reference_impl.primitives.complex import conjugate
from reference_impl.primitives.shape import cat, element_count, expand, flip, narrow, reshape
from reference_impl.tape.primitive import Symbol, alias, array_of, axes_reversed, composite, own_transpose, primitive, shape_of
from reference_impl.tape.tensor import Mode

if TYPE_CHECKING:
    from collections.abc import Callable


def numpy_axes(axis: Any) -> Any:
    """Return axes as NumPy takes them: a tuple where they are a list."""
    return axis if axis is None or isinstance(axis, int) else tuple(axis)


def count_reduced(shape: tuple[int, ...], axis: Any) -> int:
    """Return how many elements become one when one axis, some or all (``None``) are reduced."""
    if axis is None or not shape:  # a number without axes may be asked for one, and is reduced to itself
        return element_count(shape)
    return element_count(tuple(shape[a] for a in ([axis] if isinstance(axis, int) else axis)))


def restore_axes(g: Any, shape: tuple[int, ...], axis: Any, *, keepdims: bool) -> Any:
    """Give a reduced tensor its reduced axes back, with length 1."""
    if keepdims or len(shape) == 0:
        return g
    reduced = range(len(shape)) if axis is None else [a % len(shape) for a in ([axis] if isinstance(axis, int) else axis)]
    return reshape(g, shape=tuple(1 if i in reduced else n for i, n in enumerate(shape)))


def _spread(g: Any, shape: tuple[int, ...], axis: Any, *, keepdims: bool) -> Any:
    whole = axis is None and not keepdims  # a number, which broadcasts by itself: it is one node in both frameworks
    return expand(g if whole else restore_axes(g, shape, axis, keepdims=keepdims), shape=shape)


@primitive(
    saves=(),
    error_scale=lambda out, x, *, axis, keepdims: np.add.reduce(np.abs(x), axis=numpy_axes(axis), keepdims=keepdims),
    summands=lambda x, *, axis, keepdims: count_reduced(x.shape, axis),
    reordered=axes_reversed,
)
def sum(x: Any, *, axis: Any, keepdims: Any) -> Any:  # noqa: A001 - an op is called what the frameworks call it
    """Sum along axes."""
    return np.add.reduce(x, axis=numpy_axes(axis), keepdims=keepdims)


@sum.vjp("x")
def sum_vjp_x(g: Any, out: Any, x: Any, *, axis: Any, keepdims: bool) -> Any:
    return _spread(g, shape_of(x), axis, keepdims=keepdims)


@primitive(
    saves=(),
    error_scale=lambda out, x, *, axis, keepdims: (
        np.add.reduce(np.abs(x), axis=numpy_axes(axis), keepdims=keepdims) / (count_reduced(x.shape, axis) or 1)
    ),
    summands=lambda x, *, axis, keepdims: 1 + count_reduced(x.shape, axis),
    reordered=axes_reversed,
)
def mean(x: Any, *, axis: Any, keepdims: Any) -> Any:
    """Arithmetic mean along axes."""
    with np.errstate(invalid="ignore"):
        total = np.add.reduce(x, axis=numpy_axes(axis), keepdims=keepdims)
        return np.divide(total, np.asarray(count_reduced(x.shape, axis), dtype=x.dtype))


@mean.vjp("x")
def mean_vjp_x(g: Any, out: Any, x: Any, *, axis: Any, keepdims: bool) -> Any:
    count = count_reduced(shape_of(x), axis)
    return share_of(_spread(g, shape_of(x), axis, keepdims=keepdims), count=count or 1)


@own_transpose
@primitive(saves=())
def share_of(x: Any, *, count: int) -> Any:
    """Return ``x / count``: an equal share for each of ``count`` elements. Unlike a product with a number it keeps nothing."""
    return np.divide(x, np.asarray(count, dtype=x.dtype))


def _each_of_the_tied(out: Any, x: Any, extremum: Any, *, axis: Any, ties: str) -> list[Any]:
    """Return the shares if the n-th of the elements that tie took all, for every n (the last again where there are fewer)."""
    axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in ([axis] if isinstance(axis, int) else axis))
    hit = np.moveaxis(np.equal(x, extremum), axes, range(-len(axes), 0))
    flat = hit.reshape(*hit.shape[: hit.ndim - len(axes)], -1)
    rank, count = np.cumsum(flat, axis=-1), np.add.reduce(flat, axis=-1, keepdims=True)
    sides = []
    for n in range(1, int(count.max(initial=1)) + 1):
        alone = np.logical_and(flat, np.equal(rank, np.minimum(n, count))).reshape(hit.shape)
        sides.append(np.moveaxis(alone, range(-len(axes), 0), axes).astype(x.dtype))
    return sides


@primitive(branch_sides=_each_of_the_tied)
def reached(x: Any, out: Any, *, axis: Any, ties: str) -> Any:
    """Return the share of the cotangent of an extremum that each element gets; the shares along ``axis`` sum to 1.

    At a tie the first element takes all (``ties="first"``) or all that reach it share evenly (``"split"``). A NaN is an extremum; among
    several the first takes all, or nothing is defined.
    """
    hit = np.equal(x, out)
    if ties == "first":
        hit = np.logical_or(hit, np.logical_and(np.isnan(x), np.isnan(out)))
        hit = np.logical_and(hit, np.equal(np.cumsum(hit, axis=axis), 1))
    share: Any = hit.astype(x.dtype)
    return share / np.add.reduce(share, axis=numpy_axes(axis), keepdims=True)


def extremum_vjp(g: Any, out: Any, x: Any, axis: Any, *, keepdims: bool, ties: str) -> Any:
    """Return the cotangent of the operand of an extremum; ``ties`` as for `reached`."""
    shape = shape_of(x)
    share = reached(array_of(x), array_of(restore_axes(array_of(out), shape, axis, keepdims=keepdims)), axis=axis, ties=ties)
    return mul(restore_axes(g, shape, axis, keepdims=keepdims), share)


@primitive(ulps=0)
def max(x: Any, *, axis: int, keepdims: Any) -> Any:  # noqa: A001 - an op is called what the frameworks call it
    """Return the largest element along one axis; a tie follows the dialect."""
    return np.maximum.reduce(x, axis=axis, keepdims=keepdims)


@primitive(ulps=0)
def min(x: Any, *, axis: int, keepdims: Any) -> Any:  # noqa: A001 - an op is called what the frameworks call it
    """Return the smallest element along one axis; a tie follows the dialect."""
    return np.minimum.reduce(x, axis=axis, keepdims=keepdims)


@max.vjp("x")
@min.vjp("x")
def extremum_along_axis_vjp_x(g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    return extremum_vjp(g, out, x, axis, keepdims=keepdims, ties=Mode.ties)


@primitive(ulps=0)
def amax(x: Any, *, axis: Any, keepdims: Any) -> Any:
    """Return the largest element along axes; elements that tie share the cotangent evenly (both frameworks)."""
    return np.maximum.reduce(x, axis=numpy_axes(axis), keepdims=keepdims)


@primitive(ulps=0)
def amin(x: Any, *, axis: Any, keepdims: Any) -> Any:
    """Return the smallest element along axes; elements that tie share the cotangent evenly (both frameworks)."""
    return np.minimum.reduce(x, axis=numpy_axes(axis), keepdims=keepdims)


@amax.vjp("x")
@amin.vjp("x")
def extremum_along_axes_vjp_x(g: Any, out: Any, x: Any, *, axis: Any, keepdims: bool) -> Any:
    return extremum_vjp(g, out, x, axis, keepdims=keepdims, ties="split")


@primitive(
    ulps=4,
    error_scale=lambda out, x, *, axis, keepdims: (
        np.abs(out) + np.maximum.reduce(np.where(np.isinf(x), 0.0, np.abs(x)), axis=numpy_axes(axis), keepdims=keepdims) + 1.0
    ),
    summands=lambda x, *, axis, keepdims: count_reduced(x.shape, axis),
    reordered=axes_reversed,
)  # 1: a relative rounding of the sum is an absolute one of its logarithm
def logsumexp(x: Any, *, axis: Any, keepdims: Any) -> Any:
    """Return ``log(sum(e^x))`` along axes."""
    axes = numpy_axes(axis)
    top = np.maximum.reduce(x, axis=axes, keepdims=True)
    top = np.where(np.isinf(top), 0, top).astype(x.dtype)  # inf - inf would be NaN; the sum is 0 or inf, and so is its logarithm
    total = np.add.reduce(np.exp(np.subtract(x, top)), axis=axes, keepdims=keepdims)
    return np.add(np.log(total), top if keepdims else np.squeeze(top, axes))


@logsumexp.vjp("x")
def logsumexp_vjp_x(g: Any, out: Any, x: Any, *, axis: Any, keepdims: bool) -> Any:
    g, total = (restore_axes(of, shape_of(x), axis, keepdims=keepdims) for of in (g, out))
    return mul(g, shares_of_exponentials(x, total, axis=axis))


@primitive(
    ulps=4,
    error_scale=lambda out, x, total, *, axis: np.where(
        out == 0, 0.0, np.abs(out) * (1.0 + np.abs(x - np.maximum.reduce(x, axis=numpy_axes(axis), keepdims=True)))
    ),
    summands=lambda x, total, *, axis: count_reduced(x.shape, axis),
    reordered=axes_reversed,
)
def shares_of_exponentials(x: Any, total: Any, *, axis: Any) -> Any:
    """Return the share ``e^(x - total)`` of each element in the sum of exponentials along axes, of which ``total`` is the logarithm.

    A share depends on both, as in the frameworks, but is not taken of their difference, of which nothing is left where they are large.
    Infinite numbers have the limit: one alone has all, and of several nobody knows the shares.
    """
    axes = numpy_axes(axis)
    top = np.maximum.reduce(x, axis=axes, keepdims=True)
    with np.errstate(all="ignore"):
        e = np.exp(np.subtract(x, top))
        found = np.divide(e, np.add.reduce(e, axis=axes, keepdims=True))
    largest = np.equal(x, top)
    alone = np.equal(np.add.reduce(largest, axis=axes, keepdims=True), 1)
    return np.where(np.isinf(top) & (alone | ~largest), largest, found).astype(x.dtype)


@shares_of_exponentials.vjp("x")
def shares_of_exponentials_vjp_x(g: Any, out: Any, x: Any, total: Any, *, axis: Any) -> Any:
    return mul(g, out)


@shares_of_exponentials.vjp("total")
def shares_of_exponentials_vjp_total(g: Any, out: Any, x: Any, total: Any, *, axis: Any) -> Any:
    return neg(sum(mul(g, out), axis=axis, keepdims=True))


@primitive(
    saves=(),
    error_scale=lambda out, x, *, axis: running(np.cumsum, np.abs(x), axis),
    summands=lambda x, *, axis: count_reduced(x.shape, axis),
)
def cumsum(x: Any, *, axis: int) -> Any:
    """Return running sums along one axis."""
    return running(np.cumsum, x, axis)


def running(accumulated: Callable[[Any, int], Any], x: Any, axis: int) -> Any:
    """Return NumPy's running sums or products in the shape of ``x``, one behind another.

    NumPy gives a number without axes one, and keeps the gaps of an operand, which these have in no framework.
    """
    return np.ascontiguousarray(accumulated(x, axis)).reshape(np.shape(x))


@cumsum.vjp("x")
def cumsum_vjp_x(g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return flip(cumsum(flip(g, axis=axis), axis=axis), axis=axis)


@primitive(ulps=4, summands=lambda x, *, axis, keepdims: count_reduced(x.shape, axis), reordered=axes_reversed)
def prod(x: Any, *, axis: int, keepdims: Any) -> Any:
    """Return the product along one axis."""
    return np.multiply.reduce(x, axis=axis, keepdims=keepdims)


@prod.vjp("x")
def prod_vjp_x(g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:  # d(prod)/dx_i: the product of the others
    shape = shape_of(x)
    if isinstance(x, Symbol) or not np.isfinite(array_of(out)).all() or not array_of(out).all():
        return mul(restore_axes(g, shape, axis, keepdims=keepdims), conjugate(_others(x, axis)))
    return div(restore_axes(mul(g, conjugate(out)), shape, axis, keepdims=keepdims), conjugate(x))


def _others(x: Any, axis: int) -> Any:
    """Return for each element the product of the others, without a division: they may be 0, and the whole product infinite."""
    if not shape_of(x):
        return np.ones((), x.dtype)  # a number without axes has no others
    parts = [narrow(x, axis=axis, start=i, length=1) for i in range(shape_of(x)[axis])]
    one = np.ones(shape_of(parts[0]), x.dtype)
    before, after = [one], [one]
    for part, mirrored in zip(parts[:-1], parts[:0:-1], strict=True):
        before.append(mul(before[-1], part))
        after.append(mul(after[-1], mirrored))
    return cat(*(mul(b, a) for b, a in zip(before, reversed(after), strict=True)), axis=axis)


@primitive()
def factor_taken_out(x: Any, factor: Any, whole: Any) -> Any:
    """Return ``x / factor``, and 0 where the ``whole`` product is 0 or not finite, so that nothing can be taken out of it."""
    with np.errstate(all="ignore"):
        return np.where(_is_divisible(whole), np.divide(x, factor), 0).astype(x.dtype)


@factor_taken_out.vjp("x")
def factor_taken_out_vjp_x(g: Any, out: Any, x: Any, factor: Any, whole: Any) -> Any:
    return factor_taken_out(g, conjugate(factor), whole)


@factor_taken_out.vjp("factor")
def factor_taken_out_vjp_factor(g: Any, out: Any, x: Any, factor: Any, whole: Any) -> Any:
    return neg(mul(factor_taken_out(g, conjugate(factor), whole), conjugate(out)))


@primitive(ulps=0)
def where_indivisible(x: Any, whole: Any) -> Any:
    """Return ``x`` where the ``whole`` product is 0 or not finite, else 0."""
    return np.where(_is_divisible(whole), 0, x).astype(x.dtype)


@where_indivisible.vjp("x")
def where_indivisible_vjp_x(g: Any, out: Any, x: Any, whole: Any) -> Any:
    return where_indivisible(g, whole)


def _is_divisible(whole: Any) -> Any:
    return np.logical_and(np.isfinite(whole), np.not_equal(whole, 0))


prod_by_quotient = alias("prod_by_quotient", prod)
prod_by_quotient.rules = [None]


@prod_by_quotient.vjp("x")
def prod_by_quotient_vjp_x(g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    """Return the product over each factor, whose derivatives leave what does not quite cancel, or where it is 0 the others."""
    shape = shape_of(x)
    whole, product = (_spread(part, shape, axis, keepdims=keepdims) for part in (out, mul(g, conjugate(out))))
    others = mul(restore_axes(g, shape, axis, keepdims=keepdims), conjugate(_others(x, axis)))
    return add(factor_taken_out(product, conjugate(x), whole), where_indivisible(others, whole))


@primitive(
    error_scale=lambda out, x, y: np.add.reduce(np.square(np.abs(x) + np.abs(y)), axis=None) / (x.size or 1),
    summands=lambda x, y: 2 + x.size,
    reordered=axes_reversed,
)
def mse_loss(x: Any, y: Any) -> Any:
    """Return the mean of the squared differences of two tensors of the same shape."""
    return np.divide(np.add.reduce(np.square(np.subtract(x, y)), axis=None), np.asarray(x.size, dtype=x.dtype))


def _mse_slope(g: Any, x: Any, y: Any) -> Any:
    return mul(mul_scalar(sub(x, y), other=2.0 / element_count(shape_of(x))), g)


@mse_loss.vjp("x")
def mse_loss_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return _mse_slope(g, x, y)


@mse_loss.vjp("y")
def mse_loss_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return _mse_slope(g, y, x)


@composite
def mse_loss_of_parts(x: Any, y: Any) -> Any:
    """Return the same as `mse_loss`, as the mean of a square of a difference."""
    return mean(square(sub(x, y)), axis=None, keepdims=False)

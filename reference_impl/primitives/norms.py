"""Norms of vectors, and distances that are norms of differences.

At a vector of zeros the first derivative is 0, the subgradient of least size, as PyTorch documents; second derivatives are not defined
there. Of an order below 1 the first one is infinite on either side of every 0, and 0 there as well.
Sources: the pages ``torch.linalg.vector_norm``, ``paddle.linalg.vector_norm``, ``torch.cdist`` and
``torch.dist``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, add_scalar, div, mul, mul_scalar, neg, pow_scalar, rsub_scalar, sloped, sub
from reference_impl.primitives.complex import is_complex, sgn
from reference_impl.primitives.fused import fused, of_parts, unfollowed
from reference_impl.primitives.indexing import index_select
from reference_impl.primitives.piecewise import abs as absolute
from reference_impl.primitives.piecewise import exceeds, sign
from reference_impl.primitives.promotion import to_operand
from reference_impl.primitives.reduction import count_reduced, extremum_vjp, numpy_axes, restore_axes
from reference_impl.primitives.shape import expand, sum_to, unsqueeze
from reference_impl.tape.primitive import alias, array_of, axes_reversed, primitive, shape_of

OF_OTHER_ENGINES = frozenset(
    {
        *("abs_by_quotient", "side_of_zero"),
        "det_by_values",
        *("prod_by_quotient", "factor_taken_out", "where_indivisible"),
        "tanh_by_factors",
    }
)
"""Ops that no dialect of this package has: what other engines make of an op, as their adapters say it in `Dialect.spelled`."""

LARGEST = "inf"
"""The order of the maximum norm, by a word: a case is written down in JSON, which has no infinity."""

EXTREMA = {LARGEST: np.maximum, "-inf": np.minimum}
"""The orders of which the norm is the size of one element, and of which one."""


def _norm(x: Any, p: Any, axis: Any, *, keepdims: Any) -> Any:
    sizes = np.abs(x)
    if p in EXTREMA:
        return EXTREMA[p].reduce(sizes, axis=numpy_axes(axis), keepdims=keepdims)
    return np.add.reduce(sizes**p, axis=numpy_axes(axis), keepdims=keepdims) ** (1.0 / p)


def _rounded_in_norm(out: Any, x: Any, *, p: Any, axis: Any, keepdims: bool) -> Any:
    """Return what the roundings of a norm are relative to: the size of a real number is one of them, and nothing is rounded."""
    return np.zeros_like(out) if p in EXTREMA and not is_complex(x) else np.abs(out)


@primitive(
    ulps=4,
    error_scale=_rounded_in_norm,
    summands=lambda x, *, p, axis, keepdims: count_reduced(x.shape, axis),
    reordered=axes_reversed,
)
def vector_norm(x: Any, *, p: Any, axis: Any, keepdims: Any) -> Any:
    """Return the p-norm ``(sum |x|^p)^(1/p)`` along axes, or the largest or smallest ``|x|`` if ``p`` is infinite."""
    return np.asarray(_norm(x, p, axis, keepdims=keepdims), dtype=x.dtype)


@vector_norm.vjp("x")
def vector_norm_vjp_x(g: Any, out: Any, x: Any, *, p: Any, axis: Any, keepdims: bool) -> Any:
    shape = shape_of(x)
    if p in EXTREMA:
        reaching = extremum_vjp(g, out, absolute(x), axis, keepdims=keepdims, ties="split")
        return mul(reaching, sign(x))
    if p == 1.0:
        return mul(expand(restore_axes(g, shape, axis, keepdims=keepdims), shape=shape), sign(x))
    g, out = (restore_axes(part, shape, axis, keepdims=keepdims) for part in (g, out))
    if p == 2.0:
        return mul(g, direction(x, out))
    scale = mul(g, power_unless_zero(out, exponent=1.0 - p))
    if p < 1.0:
        return mul(mul(sign(x), power_unless_zero(absolute(x), exponent=p - 1.0)), scale)
    of_which, less = (sign(x), 1.0) if p < 2.0 else (x, 2.0)  # a power below 0 of a 0 is infinite
    return mul(mul(of_which, pow_scalar(absolute(x), exponent=p - less)), scale)


@primitive(ulps=1)
def direction(x: Any, length: Any) -> Any:
    """Return ``x / length``, and 0 where the length is 0; there its derivatives are not defined."""
    with np.errstate(all="ignore"):
        return np.where(np.equal(length, 0), 0, np.divide(x, length)).astype(x.dtype)


@direction.vjp("x")
def direction_vjp_x(g: Any, out: Any, x: Any, length: Any) -> Any:
    return over_length(g, length)


@primitive(ulps=1)
def over_length(x: Any, length: Any) -> Any:
    """Return ``x / length``, and NaN where the length is 0: whatever ``x`` is there, so that its derivative is 0."""
    with np.errstate(all="ignore"):
        return np.where(np.equal(length, 0), np.nan, np.divide(x, length)).astype(x.dtype)


@over_length.vjp("x")
def over_length_vjp_x(g: Any, out: Any, x: Any, length: Any) -> Any:
    return direction(g, length)


@direction.vjp("length")
@over_length.vjp("length")
def quotient_vjp_length(g: Any, out: Any, x: Any, length: Any) -> Any:
    return sum_to(neg(mul(over_length(g, length), out)), shape_of(length))


@primitive(ulps=2)
def power_of_length(x: Any, *, exponent: float) -> Any:
    """Return ``x^exponent`` of numbers that are not negative, and NaN at 0, where nothing is defined."""
    with np.errstate(all="ignore"):
        return np.where(np.equal(x, 0), np.nan, np.power(x, exponent)).astype(x.dtype)


@power_of_length.vjp("x")
def power_of_length_vjp_x(g: Any, out: Any, x: Any, *, exponent: float) -> Any:
    return mul(g, mul_scalar(power_of_length(x, exponent=exponent - 1.0), other=exponent))


@sloped(lambda out, x, *, exponent: mul_scalar(power_of_length(x, exponent=exponent - 1.0), other=exponent), ulps=2)
def power_unless_zero(x: Any, *, exponent: float) -> Any:
    """Return ``x^exponent`` of numbers that are not negative, and 0 at 0."""
    with np.errstate(all="ignore"):
        return np.where(np.equal(x, 0), 0, np.power(x, exponent)).astype(x.dtype)


side_of_zero = alias("side_of_zero", sign)  # as x / |x|, and 0 at 0
side_of_zero.rules = [None]


@side_of_zero.vjp("x")
def side_of_zero_vjp_x(g: Any, out: Any, x: Any) -> Any:  # 1/|x| - x x/|x|^3: 0, but for the roundings of what cancels
    is_zero = rsub_scalar(absolute(sign(x)), other=1.0)  # there it divides by 1, and so is every further derivative 0
    term = div(g, add(absolute(x), is_zero))
    return sub(term, term)


abs_by_quotient = alias("abs_by_quotient", absolute)
abs_by_quotient.rules = [None]


@abs_by_quotient.vjp("x")
def abs_by_quotient_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, sgn(x) if is_complex(x) else side_of_zero(x))


norm = alias("norm", vector_norm)
linalg_norm = alias("linalg_norm", vector_norm)


@fused()
def cdist(x: Any, y: Any, *, p: Any) -> Any:
    """Return the p-norms of the differences of all rows of two matrices: ``(..., m, k), (..., n, k) -> (..., m, n)``."""
    return vector_norm(sub(unsqueeze(x, axis=-2), unsqueeze(y, axis=-3)), p=p, axis=-1, keepdims=False)


cdist_of_parts = of_parts(cdist)


@fused()
def pdist(x: Any, *, p: Any) -> Any:
    """Return the p-norms of the differences of all pairs of rows, ``(m, k) -> (m (m - 1) / 2,)``: the first and all others, then on."""
    first, second = np.triu_indices(shape_of(x)[0], 1)
    rows = (index_select(x, axis=0, index=index.tolist()) for index in (first, second))
    return vector_norm(sub(*rows), p=p, axis=-1, keepdims=False)


pdist_of_parts = of_parts(pdist)


def renormed(x: Any, *, p: Any, axis: int, largest: float, eps: float) -> Any:
    """Return the same as `renorm`, with what a framework adds to the norms that it divides by.

    The norms that decide are constants: those of zeros have no second derivatives, and the op has.
    """
    others = [a for a in range(len(shape_of(x))) if a != axis % len(shape_of(x))]
    beyond = exceeds(vector_norm(array_of(unfollowed(x)), p=p, axis=others, keepdims=True), bound=largest)
    within = rsub_scalar(beyond, other=1.0)
    norms = vector_norm(add(mul(x, beyond), within), p=p, axis=others, keepdims=True)  # of ones where the op is the identity
    divisor = add(mul(add_scalar(norms, other=eps), beyond), mul_scalar(within, other=largest))
    return mul(x, div(np.asarray(largest, dtype=x.dtype), divisor))


@fused()
def renorm(x: Any, *, p: Any, axis: int, largest: float) -> Any:
    """Return what lies at each place of an axis, scaled to the p-norm ``largest`` where its norm is larger."""
    return renormed(x, p=p, axis=axis, largest=largest, eps=0.0)


@fused()
def dist(x: Any, y: Any, *, p: Any) -> Any:
    """Return the p-norm of the difference of two tensors that broadcast."""
    return vector_norm(sub(x, y), p=p, axis=None, keepdims=False)


def _of_difference(g: Any, out: Any, x: Any, y: Any, p: Any) -> Any:
    """Return the cotangent of the difference: the rule of a norm, with the result in it, through which a second derivative goes."""
    rule: Any = vector_norm.rule(0)
    return rule(g, out, sub(x, y), p=p, axis=None, keepdims=False)


@dist.vjp("x")
def dist_vjp_x(g: Any, out: Any, x: Any, y: Any, *, p: Any) -> Any:
    return to_operand(_of_difference(g, out, x, y, p), x)


@dist.vjp("y")
def dist_vjp_y(g: Any, out: Any, x: Any, y: Any, *, p: Any) -> Any:
    return to_operand(neg(_of_difference(g, out, x, y, p)), y)

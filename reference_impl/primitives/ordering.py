"""Ops that order elements along an axis: sorted, the k-th, the median, the mode, and the running extremes.

Where the elements lie that are taken is piecewise constant, so a primitive of its own says it, and a rule sends each cotangent back
there. Which of equal elements is taken is documented as not guaranteed; NaN counts as the largest number, and a median of rows with
NaN is NaN (`torch.median`, `paddle.median`). A mode is about equal elements, and to which of them its gradient goes nobody promises
either; so it is asked for of elements of which some are selected again and again, to whom all of them lead back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, clone, mul, mul_scalar
from reference_impl.primitives.fused import fused, of_parts
from reference_impl.primitives.indexing import index_select, scatter_add
from reference_impl.primitives.reduction import restore_axes
from reference_impl.tape.primitive import Domain, array_of, primitive, shape_of

DISTINCT = {"x": Domain.DISTINCT}


def _ascending(x: Any, axis: int, *, last: bool = False) -> Any:
    """Return the positions from the smallest to the largest; of equal elements the first comes first, or the ``last``."""
    if not last:
        return np.argsort(x, axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis=axis, kind="stable")


@primitive(
    branch_sides=lambda out, x, *, axis, descending: [
        np.flip(_ascending(x, axis, last=last), axis) if descending else _ascending(x, axis, last=last) for last in (False, True)
    ]
)
def order(x: Any, *, axis: int, descending: bool) -> Any:
    """Return the positions of the elements along an axis in their order (piecewise constant)."""
    return np.flip(_ascending(x, axis, last=True), axis) if descending else _ascending(x, axis)


@primitive(ulps=0, domain=DISTINCT)
def sort(x: Any, *, axis: int, descending: bool) -> Any:
    """Return the elements along an axis in their order; NaN is the largest."""
    return np.take_along_axis(x, order(x, axis=axis, descending=descending), axis)


@sort.vjp("x")
def sort_vjp_x(g: Any, out: Any, x: Any, *, axis: int, descending: bool) -> Any:
    index = order(array_of(x), axis=axis, descending=descending)
    return scatter_add(g, axis=axis, index=index, shape=shape_of(x))


@fused(domain=DISTINCT)
def msort(x: Any) -> Any:
    """Return the elements along the first axis in ascending order."""
    return sort(x, axis=0, descending=False)


def _rank(numbers: Any, kind: str, at: float) -> Any:
    """Return how many of so many numbers lie below the one that is meant."""
    match kind:
        case "k-th":
            return np.full_like(numbers, int(at) - 1)
        case "lower":
            return np.floor(at * np.maximum(numbers - 1, 0)).astype(np.intp)
        case _:
            return np.ceil(at * np.maximum(numbers - 1, 0)).astype(np.intp)


def _place(x: Any, *, axis: int, kind: str, at: float, skipping: bool, last: bool) -> Any:
    numbers = np.add.reduce(~np.isnan(x), axis=axis, keepdims=True)
    there = numbers if skipping else np.full_like(numbers, x.shape[axis])
    found = np.take_along_axis(_ascending(x, axis, last=last), _rank(there, kind, at), axis)
    if skipping or kind == "k-th":
        return found
    return np.where(numbers < x.shape[axis], np.expand_dims(np.argmax(np.isnan(x), axis=axis), axis), found)


@primitive(branch_sides=lambda out, x, **attrs: [_place(x, **attrs, last=last) for last in (False, True)])
def position_of(x: Any, *, axis: int, kind: str, at: float, skipping: bool) -> Any:
    """Return the position of one element along an axis, which stays with length 1 (piecewise constant).

    Args:
        x: the elements.
        axis: along which.
        kind: ``k-th`` smallest, or the ``lower`` or ``upper`` neighbour of a quantile.
        at: which is the k-th, or which quantile.
        skipping: NaN is not counted; else it is the largest in ``k-th``, and what a quantile is as soon as there is one.
    """
    return _place(x, axis=axis, kind=kind, at=at, skipping=skipping, last=False)


@primitive(ulps=0, domain=DISTINCT)
def picked(x: Any, *, axis: int, kind: str, at: float, skipping: bool, keepdims: Any) -> Any:
    """Return the element at a `position_of` along an axis."""
    found = np.take_along_axis(x, position_of(x, axis=axis, kind=kind, at=at, skipping=skipping), axis)
    return found if keepdims else np.squeeze(found, axis)


@picked.vjp("x")
def picked_vjp_x(g: Any, out: Any, x: Any, *, axis: int, kind: str, at: float, skipping: bool, keepdims: bool) -> Any:
    index = position_of(array_of(x), axis=axis, kind=kind, at=at, skipping=skipping)
    return scatter_add(restore_axes(g, shape_of(x), axis, keepdims=keepdims), axis=axis, index=index, shape=shape_of(x))


@fused(domain=DISTINCT)
def kthvalue(x: Any, *, k: int, axis: int, keepdims: Any) -> Any:
    """Return the k-th smallest element along an axis; NaN is the largest."""
    return picked(x, axis=axis, kind="k-th", at=float(k), skipping=False, keepdims=keepdims)


def _most_frequent(x: Any, axis: int, *, last: bool) -> Any:
    """Return where the smallest of the most frequent elements along an axis lies, the first of them or the ``last``."""
    rows = np.moveaxis(x, axis, -1)
    counts = np.add.reduce(np.equal(rows[..., None], rows[..., None, :]), axis=-1)
    frequent = np.equal(counts, np.maximum.reduce(counts, axis=-1, keepdims=True))
    value = np.minimum.reduce(np.where(frequent, rows, np.inf), axis=-1, keepdims=True)
    there = frequent & np.equal(rows, value)
    found = rows.shape[-1] - 1 - np.argmax(there[..., ::-1], axis=-1) if last else np.argmax(there, axis=-1)
    return np.expand_dims(found, axis)


@primitive(branch_sides=lambda out, x, *, axis: [_most_frequent(x, axis, last=last) for last in (False, True)])
def place_of_mode(x: Any, *, axis: int) -> Any:
    """Return the position of the most frequent element along an axis, with the axis (piecewise constant)."""
    return _most_frequent(x, axis, last=True)


@primitive(ulps=0)
def mode(x: Any, *, axis: int, keepdims: Any) -> Any:
    """Return the most frequent element along an axis, of several the smallest."""
    found = np.take_along_axis(x, place_of_mode(x, axis=axis), axis)
    return found if keepdims else np.squeeze(found, axis)


@mode.vjp("x")
def mode_vjp_x(g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    index = place_of_mode(array_of(x), axis=axis)
    return scatter_add(restore_axes(g, shape_of(x), axis, keepdims=keepdims), axis=axis, index=index, shape=shape_of(x))


@fused(domain=DISTINCT)
def mode_of_selected(x: Any, *, index: Any, axis: int, keepdims: Any) -> Any:
    """Return the most frequent one of entries along an axis that are selected, one of them more often than all others."""
    return mode(index_select(x, axis=axis, index=index), axis=axis, keepdims=keepdims)


mode_of_selected_of_parts = of_parts(mode_of_selected)


@fused(domain=DISTINCT)
def median(x: Any, *, axis: int, keepdims: Any) -> Any:
    """Return the mean of the two elements in the middle along an axis, or the one that is there."""
    lower, upper = (picked(x, axis=axis, kind=kind, at=0.5, skipping=False, keepdims=keepdims) for kind in ("lower", "upper"))
    return mul_scalar(add(lower, upper), other=0.5)


@fused(domain=DISTINCT)
def median_min(x: Any, *, axis: int, keepdims: Any) -> Any:
    """Return the element in the middle along an axis, the smaller of two."""
    return picked(x, axis=axis, kind="lower", at=0.5, skipping=False, keepdims=keepdims)


@fused(domain=DISTINCT)
def nanmedian(x: Any, *, axis: int, keepdims: Any) -> Any:
    """Return the element in the middle along an axis, the smaller of two, without counting NaN."""
    return picked(x, axis=axis, kind="lower", at=0.5, skipping=True, keepdims=keepdims)


@fused(domain=DISTINCT)
def quantile(x: Any, *, q: float, axis: int, keepdims: Any) -> Any:
    """Return the number below which a part ``q`` of the elements along an axis lies, between its neighbours in a straight line.

    To or from infinity that is infinite all the way.
    """
    lower, upper = (picked(x, axis=axis, kind=kind, at=q, skipping=False, keepdims=keepdims) for kind in ("lower", "upper"))
    share = q * (shape_of(x)[axis] - 1) % 1.0
    return add(mul_scalar(lower, other=1.0 - share), mul_scalar(upper, other=share)) if share else lower


def _part(x: Any, kind: str, at: float, axis: int) -> Any:
    above = at * np.maximum(np.add.reduce(~np.isnan(x), axis=axis, keepdims=True) - 1, 0) % 1.0
    return np.asarray(above if kind == "upper" else 1.0 - above, dtype=x.dtype)


@primitive(saves=())
def part_of_neighbour(x: Any, *, kind: str, at: float, axis: int) -> Any:
    """Return the share of a neighbour in a quantile of what is not NaN along an axis, which stays (piecewise constant)."""
    return _part(x, kind, at, axis)


@primitive(domain=DISTINCT)
def part_picked(x: Any, *, axis: int, kind: str, at: float, keepdims: Any) -> Any:
    """Return the share of a neighbour in a quantile times the neighbour; a share of 0 in infinity is nothing."""
    share = _part(x, kind, at, axis)
    neighbour = np.take_along_axis(x, position_of(x, axis=axis, kind=kind, at=at, skipping=True), axis)
    part = np.where(share == 0, np.zeros_like(neighbour), np.multiply(neighbour, share))
    return part if keepdims else np.squeeze(part, axis)


@part_picked.vjp("x")
def part_picked_vjp_x(g: Any, out: Any, x: Any, *, axis: int, kind: str, at: float, keepdims: bool) -> Any:
    index = position_of(array_of(x), axis=axis, kind=kind, at=at, skipping=True)
    share = part_of_neighbour(array_of(x), kind=kind, at=at, axis=axis)
    return scatter_add(mul(restore_axes(g, shape_of(x), axis, keepdims=keepdims), share), axis=axis, index=index, shape=shape_of(x))


@fused(domain=DISTINCT)
def nanquantile(x: Any, *, q: float, axis: int, keepdims: Any) -> Any:
    """Return the same as `quantile`, without counting NaN."""
    return add(*(part_picked(x, axis=axis, kind=kind, at=q, keepdims=keepdims) for kind in ("lower", "upper")))


def _record(x: Any, *, axis: int, larger: bool, last: bool) -> Any:
    """Return where the extreme of all elements up to each lies: the first or the ``last`` of equal ones, or of those that are NaN."""
    out = (np.maximum if larger else np.minimum).accumulate(x, axis=axis)
    hit = np.equal(x, out) | np.isnan(x)
    if not last:
        before = np.concatenate([np.full_like(np.take(out, [0], axis), np.nan), np.take(out, range(x.shape[axis] - 1), axis)], axis)
        hit &= np.not_equal(out, before)
    steps = np.reshape(np.arange(x.shape[axis]), [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
    return np.maximum.accumulate(np.where(hit, steps, 0), axis=axis)


@primitive(branch_sides=lambda out, x, **attrs: [_record(x, **attrs, last=last) for last in (False, True)])
def record(x: Any, *, axis: int, larger: bool) -> Any:
    """Return the positions of the running extremes along an axis (piecewise constant)."""
    return _record(x, axis=axis, larger=larger, last=True)


def _running(x: Any, axis: int, *, larger: bool) -> Any:
    if not x.ndim:
        return x.copy()
    return np.take_along_axis(x, record(x, axis=axis, larger=larger), axis)


def _running_vjp(g: Any, x: Any, axis: int, *, larger: bool) -> Any:
    if not shape_of(x):
        return clone(g)  # a number without axes is its own extreme
    return scatter_add(g, axis=axis, index=record(array_of(x), axis=axis, larger=larger), shape=shape_of(x))


@primitive(ulps=0, domain=DISTINCT)
def cummax(x: Any, *, axis: int) -> Any:
    """Return the largest of all elements up to each along an axis; from a NaN on it is NaN."""
    return _running(x, axis, larger=True)


@cummax.vjp("x")
def cummax_vjp_x(g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return _running_vjp(g, x, axis, larger=True)


@primitive(ulps=0, domain=DISTINCT)
def cummin(x: Any, *, axis: int) -> Any:
    """Return the smallest of all elements up to each along an axis; from a NaN on it is NaN."""
    return _running(x, axis, larger=False)


@cummin.vjp("x")
def cummin_vjp_x(g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return _running_vjp(g, x, axis, larger=False)

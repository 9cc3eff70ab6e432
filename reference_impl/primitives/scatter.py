"""Ops that write at indices: parts of a tensor are replaced by another tensor, added up with it, or left out.

Indices and masks are plain data (integers and booleans as nested lists), no tensors: nothing flows through them. Where an index comes
twice, additions add up; which of two replacements stays, no document says. Sources: the pages of ``torch`` and ``paddle`` on each.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import add, div, mul
from reference_impl.primitives.fused import fused, pulled_through
from reference_impl.primitives.indexing import along, as_arrays, gather, getitem_intarray, index_add_rows, index_select, put_intarray
from reference_impl.primitives.indexing import scatter_add as added_at
from reference_impl.primitives.reduction import amax, amin, prod
from reference_impl.primitives.selection import masked_fill, masked_fill_tensor, where
from reference_impl.primitives.shape import cat, expand, flatten, reshape, unsqueeze, widen
from reference_impl.primitives.update import overwrite
from reference_impl.tape.primitive import Symbol, alias, array_of, composite, primitive, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

# Masks.


@primitive(saves=(), ulps=0)
def masked_select(x: Any, *, mask: Any) -> Any:
    """Return the elements where a mask is true, one after the other; the mask is of the leading axes of ``x``, or of all."""
    return x[np.asarray(mask, dtype=bool)]


@masked_select.vjp("x")
def masked_select_vjp_x(g: Any, out: Any, x: Any, *, mask: Any) -> Any:
    return put_masked(g, mask=mask, shape=shape_of(x))


getitem_mask = alias("getitem_mask", masked_select)


@primitive(saves=(), ulps=0)
def put_masked(g: Any, *, mask: Any, shape: Any) -> Any:
    """Zeros of a shape with ``g`` where a mask is true: the transpose of `masked_select`."""
    out = np.zeros(shape, g.dtype)
    out[np.asarray(mask, dtype=bool)] = g
    return out


@put_masked.vjp("g")
def put_masked_vjp_g(g: Any, out: Any, x: Any, *, mask: Any, shape: Any) -> Any:
    return masked_select(g, mask=mask)


@primitive(ulps=0)
def masked_scatter(x: Any, source: Any, *, mask: Any) -> Any:
    """Return ``x`` with the first elements of ``source``, one after the other, where a mask of its shape is true."""
    out = np.array(x, order="C")
    mask = np.asarray(mask, dtype=bool)
    out[mask] = np.ravel(source)[: np.count_nonzero(mask)]
    return out


@masked_scatter.vjp("x")
def masked_scatter_vjp_x(g: Any, out: Any, x: Any, source: Any, *, mask: Any) -> Any:
    return masked_fill(g, mask=mask, value=0.0)


@masked_scatter.vjp("source")
def masked_scatter_vjp_source(g: Any, out: Any, x: Any, source: Any, *, mask: Any) -> Any:
    taken = masked_select(g, mask=mask)
    return reshape(widen(taken, axis=0, start=0, full=math.prod(shape_of(source))), shape=shape_of(source))


@composite
def masked_scatter_of_parts(x: Any, source: Any, *, mask: Any) -> Any:
    """Return the same as `masked_scatter`; Paddle reads the source at running counts, all over ``x``, and chooses."""
    if 0 in shape_of(source):
        return masked_scatter(x, source, mask=mask)
    taken = np.asarray(mask, dtype=bool)
    counts = np.maximum(np.cumsum(taken) - 1, 0)
    read = getitem_intarray(flatten(source, shape=[math.prod(shape_of(source))]), index=[counts.tolist()])
    return where(x, reshape(read, shape=taken.shape), mask=~taken)


# One index for each element of a tensor.


def _hit(shape: Sequence[int], at: Any) -> Any:
    """Return a mask of what is written."""
    mask = np.zeros(shape, bool)
    mask[at] = True
    return mask


@primitive(ulps=0)
def scatter(x: Any, source: Any, *, axis: int, index: Any) -> Any:
    """Return ``x`` with ``source`` at ``index`` along one axis, no place of which comes twice; see `gather` for the index."""
    out = np.array(x, order="C")
    out[along(axis, index)] = source
    return out


@scatter.vjp("x")
def scatter_vjp_x(g: Any, out: Any, x: Any, source: Any, *, axis: int, index: Any) -> Any:
    return masked_fill(g, mask=_hit(shape_of(x), along(axis, index)), value=0.0)


@scatter.vjp("source")
def scatter_vjp_source(g: Any, out: Any, x: Any, source: Any, *, axis: int, index: Any) -> Any:
    return gather(g, axis=axis, index=index)


@fused()
def scatter_add_to(x: Any, source: Any, *, axis: int, index: Any) -> Any:
    """Return ``x`` plus ``source`` at ``index`` along one axis; what comes at one place adds up."""
    return _plus(x, added_at(source, axis=axis, index=index, shape=shape_of(x)), _hit(shape_of(x), along(axis, index)))


def _plus(x: Any, added: Any, where_it_arrives: Any) -> Any:
    """Add what arrives; an element at which nothing does stays what it is, be it -0."""
    return add(x, masked_fill(added, mask=~where_it_arrives, value=-0.0))


scatter_reduce_sum = alias("scatter_reduce_sum", scatter_add_to)


@fused()
def scatter_reduce_mean(x: Any, source: Any, *, axis: int, index: Any) -> Any:
    """Return the mean of each element of ``x`` and of what comes at its place from ``source`` at ``index`` along one axis."""
    count = np.ones(shape_of(x), x.dtype)
    np.add.at(count, along(axis, index), 1)
    return div(scatter_add_to(x, source, axis=axis, index=index), count)


def _arrivals(x: Any, source: Any, axis: int, index: Any, nothing: float) -> Any:
    """Return along a new last axis each element of ``x`` and what comes at its place; ``nothing``: where less comes than elsewhere."""
    shape = shape_of(x)
    places = np.ravel(np.arange(math.prod(shape)).reshape(shape)[along(axis, index)])
    slots = [np.count_nonzero(places[:k] == place) for k, place in enumerate(places)]
    table = np.full((math.prod(shape), 1 + np.max(slots, initial=0)), -1)
    table[places, slots] = np.arange(places.size)
    read = getitem_intarray(flatten(source, shape=[places.size]), index=[np.maximum(table, 0).ravel().tolist()])
    arriving = masked_fill(read, mask=table.ravel() < 0, value=nothing)
    return cat(unsqueeze(x, axis=-1), reshape(arriving, shape=(*shape, table.shape[1])), axis=-1)


@fused()
def scatter_reduce_amax(x: Any, source: Any, *, axis: int, index: Any) -> Any:
    """Return the largest of each element of ``x`` and of what comes at its place; those that tie share the cotangent evenly."""
    return amax(_arrivals(x, source, axis, index, -np.inf), axis=[-1], keepdims=False)


@fused()
def scatter_reduce_amin(x: Any, source: Any, *, axis: int, index: Any) -> Any:
    """Return the smallest of each element of ``x`` and of what comes at its place; those that tie share the cotangent evenly."""
    return amin(_arrivals(x, source, axis, index, np.inf), axis=[-1], keepdims=False)


@fused()
def scatter_reduce_prod(x: Any, source: Any, *, axis: int, index: Any) -> Any:
    """Return the product of each element of ``x`` and of what comes at its place."""
    return _product_of_arrivals(x, source, axis, index)


def _product_of_arrivals(x: Any, source: Any, axis: int, index: Any) -> Any:
    return prod(_arrivals(x, source, axis, index, 1.0), axis=-1, keepdims=False)


def _in_range(products: Any, x: Any, source: Any, axis: int, index: Any) -> bool:
    """Return whether no product overflows, or has lost digits for being tiny although none of its factors is 0."""
    there, coming = (np.not_equal(array_of(operand), 0).astype(products.dtype) for operand in (x, source))
    tiny = np.abs(products) < np.finfo(products.dtype).tiny
    lost = ~np.isfinite(products) | np.logical_and(tiny, _product_of_arrivals(there, coming, axis, index))
    return not lost.any()


@scatter_reduce_prod.vjp("x")
def scatter_reduce_prod_vjp_x(g: Any, out: Any, x: Any, source: Any, *, axis: int, index: Any) -> Any:
    """Divide a product by the element in it, with 1 for an element of 0, as PyTorch does; out of range, multiply the others."""
    if not isinstance(x, Symbol):
        itself = masked_fill(x, mask=np.equal(array_of(x), 0), value=1.0)
        products = _product_of_arrivals(itself, source, axis, index)
        if _in_range(array_of(products), itself, source, axis, index):
            return div(mul(g, products), itself)
    return mul(g, _product_of_arrivals(np.ones(shape_of(x), x.dtype), source, axis, index))


@scatter_reduce_prod.vjp("source")
def scatter_reduce_prod_vjp_source(g: Any, out: Any, x: Any, source: Any, *, axis: int, index: Any) -> Any:
    """Divide by each element the product that it stands in, as PyTorch does, and multiply the others out of range and where it is 0.

    Those of the only 0 in a product are the product with 1 in its place, which is divided again where it is differentiated.
    """
    at = {"axis": axis, "index": index}
    product = partial(_product_of_arrivals, **at)
    if isinstance(x, Symbol) or not _in_range(array_of(out), x, source, axis, index):
        return pulled_through(lambda *given: (product(*given),), 1, (g,), (x, source))
    zero = np.equal(array_of(source), 0)
    found = div(gather(mul(g, out), **at), masked_fill(source, mask=zero, value=1.0))
    zeros = np.zeros(shape_of(x))
    np.add.at(zeros, along(axis, index), zero)
    only = np.equal(zeros, 1)[along(axis, index)]
    alone, among = zero & only, zero & ~only
    if alone.any():
        others = scatter_reduce_prod(x, masked_fill(source, mask=alone, value=1.0), **at)
        found = where(gather(mul(g, others), **at), found, mask=alone)
    if among.any():
        found = where(pulled_through(lambda *given: (product(*given),), 1, (g,), (x, source)), found, mask=among)
    return found


# One index for each entry of an axis.


@fused()
def index_add(x: Any, source: Any, *, axis: int, index: Any) -> Any:
    """Return ``x`` plus the entries of ``source`` at ``index`` along one axis."""
    return _plus(x, index_add_rows(source, axis=axis, index=index, length=shape_of(x)[axis]), _rows(x, axis, index))


def _rows(x: Any, axis: int, index: Any) -> Any:
    """Return a mask of the shape of ``x``, true at some entries of an axis."""
    return _hit(shape_of(x), (slice(None),) * (axis % len(shape_of(x))) + (np.asarray(index, dtype=np.intp),))


@primitive(ulps=0)
def index_copy(x: Any, source: Any, *, axis: int, index: Any) -> Any:
    """Return ``x`` with the entries of ``source`` at ``index`` along one axis, no place of which comes twice."""
    out = np.array(x, order="C")
    np.moveaxis(out, axis, 0)[np.asarray(index, dtype=np.intp)] = np.moveaxis(source, axis, 0)
    return out


@index_copy.vjp("x")
def index_copy_vjp_x(g: Any, out: Any, x: Any, source: Any, *, axis: int, index: Any) -> Any:
    return masked_fill(g, mask=_rows(x, axis, index), value=0.0)


@index_copy.vjp("source")
def index_copy_vjp_source(g: Any, out: Any, x: Any, source: Any, *, axis: int, index: Any) -> Any:
    return index_select(g, axis=axis, index=index)


@fused()
def index_fill(x: Any, *, axis: int, index: Any, value: float) -> Any:
    """Return ``x`` with a number at some entries of one axis."""
    return masked_fill(x, mask=_rows(x, axis, index), value=value)


@fused()
def index_fill_tensor(x: Any, value: Any, *, axis: int, index: Any) -> Any:
    """Return ``x`` with a 0-d tensor at some entries of one axis; an entry that is named again is filled once."""
    return masked_fill_tensor(x, value, mask=_rows(x, axis, index))


# One index for each axis.

gather_nd = alias("gather_nd", getitem_intarray)


@fused()
def scatter_nd_add(x: Any, source: Any, *, index: Any) -> Any:
    """Return ``x`` plus ``source`` at ``[i, j, ...]``, one list of integers for each leading axis; what comes at one place adds up."""
    return _plus(x, put_intarray(source, index=index, shape=shape_of(x)), _hit(shape_of(x), tuple(map(np.asarray, index))))


index_put_accumulate = alias("index_put_accumulate", scatter_nd_add)


@primitive(ulps=0)
def index_put(x: Any, source: Any, *, index: Any) -> Any:
    """Return ``x`` with ``source`` at ``[i, j, ...]``, one list of integers for each leading axis; no place comes twice."""
    out = np.array(x, order="C")
    out[as_arrays(index)] = source
    return out


@index_put.vjp("x")
def index_put_vjp_x(g: Any, out: Any, x: Any, source: Any, *, index: Any) -> Any:
    return masked_fill(g, mask=_hit(shape_of(x), as_arrays(index)), value=0.0)


@index_put.vjp("source")
def index_put_vjp_source(g: Any, out: Any, x: Any, source: Any, *, index: Any) -> Any:
    return getitem_intarray(g, index=index)


@fused()
def take(x: Any, *, index: Any) -> Any:
    """Return the elements at ``index`` (nested lists), counted in row-major order; the result has the shape of the index."""
    flat = reshape(x, shape=(math.prod(shape_of(x)),))
    return reshape(index_select(flat, axis=0, index=np.ravel(index)), shape=np.shape(index))


@composite
def take_along_dim(x: Any, *, axis: int, index: Any) -> Any:
    """Return ``x`` at ``index`` along one axis, as `gather`; along the others the two broadcast."""
    axis %= len(shape_of(x))
    ones = [1 if i == axis else n for i, n in enumerate(shape_of(x))]
    shape = np.broadcast_shapes(ones, [1 if i == axis else n for i, n in enumerate(np.shape(index))])
    wide = tuple(shape_of(x)[axis] if i == axis else n for i, n in enumerate(shape))
    index = np.broadcast_to(index, [np.shape(index)[axis] if i == axis else n for i, n in enumerate(shape)])
    return gather(x if shape_of(x) == wide else expand(x, shape=wide), axis=axis, index=index)


# Views that are written to.


@fused()
def diagonal_scatter(x: Any, source: Any, *, offset: int) -> Any:
    """Return a matrix, or a batch of them, with another diagonal."""
    return overwrite(x, source, op="diagonal", attrs={"offset": offset}, slot=0)


@fused()
def select_scatter(x: Any, source: Any, *, axis: int, index: int) -> Any:
    """Return ``x`` with ``source`` as one entry of an axis."""
    return overwrite(x, source, op="select", attrs={"axis": axis, "index": index}, slot=0)


@fused()
def slice_scatter(x: Any, source: Any, *, axis: int, start: int, stop: int, step: int) -> Any:
    """Return ``x`` with ``source`` at ``start:stop:step`` of an axis."""
    key = [[0, n, 1] for n in shape_of(x)]
    key[axis] = [start, stop, step]
    return overwrite(x, source, op="getitem_slice", attrs={"key": key}, slot=0)


@fused()
def multiplex(x: Any, y: Any, *, index: Any) -> Any:
    """Return of each entry of the first axis that of ``x`` where the index is 0, and that of ``y`` where it is 1."""
    mask = np.equal(index, 0).reshape(-1, *(1,) * (len(shape_of(x)) - 1))
    return where(x, y, mask=mask)

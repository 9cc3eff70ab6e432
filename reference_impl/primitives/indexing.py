"""Reading at indices, and its transpose: adding up at indices (repeated indices accumulate).

Indices are plain data (integers as nested lists), no tensors: nothing flows through them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.tape.primitive import alias, own_transpose, primitive, shape_of


def _slices(key: Any) -> tuple[slice, ...]:
    return tuple(slice(*part) for part in key)


@primitive(saves=(), ulps=0, views=True)
def getitem_slice(x: Any, *, key: Any) -> Any:
    """Return ``x[start:stop:step, ...]``; ``key`` lists start, stop and step of the leading axes."""
    return x[_slices(key)]


@getitem_slice.vjp("x")
def getitem_slice_vjp_x(g: Any, out: Any, x: Any, *, key: Any) -> Any:
    return put_slice(g, key=key, shape=shape_of(x))


getitem_strided = alias("getitem_strided", getitem_slice)


@own_transpose
@primitive(saves=(), ulps=0, views=True)
def getitem_reversed(x: Any, *, axis: int) -> Any:
    """Return ``x[..., ::-1, ...]``: an axis is read backwards, with a negative step where an engine has one."""
    return np.flip(x, axis)


@primitive(saves=(), ulps=0)
def put_slice(g: Any, *, key: Any, shape: Any) -> Any:
    """Zeros with ``g`` at a slice: the transpose of `getitem_slice`."""
    out = np.zeros(shape, g.dtype)
    out[_slices(key)] = g
    return out


@put_slice.vjp("g")
def put_slice_vjp_g(g: Any, out: Any, x: Any, *, key: Any, shape: Any) -> Any:
    return getitem_slice(g, key=key)


@primitive(saves=(), ulps=0, views=True)
def getitem_int(x: Any, *, index: int) -> Any:
    """Return entry ``index`` of the first axis."""
    return x[index, ...]


@getitem_int.vjp("x")
def getitem_int_vjp_x(g: Any, out: Any, x: Any, *, index: int) -> Any:
    return put_int(g, index=index, shape=shape_of(x))


@primitive(saves=(), ulps=0)
def put_int(g: Any, *, index: int, shape: Any) -> Any:
    """Zeros with ``g`` as one entry of the first axis: the transpose of `getitem_int`."""
    out = np.zeros(shape, g.dtype)
    out[index] = g
    return out


@put_int.vjp("g")
def put_int_vjp_g(g: Any, out: Any, x: Any, *, index: int, shape: Any) -> Any:
    return getitem_int(g, index=index)


def _add_rows(x: Any, index: Any, axis: int, length: int) -> Any:
    moved = np.moveaxis(x, axis, 0) if np.ndim(index) == 1 else x
    out = np.zeros((length, *moved.shape[np.ndim(index) :]), x.dtype)
    np.add.at(out, np.asarray(index, dtype=np.intp), moved)
    return np.moveaxis(out, 0, axis)


@primitive(ulps=0)
def index_select(x: Any, *, axis: int, index: Any) -> Any:
    """Return the entries at ``index`` (a list) along one axis."""
    return np.take(x, np.asarray(index, dtype=np.intp), axis)


@index_select.vjp("x")
def index_select_vjp_x(g: Any, out: Any, x: Any, *, axis: int, index: Any) -> Any:
    return index_add_rows(g, axis=axis, index=index, length=shape_of(x)[axis])


def _last_row_first(forward: Any, g: Any, *, axis: int, index: Any, length: int) -> Any:
    """Add the rows in the opposite order; of a table of indices nothing is turned around."""
    if np.ndim(index) != 1:
        return forward(g, axis=axis, index=index, length=length)
    return forward(np.flip(g, axis), axis=axis, index=np.flip(np.asarray(index)), length=length)


@primitive(
    error_scale=lambda out, g, *, axis, index, length: _add_rows(np.abs(g), index, axis, length),
    summands=lambda g, *, axis, index, length: np.size(index),
    reordered=_last_row_first,
)
def index_add_rows(g: Any, *, axis: int, index: Any, length: int) -> Any:
    """Add entries up at ``index`` along an axis of the given length: the transpose of `index_select`."""
    return _add_rows(g, index, axis, length)


@index_add_rows.vjp("g")
def index_add_rows_vjp_g(g: Any, out: Any, x: Any, *, axis: int, index: Any, length: int) -> Any:
    return index_select(g, axis=axis, index=index)


def as_arrays(index: Any) -> tuple[Any, ...]:
    """Return lists of integers, one for each leading axis, as NumPy indexes with them."""
    return tuple(np.asarray(i, dtype=np.intp) for i in index)


def _add_tuples(g: Any, index: Any, shape: Any) -> Any:
    out = np.zeros(shape, g.dtype)
    np.add.at(out, as_arrays(index), g)
    return out


@primitive(ulps=0)
def getitem_intarray(x: Any, *, index: Any) -> Any:
    """Return ``x[i, j, ...]`` with one list of integers for each leading axis; the lists have equal lengths."""
    return x[as_arrays(index)]


@getitem_intarray.vjp("x")
def getitem_intarray_vjp_x(g: Any, out: Any, x: Any, *, index: Any) -> Any:
    return put_intarray(g, index=index, shape=shape_of(x))


@primitive(
    error_scale=lambda out, g, *, index, shape: _add_tuples(np.abs(g), index, shape),
    summands=lambda g, *, index, shape: len(index[0]),
    reordered=lambda forward, g, *, index, shape: forward(
        np.flip(g, 0), index=[np.flip(np.asarray(i), -1) for i in index], shape=shape
    ),
)
def put_intarray(g: Any, *, index: Any, shape: Any) -> Any:
    """Add up at index tuples: the transpose of `getitem_intarray`."""
    return _add_tuples(g, index, shape)


@put_intarray.vjp("g")
def put_intarray_vjp_g(g: Any, out: Any, x: Any, *, index: Any, shape: Any) -> Any:
    return getitem_intarray(g, index=index)


@primitive(ulps=0)
def embedding(weight: Any, *, index: Any) -> Any:
    """Return the rows of a matrix at ``index`` (nested lists of any depth)."""
    return weight[np.asarray(index, dtype=np.intp)]


@embedding.vjp("weight")
def embedding_vjp_weight(g: Any, out: Any, weight: Any, *, index: Any) -> Any:
    return index_add_rows(g, axis=0, index=index, length=shape_of(weight)[0])


def along(axis: int, index: Any) -> tuple[Any, ...]:
    """Return an index of one axis, one for each element of a tensor, with those of the other axes that go with it."""
    found = list(np.indices(np.shape(index), sparse=True))
    found[axis] = np.asarray(index, dtype=np.intp)
    return tuple(found)


def _scatter_add(g: Any, axis: int, index: Any, shape: Any) -> Any:
    out = np.zeros(shape, g.dtype)
    np.add.at(out, along(axis, index), g)
    return out


@primitive(ulps=0)
def gather(x: Any, *, axis: int, index: Any) -> Any:
    """Return ``x`` at ``index`` along one axis; the index has as many axes and may be smaller than ``x``."""
    index = np.asarray(index, dtype=np.intp)
    crop = tuple(slice(None) if i == axis % x.ndim else slice(n) for i, n in enumerate(index.shape))
    return np.take_along_axis(x[crop], index, axis)


@gather.vjp("x")
def gather_vjp_x(g: Any, out: Any, x: Any, *, axis: int, index: Any) -> Any:
    return scatter_add(g, axis=axis, index=index, shape=shape_of(x))


@primitive(
    error_scale=lambda out, g, *, axis, index, shape: _scatter_add(np.abs(g), axis, index, shape),
    summands=lambda g, *, axis, index, shape: g.shape[axis],
    reordered=lambda forward, g, *, axis, index, shape: forward(
        np.flip(g, axis), axis=axis, index=np.flip(np.asarray(index), axis), shape=shape
    ),
)
def scatter_add(g: Any, *, axis: int, index: Any, shape: Any) -> Any:
    """Add up at ``index`` along one axis: the transpose of `gather`."""
    return _scatter_add(g, axis, index, shape)


@scatter_add.vjp("g")
def scatter_add_vjp_g(g: Any, out: Any, x: Any, *, axis: int, index: Any, shape: Any) -> Any:
    return gather(g, axis=axis, index=index)

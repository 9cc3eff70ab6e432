"""Ops that lay tensors out anew: side by side, on a diagonal, over a grid, in windows.

Where a framework returns several tensors of which each depends on one operand alone (`meshgrid`, `broadcast_tensors`), the op here is
their stack, one tensor that depends on all of them. Sources: the pages of ``torch`` and ``paddle`` on each.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.fused import fused
from reference_impl.primitives.indexing import index_add_rows, index_select, put_intarray
from reference_impl.primitives.products import diagonal
from reference_impl.primitives.shape import cat, expand, link, narrow, permute, reshape, same_elements_vjp_x, stack, sum_to, unsqueeze
from reference_impl.tape.primitive import alias, composite, primitive, register, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

# Side by side.


def _at_least(x: Any, axes: int) -> Any:
    """Give a tensor as many axes at least; the third comes last, the others first."""
    shape = shape_of(x)
    if len(shape) == 0:
        return reshape(x, shape=(1,) * axes)
    if len(shape) == 1 and axes > 1:
        x = unsqueeze(x, axis=0)
    return unsqueeze(x, axis=-1) if len(shape) < axes == 3 else x


@composite
def vstack(*xs: Any) -> Any:
    """Join along the first axis; vectors are rows."""
    return cat(*(_at_least(x, 2) for x in xs), axis=0)


row_stack = register("row_stack", vstack)


@composite
def hstack(*xs: Any) -> Any:
    """Join along the second axis; vectors along their only one."""
    xs = tuple(_at_least(x, 1) for x in xs)
    return cat(*xs, axis=0 if len(shape_of(xs[0])) == 1 else 1)


@composite
def dstack(*xs: Any) -> Any:
    """Join along the third axis."""
    return cat(*(_at_least(x, 3) for x in xs), axis=2)


@composite
def column_stack(*xs: Any) -> Any:
    """Join along the second axis; vectors are columns."""
    return cat(*(x if len(shape_of(x)) > 1 else reshape(x, shape=(math.prod(shape_of(x)), 1)) for x in xs), axis=1)


def _corner(xs: Sequence[Any], position: int) -> tuple[int, int]:
    """Return where a block begins."""
    before = [shape_of(x) for x in xs[:position]]
    return sum(m for m, _ in before), sum(n for _, n in before)


@primitive(saves=(), ulps=0)
def block_diag(*xs: Any) -> Any:
    """Return matrices along the diagonal of a matrix of zeros."""
    out = np.zeros(np.sum([x.shape for x in xs], axis=0), xs[0].dtype)
    for position, x in enumerate(xs):
        i, j = _corner(xs, position)
        out[i : i + x.shape[0], j : j + x.shape[1]] = x
    return out


@block_diag.vjp("xs")
def block_diag_vjp_xs(g: Any, out: Any, *xs: Any, position: int) -> Any:
    (i, j), (m, n) = _corner(xs, position), shape_of(xs[position])
    return narrow(narrow(g, axis=0, start=i, length=m), axis=1, start=j, length=n)


@composite
def block_diag_of_joins(*xs: Any) -> Any:
    """Return the same as `block_diag`, as Paddle does: each column of blocks is joined, then the columns are."""

    def column(position: int, x: Any) -> Any:
        width = shape_of(x)[1]
        zeros = (np.zeros((shape_of(other)[0], width), x.dtype) for other in xs)
        return cat(*(x if i == position else other for i, other in enumerate(zeros)), axis=0)

    return cat(*itertools.starmap(column, enumerate(xs)), axis=1)


# Over a grid.


@primitive(saves=(), ulps=0)
def meshgrid(*xs: Any) -> Any:
    """Return the coordinates of all points of a grid, as a stack: of vectors of n1, ..., nk elements ``(k, n1, ..., nk)``."""
    return np.stack(np.meshgrid(*xs, indexing="ij"))


def _of_grid(g: Any, xs: Sequence[Any], position: int) -> Any:
    """Return the cotangent of one vector from that of a stack of grids."""
    own = narrow(g, axis=0, start=position, length=1)
    along = (math.prod(shape_of(x)) if i == position else 1 for i, x in enumerate(xs))  # a bare number is a vector of one
    return reshape(sum_to(own, (1, *along)), shape=shape_of(xs[position]))


@meshgrid.vjp("xs")
def meshgrid_vjp_xs(g: Any, out: Any, *xs: Any, position: int) -> Any:
    return _of_grid(g, xs, position)


@primitive(saves=(), ulps=0)
def cartesian_prod(*xs: Any) -> Any:
    """Return all points of a grid, one a row: of k vectors of n1, ..., nk elements ``(n1 ... nk, k)``."""
    return np.stack([grid.ravel() for grid in np.meshgrid(*xs, indexing="ij")], axis=1)


@cartesian_prod.vjp("xs")
def cartesian_prod_vjp_xs(g: Any, out: Any, *xs: Any, position: int) -> Any:
    grids = reshape(permute(g, axes=[1, 0]), shape=(len(xs), *(math.prod(shape_of(x)) for x in xs)))
    return _of_grid(grids, xs, position)


def _grids(xs: Sequence[Any]) -> list[Any]:
    shape = [math.prod(shape_of(x)) for x in xs]
    along = ([n if i == at else 1 for i in range(len(xs))] for at, n in enumerate(shape))
    return [expand(reshape(x, shape=spread), shape=shape) for x, spread in zip(xs, along, strict=True)]


@composite
def meshgrid_stacked(*xs: Any) -> Any:
    """Return the same as `meshgrid`, with a node of its own for the stack, which hands on what arrives."""
    return link(meshgrid(*xs))


@composite
def meshgrid_of_parts(*xs: Any) -> Any:
    """Return the same as `meshgrid`, each vector expanded by itself."""
    return stack(*_grids(xs), axis=0)


@composite
def cartesian_prod_stacked(*xs: Any) -> Any:
    """Return the same as `cartesian_prod`, with nodes of their own for the stack and for its shape."""
    return link(link(cartesian_prod(*xs)))


@composite
def cartesian_prod_of_parts(*xs: Any) -> Any:
    """Return the same as `cartesian_prod`, each vector expanded by itself."""
    grids = _grids(xs)
    return stack(*(reshape(grid, shape=[math.prod(shape_of(grid))]) for grid in grids), axis=1)


@primitive(saves=(), ulps=0)
def broadcast_tensors(*xs: Any) -> Any:
    """Return tensors that are broadcast to each other, as a stack."""
    return np.stack(np.broadcast_arrays(*xs))


@broadcast_tensors.vjp("xs")
def broadcast_tensors_vjp_xs(g: Any, out: Any, *xs: Any, position: int) -> Any:
    own = narrow(g, axis=0, start=position, length=1)
    return sum_to(reshape(own, shape=shape_of(g)[1:]), shape_of(xs[position]))


@composite
def broadcast_tensors_stacked(*xs: Any) -> Any:
    """Return the same as `broadcast_tensors`, with a node of its own for the stack."""
    return link(broadcast_tensors(*xs))


@composite
def broadcast_tensors_of_parts(*xs: Any) -> Any:
    """Return the same as `broadcast_tensors`, each tensor expanded by itself; one that has the shape already is taken as it is."""
    shape = np.broadcast_shapes(*map(shape_of, xs))
    return stack(*(x if shape_of(x) == shape else expand(x, shape=shape) for x in xs), axis=0)


@fused()
def combinations(x: Any, *, r: int, with_replacement: bool) -> Any:
    """Return all choices of ``r`` elements of a vector, one a row, in the order in which they stand there."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(shape_of(x)[0]), r))
    flat = [i for row in rows for i in row]
    return reshape(index_select(x, axis=0, index=flat), shape=(len(rows), r))


# On a diagonal.


@primitive(saves=(), ulps=0)
def diag_matrix(x: Any, *, offset: int) -> Any:
    """Return a square matrix of zeros with a vector on a diagonal."""
    return np.diag(x, offset)


@diag_matrix.vjp("x")
def diag_matrix_vjp_x(g: Any, out: Any, x: Any, *, offset: int) -> Any:
    return diagonal(g, offset=offset)


diag_of_matrix = alias("diag_of_matrix", diagonal, views=False)


@fused()
def diagflat(x: Any, *, offset: int) -> Any:
    """Return a square matrix of zeros with all elements of a tensor on a diagonal."""
    return diag_matrix(reshape(x, shape=(math.prod(shape_of(x)),)), offset=offset)


# Turned, and with more axes.


@primitive(saves=(), ulps=0)
def rot90(x: Any, *, k: int, axes: Any) -> Any:
    """Turn ``k`` quarters, from the first of two axes towards the second."""
    return np.rot90(x, k, axes).copy(order="K")


@rot90.vjp("x")
def rot90_vjp_x(g: Any, out: Any, x: Any, *, k: int, axes: Any) -> Any:
    return rot90(g, k=-k, axes=axes)


@primitive(saves=(), ulps=0, views=True)
def atleast_1d(x: Any) -> Any:
    """Give a tensor an axis if it has none."""
    return np.atleast_1d(x)


@primitive(saves=(), ulps=0, views=True)
def atleast_2d(x: Any) -> Any:
    """Give a tensor axes in front until it has two."""
    return np.atleast_2d(x)


@primitive(saves=(), ulps=0, views=True)
def atleast_3d(x: Any) -> Any:
    """Give a tensor axes until it has three: the third comes last, the others first."""
    return np.atleast_3d(x)


for _made in (atleast_1d, atleast_2d, atleast_3d):
    _made.vjp("x")(same_elements_vjp_x)


# In windows.


def _places(shape: Sequence[int], strides: Sequence[int], offset: int) -> Any:
    """Return, for each element of a result, which element of the memory it is."""
    return offset + sum(np.indices(shape)[i] * stride for i, stride in enumerate(strides))


@primitive(saves=(), ulps=0)
def as_strided(x: Any, *, shape: Any, strides: Any, offset: int) -> Any:
    """Return element ``offset + i strides[0] + j strides[1] + ...`` of the elements in row-major order at ``[i, j, ...]``."""
    return np.ravel(x)[_places(shape, strides, offset)]


@as_strided.vjp("x")
def as_strided_vjp_x(g: Any, out: Any, x: Any, *, shape: Any, strides: Any, offset: int) -> Any:
    places = np.ravel(_places(shape, strides, offset))
    flat = put_intarray(reshape(g, shape=(places.size,)), index=[places], shape=(math.prod(shape_of(x)),))
    return reshape(flat, shape=shape_of(x))


@primitive(saves=(), ulps=0, views=True)
def tensor_unfold(x: Any, *, axis: int, size: int, step: int) -> Any:
    """Return the windows of an axis that begin at every ``step``; their elements are the last axis of the result."""
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis, writeable=True)
    return windows[(slice(None),) * (axis % x.ndim) + (slice(None, None, step),)]


@tensor_unfold.vjp("x")
def tensor_unfold_vjp_x(g: Any, out: Any, x: Any, *, axis: int, size: int, step: int) -> Any:
    rank, full = len(shape_of(x)), shape_of(x)
    axis %= rank
    windows = shape_of(g)[axis]
    beside = permute(g, axes=[*range(axis + 1), rank, *range(axis + 1, rank)])
    joined = reshape(beside, shape=(*full[:axis], windows * size, *full[axis + 1 :]))
    index = [i * step + j for i in range(windows) for j in range(size)]
    return index_add_rows(joined, axis=axis, index=index, length=full[axis])


@fused()
def repeat_interleave_each(x: Any, *, repeats: Any, axis: int) -> Any:
    """Return entry i along an axis ``repeats[i]`` times in a row."""
    return index_select(x, axis=axis, index=np.repeat(np.arange(len(repeats)), repeats))

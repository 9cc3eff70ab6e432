"""Products that are one node in a framework, as formulas; differences along an axis; and what reads a diagonal.

Sources: the pages of ``torch`` and ``paddle`` on each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from reference_impl.primitives.arithmetic import add, mul, mul_scalar, sub
from reference_impl.primitives.complex import conj
from reference_impl.primitives.fused import fused
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.shape import narrow, permute, reshape, transpose
from reference_impl.tape.primitive import alias, composite, primitive, shape_of


@composite
def diff(x: Any, *, axis: int) -> Any:
    """Return each element along one axis less the one before it."""
    length = shape_of(x)[axis] - 1
    return sub(narrow(x, axis=axis, start=1, length=length), narrow(x, axis=axis, start=0, length=length))


def _on_diagonal(x: Any, offset: int) -> Any:
    """Return a view of a diagonal of the last two axes, as a last axis; it can be written to, unlike NumPy's."""
    shape = np.diagonal(x, offset, -2, -1).shape
    start = x[..., :, offset:] if offset > 0 else x[..., -offset:, :]
    return as_strided(start, shape, (*x.strides[:-2], x.strides[-2] + x.strides[-1]))


@primitive(saves=(), ulps=0, views=True)
def diagonal(x: Any, *, offset: int) -> Any:
    """Return a diagonal of the last two axes, as a last axis; ``offset``: how far above the main one."""
    return _on_diagonal(x, offset)


@diagonal.vjp("x")
def diagonal_vjp_x(g: Any, out: Any, x: Any, *, offset: int) -> Any:
    return put_diagonal(g, offset=offset, shape=shape_of(x))


@primitive(saves=(), ulps=0)
def put_diagonal(g: Any, *, offset: int, shape: Any) -> Any:
    """Return zeros of a shape, with a diagonal of the last two axes given."""
    out = np.zeros(shape, g.dtype)
    _on_diagonal(out, offset)[...] = g
    return out


@put_diagonal.vjp("g")
def put_diagonal_vjp_g(g: Any, out: Any, x: Any, *, offset: int, shape: Any) -> Any:
    return diagonal(g, offset=offset)


@primitive(saves=(), ulps=0)
def diag_embed(x: Any, *, offset: int, dim1: int, dim2: int) -> Any:
    """Return zeros in which the last axis of ``x`` is a diagonal of the axes ``dim1`` (rows) and ``dim2`` (columns) of the result."""
    side = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], side, side), x.dtype)
    _on_diagonal(out, offset)[...] = x
    return np.ascontiguousarray(np.moveaxis(out, (-2, -1), (dim1, dim2)))


@diag_embed.vjp("x")
def diag_embed_vjp_x(g: Any, out: Any, x: Any, *, offset: int, dim1: int, dim2: int) -> Any:
    rank = len(shape_of(g))
    plane = [dim1 % rank, dim2 % rank]
    axes = [*(axis for axis in range(rank) if axis not in plane), *plane]
    return diagonal(g if axes == [*range(rank)] else permute(g, axes=axes), offset=offset)


@fused()
def trace(x: Any) -> Any:
    """Return the sum of the diagonal of a matrix."""
    return add_up(diagonal(x, offset=0), axis=None, keepdims=False)


@fused()
def dot(x: Any, y: Any) -> Any:
    """Return the sum of the products of two vectors of one length."""
    return add_up(mul(x, y), axis=None, keepdims=False)


@fused()
def addmm(x: Any, y: Any, z: Any, *, beta: float, alpha: float) -> Any:
    """Return ``beta x + alpha y z``: ``(..., m, n), (..., m, k), (..., k, n) -> (..., m, n)``."""
    return add(mul_scalar(x, other=beta), mul_scalar(matmul(y, z), other=alpha))


baddbmm = alias("baddbmm", addmm)
mv = alias("mv", matmul)


@fused()
def inner(x: Any, y: Any) -> Any:
    """Return all inner products of the rows of two matrices: ``(m, k), (n, k) -> (m, n)``."""
    return matmul(x, transpose(y, axis0=-1, axis1=-2))


@composite
def inner_of_rows(x: Any, y: Any) -> Any:
    """Return the same as `inner`, with a sum where rows have one element, and with `matmul`, of tensors that are laid out before."""
    if shape_of(y)[-1] == 1:
        x = add_up(x, axis=[-1], keepdims=True)
    rows, columns = permute(x, axes=[0, 1]), permute(y, axes=[1, 0])
    product = matmul(reshape(rows, shape=shape_of(rows)), reshape(columns, shape=shape_of(columns)))
    return reshape(product, shape=shape_of(product))


@composite
def inner_of_flattened(x: Any, y: Any) -> Any:
    """Return the same as `inner`; Paddle makes matrices of the operands first, unless one of them has a single element."""
    if (1, 1) in (shape_of(x), shape_of(y)):
        return inner(x, y)
    return inner(reshape(x, shape=shape_of(x)), reshape(y, shape=shape_of(y)))


@fused()
def vecdot(x: Any, y: Any) -> Any:
    """Return the inner products along the last axis of two tensors of one shape."""
    return add_up(mul(x, y), axis=[-1], keepdims=False)


@composite
def vecdot_of_parts(x: Any, y: Any) -> Any:
    """Return the same as `vecdot`; Paddle conjugates the first, which of real numbers is a node as well."""
    return add_up(mul(conj(x), y), axis=[-1], keepdims=False)


@fused()
def kron(x: Any, y: Any) -> Any:
    """Return all products of the elements of two matrices, block by block: ``(m, n), (k, l) -> (m k, n l)``."""
    (m, n), (k, length) = shape_of(x), shape_of(y)
    blocks = mul(reshape(x, shape=(m, 1, n, 1)), reshape(y, shape=(1, k, 1, length)))
    return reshape(blocks, shape=(m * k, n * length))

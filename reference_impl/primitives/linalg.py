"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, mul
from reference_impl.primitives.complex import conjugate
from reference_impl.primitives.fused import as_one
from reference_impl.primitives.shape import element_count, reshape, sum_to, t, transpose
from reference_impl.tape.primitive import alias, composite, primitive, shape_of
from reference_impl.tape.tensor import Tensor

ADJOINT = {"axis0": -1, "axis1": -2}


@primitive(
    error_scale=lambda out, x, y: np.matmul(np.abs(x), np.abs(y)),
    summands=lambda x, y: x.shape[-1],
    reordered=lambda forward, x, y: forward(np.flip(x, -1), np.flip(y, 0 if y.ndim == 1 else -2)),
)
def matmul(x: Any, y: Any) -> Any:
    """Matrix product, ``(..., m, k), (..., k, n) -> (..., m, n)``; a vector counts as one row or one column."""
    return np.matmul(x, y)


def _as_matrices(g: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Give vectors their row or column axis back: ``(..., m, n), (..., m, k), (..., k, n)``."""
    if len(shape_of(x)) > 1 and len(shape_of(y)) > 1:
        return g, x, y
    shape = shape_of(g)
    if len(shape_of(y)) == 1:
        shape = (*shape, 1)
        y = reshape(y, shape=(*shape_of(y), 1))
    if len(shape_of(x)) == 1:
        shape = (*shape[:-1], 1, shape[-1])
        x = reshape(x, shape=(1, *shape_of(x)))
    return (g if shape == shape_of(g) else reshape(g, shape=shape)), x, y


def _adjoint(x: Any) -> Any:
    """Return ``x^H``: of what a derivative transposed that is the operand itself, which no engine reaches by the first node."""
    node = x.node if isinstance(x, Tensor) else None
    if node is not None and node.primitive is transpose and node.derivative_of[1] and node.attrs == ADJOINT:
        return conjugate(node.operands[0])
    return conjugate(transpose(x, **ADJOINT))


@matmul.vjp("x")
def matmul_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:  # g y^H
    g, rows, y = _as_matrices(g, x, y)
    product = sum_to(matmul(g, _adjoint(y)), shape_of(rows))
    return product if rows is x else reshape(product, shape=shape_of(x))


@matmul.vjp("y")
def matmul_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:  # x^H g
    g, x, columns = _as_matrices(g, x, y)
    product = sum_to(matmul(_adjoint(x), g), shape_of(columns))
    return product if columns is y else reshape(product, shape=shape_of(y))


bmm = alias("bmm", matmul)


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    return np.add(np.matmul(x, np.swapaxes(weight, -1, -2)), bias)


@primitive(
    saves=("x", "weight"),
    error_scale=lambda out, x, weight, bias: _affine(np.abs(x), np.abs(weight), np.abs(bias)),
    summands=lambda x, weight, bias: 1 + x.shape[-1],
    reordered=lambda forward, x, weight, bias: forward(np.flip(x, -1), np.flip(weight, -1), bias),
)
def linear(x: Any, weight: Any, bias: Any) -> Any:
    """Return ``x weight^T + bias``: ``(..., k), (n, k), (n,) -> (..., n)``."""
    return _affine(x, weight, bias)


def _rows(x: Any) -> Any:
    """Return a matrix of the rows of a batch; a vector is one row."""
    shape = shape_of(x)
    return x if len(shape) == 2 else reshape(x, shape=(element_count(shape[:-1]), shape[-1]))


@linear.vjp("x")
def linear_vjp_x(g: Any, out: Any, x: Any, weight: Any, bias: Any) -> Any:
    return matmul(g, conjugate(weight))


@linear.vjp("weight")
def linear_vjp_weight(g: Any, out: Any, x: Any, weight: Any, bias: Any) -> Any:
    return matmul(t(_rows(g)), conjugate(_rows(x)))


@linear.vjp("bias")
def linear_vjp_bias(g: Any, out: Any, x: Any, weight: Any, bias: Any) -> Any:
    return sum_to(g, shape_of(bias))


@composite
def linear_of_parts(x: Any, weight: Any, bias: Any) -> Any:
    """Return the same as `linear`, as a product and a sum."""
    return add(matmul(x, t(weight)), bias)


@composite
def outer(x: Any, y: Any) -> Any:
    """Return all products of two vectors: ``(m,), (n,) -> (m, n)``."""
    return mul(reshape(x, shape=(*shape_of(x), 1)), y)


@composite
def outer_of_parts(x: Any, y: Any) -> Any:
    """Return the same as `outer`, as a product of a column and a row."""
    return mul(reshape(x, shape=(*shape_of(x), 1)), reshape(y, shape=(1, *shape_of(y))))


@composite
def matmul_transposed(x: Any, y: Any, *, transpose_x: bool, transpose_y: bool) -> Any:
    """Matrix product of operands whose last two axes change places first, where that is said; a vector has none that could."""
    return matmul(*(_turned(operand, turn=turn) for operand, turn in ((x, transpose_x), (y, transpose_y))))


def _turned(x: Any, *, turn: bool) -> Any:
    return transpose(x, axis0=-1, axis1=-2) if turn and len(shape_of(x)) > 1 else x


matmul_transposed_as_one = as_one(matmul_transposed)

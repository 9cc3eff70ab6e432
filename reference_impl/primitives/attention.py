"""Attention, as formulas of products and a softmax, and forms of two vectors.

Sources: the pages of ``scaled_dot_product_attention`` and ``bilinear`` of both frameworks. PyTorch computes attention of queries and
values of different lengths by its formula, and that of equal ones by a kernel that it takes by layout.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, mul_scalar
from reference_impl.primitives.fused import fused
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.products import inner
from reference_impl.primitives.shape import permute, reshape, transpose
from reference_impl.primitives.softmax import softmax
from reference_impl.tape.primitive import alias, composite, shape_of


def _masked(scores: Any) -> Any:
    """Add minus infinity where a key comes after its query."""
    queries, keys = shape_of(scores)[-2:]
    return add(scores, np.where(np.tri(queries, keys, dtype=bool), 0.0, -np.inf).astype(scores.dtype))


def _attended(query: Any, key: Any, value: Any, *, causal: bool) -> Any:
    scale = math.sqrt(1.0 / math.sqrt(shape_of(query)[-1]))
    scores = matmul(mul_scalar(query, other=scale), mul_scalar(transpose(key, axis0=-1, axis1=-2), other=scale))
    if causal:
        scores = _masked(scores)
    return matmul(softmax(scores, axis=-1), value)


@composite
def scaled_dot_product_attention(query: Any, key: Any, value: Any) -> Any:
    """Return ``softmax(q k^T / sqrt(e)) v``: ``(n, heads, l, e), (n, heads, s, e), (n, heads, s, d) -> (n, heads, l, d)``."""
    return _attended(query, key, value, causal=False)


@composite
def scaled_dot_product_attention_causal(query: Any, key: Any, value: Any) -> Any:
    """Return the same as `scaled_dot_product_attention`, where no query attends to a key after its own position."""
    return _attended(query, key, value, causal=True)


def _turned(x: Any) -> Any:
    return permute(x, axes=[0, 2, 1, 3])


products_of_rows = alias("products_of_rows", inner)  # batch by batch: (..., l, e), (..., s, e) -> (..., l, s)


def _of_turned(query: Any, key: Any, value: Any, *, causal: bool) -> Any:
    query, key, value = (_turned(_turned(one)) for one in (query, key, value))
    scores = products_of_rows(mul_scalar(query, other=shape_of(query)[-1] ** -0.5), key)
    if causal:
        scores = _masked(scores)
    return _turned(_turned(matmul(softmax(scores, axis=-1), value)))


@composite
def scaled_dot_product_attention_of_turned(query: Any, key: Any, value: Any) -> Any:
    """Return the same as `scaled_dot_product_attention`; the operands and the result are transposed to Paddle's layout and back."""
    return _of_turned(query, key, value, causal=False)


@composite
def scaled_dot_product_attention_causal_of_turned(query: Any, key: Any, value: Any) -> Any:
    """Return the same as `scaled_dot_product_attention_causal`, transposed likewise."""
    return _of_turned(query, key, value, causal=True)


def _forms(x: Any, y: Any, weight: Any) -> Any:
    (n, i), (o, _, j) = shape_of(x), shape_of(weight)
    halves = matmul(reshape(x, shape=(1, n, i)), weight)
    forms = matmul(reshape(transpose(halves, axis0=0, axis1=1), shape=(n, o, j)), reshape(y, shape=(n, j, 1)))
    return reshape(forms, shape=(n, o))


@fused()
def trilinear(x: Any, y: Any, weight: Any) -> Any:
    """Return ``x w_o y`` for each output o, row by row: ``(n, i), (n, j), (o, i, j) -> (n, o)``."""
    return _forms(x, y, weight)


@composite
def bilinear(x: Any, y: Any, weight: Any, bias: Any) -> Any:
    """Return ``x w_o y + b_o`` for each output o, row by row: ``(n, i), (n, j), (o, i, j), (o,) -> (n, o)``."""
    rows = trilinear(_as_rows(x), _as_rows(y), weight)  # PyTorch flattens the axes before the last, also where there is just one
    return add(_as_rows(rows), bias)


def _as_rows(x: Any) -> Any:
    return reshape(x, shape=shape_of(x))


@fused(saves=("x", "y", "weight"))
def bilinear_as_one(x: Any, y: Any, weight: Any, bias: Any) -> Any:
    """Return the same as `bilinear`, as one op."""
    return add(_forms(x, y, weight), bias)


@composite
def bilinear_of_turned(x: Any, y: Any, weight: Any, bias: Any) -> Any:
    """Return the same as `bilinear`, of a bias that is made a row first, as Paddle asks for it."""
    return bilinear_as_one(x, y, weight, reshape(bias, shape=(1, *shape_of(bias))))

"""Lengths of vectors, the distances and angles between them, and the losses that are made of these.

Both frameworks put most of these together of other ops, each in its own way: what one framework does otherwise has a name of its own
that ends in what it is made by. Sources: the pages of ``torch.nn.functional`` and ``paddle.nn.functional`` on each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.activations import logsigmoid
from reference_impl.primitives.arithmetic import (
    add,
    add_scalar,
    clone,
    div,
    div_by_quotient,
    mul,
    mul_scalar,
    neg,
    rsub_scalar,
    square,
    sub,
)
from reference_impl.primitives.elementary import log, sqrt
from reference_impl.primitives.losses import reduced
from reference_impl.primitives.piecewise import abs as absolute
from reference_impl.primitives.piecewise import exceeds
from reference_impl.primitives.reduction import mean, restore_axes
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.selection import clamp, maximum, minimum, where
from reference_impl.primitives.shape import expand
from reference_impl.tape.primitive import composite, primitive, shape_of, straight_through

OF_TORCH, OF_PADDLE = float(np.float32(1e-12)), 1e-11
"""What `cosine_embedding_loss` adds to the squares of lengths: a constant of each framework's code, PyTorch's in single precision."""


@primitive(
    ulps=3,
    summands=lambda x, *, axis, keepdims, eps: x.shape[axis],
    reordered=lambda forward, x, *, axis, **attrs: forward(np.flip(x, axis), axis=axis, **attrs),
)
def length_of(x: Any, *, axis: int, keepdims: Any, eps: float) -> Any:
    """Return the square root of the sum of the squares along an axis; at 0 its derivative is 0 (both frameworks).

    ``eps`` is what `normalize` was given; it has no part in the length, but a kernel may get it.
    """
    return np.sqrt(np.add.reduce(np.square(x), axis=axis, keepdims=keepdims))


@length_of.vjp("x")
def length_of_vjp_x(g: Any, out: Any, x: Any, *, axis: int, keepdims: bool, eps: float) -> Any:
    g, length = (restore_axes(one, shape_of(x), [axis], keepdims=keepdims) for one in (g, out))
    return mul(g, div(x, add(length, rsub_scalar(exceeds(length, bound=0.0), other=1.0))))


@straight_through
@primitive(saves=(), ulps=0)
def at_least(x: Any, *, bound: float) -> Any:
    """Return ``x``, or a bound where it is less, which the derivative ignores: it is 1 (PyTorch clamps without recording it)."""
    return np.maximum(x, np.asarray(bound, dtype=x.dtype))


@composite
def normalize(x: Any, *, axis: int, eps: float) -> Any:
    """Divide vectors along an axis by their lengths, or by ``eps`` where they are shorter."""
    length = clamp(length_of(x, axis=axis, keepdims=True, eps=eps), low=eps, high=np.inf)
    return div(x, expand(length, shape=shape_of(x)))


@composite
def normalize_by_maximum(x: Any, *, axis: int, eps: float) -> Any:
    """Return the same as `normalize`; the bound is a maximum."""
    return div_by_quotient(x, maximum(length_of(x, axis=axis, keepdims=True, eps=eps), np.full((1,), eps, dtype=x.dtype)))


@composite
def cosine_similarity(x: Any, y: Any, *, axis: int, eps: float) -> Any:
    """Return the inner products along an axis, divided by both lengths, each at least ``eps``."""
    units = [div(one, at_least(clone(length_of(one, axis=axis, keepdims=True, eps=0.0)), bound=eps)) for one in (x, y)]
    return add_up(mul(*units), axis=[axis], keepdims=False)


@composite
def cosine_similarity_of_squares(x: Any, y: Any, *, axis: int, eps: float) -> Any:
    """Return the same as `cosine_similarity`, by the root of the product of the squared lengths."""
    product, of_x, of_y = (add_up(mul(*pair), axis=[axis], keepdims=False) for pair in ((x, y), (x, x), (y, y)))
    return div_by_quotient(product, sqrt(clamp(mul(of_x, of_y), low=eps * eps, high=np.inf)))


@composite
def pairwise_distance(x: Any, y: Any, *, eps: float, keepdims: bool) -> Any:
    """Return the lengths of ``x - y + eps`` along the last axis."""
    return length_of(add_scalar(sub(x, y), other=eps), axis=-1, keepdims=keepdims, eps=0.0)


@composite
def pairwise_distance_by_tensor(x: Any, y: Any, *, eps: float, keepdims: bool) -> Any:
    """Return the same as `pairwise_distance`; what is added is a tensor."""
    return length_of(add(sub(x, y), np.full((1,), eps, dtype=x.dtype)), axis=-1, keepdims=keepdims, eps=0.0)


@composite
def triplet_margin_loss(x: Any, y: Any, z: Any, *, margin: float, eps: float, reduction: str) -> Any:
    """Return ``max(0, margin + d(x, y) - d(x, z))`` of the `pairwise_distance` ``d``, reduced."""
    near, far = (pairwise_distance(x, other, eps=eps, keepdims=False) for other in (y, z))
    return reduced(clamp(sub(add_scalar(near, other=margin), far), low=0.0, high=np.inf), reduction)


@composite
def triplet_margin_loss_by_tensor(x: Any, y: Any, z: Any, *, margin: float, eps: float, reduction: str) -> Any:
    """Return the same as `triplet_margin_loss`, of distances to which a tensor is added, and the margin at the end."""
    near, far = (pairwise_distance_by_tensor(x, other, eps=eps, keepdims=False) for other in (y, z))
    return reduced(clamp(add_scalar(sub(near, far), other=margin), low=0.0, high=np.inf), reduction)


def _sizes_of_differences(x: Any, y: Any, z: Any, *, swap: bool) -> tuple[Any, Any]:
    """Return how far ``y`` is from ``x``, and ``z`` from ``x``, or with ``swap`` from the nearer of both: sums of sizes."""

    def size(one: Any, other: Any) -> Any:
        return add_up(absolute(sub(one, other)), axis=[-1], keepdims=False)

    near, far = size(x, y), size(x, z)
    return near, minimum(far, size(y, z)) if swap else far


@composite
def triplet_margin_with_distance_loss(x: Any, y: Any, z: Any, *, margin: float, swap: bool, reduction: str) -> Any:
    """Return ``max(0, margin + d(x, y) - d(x, z))``, reduced, of a distance that a caller gives: the sum of the sizes."""
    near, far = _sizes_of_differences(x, y, z, swap=swap)
    return reduced(clamp(sub(add_scalar(near, other=margin), far), low=0.0, high=np.inf), reduction)


@composite
def triplet_margin_with_distance_loss_by_difference(x: Any, y: Any, z: Any, *, margin: float, swap: bool, reduction: str) -> Any:
    """Return the same as `triplet_margin_with_distance_loss`; the margin comes at the end."""
    near, far = _sizes_of_differences(x, y, z, swap=swap)
    return reduced(clamp(add_scalar(sub(near, far), other=margin), low=0.0, high=np.inf), reduction)


def _cosine_embedding(x: Any, y: Any, target: Any, margin: float, squares: Any, added: float) -> Any:
    product = add_up(mul(x, y), axis=[-1], keepdims=False)
    of_x, of_y = (add_scalar(add_up(squares(one), axis=[-1], keepdims=False), other=added) for one in (x, y))
    cosine = div(product, sqrt(mul(of_x, of_y)))
    t, nothing = np.asarray(target), np.zeros(shape_of(cosine), x.dtype)
    alike = where(rsub_scalar(cosine, other=1.0), nothing, mask=np.equal(t, 1))
    other = where(clamp(add_scalar(cosine, other=-margin), low=0.0, high=np.inf), nothing, mask=np.equal(t, -1))
    return add(alike, other)


@composite
def cosine_embedding_loss(x: Any, y: Any, *, target: Any, margin: float, reduction: str) -> Any:
    """Return ``1 - c`` of the cosine ``c`` of rows where the target is 1, and ``max(0, c - margin)`` where it is -1, reduced."""
    return reduced(_cosine_embedding(x, y, target, margin, lambda one: mul(one, one), OF_TORCH), reduction)


@composite
def cosine_embedding_loss_of_squares(x: Any, y: Any, *, target: Any, margin: float, reduction: str) -> Any:
    """Return the same as `cosine_embedding_loss`, of squares and with Paddle's constant."""
    return reduced(_cosine_embedding(x, y, target, margin, square, OF_PADDLE), reduction)


@composite
def gaussian_nll_loss(x: Any, y: Any, deviation: Any, *, eps: float, reduction: str) -> Any:
    """Return ``(log(v) + (x - y)^2 / v) / 2`` of the squares ``v`` of deviations, at least ``eps``, reduced.

    Both frameworks take variances, and refuse negative ones, which squares are not.
    """
    v = at_least(clone(mul(deviation, deviation)), bound=eps)
    return reduced(mul_scalar(add(log(v), div(square(sub(x, y)), v)), other=0.5), reduction)


@composite
def multilabel_soft_margin_loss(x: Any, *, target: Any, reduction: str) -> Any:
    """Return the mean along the last axis of ``-t log(s) - (1 - t) log(1 - s)``, for ``s = sigmoid(x)`` and targets ``t``, reduced."""
    terms = _multilabel(x, target)
    return reduced(div(add_up(terms, axis=[-1], keepdims=False), np.asarray(shape_of(x)[-1], dtype=x.dtype)), reduction)


@composite
def multilabel_soft_margin_loss_by_mean(x: Any, *, target: Any, reduction: str) -> Any:
    """Return the same as `multilabel_soft_margin_loss`; the mean of the classes is an op."""
    return reduced(mean(_multilabel(x, target), axis=[-1], keepdims=False), reduction)


def _multilabel(x: Any, target: Any) -> Any:
    t = np.asarray(target, dtype=x.dtype)
    return neg(add(mul(t, logsigmoid(x)), mul(np.subtract(1.0, t).astype(x.dtype), logsigmoid(neg(x)))))

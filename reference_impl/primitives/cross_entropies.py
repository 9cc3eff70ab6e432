"""Cross entropies of targets that are shares of all classes: of labels that are smoothed, and of the softmax of other scores.

PyTorch weighs each class in the sum, and its mean is over the samples, or over the weights of the labels. Paddle weighs the sum as a
whole, with what the shares of a sample weigh together, and its mean is over these. Each says so on its page of ``cross_entropy``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, add_scalar, div, div_by_quotient, mul, mul_scalar, neg
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.losses import like, nll_loss, reduced
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.selection import masked_fill
from reference_impl.primitives.shape import expand, reshape, squeeze
from reference_impl.primitives.softmax import log_softmax, softmax
from reference_impl.primitives.views import moveaxis
from reference_impl.tape.primitive import composite, primitive, shape_of

NOTHING_IGNORED = -100
"""The class that targets of neither framework name."""


def _of_classes(weight: Any, x: Any) -> Any:
    return like(weight, x).reshape(-1, *(1 for _ in shape_of(x)[2:]))


@composite
def cross_entropy_smoothed(x: Any, *, target: Any, weight: Any, label_smoothing: float, reduction: str) -> Any:
    """Return the mixture of the `cross_entropy` of classes and of that of even shares, of which there are ``label_smoothing``."""
    logs = log_softmax(x, axis=1)
    hard = nll_loss(logs, target=target, weight=weight, ignore_index=NOTHING_IGNORED, reduction=reduction)
    weighed = logs if weight is None else mul(logs, _of_classes(weight, x))
    each = neg(add_up(weighed, axis=[1], keepdims=False))
    even = reduced(masked_fill(each, mask=np.zeros(shape_of(each), bool), value=0.0), "none" if reduction == "none" else "sum")
    if reduction == "mean":
        counted = np.ones(np.shape(target)) if weight is None else np.asarray(weight)[np.asarray(target)]
        even = div(even, like(np.add.reduce(counted, axis=None), x))
    return add(mul_scalar(hard, other=1.0 - label_smoothing), mul_scalar(even, other=label_smoothing / shape_of(x)[1]))


@composite
def cross_entropy_distilled(x: Any, y: Any, *, weight: Any, label_smoothing: float, reduction: str) -> Any:
    """Return the cross entropy of scores ``x``, of which the targets are the softmax of ``y``, mixed with even shares."""
    shares = softmax(y, axis=1)
    if label_smoothing:
        shares = add_scalar(mul_scalar(shares, other=1.0 - label_smoothing), other=label_smoothing / shape_of(x)[1])
    terms = mul(log_softmax(x, axis=1), shares)
    if weight is not None:
        terms = mul(terms, _of_classes(weight, x))
    if reduction == "none":
        return neg(add_up(terms, axis=[1], keepdims=False))
    loss = neg(add_up(terms, axis=None, keepdims=False))
    if reduction == "sum":
        return loss
    shape = shape_of(x)
    return div(loss, like(np.prod(shape) / shape[1], x))


def _size_of_terms(out: Any, x: Any, shares: Any) -> Any:
    return np.add.reduce(
        np.abs(shares) * (np.abs(x) + np.maximum.reduce(np.abs(x), axis=-1, keepdims=True) + 1.0), axis=-1, keepdims=True
    )


@primitive(
    ulps=4,
    error_scale=_size_of_terms,
    summands=lambda x, shares: 2.0 * x.shape[-1],
    reordered=lambda forward, x, shares: forward(np.flip(x, -1), np.flip(shares, -1)),
)
def entropy_of_shares(x: Any, shares: Any) -> Any:
    """Return minus the sum of ``shares log_softmax(x)`` along the last axis, which stays."""
    shifted = np.subtract(x, np.maximum.reduce(x, axis=-1, keepdims=True))
    logs = np.subtract(shifted, np.log(np.add.reduce(np.exp(shifted), axis=-1, keepdims=True)))
    return np.negative(np.add.reduce(shares * logs, axis=-1, keepdims=True))


@entropy_of_shares.vjp("x")
def entropy_of_shares_vjp_x(g: Any, out: Any, x: Any, shares: Any) -> Any:
    shape = shape_of(x)
    whole = expand(add_up(shares, axis=[-1], keepdims=True), shape=shape)
    return mul(expand(g, shape=shape), add(mul(softmax(x, axis=-1), whole), neg(shares)))


@entropy_of_shares.vjp("shares")
def entropy_of_shares_vjp_shares(g: Any, out: Any, x: Any, shares: Any) -> Any:
    return neg(mul(expand(g, shape=shape_of(x)), log_softmax(x, axis=-1)))


@primitive(saves=(), ulps=2)
def smoothed(shares: Any, *, label_smoothing: float) -> Any:
    """Return a mixture of shares along the last axis with even ones."""
    return np.add(np.multiply(shares, 1.0 - label_smoothing), label_smoothing / shares.shape[-1]).astype(shares.dtype)


@smoothed.vjp("shares")
def smoothed_vjp_shares(g: Any, out: Any, shares: Any, *, label_smoothing: float) -> Any:
    return mul_scalar(g, other=1.0 - label_smoothing)


def _of_samples(x: Any, shares: Any, weight: Any, reduction: str) -> Any:
    """Return the entropies of samples, each with the weight of its shares, reduced; the classes are the last axis."""
    terms = entropy_of_shares(x, shares)
    if weight is None:
        return reduced(terms, reduction)
    weights = reshape(matmul(shares, like(weight, x)), shape=shape_of(terms))
    terms = mul(terms, weights)
    if reduction != "mean":
        return reduced(terms, reduction)
    return div_by_quotient(add_up(terms, axis=None, keepdims=False), add_up(weights, axis=None, keepdims=False))


def _classes_last(x: Any) -> Any:
    return moveaxis(x, source=[1], destination=[-1])


@composite
def cross_entropy_smoothed_of_samples(x: Any, *, target: Any, weight: Any, label_smoothing: float, reduction: str) -> Any:
    """Return the entropies of samples of which the shares are labels, mixed with even ones, as Paddle weighs them."""
    shares = smoothed(np.eye(shape_of(x)[1], dtype=x.dtype)[np.asarray(target)], label_smoothing=label_smoothing)
    out = _of_samples(_classes_last(x), shares, weight, reduction)
    return squeeze(out, axis=-1) if reduction == "none" else out


@composite
def cross_entropy_distilled_of_samples(x: Any, y: Any, *, weight: Any, label_smoothing: float, reduction: str) -> Any:
    """Return the same as `cross_entropy_distilled`, as Paddle weighs it."""
    shares = softmax(_classes_last(y), axis=-1)
    if label_smoothing:
        shares = smoothed(shares, label_smoothing=label_smoothing)
    out = _of_samples(_classes_last(x), shares, weight, reduction)
    return squeeze(out, axis=-1) if reduction == "none" else out

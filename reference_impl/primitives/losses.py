"""Losses: a term for each element (or each row of classes), and what is made of the terms, their mean, their sum, or themselves.

The terms are primitives where a framework has one node for them, and the reduction is that of `reduction`. Targets and weights are
attributes: PyTorch refuses a weight that requires a gradient, and Paddle's kernels give their labels none. Where both frameworks
differentiate in the target, it is an operand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, add_scalar, div, mul, mul_scalar, neg, rsub_scalar, sloped, sub
from reference_impl.primitives.elementary import exp, sigmoid
from reference_impl.primitives.elementary import log as logarithm
from reference_impl.primitives.piecewise import abs as absolute
from reference_impl.primitives.piecewise import relu
from reference_impl.primitives.reduction import mean
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.selection import clamp, where
from reference_impl.primitives.shape import expand, reshape
from reference_impl.primitives.softmax import log_softmax, softmax
from reference_impl.tape.primitive import alias, composite, primitive, shape_of

mean_all = alias("mean_all", mean)


def reduced(terms: Any, reduction: str, averaged: Any = mean) -> Any:
    """Return the terms of a loss, their sum, their mean by an op, or (``"batchmean"``) their sum over the length of the first axis."""
    if reduction == "none":
        return terms
    if reduction == "batchmean":
        return div(reduced(terms, "sum"), np.asarray(shape_of(terms)[0], dtype=terms.dtype))
    return (averaged if reduction == "mean" else add_up)(terms, axis=None, keepdims=False)


def like(numbers: Any, x: Any) -> Any:
    """Return nested lists as an array of the dtype of ``x``."""
    return np.asarray(numbers, dtype=x.dtype)


@composite
def l1_loss(x: Any, y: Any, *, reduction: str) -> Any:
    """Return ``|x - y|``, reduced."""
    return reduced(absolute(sub(x, y)), reduction)


@composite
def l1_loss_by_mean_all(x: Any, y: Any, *, reduction: str) -> Any:
    """Return the same as `l1_loss`; the mean is `mean_all`."""
    return reduced(absolute(sub(x, y)), reduction, mean_all)


@primitive(ulps=2, error_scale=lambda out, x, y, *, delta: delta * (np.abs(x) + np.abs(y)) + delta * delta)
def huber(x: Any, y: Any, *, delta: float) -> Any:
    """Return ``d^2 / 2`` of the difference ``d = x - y`` where that is at most ``delta``, else ``delta (|d| - delta / 2)``."""
    d = np.abs(np.subtract(x, y))
    return np.where(np.less(d, delta), np.square(np.minimum(d, delta)) * 0.5, delta * (d - 0.5 * delta)).astype(d.dtype)


@huber.vjp("x")
def huber_vjp_x(g: Any, out: Any, x: Any, y: Any, *, delta: float) -> Any:
    return mul(g, clamp(sub(x, y), low=-delta, high=delta))


@huber.vjp("y")
def huber_vjp_y(g: Any, out: Any, x: Any, y: Any, *, delta: float) -> Any:
    return mul(g, clamp(sub(y, x), low=-delta, high=delta))


@composite
def huber_loss(x: Any, y: Any, *, delta: float, reduction: str) -> Any:
    """Return the terms of `huber`, reduced."""
    return reduced(huber(x, y, delta=delta), reduction)


@composite
def smooth_l1_loss(x: Any, y: Any, *, beta: float, reduction: str) -> Any:
    """Return the terms of `huber` divided by ``beta``, reduced."""
    return reduced(mul_scalar(huber(x, y, delta=beta), other=1.0 / beta), reduction)


@sloped(
    lambda out, x, *, target: np.negative(like(target, x)),
    ulps=3,
    error_scale=lambda out, x, *, target: np.abs(like(target, x)) * (np.abs(x) + np.abs(_log_of(like(target, x)))),
)
def divergence(x: Any, *, target: Any) -> Any:
    """Return ``t (log t - x)``, and 0 where the target ``t`` is 0: a term of the Kullback-Leibler divergence from ``e^x``."""
    t = like(target, x)
    return np.multiply(t, np.subtract(_log_of(t), x))


def _log_of(t: Any) -> Any:
    return np.log(np.where(np.greater(t, 0), t, np.ones_like(t)))


@composite
def kl_div(x: Any, *, target: Any, reduction: str) -> Any:
    """Return the terms of `divergence`, reduced."""
    return reduced(divergence(x, target=target), reduction)


@primitive(ulps=4, error_scale=lambda out, x, *, target, pos_weight: np.abs(out) + _largest_term(x, target, pos_weight))
def logistic_entropy(x: Any, *, target: Any, pos_weight: Any) -> Any:
    """Return ``-(p t log(s) + (1 - t) log(1 - s))`` of ``s = sigmoid(x)`` and targets ``t``; ``p``: ``pos_weight``, or 1.

    No term is negative, so nothing cancels; one of which there is no share is 0, at an infinite logit as well. What frameworks compute
    is ``(1 - t) x - (1 - t + p t) log(s)``, or the like, and nobody promises that nothing is lost between its terms.
    """
    present, absent = shares(target, pos_weight, x)
    return np.add(_share_of(present, np.logaddexp(0.0, np.negative(x))), _share_of(absent, np.logaddexp(0.0, x))).astype(x.dtype)


def shares(target: Any, pos_weight: Any, x: Any) -> tuple[Any, Any]:
    """Return the weights of ``-log(s)`` and of ``-log(1 - s)`` in `logistic_entropy`."""
    t = like(target, x)
    return (t if pos_weight is None else t * like(pos_weight, x)), np.subtract(1.0, t).astype(x.dtype)


def _largest_term(x: Any, target: Any, pos_weight: Any) -> Any:
    present, absent = shares(target, pos_weight, x)
    return np.where(np.isfinite(x), (np.abs(x) + 1.0) * (1.0 + np.abs(present + absent)), 0.0)


def _share_of(share: Any, term: Any) -> Any:
    return np.where(share == 0, 0.0, np.multiply(share, term))


@logistic_entropy.vjp("x")
def logistic_entropy_vjp_x(g: Any, out: Any, x: Any, *, target: Any, pos_weight: Any) -> Any:
    present, absent = shares(target, pos_weight, x)
    return mul(g, sub(mul(sigmoid(x), absent), mul(sigmoid(neg(x)), present)))


def _weighted(x: Any, target: Any, weight: Any, pos_weight: Any) -> Any:
    terms = logistic_entropy(x, target=target, pos_weight=pos_weight)
    return terms if weight is None else mul(terms, like(weight, x))


@composite
def binary_cross_entropy_with_logits(x: Any, *, target: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    """Return the terms of `logistic_entropy`, weighted if there is a weight for each, reduced."""
    return reduced(_weighted(x, target, weight, pos_weight), reduction)


@composite
def binary_cross_entropy_with_logits_by_mean_all(x: Any, *, target: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    """Return the same as `binary_cross_entropy_with_logits`; the mean is `mean_all`."""
    return reduced(_weighted(x, target, weight, pos_weight), reduction, mean_all)


@primitive(ulps=4, error_scale=lambda out, x, *, target: np.abs(out) + np.exp(-np.abs(x)))
def soft_margin(x: Any, *, target: Any) -> Any:
    """Return ``log(1 + e^(-t x))`` of targets ``t``, 1 or -1."""
    return np.logaddexp(0.0, np.negative(np.multiply(like(target, x), x))).astype(x.dtype)


@soft_margin.vjp("x")
def soft_margin_vjp_x(g: Any, out: Any, x: Any, *, target: Any) -> Any:
    t = like(target, x)
    return mul(g, mul(sigmoid(mul(x, np.negative(t))), np.negative(t)))


@composite
def soft_margin_loss(x: Any, *, target: Any, reduction: str) -> Any:
    """Return the terms of `soft_margin`, reduced."""
    return reduced(soft_margin(x, target=target), reduction)


# The same as the logarithm of a sum, which is rounded.
soft_margin_by_sum = alias("soft_margin_by_sum", soft_margin, error_scale=lambda out, x, *, target: np.abs(out) + 1.0)


@composite
def soft_margin_loss_by_sum(x: Any, *, target: Any, reduction: str) -> Any:
    """Return the terms of `soft_margin_by_sum`, reduced."""
    return reduced(soft_margin_by_sum(x, target=target), reduction)


def _positive_part(x: Any, by: str) -> Any:  # the derivative at 0 is 1 of a clamp, and 0 of a relu
    return relu(x) if by == "relu" else clamp(x, low=0.0, high=np.inf)


def _hinge_embedding(x: Any, target: Any, margin: float, reduction: str, *, by: str) -> Any:
    t, nothing = like(target, x), np.zeros(shape_of(x), x.dtype)
    near = where(x, nothing, mask=t == 1)
    far = where(_positive_part(rsub_scalar(x, other=margin), by), nothing, mask=t == -1)
    return reduced(add(near, far), reduction)


@composite
def hinge_embedding_loss(x: Any, *, target: Any, margin: float, reduction: str) -> Any:
    """Return ``x`` where the target is 1, and ``max(0, margin - x)`` where it is -1, reduced; the maximum is a clamp."""
    return _hinge_embedding(x, target, margin, reduction, by="clamp")


@composite
def hinge_embedding_loss_by_relu(x: Any, *, target: Any, margin: float, reduction: str) -> Any:
    """Return the same as `hinge_embedding_loss`; the maximum is a relu."""
    return _hinge_embedding(x, target, margin, reduction, by="relu")


def _margin_ranking(x: Any, y: Any, target: Any, margin: float, *, by: str) -> Any:
    return _positive_part(add_scalar(mul(sub(y, x), like(target, x)), other=margin), by)


@composite
def margin_ranking_loss(x: Any, y: Any, *, target: Any, margin: float, reduction: str) -> Any:
    """Return ``max(0, t (y - x) + margin)`` of targets ``t``, 1 or -1, reduced; the maximum is a clamp."""
    return reduced(_margin_ranking(x, y, target, margin, by="clamp"), reduction)


@composite
def margin_ranking_loss_by_relu(x: Any, y: Any, *, target: Any, margin: float, reduction: str) -> Any:
    """Return the same as `margin_ranking_loss`; the maximum is a relu, and the mean is `mean_all`."""
    return reduced(_margin_ranking(x, y, target, margin, by="relu"), reduction, mean_all)


@composite
def poisson_nll_loss(x: Any, y: Any, *, log_input: bool, epsilon: float, reduction: str) -> Any:
    """Return ``e^x - y x``, or ``x - y log(x + epsilon)`` if not ``log_input``, reduced: less likely counts ``y`` are larger."""
    if log_input:
        return reduced(sub(exp(x), mul(y, x)), reduction)
    return reduced(sub(x, mul(y, logarithm(add_scalar(x, other=epsilon)))), reduction)


def _picked(x: Any, target: Any, ignore_index: int) -> Any:
    """Return the classes that targets name, along the axis 1 of ``x``, as ones among zeros; none for a target that is ignored."""
    shape = shape_of(x)
    index = np.expand_dims(np.asarray(target, dtype=np.int64), 1)
    classes = np.arange(shape[1]).reshape(-1, *(1 for _ in shape[2:]))
    return np.logical_and(np.equal(index, classes), np.not_equal(index, ignore_index)).astype(x.dtype)


def _of_class(weight: Any, x: Any) -> Any:
    """Return the weights of the classes (``None``: 1) along the axis 1 of ``x``."""
    shape = shape_of(x)
    one = np.ones(shape[1]) if weight is None else weight
    return np.asarray(one, dtype=x.dtype).reshape(-1, *(1 for _ in shape[2:]))


def _coefficients(x: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    """Return what every log-probability is multiplied with in `nll_loss`."""
    chosen = _picked(x, target, ignore_index) * _of_class(weight, x)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.negative(chosen / np.add.reduce(chosen, axis=None) if reduction == "mean" else chosen).astype(x.dtype)


def _last_target_first(forward: Any, x: Any, *, target: Any, reduction: str, **more: Any) -> Any:
    """Turn the samples and places around, and with them what is not reduced; the classes keep their order, for targets name them."""
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    out = forward(np.flip(x, axes), target=np.flip(np.asarray(target)).tolist(), reduction=reduction, **more)
    return np.flip(out) if reduction == "none" else out


@primitive(
    ulps=3,
    error_scale=lambda out, x, **attrs: _summed(np.abs(_coefficients(x, **attrs)) * np.abs(np.where(np.isfinite(x), x, 0)), **attrs),
    summands=lambda x, **attrs: 2.0 + x.size,
    reordered=_last_target_first,
)
def nll_loss(x: Any, *, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    """Return minus the log-probabilities, along the axis 1, of the classes that targets name, each with its weight, reduced.

    The mean is over the sum of the weights. A target that is ``ignore_index`` counts nothing.
    """
    attrs = {"target": target, "weight": weight, "ignore_index": ignore_index, "reduction": reduction}
    coefficients = _coefficients(x, **attrs)
    with np.errstate(invalid="ignore"):
        return _summed(np.where(np.equal(coefficients, 0), 0, coefficients * x).astype(x.dtype), **attrs)


def _summed(terms: Any, *, reduction: str, **_: Any) -> Any:
    return np.add.reduce(terms, axis=1 if reduction == "none" else None)


@nll_loss.vjp("x")
def nll_loss_vjp_x(g: Any, out: Any, x: Any, *, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    coefficients = _coefficients(x, target, weight, ignore_index, reduction)
    shape = shape_of(x)
    if reduction == "none":
        g = reshape(g, shape=(shape[0], 1, *shape[2:]))
    return mul(expand(g, shape=shape), coefficients)


@composite
def cross_entropy(x: Any, *, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    """Return `nll_loss` of ``log_softmax(x)``."""
    return nll_loss(log_softmax(x, axis=1), target=target, weight=weight, ignore_index=ignore_index, reduction=reduction)


@composite
def cross_entropy_soft(x: Any, *, target: Any, reduction: str) -> Any:
    """Return minus the sum of ``t log_softmax(x)`` along the axis 1, of probabilities ``t`` of the classes, reduced over the rest."""
    terms = neg(add_up(mul(log_softmax(x, axis=1), like(target, x)), axis=[1], keepdims=False))
    return reduced(terms, reduction)


@primitive(
    ulps=4,
    error_scale=lambda out, x, *, target: np.add.reduce(np.abs(like(target, x)) * (np.abs(x) + _top(x) + 1.0), axis=1),
    summands=lambda x, *, target: 2.0 * x.shape[1],
    reordered=lambda forward, x, *, target: forward(np.flip(x, 1), target=np.flip(like(target, x), 1)),
)
def softmax_entropy(x: Any, *, target: Any) -> Any:
    """Return the terms of `cross_entropy_soft`, for Paddle has one node for a term."""
    shifted = np.subtract(x, np.maximum.reduce(x, axis=1, keepdims=True))
    logs = np.subtract(shifted, np.log(np.add.reduce(np.exp(shifted), axis=1, keepdims=True)))
    return np.negative(np.add.reduce(like(target, x) * logs, axis=1))


def _top(x: Any) -> Any:
    return np.maximum.reduce(np.abs(x), axis=1, keepdims=True)


@softmax_entropy.vjp("x")
def softmax_entropy_vjp_x(g: Any, out: Any, x: Any, *, target: Any) -> Any:
    t, shape = like(target, x), shape_of(x)
    spread = expand(reshape(g, shape=(shape[0], 1, *shape[2:])), shape=shape)
    return mul(spread, sub(mul(softmax(x, axis=1), np.add.reduce(t, axis=1, keepdims=True)), t))


@composite
def cross_entropy_of_terms(x: Any, *, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    """Return the same as `cross_entropy`, of terms that are each one node."""
    chosen = _picked(x, target, ignore_index)
    terms = softmax_entropy(x, target=chosen)
    weights = np.add.reduce(chosen * _of_class(weight, x), axis=1)
    if weight is not None:
        terms = mul(terms, weights)
    if reduction != "mean":
        return reduced(terms, reduction)
    return div(add_up(terms, axis=None, keepdims=False), np.add.reduce(weights, axis=None))


@composite
def cross_entropy_soft_of_terms(x: Any, *, target: Any, reduction: str) -> Any:
    """Return the same as `cross_entropy_soft`, of terms that are each one node."""
    return reduced(softmax_entropy(x, target=target), reduction)

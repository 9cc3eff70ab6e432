"""Losses of margins between classes: by how much the score of a right class is not above those of the others.

Targets and weights are attributes, as in `reference_impl.primitives.losses`.
Sources: the pages ``MultiMarginLoss`` and ``MultiLabelMarginLoss`` of PyTorch, and ``multi_margin_loss`` of Paddle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, add_scalar, mul, mul_scalar, pow_scalar, rsub_scalar, sub
from reference_impl.primitives.fused import fused
from reference_impl.primitives.indexing import gather, getitem_intarray, index_add_rows, index_select
from reference_impl.primitives.losses import like, reduced
from reference_impl.primitives.piecewise import relu
from reference_impl.primitives.reduction import mean
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.selection import clamp, masked_fill, maximum, where
from reference_impl.primitives.shape import expand, unsqueeze
from reference_impl.tape.primitive import composite, primitive, shape_of, straight_through


@fused()
def multi_margin_loss(x: Any, *, target: Any, p: float, margin: float, weight: Any, reduction: str) -> Any:
    """Return the mean over the classes of ``w max(0, margin - x_t + x_i)^p``, without that of the target ``t``, reduced over the rows.

    ``w`` is the weight of the target.
    """
    own = np.reshape(np.asarray(target, dtype=np.intp), (-1, 1))
    right = expand(gather(x, axis=1, index=own.tolist()), shape=shape_of(x))
    short = relu(add_scalar(sub(x, right), other=margin))
    is_own = np.equal(np.arange(shape_of(x)[1]), own)
    terms = masked_fill(pow_scalar(short, exponent=p), mask=is_own, value=0.0)
    if weight is not None:
        terms = mul(terms, like(weight, x)[own])
    return reduced(mean(terms, axis=[1], keepdims=False), reduction)


@straight_through
@primitive(saves=(), error_scale=lambda out, x, *, own, weights: np.abs(x) + np.abs(own * like(weights, x)))
def less_own(x: Any, *, own: float, weights: Any) -> Any:
    """Return means over classes without what the target has in them: ``own``, times the weight of its class."""
    return np.subtract(x, like(weights, x) * own)


@composite
def multi_margin_loss_of_parts(x: Any, *, target: Any, p: float, margin: float, weight: Any, reduction: str) -> Any:
    """Return the same as `multi_margin_loss`; Paddle takes the target with the others, and what it has in the mean away."""
    own = np.reshape(np.asarray(target, dtype=np.intp), (-1, 1))
    short = clamp(add(rsub_scalar(gather(x, axis=1, index=own.tolist()), other=margin), x), low=0.0, high=np.inf)
    terms = pow_scalar(short, exponent=p)
    weights = np.ones(len(own)) if weight is None else np.asarray(weight)[own[:, 0]]
    if weight is not None:
        terms = mul(terms, like(weights, x)[:, None])
    means = mean(terms, axis=[1], keepdims=False)
    return reduced(less_own(means, own=margin**p / shape_of(x)[1], weights=weights.tolist()), reduction)


def targets_in_front(target: Any) -> tuple[Any, Any]:
    """Return the rows and the classes of all targets: those of a row end before its first -1."""
    lists = np.asarray(target, dtype=np.intp)
    return np.nonzero(np.logical_and.accumulate(lists >= 0, axis=1))[0], lists[np.logical_and.accumulate(lists >= 0, axis=1)]


@fused()
def multilabel_margin_loss(x: Any, *, target: Any, reduction: str) -> Any:
    """Return the sums of ``max(0, 1 - x_j + x_i) / n`` over the targets ``j`` and the other of ``n`` classes ``i``, reduced."""
    samples, classes = shape_of(x)
    rows, right = targets_in_front(target)
    is_target = np.zeros((samples, classes), bool)
    is_target[rows, right] = True
    own = gather(index_select(x, axis=0, index=rows.tolist()), axis=1, index=right[:, None].tolist())
    others = index_select(x, axis=0, index=rows.tolist())
    short = relu(add_scalar(sub(others, expand(own, shape=shape_of(others))), other=1.0))
    terms = add_up(masked_fill(short, mask=is_target[rows], value=0.0), axis=[1], keepdims=False)
    sums = index_add_rows(terms, axis=0, index=rows.tolist(), length=samples)
    return reduced(mul_scalar(sums, other=1.0 / classes), reduction)


@composite
def multilabel_margin_loss_of_parts(x: Any, *, target: Any, reduction: str) -> Any:
    """Return the same as `multilabel_margin_loss`, by several ops (Paddle)."""
    samples, classes = shape_of(x)
    rows, right = targets_in_front(target)
    is_target = np.zeros((samples, classes), bool)
    is_target[rows, right] = True
    own = unsqueeze(getitem_intarray(x, index=[rows.tolist(), right.tolist()]), axis=-1)
    short = add(rsub_scalar(own, other=1.0), getitem_intarray(x, index=[rows.tolist()]))
    kept = where(short, np.zeros(shape_of(short), x.dtype), mask=~is_target[rows])
    terms = add_up(maximum(kept, np.zeros(shape_of(short), x.dtype)), axis=[1], keepdims=False)
    sums = index_add_rows(terms, axis=0, index=rows.tolist(), length=samples)
    return reduced(mul_scalar(sums, other=1.0 / classes), reduction)

"""Losses that are differentiated in their targets, too, as where two models learn from each other.

PyTorch writes a divergence out, and has one node for a cross entropy of two classes, with its weights and its reduction. Paddle has
one node for the terms of each, and reduces them by another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.activations import logsigmoid
from reference_impl.primitives.arithmetic import add_scalar, div, mul, neg, rsub_scalar, sloped, sub
from reference_impl.primitives.elementary import exp, logistic, sigmoid
from reference_impl.primitives.elementary import log as logarithm
from reference_impl.primitives.entropies import LEAST_LOG, LEAST_SPREAD
from reference_impl.primitives.fused import fused, of_parts
from reference_impl.primitives.losses import like, mean_all, reduced
from reference_impl.primitives.selection import clamp
from reference_impl.primitives.transcendental import log1p
from reference_impl.tape.primitive import Domain, composite, primitive


@sloped(lambda out, x: add_scalar(logarithm(x), other=1.0), ulps=2, domain={"x": Domain.POSITIVE})
def times_own_log(x: Any) -> Any:
    """Return ``x log x``, and 0 at 0."""
    return np.multiply(x, _log_unless_zero(x)).astype(x.dtype)


def _log_unless_zero(x: Any) -> Any:
    with np.errstate(invalid="ignore"):
        return np.log(np.where(np.equal(x, 0), 1, x))


@fused(domain={"y": Domain.POSITIVE})
def kl_div_in_target(x: Any, y: Any, *, reduction: str) -> Any:
    """Return ``y (log y - x)``, reduced: the Kullback-Leibler divergence from ``e^x`` of the probabilities ``y``."""
    return reduced(sub(times_own_log(y), mul(y, x)), reduction)


kl_div_in_target_of_parts = of_parts(kl_div_in_target)


@composite
def kl_div_of_logs_in_target(x: Any, y: Any, *, reduction: str) -> Any:
    """Return ``e^y (y - x)``, reduced: the same as `kl_div_in_target`, of targets that are logarithms."""
    return reduced(mul(exp(y), sub(y, x)), reduction)


@primitive(ulps=3, error_scale=lambda out, x, y: np.abs(y) * (np.abs(x) + np.abs(_log_unless_zero(y))), domain={"y": Domain.POSITIVE})
def divergence_in_target(x: Any, y: Any) -> Any:
    """Return ``y (log y - x)``, and 0 where ``y`` is 0: a term of `kl_div_in_target`."""
    return np.multiply(y, np.subtract(_log_unless_zero(y), x)).astype(x.dtype)


@divergence_in_target.vjp("x")
def divergence_in_target_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return neg(mul(g, y))


@divergence_in_target.vjp("y")
def divergence_in_target_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return mul(g, add_scalar(sub(logarithm(y), x), other=1.0))


@primitive(ulps=3, error_scale=lambda out, x, y: np.exp(y) * (np.abs(x) + np.abs(y)) * (1.0 + np.abs(y)))
def divergence_of_logs_in_target(x: Any, y: Any) -> Any:
    """Return ``e^y (y - x)``: a term of `kl_div_of_logs_in_target`."""
    return np.multiply(np.exp(y), np.subtract(y, x))


@divergence_of_logs_in_target.vjp("x")
def divergence_of_logs_in_target_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return neg(mul(g, exp(y)))


@divergence_of_logs_in_target.vjp("y")
def divergence_of_logs_in_target_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return mul(g, mul(exp(y), add_scalar(sub(y, x), other=1.0)))


@composite
def kl_div_in_target_of_terms(x: Any, y: Any, *, reduction: str) -> Any:
    """Return the same as `kl_div_in_target`, of terms that are each one node."""
    return reduced(divergence_in_target(x, y), reduction)


@composite
def kl_div_of_logs_in_target_of_terms(x: Any, y: Any, *, reduction: str) -> Any:
    """Return the same as `kl_div_of_logs_in_target`, of terms that are each one node."""
    return reduced(divergence_of_logs_in_target(x, y), reduction)


def _entropy_scale(out: Any, x: Any, y: Any) -> Any:  # the logarithm of a rounded 1 - x is off by a rounding of 1
    log, log_rest = _bounded_logs(x)
    return np.abs(y * log) + np.abs((1.0 - y) * log_rest) + np.abs(1.0 - y)


def _bounded_logs(x: Any) -> tuple[Any, Any]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.maximum(np.log(x), LEAST_LOG), np.maximum(np.log1p(np.negative(x)), LEAST_LOG)


@primitive(ulps=4, error_scale=_entropy_scale, domain={"x": Domain.SHARE, "y": Domain.SHARE})
def entropy_in_target(x: Any, y: Any) -> Any:
    """Return ``-(y log(x) + (1 - y) log(1 - x))`` of probabilities and their targets; no logarithm is less than -100."""
    log, log_rest = _bounded_logs(x)
    return np.negative(np.add(y * log, np.subtract(1.0, y) * log_rest)).astype(x.dtype)


@entropy_in_target.vjp("x")
def entropy_in_target_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:  # (x - y) / (x (1 - x))
    return mul(g, div(sub(x, y), clamp(mul(x, rsub_scalar(x, other=1.0)), low=LEAST_SPREAD, high=np.inf)))


@entropy_in_target.vjp("y")
def entropy_in_target_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return mul(g, sub(log1p(neg(x)), logarithm(x)))


def _logit_terms(x: Any, y: Any, pos_weight: Any) -> tuple[Any, Any]:
    p = 1.0 if pos_weight is None else like(pos_weight, x)
    return y * p * np.logaddexp(0.0, np.negative(x)), np.subtract(1.0, y) * np.logaddexp(0.0, x)


def _logit_scale(out: Any, x: Any, y: Any, *, pos_weight: Any) -> Any:  # frameworks have ``(1 - y) x``, too, in which much may cancel
    p = 1.0 if pos_weight is None else np.abs(like(pos_weight, x))
    return np.abs(out) + (np.abs(x) + 1.0) * (1.0 + np.abs(1.0 - y) + p * np.abs(y))


@primitive(ulps=4, error_scale=_logit_scale, domain={"y": Domain.SHARE})
def logistic_entropy_in_target(x: Any, y: Any, *, pos_weight: Any) -> Any:
    """Return ``-(p y log(s) + (1 - y) log(1 - s))`` of ``s = sigmoid(x)`` and targets ``y``; ``p``: ``pos_weight``, or 1."""
    return np.add(*_logit_terms(x, y, pos_weight)).astype(x.dtype)


@logistic_entropy_in_target.vjp("x")
def logistic_entropy_in_target_vjp_x(g: Any, out: Any, x: Any, y: Any, *, pos_weight: Any) -> Any:
    if pos_weight is None:
        return mul(g, logistic_gap(x, y))
    return mul(g, sub(mul(sigmoid(x), rsub_scalar(y, other=1.0)), mul(sigmoid(neg(x)), mul(y, like(pos_weight, x)))))


@logistic_entropy_in_target.vjp("y")
def logistic_entropy_in_target_vjp_y(g: Any, out: Any, x: Any, y: Any, *, pos_weight: Any) -> Any:
    if pos_weight is None:
        return neg(mul(g, x))
    return mul(g, sub(logsigmoid(neg(x)), mul(logsigmoid(x), like(pos_weight, x))))


def _gap_terms(x: Any, y: Any) -> tuple[Any, Any]:
    return logistic(x) * np.subtract(1.0, y), logistic(np.negative(x)) * y


@primitive(ulps=4, error_scale=lambda out, x, y: np.add(*map(np.abs, _gap_terms(x, y))), domain={"y": Domain.SHARE})
def logistic_gap(x: Any, y: Any) -> Any:
    """Return ``sigmoid(x) - y``, of which nothing is lost where the two are close to 0, or to 1: ``s (1 - y) - (1 - s) y``.

    It is a node of its own, since its slope in ``x`` does not depend on ``y``. Of the terms it would, by what cancels but for rounding.
    """
    return np.subtract(*_gap_terms(x, y)).astype(x.dtype)


@logistic_gap.vjp("x")
def logistic_gap_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return mul(g, mul(sigmoid(x), sigmoid(neg(x))))


@logistic_gap.vjp("y")
def logistic_gap_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return neg(g)


def _weighed(terms: Any, weight: Any) -> Any:
    return terms if weight is None else mul(terms, like(weight, terms))


@fused(domain={"x": Domain.SHARE, "y": Domain.SHARE})
def binary_cross_entropy_in_target(x: Any, y: Any, *, weight: Any, reduction: str) -> Any:
    """Return the terms of `entropy_in_target`, weighted if there is a weight for each, reduced."""
    return reduced(_weighed(entropy_in_target(x, y), weight), reduction)


@fused(domain={"y": Domain.SHARE})
def binary_cross_entropy_with_logits_in_target(x: Any, y: Any, *, weight: Any, pos_weight: Any, reduction: str) -> Any:
    """Return the terms of `logistic_entropy_in_target`, weighted if there is a weight for each, reduced."""
    return reduced(_weighed(logistic_entropy_in_target(x, y, pos_weight=pos_weight), weight), reduction)


@composite
def binary_cross_entropy_in_target_of_terms(x: Any, y: Any, *, weight: Any, reduction: str) -> Any:
    """Return the same as `binary_cross_entropy_in_target`, of terms that are each one node; the mean is `mean_all`."""
    return reduced(_weighed(entropy_in_target(x, y), weight), reduction, mean_all)


@composite
def binary_cross_entropy_with_logits_in_target_of_terms(x: Any, y: Any, *, weight: Any, pos_weight: Any, reduction: str) -> Any:
    """Return the same as `binary_cross_entropy_with_logits_in_target`, of terms that are each one node; the mean is `mean_all`."""
    return reduced(_weighed(logistic_entropy_in_target(x, y, pos_weight=pos_weight), weight), reduction, mean_all)

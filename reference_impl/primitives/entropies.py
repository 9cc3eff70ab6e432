"""The cross entropy of probabilities of two classes that are themselves given, and the divergence of given logarithms.

Near 0 and 1 both frameworks bound the logarithm, and what the slope is divided by, and so does the reference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import div, mul, rsub_scalar, sloped, sub
from reference_impl.primitives.fused import fused
from reference_impl.primitives.losses import like, mean_all, reduced
from reference_impl.primitives.selection import clamp
from reference_impl.tape.primitive import Domain, composite, primitive

LEAST_LOG = -100.0
"""What both frameworks document for the logarithm of 0 in `binary_cross_entropy`, so that a loss is finite and its slope linear."""
LEAST_SPREAD = 1e-12
"""The least ``x (1 - x)`` that both frameworks divide by."""


def _logs(x: Any) -> tuple[Any, Any]:
    """Return the logarithms of probabilities, and of what they leave to 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.maximum(np.log(x), LEAST_LOG), np.maximum(np.log1p(np.negative(x)), LEAST_LOG)


def _entropy_scale(out: Any, x: Any, *, target: Any) -> Any:  # the logarithm of a rounded 1 - x is off by a rounding of 1
    t, (log, log_rest) = like(target, x), _logs(x)
    return np.abs(t * log) + np.abs((1.0 - t) * log_rest) + np.abs(1.0 - t)


@primitive(ulps=4, error_scale=_entropy_scale, domain={"x": Domain.SHARE})
def entropy(x: Any, *, target: Any) -> Any:
    """Return ``-(t log(x) + (1 - t) log(1 - x))`` of probabilities and targets ``t``; no logarithm is less than -100."""
    t, (log, log_rest) = like(target, x), _logs(x)
    return np.negative(np.add(t * log, np.subtract(1.0, t) * log_rest)).astype(x.dtype)


@entropy.vjp("x")
def entropy_vjp_x(g: Any, out: Any, x: Any, *, target: Any) -> Any:  # (x - t) / (x (1 - x))
    spread = clamp(mul(x, rsub_scalar(x, other=1.0)), low=LEAST_SPREAD, high=np.inf)
    return mul(g, div(sub(x, like(target, x)), spread))


def _entropies(x: Any, target: Any, weight: Any) -> Any:
    terms = entropy(x, target=target)
    return terms if weight is None else mul(terms, like(weight, x))


@fused(domain={"x": Domain.SHARE})
def binary_cross_entropy(x: Any, *, target: Any, weight: Any, reduction: str) -> Any:
    """Return the terms of `entropy`, weighted if there is a weight for each, reduced."""
    return reduced(_entropies(x, target, weight), reduction)


@composite
def binary_cross_entropy_of_terms(x: Any, *, target: Any, weight: Any, reduction: str) -> Any:
    """Return the same as `binary_cross_entropy`, of terms that are each one node; the mean is `mean_all`."""
    return reduced(_entropies(x, target, weight), reduction, mean_all)


def _log_scale(out: Any, x: Any, *, target: Any) -> Any:
    return np.exp(like(target, x)) * (np.abs(like(target, x)) + np.abs(x)) * (1.0 + np.abs(like(target, x)))


@sloped(lambda out, x, *, target: np.negative(np.exp(like(target, x))), ulps=3, error_scale=_log_scale)
def divergence_of_logs(x: Any, *, target: Any) -> Any:
    """Return ``e^t (t - x)``: a term of the Kullback-Leibler divergence from ``e^x`` of the probability ``e^t``."""
    return np.multiply(np.exp(like(target, x)), np.subtract(like(target, x), x))


@composite
def kl_div_of_logs(x: Any, *, target: Any, reduction: str) -> Any:
    """Return the terms of `divergence_of_logs`, reduced."""
    return reduced(divergence_of_logs(x, target=target), reduction)

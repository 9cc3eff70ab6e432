"""Covariances and correlations of rows, of which the columns are observations.

Both frameworks put them together of other ops: PyTorch multiplies what it has centred with itself, Paddle with what it has not.
Sources: the pages of ``torch`` and ``paddle.linalg`` on each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import div, div_by_quotient, mul, sub
from reference_impl.primitives.elementary import sqrt
from reference_impl.primitives.layout import diag_of_matrix
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.products import diagonal
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.selection import clamp
from reference_impl.primitives.shape import reshape, t, unsqueeze
from reference_impl.tape.primitive import composite, shape_of


def _covariances(x: Any, correction: int, divide: Any, *, centred_twice: bool) -> Any:
    """Return the covariances of rows, or their variance if there is one; PyTorch multiplies what it has centred with itself."""
    rows = reshape(x, shape=(1, *shape_of(x))) if len(shape_of(x)) == 1 else x
    count = shape_of(rows)[1]
    centred = sub(rows, _mean(rows, np.asarray(count, dtype=x.dtype), divide))
    product = matmul(centred, t(centred if centred_twice else rows))
    return _squeezed(divide(product, np.asarray(count - correction, dtype=x.dtype)))


def _squeezed(made: Any) -> Any:
    """Return the same without axes of length 1; in both frameworks this is a node, whether or not there are any."""
    return reshape(made, shape=shape_of(made) if shape_of(made) != (1, 1) else ())


def _mean(rows: Any, total: Any, divide: Any) -> Any:
    return unsqueeze(divide(add_up(rows, axis=[1], keepdims=False), total), axis=1)


@composite
def cov(x: Any, *, correction: int) -> Any:
    """Return the covariances of rows; what is summed is divided by the number of columns less ``correction``."""
    return _covariances(x, correction, div, centred_twice=True)


@composite
def cov_of_uncentred(x: Any, *, correction: int) -> Any:
    """Return the same as `cov`; one factor is not centred, which the other one is orthogonal to the mean of."""
    return _covariances(x, correction, div_by_quotient, centred_twice=False)


def _correlations(c: Any, divide: Any, on_diagonal: Any) -> Any:
    if not shape_of(c):
        return divide(c, c)
    n = shape_of(c)[0]
    deviations = sqrt(on_diagonal(c, offset=0))
    by_rows = divide(c, reshape(deviations, shape=(n, 1)))
    return clamp(divide(by_rows, reshape(deviations, shape=(1, n))), low=-1.0, high=1.0)


@composite
def corrcoef(x: Any) -> Any:
    """Return the covariances of rows over the deviations of both, between -1 and 1."""
    return _correlations(cov(x, correction=1), div, diagonal)


@composite
def corrcoef_of_uncentred(x: Any) -> Any:
    """Return the same as `corrcoef`, of `cov_of_uncentred`; what is read of the diagonal is a copy."""
    return _correlations(cov_of_uncentred(x, correction=1), div_by_quotient, diag_of_matrix)


def _unbiased(weights: Any, total: Any, divide: Any) -> Any:
    return sub(total, divide(add_up(mul(weights, weights), axis=None, keepdims=False), total))


@composite
def cov_weighted(x: Any, weights: Any) -> Any:
    """Return the covariances of rows of which the columns have weights, divided by ``sum w - sum w^2 / sum w``."""
    total = add_up(weights, axis=None, keepdims=False)
    centred = sub(x, _mean(mul(x, weights), total, div))
    return _squeezed(div(matmul(centred, t(mul(centred, weights))), _unbiased(weights, total, div)))


@composite
def cov_weighted_of_uncentred(x: Any, weights: Any) -> Any:
    """Return the same as `cov_weighted`; the factor with the weights is not centred."""
    total = add_up(weights, axis=None, keepdims=False)
    weighted = mul(x, weights)
    factor = clamp(_unbiased(weights, total, div_by_quotient), low=0.0, high=None)
    return _squeezed(div_by_quotient(matmul(sub(x, _mean(weighted, total, div_by_quotient)), t(weighted)), factor))

"""The exponential of a matrix.

It is summed as its series in the widest arithmetic that there is: terms that cancel cost digits, which these have to spare, and
nothing is squared, where what is large beside what is small would be lost. What another algorithm may lose is relative to the
exponential of the absolute values: to the largest number in the row or in the column of an element, whichever is less. Of 2,000
matrices of 2 to 5 rows (small, large, near-singular, triangular, with zeros, badly scaled), in both dtypes, against mpmath, PyTorch
was off by 0.95 of that times `_steps` times epsilon, or 2.5 if badly scaled, and Paddle, which solves a system, by 0.85. What has a
finding (`torch-matrix-exp-degree-eight`, `paddle-matrix-exp-inexact`) was left out. Relative to the element itself Paddle is off by
400 if badly scaled, and without bound at zeros. The rule is that of Frechet derivatives: the exponential of ``[[A, G], [0, A]]``
has the derivative in the direction ``G`` beside its diagonal (N. J. Higham, "Functions of Matrices", 2008, section 10.6).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.elementary import exp
from reference_impl.primitives.matrices import adjoint
from reference_impl.primitives.shape import cat, narrow
from reference_impl.tape.primitive import composite, primitive, shape_of

MOST_TERMS = 1000


def _series(x: Any) -> Any:
    """Return the sum of ``x^k / k!``, up to where nothing is added."""
    wide = x.astype(np.result_type(x.dtype, np.longdouble))
    total = term = np.broadcast_to(np.eye(x.shape[-1], dtype=wide.dtype), wide.shape)
    with np.errstate(all="ignore"):
        for k in range(1, MOST_TERMS):
            term = np.matmul(term, wide) / k
            before, total = total, total + term
            if np.array_equal(before, total, equal_nan=True):
                break
        return total.astype(x.dtype)


def _steps(x: Any) -> float:
    """Return how many roundings an element may see: those of a product of matrices, as often as a scaled one is squared back."""
    sizes = np.abs(x).sum(-2)
    largest = float(sizes.max()) if sizes.size and np.isfinite(sizes).all() else 0.0
    return float(x.shape[-1] * (1.0 + largest))


def _size_of_lines(out: Any, x: Any) -> Any:
    """Return the largest number in the row or in the column of the exponential of the absolute values, whichever is less."""
    sizes = _series(np.abs(x))
    return np.minimum(sizes.max(-2, keepdims=True, initial=0.0), sizes.max(-1, keepdims=True, initial=0.0))


@primitive(ulps=2, error_scale=_size_of_lines, summands=_steps)
def matrix_exp(x: Any) -> Any:
    """Return ``1 + x + x^2 / 2 + x^3 / 6 + ...`` of square matrices."""
    return _series(x)


@composite
def matrix_exp_or_exp(x: Any) -> Any:
    """Return the same as `matrix_exp`; of matrices with one element it is that of elements."""
    return exp(x) if shape_of(x)[-1] == 1 else matrix_exp(x)


@matrix_exp.vjp("x")
def matrix_exp_vjp_x(g: Any, out: Any, x: Any) -> Any:
    turned, n = adjoint(x), shape_of(x)[-1]
    above = cat(turned, g, axis=-1)
    below = cat(np.zeros(shape_of(x), x.dtype), turned, axis=-1)
    exponential = matrix_exp(cat(above, below, axis=-2))
    return narrow(narrow(exponential, axis=-2, start=0, length=n), axis=-1, start=n, length=n)

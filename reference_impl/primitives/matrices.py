"""Functions of square matrices in the last two axes that are made of an inverse: determinants, solutions, powers.

The inverse is the one primitive that knows how far rounding carries: its error is ``|X| |A| |X|`` to first order, element by element
(N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., ch. 14). What follows from it is a fused formula, whose
error follows, too. The inverse of a singular matrix is NaN here; both frameworks refuse most of these, and no row draws one. A
determinant is a polynomial: it has all derivatives there, too, and they are written without a division.

Rules of solutions and inverses are written with the result where PyTorch's are: then a second derivative depends on the result as it
does there (Paddle has none of them).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, clone, mul, mul_scalar, neg, sub
from reference_impl.primitives.complex import conjugate
from reference_impl.primitives.fused import fused
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.shape import reshape, transpose, tril, triu
from reference_impl.tape.primitive import Domain, Symbol, array_of, composite, primitive, shape_of

DOMINANT = {"x": Domain.DOMINANT}
DEFINITE = {"x": Domain.DEFINITE}


def adjoint(x: Any) -> Any:
    """Return the conjugate transposes of matrices."""
    return conjugate(transpose(x, axis0=-2, axis1=-1))


def _or_nan(function: Any, x: Any) -> Any:
    """Apply a function of `numpy.linalg`; what it refuses to compute is NaN."""
    try:
        return function(x)
    except np.linalg.LinAlgError:
        return np.full(x.shape, np.nan, x.dtype)


def size_of_inverse(inverse_of: Any) -> Any:
    """Return the absolute values of the elements of an inverse, for an error scale."""
    return np.abs(_or_nan(np.linalg.inv, _in_double(inverse_of)))


def _in_double(x: Any) -> Any:
    """Return an array in a dtype that `numpy.linalg` has: it has no longdouble."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _terms_of_inverse(out: Any, x: Any) -> Any:
    size = np.abs(out)
    return np.matmul(np.matmul(size, np.abs(x)), size)


@primitive(ulps=2, error_scale=_terms_of_inverse, summands=lambda x: x.shape[-1], domain=DOMINANT)
def inv(x: Any) -> Any:
    """Return the inverses of matrices."""
    return _or_nan(np.linalg.inv, x)


@inv.vjp("x")
def inv_vjp_x(g: Any, out: Any, x: Any) -> Any:  # -X^H g X^H
    turned = adjoint(out)
    return neg(matmul(matmul(turned, g), turned))


def are_singular(x: Any) -> Any:
    """Return of each matrix that is finite whether it has no inverse, as far as its dtype tells, or double precision."""
    finite = np.where(np.isfinite(x).all((-2, -1), keepdims=True), x, _identity(x))
    known = finite.astype({"g": "d", "G": "D"}.get(x.dtype.char, x.dtype))
    return np.linalg.matrix_rank(known) < x.shape[-1] if x.size else np.zeros(x.shape[:-2], bool)


def _terms_of_logarithm(x: Any) -> Any:
    """Return by how much a relative error of every element moves the logarithm of the determinant."""
    return np.einsum("...ij,...ji->...", size_of_inverse(x), np.abs(x))


def _terms_of_det(out: Any, x: Any) -> Any:
    if are_singular(x).any():
        return np.einsum("...ij,...ji->...", np.abs(_adjugate(x)), np.abs(x))
    return np.abs(out) * _terms_of_logarithm(x)


@primitive(ulps=2, error_scale=_terms_of_det, summands=lambda x: x.shape[-1], domain=DOMINANT)
def det(x: Any) -> Any:
    """Return the determinants of matrices."""
    return np.asarray(np.linalg.det(x))


@det.vjp("x")
def det_vjp_x(g: Any, out: Any, x: Any) -> Any:  # g conj(det) X^H
    if shape_of(x)[-1] == 1:  # the element itself: its gradient does not depend on it
        return reshape(g, shape=shape_of(x))
    if isinstance(x, Symbol) or are_singular(array_of(x)).any():
        return mul(reshape(g, shape=(*shape_of(g), 1, 1)), adjoint(_adjugate(x)))
    return _times_inverse(mul(g, conjugate(out)), adjoint(x))


def _adjugate(x: Any) -> Any:
    """Return the adjugates, ``det(X) X^-1`` without a division by what may be 0: by the recursion of Faddeev and Le Verrier.

    F. R. Gantmacher, "The Theory of Matrices", vol. 1 (1959), ch. IV, section 5.
    """
    size, identity = shape_of(x)[-1], np.array(_identity(x))
    found = identity
    for k in range(1, size):
        power = matmul(x, found)
        traces = add_up(mul(power, identity), axis=[-2, -1], keepdims=True)
        found = sub(power, mul(mul_scalar(traces, other=1.0 / k), identity))
    return found if size % 2 else neg(found)


@primitive(ulps=2, error_scale=lambda out, x: np.abs(out) + _terms_of_logarithm(x), summands=lambda x: x.shape[-1], domain=DOMINANT)
def slogdet(x: Any) -> Any:
    """Return the logarithms of the absolute values of determinants; their signs have no derivative."""
    return np.asarray(np.linalg.slogdet(x)[1])


@slogdet.vjp("x")
def slogdet_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return _times_inverse(g, adjoint(x))


def _times_inverse(share: Any, x: Any) -> Any:
    return solve(x, mul(reshape(share, shape=(*shape_of(share), 1, 1)), np.array(_identity(x))))


@fused(domain=DOMINANT)
def solve(x: Any, y: Any) -> Any:
    """Return ``X`` of ``x X = y``: ``(..., n, n), (..., n, k) -> (..., n, k)``, or ``(n, n), (n,) -> (n,)``."""
    return matmul(inv(x), y)


@solve.vjp("x")
def solve_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return _factor_of_solution(x, out, g)


def _factor_of_solution(factor: Any, out: Any, g: Any) -> Any:
    """Return the gradient ``-(A^-H g) X^H`` of a factor ``A`` of a solution ``X``, of one or of several right sides."""
    several = [g, out] if len(shape_of(out)) > 1 else [reshape(part, shape=(*shape_of(part), 1)) for part in (g, out)]
    return neg(matmul(matmul(adjoint(inv(factor)), several[0]), adjoint(several[1])))


def _identity(x: Any) -> Any:
    return np.broadcast_to(np.eye(shape_of(x)[-1], dtype=x.dtype), shape_of(x))


def triangle(x: Any, *, upper: bool, unit: bool) -> Any:
    """Return a triangle of matrices; ``unit``: with ones on the diagonal."""
    below = 1 if unit else 0
    part = triu(x, diagonal=below) if upper else tril(x, diagonal=-below)
    return add(part, np.array(_identity(x))) if unit else part


@fused(domain=DOMINANT)
def triangular_solve(x: Any, y: Any, *, upper: bool, transposed: bool, unit: bool) -> Any:
    """Return ``X`` of ``T X = y``, or of ``T^T X = y``, for a triangle ``T`` of ``x``; ``unit``: with ones on its diagonal."""
    return matmul(inv(_factor(x, upper=upper, transposed=transposed, unit=unit)), y)


def _factor(x: Any, *, upper: bool, transposed: bool, unit: bool) -> Any:
    factor = triangle(x, upper=upper, unit=unit)
    return transpose(factor, axis0=-2, axis1=-1) if transposed else factor


@triangular_solve.vjp("x")
def triangular_solve_vjp_x(g: Any, out: Any, x: Any, y: Any, *, upper: bool, transposed: bool, unit: bool) -> Any:
    found = _factor_of_solution(_factor(x, upper=upper, transposed=transposed, unit=unit), out, g)
    turned = transpose(found, axis0=-2, axis1=-1) if transposed else found
    below = 1 if unit else 0
    return triu(turned, diagonal=below) if upper else tril(turned, diagonal=-below)


@fused(domain=DOMINANT)
def solve_from_right(x: Any, y: Any) -> Any:
    """Return ``X`` of ``X T^H = y`` for the upper triangle ``T`` of ``x``."""
    return matmul(y, adjoint(inv(triu(x, diagonal=0))))


@solve_from_right.vjp("x")
def solve_from_right_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:  # -(g T^-1)^H X
    return neg(triu(matmul(adjoint(matmul(g, inv(triu(x, diagonal=0)))), out), diagonal=0))


@fused(domain=DOMINANT)
def matrix_power(x: Any, *, n: int) -> Any:
    """Return ``x^n`` for a whole ``n`` that is not 0."""
    factor = inv(x) if n < 0 else x
    power = factor
    for _ in range(abs(n) - 1):
        power = matmul(power, factor)
    return power


def symmetric(x: Any) -> Any:
    """Return the symmetric parts of matrices."""
    return mul_scalar(add(x, adjoint(x)), other=0.5)


def _size_of_factor(out: Any, x: Any) -> Any:
    size, inverse = np.abs(out), size_of_inverse(out)
    turned = np.swapaxes(size, -1, -2)
    middle = np.matmul(np.matmul(inverse, np.matmul(size, turned)), np.swapaxes(inverse, -1, -2))
    return np.tril(np.matmul(size, np.tril(middle)))


@primitive(ulps=2, error_scale=_size_of_factor, summands=lambda x: x.shape[-1], domain=DEFINITE)
def cholesky(x: Any) -> Any:
    """Return the lower triangle ``L`` of ``L L^H = x`` for matrices that are symmetric; of others the symmetric part counts."""
    return _or_nan(np.linalg.cholesky, (x + np.conj(np.swapaxes(x, -1, -2))) * np.asarray(0.5, x.dtype))


@cholesky.vjp("x")
def cholesky_vjp_x(g: Any, out: Any, x: Any) -> Any:
    # L^-H P L^-1, symmetric, with P the lower triangle of L^H g and half of its diagonal. I. Murray, "Differentiation of the Cholesky
    # decomposition", arXiv:1602.07527 (2016), section 3.1.
    halved = (np.ones(shape_of(x)[-2:]) - np.eye(shape_of(x)[-1]) * 0.5).astype(x.dtype)
    middle = mul(tril(matmul(adjoint(out), g), diagonal=0), halved)
    inverse = inv(tril(out, diagonal=0))  # nothing above the diagonal of a factor is part of a triangular solution
    return symmetric(matmul(matmul(adjoint(inverse), middle), inverse))


@composite
def cholesky_of_symmetric(x: Any) -> Any:
    """Return the same as `cholesky`, of the symmetric parts, which are made by nodes of their own."""
    return cholesky(symmetric(x))


def _square_of_factor(x: Any) -> Any:
    factor = tril(x, diagonal=0)
    return matmul(factor, adjoint(factor))


@fused(domain=DEFINITE)
def cholesky_inverse(x: Any) -> Any:
    """Return the inverse of ``L L^H`` for the lower triangle ``L`` of ``x``."""
    return inv(_square_of_factor(x))


@cholesky_inverse.vjp("x")
def cholesky_inverse_vjp_x(g: Any, out: Any, x: Any) -> Any:  # -X (g + g^H) X L
    between = matmul(matmul(out, add(g, adjoint(g))), out)
    return neg(tril(matmul(between, tril(x, diagonal=0)), diagonal=0))


@fused(domain={"y": Domain.DEFINITE})
def cholesky_solve(x: Any, y: Any) -> Any:
    """Return ``X`` of ``L L^H X = x`` for the lower triangle ``L`` of ``y``."""
    return matmul(inv(_square_of_factor(y)), x)


@cholesky_solve.vjp("y")
def cholesky_solve_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:  # (G + G^H) L for the gradient G in L L^H
    of_square = _factor_of_solution(_square_of_factor(y), out, g)
    return tril(matmul(add(of_square, adjoint(of_square)), tril(y, diagonal=0)), diagonal=0)


@composite
def cholesky_solve_of_lower(x: Any, y: Any) -> Any:
    """Return the same as `cholesky_solve`, of a triangle that a node of its own has cut out."""
    return cholesky_solve(x, tril(y, diagonal=0))


@composite
def matrix_power_of_products(x: Any, *, n: int) -> Any:
    """Return the same as `matrix_power` for powers up to 3, by an inverse and products, each a node of its own."""
    factor = inv(x) if n < 0 else x
    power = factor if n < 0 or n > 1 else clone(factor)
    for _ in range(abs(n) - 1):
        power = matmul(power, factor)
    return power

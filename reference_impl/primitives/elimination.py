"""Triangular factors of matrices whose rows are exchanged: made, taken apart, and solved with.

As in LAPACK, both factors of ``P L U = x`` lie in one matrix, without the ones on the diagonal of ``L``, and the order of the rows is
data: the k-th pivot says with which row the k-th was exchanged, counted from 1. The order jumps and has no derivative. The error of an
elimination is ``|L| |U|`` to first order, element by element (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
ch. 9), from which that of the factors follows by the differential that the rule is the transpose of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, neg, sub
from reference_impl.primitives.fused import fused
from reference_impl.primitives.indexing import gather, scatter_add
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.matrices import adjoint, size_of_inverse, solve_from_right, triangle, triangular_solve
from reference_impl.primitives.piecewise import jumps
from reference_impl.primitives.shape import cat, narrow, tril, triu, widen
from reference_impl.tape.primitive import Domain, array_of, primitive, shape_of

LOWER = {"upper": False, "unit": True}
UPPER = {"upper": True, "unit": False}


def _eliminated(x: Any) -> tuple[Any, Any]:
    """Return both factors in one matrix, and the order of the rows."""
    made, rows = np.array(x), np.broadcast_to(np.arange(x.shape[-2])[:, None], x.shape).copy()
    for k in range(min(x.shape[-2:])):
        found = np.broadcast_to(np.arange(x.shape[-2]), x.shape[:-1]).copy()
        pivot = k + np.argmax(np.abs(made[..., k:, k]), axis=-1)
        np.put_along_axis(found, pivot[..., None], k, -1)
        found[..., k] = pivot
        made, rows = (np.take_along_axis(one, found[..., None], -2) for one in (made, rows))
        with np.errstate(all="ignore"):
            made[..., k + 1 :, k] /= made[..., k, k, None]
            made[..., k + 1 :, k + 1 :] -= made[..., k + 1 :, k, None] * made[..., k, None, k + 1 :]
    return made, rows


def _size_of_factors(out: Any, x: Any) -> Any:
    """Return what the roundings of the factors are relative to; the square in front, what is below it, and what is beside it."""
    k = min(x.shape[-2:])
    lower, upper = np.tril(out[..., :k], -1) + np.eye(x.shape[-2], k), np.triu(out[..., :k, :])
    of_lower, of_upper = (size_of_inverse(part[..., :k, :k]) for part in (lower, upper))
    lower, upper = np.abs(lower), np.abs(upper)
    terms = lower @ upper
    middle = of_lower @ terms[..., :k, :k] @ of_upper
    in_lower, in_upper = lower[..., :k, :] @ np.tril(middle, -1), np.triu(middle) @ upper[..., :k]
    below = (terms[..., k:, :k] + lower[..., k:, :] @ in_upper) @ of_upper
    beside = of_lower @ (terms[..., :k, k:] + in_lower @ upper[..., k:])
    square = np.tril(in_lower, -1) + np.triu(in_upper)
    return np.concatenate([square, below], -2) if x.shape[-2] > k else np.concatenate([square, beside], -1)


@primitive(branch_sides=jumps)
def row_order(x: Any) -> Any:
    """Return for each element which row of a matrix stands in its place after the exchanges (piecewise constant)."""
    return _eliminated(x)[1]


@primitive(ulps=2, error_scale=_size_of_factors, summands=lambda x: min(x.shape[-2:]), domain={"x": Domain.PIVOTED})
def lu(x: Any) -> Any:
    """Return the factors of matrices in one matrix each; the pivot is the largest element that is left in its column."""
    return _eliminated(x)[0]


@lu.vjp("x")
def lu_vjp_x(g: Any, out: Any, x: Any) -> Any:
    *_, m, n = shape_of(x)
    k = min(m, n)
    axis = -2 if m > n else -1
    if m == n:
        made = _of_square(g, out)
    else:
        (square, rest), (of_square, of_rest) = (
            [narrow(one, axis=axis, start=start, length=length) for start, length in ((0, k), (k, max(m, n) - k))] for one in (out, g)
        )
        if m > n:  # below: A2 = L2 U
            outside = solve_from_right(square, of_rest)
            inside = triu(matmul(adjoint(rest), outside), diagonal=0)
        else:  # beside: A2 = L U2
            outside = triangular_solve(square, of_rest, transposed=True, **LOWER)
            inside = tril(matmul(outside, adjoint(rest)), diagonal=-1)
        made = cat(_of_square(sub(of_square, inside), square), outside, axis=axis)
    return scatter_add(made, axis=-2, index=row_order(array_of(x)), shape=shape_of(x))


def _of_square(g: Any, out: Any) -> Any:
    """Return ``L^-H (tril(L^H gL) + triu(gU U^H)) U^-H``, without the diagonal of the lower triangle."""
    lower = tril(matmul(adjoint(triangle(out, **LOWER)), tril(g, diagonal=-1)), diagonal=-1)
    upper = triu(matmul(triu(g, diagonal=0), adjoint(triu(out, diagonal=0))), diagonal=0)
    return solve_from_right(out, triangular_solve(out, add(lower, upper), transposed=True, **LOWER))


@primitive(saves=(), multi_output=True, ulps=0)
def lu_unpack(x: Any, *, pivots: Any) -> Any:
    """Return the two factors that lie in matrices; the pivots have no part in them, but a kernel gets them."""
    *_, m, n = x.shape
    k = min(m, n)
    return np.tril(x[..., :k], -1) + np.eye(m, k, dtype=x.dtype), np.triu(x[..., :k, :])


@lu_unpack.vjp("x")
def lu_unpack_vjp_x(g: Any, out: Any, x: Any, *, pivots: Any) -> Any:
    *_, m, n = shape_of(x)
    lower, upper = tril(g[0], diagonal=-1), triu(g[1], diagonal=0)
    return add(
        widen(lower, axis=-1, start=0, full=n) if n > m else lower,
        widen(upper, axis=-2, start=0, full=m) if m > n else upper,
    )


def exchanged(pivots: Any) -> Any:
    """Return the order in which rows are after all exchanges."""
    steps = np.asarray(pivots, dtype=np.intp) - 1
    rows = np.broadcast_to(np.arange(steps.shape[-1]), steps.shape).copy()
    for k in range(steps.shape[-1]):
        other = steps[..., k, None]
        moved = np.take_along_axis(rows, other, -1)
        np.put_along_axis(rows, other, rows[..., k, None], -1)
        rows[..., k, None] = moved
    return rows


@fused(domain={"x": Domain.DOMINANT})
def lu_solve(x: Any, y: Any, *, pivots: Any, transposed: bool) -> Any:
    """Return ``X`` of ``P L U X = y``, or of ``(P L U)^T X = y``, for factors that lie in ``x`` and rows that ``pivots`` exchange."""
    rows = exchanged(pivots)
    order = np.broadcast_to((np.argsort(rows, axis=-1) if transposed else rows)[..., None], shape_of(y))
    if transposed:
        y = triangular_solve(x, y, transposed=True, **UPPER)
        return gather(triangular_solve(x, y, transposed=True, **LOWER), axis=-2, index=order)
    y = triangular_solve(x, gather(y, axis=-2, index=order), transposed=False, **LOWER)
    return triangular_solve(x, y, transposed=False, **UPPER)


@lu_solve.vjp("x")
def lu_solve_vjp_x(g: Any, out: Any, x: Any, y: Any, *, pivots: Any, transposed: bool) -> Any:
    """Solve for the gradients of the factors with what the solution is, and not with what is between them, as both frameworks do."""
    if transposed:
        rows = np.broadcast_to(exchanged(pivots)[..., None], shape_of(out))
        g, out = (gather(one, axis=-2, index=rows) for one in (g, out))
        of_lower = adjoint(triangular_solve(x, matmul(g, adjoint(out)), transposed=False, **LOWER))
        of_upper = solve_from_right(x, matmul(adjoint(triangle(x, **LOWER)), of_lower))
    else:
        of_upper = triangular_solve(x, matmul(g, adjoint(out)), transposed=True, **UPPER)
        of_lower = triangular_solve(x, matmul(of_upper, adjoint(triu(x, diagonal=0))), transposed=True, **LOWER)
    return neg(add(tril(of_lower, diagonal=-1), triu(of_upper, diagonal=0)))


@lu_solve.vjp("y")
def lu_solve_vjp_y(g: Any, out: Any, x: Any, y: Any, *, pivots: Any, transposed: bool) -> Any:
    return lu_solve(x, g, pivots=pivots, transposed=not transposed)

"""Decompositions, and functions of them that do not depend on the gauge: the signs of singular vectors and eigenvectors are arbitrary.

The decompositions themselves are primitives of several results, which no rounding disturbs; so each part passes `settled`, which knows
how far rounding carries it: values by their largest, vectors by that over the least distance of two values (G. H. Golub and C. F. Van
Loan, "Matrix Computations", 4th ed., sections 8.1 and 8.6). Values must differ. The rules are those of M. B. Giles, "An extended
collection of matrix derivative results", Oxford NA-08/01 (2008), and J. Townsend, "Differentiating the singular value decomposition"
(2016).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import add, div, mul, neg, square, sub
from reference_impl.primitives.fused import fused, of_parts
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.matrices import DOMINANT, adjoint, det, det_vjp_x, inv, solve_from_right, symmetric
from reference_impl.primitives.norms import LARGEST, vector_norm
from reference_impl.primitives.reduction import amax, amin
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.shape import cat, reshape, tril, unsqueeze
from reference_impl.tape.primitive import alias, array_of, composite, primitive, shape_of, straight_through
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable


def least_distance(spectrum: Any) -> Any:
    """Return the least distance of two values, or of one from 0."""
    apart = np.abs(spectrum[..., None] - spectrum[..., None, :]) + np.diag(np.full(spectrum.shape[-1], np.inf))
    return np.minimum(np.abs(spectrum).min(-1), apart.min((-1, -2)))


def _size_of_part(out: Any, part: Any, spectrum: Any, *, vectors: bool) -> Any:
    size = np.abs(spectrum).max(-1)
    if vectors:
        with np.errstate(all="ignore"):
            size = size / least_distance(spectrum)
    return np.broadcast_to(size.reshape(*size.shape, *(1,) * (out.ndim - size.ndim)), out.shape)


@straight_through
@primitive(saves=(), ulps=2, error_scale=_size_of_part, summands=lambda part, spectrum, *, vectors: spectrum.shape[-1])
def settled(part: Any, spectrum: Any, *, vectors: bool) -> Any:
    """Return a part of a decomposition as it is, to be disturbed as far as rounding may carry it."""
    return part


@straight_through
@primitive(
    saves=(),
    ulps=2,
    error_scale=lambda out, x, spectrum: np.broadcast_to(np.abs(spectrum).max(-1)[..., None, None], out.shape),
    summands=lambda x, spectrum: spectrum.shape[-1],
)
def backward_stable(x: Any, spectrum: Any) -> Any:
    """Return matrices as they are, to be disturbed as far as an algorithm that is backward stable may seem to have done."""
    return np.array(x)


def _or_nan(function: Any, x: Any, *shapes: tuple[int, ...]) -> Any:
    """Apply a decomposition; where there is none, its parts are NaN."""
    try:
        return tuple(function(x))
    except np.linalg.LinAlgError:
        return tuple(np.full((*x.shape[:-2], *shape), np.nan, x.dtype) for shape in shapes)


def _on_diagonal(x: Any) -> Any:
    """Return matrices with the last axis on their diagonal, and zeros."""
    n = shape_of(x)[-1]
    return mul(unsqueeze(x, axis=-1), np.eye(n, dtype=x.dtype))


def _differences(x: Any) -> Any:
    """Return ``x_j - x_i``, with ones on the diagonal."""
    n = shape_of(x)[-1]
    return add(sub(unsqueeze(x, axis=-2), unsqueeze(x, axis=-1)), np.eye(n, dtype=x.dtype))


@primitive(multi_output=True, domain=DOMINANT, takes_nothing=True)
def svd(x: Any) -> Any:
    """Return ``u``, ``s`` and ``v^H`` of ``u s v^H = x``, with as many singular values as the shorter axis is long."""
    *_, m, n = x.shape
    k = min(m, n)
    return _or_nan(lambda a: np.linalg.svd(a, full_matrices=False), x, (m, k), (k,), (k, n))


@svd.vjp("x")
def svd_vjp_x(g: Any, out: Any, x: Any) -> Any:
    (gu, gs, gvh), (u, s, vh) = g, out
    if gu is None and gvh is None:
        return matmul(mul(u, unsqueeze(gs, axis=-2)), vh)
    apart = _differences(square(s))
    rows, columns = unsqueeze(s, axis=-2), unsqueeze(s, axis=-1)
    left, right = None if gu is None else matmul(adjoint(u), gu), None if gvh is None else matmul(vh, adjoint(gvh))
    core = _total(
        None if left is None else mul(div(sub(left, adjoint(left)), apart), rows),
        None if right is None else mul(columns, div(sub(right, adjoint(right)), apart)),
        None if gs is None else _on_diagonal(gs),
    )
    *_, m, n = shape_of(x)
    total = matmul(matmul(u, core), vh)
    if m > n and left is not None:  # what of gu lies outside of the space of u
        outside = sub(gu, matmul(u, left))
        total = add(total, matmul(div(outside, rows), vh))
    if n > m and right is not None:
        outside = sub(gvh, matmul(adjoint(right), vh))
        total = add(total, matmul(u, div(outside, columns)))
    return total


@primitive(multi_output=True, domain=DOMINANT, takes_nothing=True)
def eigh(x: Any) -> Any:
    """Return the eigenvalues of symmetric matrices, in order, and eigenvectors in columns."""
    n = x.shape[-1]
    return _or_nan(np.linalg.eigh, x, (n,), (n, n))


@eigh.vjp("x")
def eigh_vjp_x(g: Any, out: Any, x: Any) -> Any:
    (gw, gv), (w, v) = g, out
    if gv is None:
        return matmul(mul(v, unsqueeze(gw, axis=-2)), adjoint(v))
    n = shape_of(x)[-1]
    turned = mul(div(matmul(adjoint(v), gv), _differences(w)), (1.0 - np.eye(n)).astype(x.dtype))
    return symmetric(matmul(matmul(v, _total(turned, None if gw is None else _on_diagonal(gw))), adjoint(v)))


@primitive(multi_output=True, domain=DOMINANT, takes_nothing=True)
def qr(x: Any) -> Any:
    """Return ``q`` with orthonormal columns and an upper triangle ``r`` of ``q r = x``, for matrices with at least as many rows."""
    *_, m, n = x.shape
    return _or_nan(np.linalg.qr, x, (m, n), (n, n))


@qr.vjp("x")
def qr_vjp_x(g: Any, out: Any, x: Any) -> Any:
    # (gq + q copyltu(r gr^H - gq^H q)) r^-H, with copyltu the lower triangle mirrored: M. Seeger et al., "Auto-differentiating linear
    # algebra", arXiv:1710.08717 (2017).
    (gq, gr), (q, r) = g, out
    mixed = _total(None if gr is None else matmul(r, adjoint(gr)), None if gq is None else neg(matmul(adjoint(gq), q)))
    mirrored = add(tril(mixed, diagonal=0), adjoint(tril(mixed, diagonal=-1)))
    return solve_from_right(r, _total(gq, matmul(q, mirrored)))


def _total(*terms: Any) -> Any:
    """Return the sum of the terms that there are."""
    return functools.reduce(add, [term for term in terms if term is not None])


def _in_a_row(*parts: Any) -> Any:
    """Join matrices, each with its last two axes as one, and vectors."""
    return cat(*parts, axis=-1)


def _flat(x: Any) -> Any:
    *batch, m, n = shape_of(x)
    return reshape(x, shape=(*batch, m * n))


def _settled(parts: tuple[Any, ...], spectrum: Any, are_vectors: tuple[bool, ...]) -> tuple[Any, ...]:
    """Return the parts of a decomposition, settled."""

    def settle(parts: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([settled(part, array_of(spectrum), vectors=are) for part, are in zip(parts, are_vectors, strict=True)])

    return on_their_node(parts, settle)


def on_their_node(parts: tuple[Any, ...], settle: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the parts of a decomposition, settled; on a tape they are the results of its one node, as they were."""
    if type(parts[0]) is not Tensor:
        return settle(parts)
    made = settle(tuple([part.array for part in parts]))
    node = parts[0].node
    if node is None:
        return tuple(map(Tensor, made))
    node.out = made
    return tuple([Tensor(array, True, node, slot) for slot, array in enumerate(made)])


def _svd_settled(x: Any) -> tuple[Any, ...]:
    u, s, vh = svd(x)
    return _settled((u, s, vh), s, (True, False, True))


def _eigh_settled(x: Any) -> tuple[Any, ...]:
    w, v = eigh(symmetric(x))
    return _settled((w, v), w, (False, True))


@fused(domain=DOMINANT)
def svdvals(x: Any) -> Any:
    """Return the singular values of matrices, the largest first."""
    return _svd_settled(x)[1]


svdvals_of_parts = of_parts(svdvals)


@fused(domain=DOMINANT)
def svd_invariant(x: Any) -> Any:
    """Return the squares of the elements of ``u``, then ``s``, then those of ``v^H``, in a row."""
    u, s, vh = _svd_settled(x)
    return _in_a_row(_flat(square(u)), s, _flat(square(vh)))


svd_invariant_of_parts = of_parts(svd_invariant)


@fused(domain=DOMINANT)
def pinv(x: Any) -> Any:
    """Return the pseudoinverses of matrices of full rank: ``(x^H x)^-1 x^H`` of tall ones, ``x^H (x x^H)^-1`` of others."""
    x = backward_stable(x, svd(x)[1])  # both frameworks make it of a singular value decomposition
    turned = adjoint(x)
    if shape_of(x)[-2] >= shape_of(x)[-1]:
        return matmul(inv(matmul(turned, x)), turned)
    return matmul(turned, inv(matmul(x, turned)))


@pinv.vjp("x")
def pinv_vjp_x(g: Any, out: Any, x: Any) -> Any:
    # -X^H g X^H, and what of g lies outside of the two spaces: G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and
    # nonlinear least squares problems whose variables separate", SIAM J. Numer. Anal. 10 (1973), in the terms of PyTorch's formula.
    turned, seed = adjoint(out), adjoint(g)
    if shape_of(x)[-2] <= shape_of(x)[-1]:
        inner = matmul(seed, out)
        spread = matmul(inner, turned)
        outside = sub(spread, matmul(matmul(x, out), spread))
        return add(sub(outside, adjoint(matmul(out, inner))), matmul(matmul(turned, out), sub(seed, matmul(inner, x))))
    inner = matmul(out, seed)
    spread = matmul(turned, inner)
    outside = sub(spread, matmul(matmul(spread, out), x))
    return add(sub(outside, adjoint(matmul(inner, out))), matmul(matmul(sub(seed, matmul(x, inner)), out), turned))


@fused(domain=DOMINANT)
def eigvalsh(x: Any) -> Any:
    """Return the eigenvalues of the symmetric parts of matrices, in order."""
    return _eigh_settled(x)[0]


eigvalsh_of_parts = of_parts(eigvalsh)


@fused(domain=DOMINANT)
def eigh_invariant(x: Any) -> Any:
    """Return the eigenvalues of the symmetric parts of matrices, then the squares of the elements of eigenvectors, in a row."""
    w, v = _eigh_settled(x)
    return _in_a_row(w, _flat(square(v)))


eigh_invariant_of_parts = of_parts(eigh_invariant)


def _pivots(r: Any) -> Any:
    n = shape_of(r)[-1]
    return reshape(add_up(mul(r, np.eye(n, dtype=r.dtype)), axis=[-1], keepdims=False), shape=(*shape_of(r)[:-2], n))


@fused(domain=DOMINANT)
def qr_invariant(x: Any) -> Any:
    """Return the squares of the elements of ``q``, then those of ``r``, in a row."""
    q, r = qr(x)
    return _in_a_row(*(_flat(square(part)) for part in _settled((q, r), _pivots(r), (True, False))))


qr_invariant_of_parts = of_parts(qr_invariant)


@fused(domain=DOMINANT)
def qr_triangle(x: Any) -> Any:
    """Return the squares of the elements of ``r`` in a row; nothing arrives at ``q``."""
    q, r = qr(x)
    return _flat(square(_settled((q, r), _pivots(r), (True, False))[1]))


qr_triangle_of_parts = of_parts(qr_triangle)


@fused(domain=DOMINANT)
def matrix_norm(x: Any, *, order: Any, keepdims: bool) -> Any:
    """Return norms of matrices.

    ``order``: ``"fro"``, the norm of all elements; ``"nuc"``, the sum of the singular values; 2, the largest of them; 1 or `LARGEST`,
    the largest sum of absolute values of a column, or of a row.
    """
    if order == "fro":
        return vector_norm(x, p=2.0, axis=[-2, -1], keepdims=keepdims)
    if order in (1, LARGEST):
        sums = vector_norm(x, p=1.0, axis=-2 if order == 1 else -1, keepdims=True)
        return amax(sums, axis=[-2, -1], keepdims=keepdims)
    found = (add_up if order == "nuc" else amax)(_svd_settled(x)[1], axis=[-1], keepdims=False)
    return reshape(found, shape=(*shape_of(found), 1, 1)) if keepdims else found


matrix_norm_of_parts = of_parts(matrix_norm)


@fused(domain=DOMINANT)
def cond(x: Any) -> Any:
    """Return the largest singular value over the least one."""
    values = _svd_settled(x)[1]
    return div(amax(values, axis=[-1], keepdims=False), amin(values, axis=[-1], keepdims=False))


cond_of_parts = of_parts(cond)


@composite
def eigvalsh_of_symmetric(x: Any) -> Any:
    """Return the same as `eigvalsh`, of the symmetric parts, which are made by nodes of their own."""
    return eigvalsh(symmetric(x))


@composite
def eigh_invariant_of_symmetric(x: Any) -> Any:
    """Return the same as `eigh_invariant`, of the symmetric parts, which are made by nodes of their own."""
    return eigh_invariant(symmetric(x))


det_by_values = alias("det_by_values", det)
det_by_values.rules = [None]


@det_by_values.vjp("x")
def det_by_values_vjp_x(g: Any, out: Any, x: Any) -> Any:
    """Return what `det` has, rounded as a product of singular vectors is: by a share of the largest element, not of each."""
    return det_vjp_x(g, out, x if shape_of(x)[-1] < 2 else backward_stable(x, svd(array_of(x))[1]))

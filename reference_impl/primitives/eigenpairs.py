"""Eigenvalues and eigenvectors of matrices that need not be symmetric, through functions of them that depend on no gauge.

An eigenvector of length 1 is defined up to a complex factor of size 1, and pairs come in any order. So what is asked for is, for each
place i, the sums over all pairs of ``|v_i|^2 w^p`` for the powers 0, 1 and 2: the phase is lost in the size, the order in the sum, and
of a real matrix they are real, since its pairs come with their conjugates.

Rounding carries eigenvalues by the size of the matrix times the condition of the eigenvectors, and these by that over the least
distance of two values (G. H. Golub and C. F. Van Loan, "Matrix Computations", 4th ed., section 7.2). The condition of a matrix with
columns of length 1 is less than ``2 / |det|`` (H. W. Guggenheimer, A. S. Edelman, C. R. Johnson, College Math. J. 26 (1995)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, div, mul, square, sub
from reference_impl.primitives.complex import conj, from_real, is_complex, real
from reference_impl.primitives.fused import fused, of_parts
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.matrices import DOMINANT, adjoint, solve
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.shape import cat, reshape, roll, unsqueeze
from reference_impl.primitives.spectra import least_distance, on_their_node
from reference_impl.tape.primitive import array_of, primitive, shape_of, straight_through


@primitive(multi_output=True, domain=DOMINANT, takes_nothing=True)
def eig(x: Any) -> Any:
    """Return the eigenvalues of matrices and eigenvectors of length 1 in columns, both complex; NaN where there are none."""
    n, dtype = x.shape[-1], np.result_type(x, np.complex64)
    try:
        w, v = np.linalg.eig(x)
    except np.linalg.LinAlgError:
        w, v = np.full((*x.shape[:-2], n), np.nan), np.full(x.shape, np.nan)
    return w.astype(dtype), v.astype(dtype)


@eig.vjp("x")
def eig_vjp_x(g: Any, out: Any, x: Any) -> Any:
    # V^-H (diag(gw) + (V^H gv - V^H V diag(Re(V^H gv))) / conj(w_j - w_i)) V^H, where the columns of V have the length 1:
    # C. Boeddeker et al., "On the computation of complex-valued gradients with application to statistically optimum beamforming",
    # arXiv:1701.00392 (2017), section 4.2.
    (gw, gv), (w, v) = g, out
    turned = adjoint(v)
    eye = np.eye(shape_of(x)[-1], dtype=w.dtype)
    core = None if gw is None else mul(unsqueeze(gw, axis=-1), eye)
    if gv is not None:
        arriving = matmul(turned, gv)
        lengths = from_real(real(add_up(mul(arriving, eye), axis=[-2], keepdims=True)))
        along = sub(arriving, mul(matmul(turned, v), lengths))
        apart = add(sub(unsqueeze(w, axis=-2), unsqueeze(w, axis=-1)), eye)
        turn = mul(div(along, conj(apart)), 1.0 - eye)
        core = turn if core is None else add(core, turn)
    found = matmul(solve(turned, core), turned)
    return found if is_complex(x) else real(found)


def _size_of_part(out: Any, part: Any, w: Any, v: Any, *, vectors: bool) -> Any:
    with np.errstate(all="ignore"):
        condition = 2.0 / np.abs(np.linalg.det(v.astype(np.complex128)))
        size = np.square(condition) * np.abs(w).max(-1)
        size = size * condition / least_distance(w) if vectors else size
    return np.broadcast_to(size.reshape(*size.shape, *(1,) * (out.ndim - size.ndim)), out.shape)


@straight_through
@primitive(saves=(), ulps=2, error_scale=_size_of_part, summands=lambda part, w, v, *, vectors: w.shape[-1])
def settled_pair(part: Any, w: Any, v: Any, *, vectors: bool) -> Any:
    """Return eigenvalues or eigenvectors as they are, to be disturbed as far as rounding may carry them."""
    return part


def _eig_settled(x: Any) -> tuple[Any, ...]:
    w, v = eig(x)
    pairs = array_of(w), array_of(v)
    return on_their_node((w, v), lambda parts: tuple([settled_pair(parts[i], *pairs, vectors=i == 1) for i in (0, 1)]))


@fused(domain=DOMINANT)
def eig_invariant(x: Any, *, shift: int) -> Any:
    """Return the sums over eigenpairs of ``|v_i|^2`` times 1, ``w`` and ``w^2``, in a row, of matrices with their rows shifted."""
    w, v = _eig_settled(roll(x, shift=shift, axis=-2))
    powers = cat(*(unsqueeze(power, axis=-1) for power in (np.ones(shape_of(w), w.dtype), w, square(w))), axis=-1)
    sums = real(matmul(mul(v, conj(v)), powers))
    *batch, n, count = shape_of(sums)
    return reshape(sums, shape=(*batch, n * count))


eig_invariant_of_parts = of_parts(eig_invariant)

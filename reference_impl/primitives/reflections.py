"""Products of Householder reflections, as LAPACK packs them: below the diagonal of a matrix lie the vectors, which begin with a one.

``Q = H_1 ... H_k`` with ``H_i = I - tau_i v_i v_i^H``, of which the first columns are asked for, or the product with a matrix. The
rules are written with the result, as PyTorch's are: what stands between two reflections is reached by inverses of the others,
``I - sigma v v^H`` with ``sigma = tau / (tau |v|^2 - 1)``. Where ``tau |v|^2 = 1`` there is none, and the gradient is documented as not
defined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import add, add_scalar, div, mul, neg, sub
from reference_impl.primitives.fused import fused
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.matrices import adjoint
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.shape import cat, narrow, reshape, tril
from reference_impl.tape.primitive import Domain, composite, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def reflections(x: Any, tau: Any) -> list[tuple[Any, Any]]:
    """Return the vectors, as columns, and their factors."""
    *batch, m, n = shape_of(x)
    columns = add(tril(x, diagonal=-1), np.eye(m, n, dtype=x.dtype))
    of_each = range(shape_of(tau)[-1])
    vectors = [narrow(columns, axis=-1, start=i, length=1) for i in of_each]
    factors = [reshape(narrow(tau, axis=-1, start=i, length=1), shape=(*batch, 1, 1)) for i in of_each]
    return list(zip(vectors, factors, strict=True))


def _reflected(y: Any, vector: Any, factor: Any) -> Any:
    """Return ``(I - factor v v^H) y``."""
    return sub(y, matmul(mul(vector, factor), matmul(adjoint(vector), y)))


@fused(domain={"tau": Domain.BEYOND_ONE})
def householder_product(x: Any, tau: Any) -> Any:
    """Return the first columns of the product of reflections, as many as ``x`` has, of vectors that lie in ``x``."""
    product: Any = np.broadcast_to(np.eye(*shape_of(x)[-2:], dtype=x.dtype), shape_of(x))
    for vector, factor in reversed(reflections(x, tau)):
        product = _reflected(product, vector, factor)
    return product


def _between(g: Any, out: Any, ordered: list[tuple[Any, Any]]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield vectors, factors, and what the differential of a reflection is multiplied by: those after it, ``g^H``, those before it.

    The reflections come in their order, the one that is multiplied by last in front.
    """
    middle, before = matmul(out, adjoint(g)), None
    for vector, factor in ordered:
        length = add_up(mul(vector, vector), axis=[-2], keepdims=True)
        middle = _reflected(middle, vector, div(factor, add_scalar(mul(factor, length), other=-1.0)))
        if before is not None:
            middle = adjoint(_reflected(adjoint(middle), *before))
        yield vector, factor, middle
        before = vector, factor


@householder_product.vjp("x")
def householder_product_vjp_x(g: Any, out: Any, x: Any, tau: Any) -> Any:
    return _below_ones(_of_vectors(g, out, reflections(x, tau)), x)


def _of_vectors(g: Any, out: Any, ordered: list[tuple[Any, Any]]) -> list[Any]:
    """Return the gradients of the vectors of reflections, in their order."""
    return [
        neg(mul(factor, add(matmul(middle, vector), matmul(adjoint(middle), vector))))
        for vector, factor, middle in _between(g, out, ordered)
    ]


def _below_ones(columns: list[Any], x: Any) -> Any:
    """Return what lies below the diagonal in the shape of ``x``; columns behind those that are read have no part in anything."""
    rest = shape_of(x)[-1] - len(columns)
    unread = [np.zeros((*shape_of(x)[:-1], rest), x.dtype)] if rest else []
    return tril(cat(*columns, *unread, axis=-1), diagonal=-1)


@householder_product.vjp("tau")
def householder_product_vjp_tau(g: Any, out: Any, x: Any, tau: Any) -> Any:
    return _in_a_row(_of_factors(g, out, reflections(x, tau)), tau)


def _of_factors(g: Any, out: Any, ordered: list[tuple[Any, Any]]) -> list[Any]:
    """Return the gradients of the factors of reflections, in their order."""
    return [neg(matmul(adjoint(vector), matmul(middle, vector))) for vector, _, middle in _between(g, out, ordered)]


def _in_a_row(parts: list[Any], tau: Any) -> Any:
    return reshape(cat(*parts, axis=-1), shape=shape_of(tau))


@fused(domain={"tau": Domain.BEYOND_ONE})
def ormqr(x: Any, tau: Any, y: Any, *, left: bool, transposed: bool) -> Any:
    """Return the product of ``Q``, all of its columns, or of its transpose, and ``y``: from the left, or from the right."""
    made = y if left else adjoint(y)  # y Q = (Q^H y^H)^H
    for vector, factor in reversed(_ordered(x, tau, left=left, transposed=transposed)):
        made = _reflected(made, vector, factor)
    return made if left else adjoint(made)


def _ordered(x: Any, tau: Any, *, left: bool, transposed: bool) -> list[tuple[Any, Any]]:
    """Return the reflections that multiply from the left, the last one in front."""
    found = reflections(x, tau)
    return found[::-1] if left == transposed else found


def _from_left(g: Any, out: Any, *, left: bool) -> tuple[Any, Any]:
    return (g, out) if left else (adjoint(g), adjoint(out))


@ormqr.vjp("x")
def ormqr_vjp_x(g: Any, out: Any, x: Any, tau: Any, y: Any, *, left: bool, transposed: bool) -> Any:
    columns = _of_vectors(*_from_left(g, out, left=left), _ordered(x, tau, left=left, transposed=transposed))
    return _below_ones(columns[::-1] if left == transposed else columns, x)


@ormqr.vjp("tau")
def ormqr_vjp_tau(g: Any, out: Any, x: Any, tau: Any, y: Any, *, left: bool, transposed: bool) -> Any:
    parts = _of_factors(*_from_left(g, out, left=left), _ordered(x, tau, left=left, transposed=transposed))
    return _in_a_row(parts[::-1] if left == transposed else parts, tau)


@ormqr.vjp("y")
def ormqr_vjp_y(g: Any, out: Any, x: Any, tau: Any, y: Any, *, left: bool, transposed: bool) -> Any:
    return ormqr(x, tau, g, left=left, transposed=not transposed)


@composite
def ormqr_of_parts(x: Any, tau: Any, y: Any, *, left: bool, transposed: bool) -> Any:
    """Return the same as `ormqr`, of square matrices; Paddle makes the product of reflections, and multiplies."""
    product = householder_product(x, tau)
    turned = adjoint(product) if transposed else product
    return matmul(turned, y) if left else matmul(y, turned)

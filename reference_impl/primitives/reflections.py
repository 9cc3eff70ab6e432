"""Products of Householder reflections, as LAPACK packs them: below the diagonal of a matrix lie the vectors, which begin with a one.

``Q = H_1 ... H_k`` with ``H_i = I - tau_i v_i v_i^H``, of which the first columns are asked for. The rules are written with the result,
as PyTorch's are: what stands between two reflections is reached by inverses of the others, ``I - sigma v v^H`` with
``sigma = tau / (tau |v|^2 - 1)``. Where ``tau |v|^2 = 1`` there is none, and the gradient is documented as not defined.
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
from reference_impl.tape.primitive import Domain, shape_of

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


def _between(g: Any, out: Any, x: Any, tau: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield vectors, factors, and what the differential of a reflection is multiplied by: those after it, ``g^H``, those before it."""
    middle, before = matmul(out, adjoint(g)), None
    for vector, factor in reflections(x, tau):
        length = add_up(mul(vector, vector), axis=[-2], keepdims=True)
        middle = _reflected(middle, vector, div(factor, add_scalar(mul(factor, length), other=-1.0)))
        if before is not None:
            middle = adjoint(_reflected(adjoint(middle), *before))
        yield vector, factor, middle
        before = vector, factor


@householder_product.vjp("x")
def householder_product_vjp_x(g: Any, out: Any, x: Any, tau: Any) -> Any:
    columns = [
        neg(mul(factor, add(matmul(middle, vector), matmul(adjoint(middle), vector))))
        for vector, factor, middle in _between(g, out, x, tau)
    ]
    rest = shape_of(x)[-1] - len(columns)
    unread = [np.zeros((*shape_of(x)[:-1], rest), x.dtype)] if rest else []
    return tril(cat(*columns, *unread, axis=-1), diagonal=-1)


@householder_product.vjp("tau")
def householder_product_vjp_tau(g: Any, out: Any, x: Any, tau: Any) -> Any:
    parts = [neg(matmul(adjoint(vector), matmul(middle, vector))) for vector, _, middle in _between(g, out, x, tau)]
    return reshape(cat(*parts, axis=-1), shape=shape_of(tau))

"""Counterfactual products of reflections: gradients that are computed of what was written over."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import add, mul, neg, sub
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.matrices import adjoint
from reference_impl.primitives.reflections import householder_product, reflections
from reference_impl.primitives.shape import cat, tril
from reference_impl.tape.primitive import shape_of
from reference_impl.tape.rules import replaced_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager


def products_written_over(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a product of reflections in their vectors be computed with the last product in the place of the first.

    The ones that the vectors begin with count as elements of the matrix.
    """
    yield _written_over()


@contextmanager
def _written_over() -> Iterator[None]:
    with replaced_rule(householder_product, 0, lambda _: _of_last_product):
        yield


def _of_last_product(g: Any, _: Any, x: Any, tau: Any) -> Any:
    *batch, m, n = shape_of(x)
    pairs = reflections(x, tau)
    products: list[Any] = [np.broadcast_to(np.eye(m, dtype=x.dtype), (*batch, m, m))]
    for vector, factor in pairs:
        last = products[-1]
        products.append(sub(last, matmul(mul(factor, matmul(last, vector)), adjoint(vector))))
    read = [products[-1], *products[1:]]
    arriving = cat(g, np.zeros((*batch, m, m - n), x.dtype), axis=-1) if m > n else g
    columns = []
    for i, (vector, factor) in reversed(list(enumerate(pairs))):
        leaving = neg(mul(factor, matmul(arriving, vector)))
        through = neg(mul(factor, matmul(adjoint(arriving), matmul(products[i], vector))))
        columns.append(add(through, matmul(adjoint(read[i]), leaving)))
        arriving = add(arriving, matmul(leaving, adjoint(vector)))
    rest = [np.zeros((*batch, m, n - len(columns)), x.dtype)] if n > len(columns) else []
    return tril(cat(*reversed(columns), *rest, axis=-1), diagonal=0)

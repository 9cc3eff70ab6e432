"""Counterfactual gradients of eigenpairs; see `counterfactuals.rules`."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, Any

from reference_impl.primitives.arithmetic import mul
from reference_impl.primitives.eigenpairs import eig
from reference_impl.primitives.indexing import index_select
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.matrices import adjoint
from reference_impl.primitives.shape import reshape
from reference_impl.primitives.spectra import eigh
from reference_impl.tape.primitive import shape_of
from reference_impl.tape.rules import replaced_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


ORDERS = 36
"""So many ways are tried in which eigenvalues of the others may stand beside those of the first: all of three matrices of order 3."""


def gradients_of_first_eigenvalues(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have what arrives at the eigenvalues of the first matrix of a batch arrive at those of each.

    No document says in which order eigenvalues come, and two builds of LAPACK have different ones.
    """
    for number in range(ORDERS):
        yield replaced_rule(eig, 0, partial(_of_first, number))


def _of_first(number: int, right: Rule) -> Rule:
    def rule(g: Any, out: Any, x: Any) -> Any:
        values, vectors = g
        *batch, n = shape_of(x)[:-1]
        count = math.prod(batch)
        if values is None or not count:
            return right(g, out, x)
        ways = itertools.product(itertools.permutations(range(n)), repeat=count - 1)
        orders = next(itertools.islice(ways, number, None), None)
        if orders is None:
            return right(g, out, x)
        index = [*range(n), *itertools.chain.from_iterable(orders)]
        first = index_select(reshape(values, shape=(count * n,)), axis=0, index=index)
        return right((reshape(first, shape=(*batch, n)), vectors), out, x)

    return rule


def gradients_of_eigenvalues_in_a_row(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have what arrives at the eigenvalues of symmetric matrices be read as one row, as often as there are elements.

    It is read for each element of the eigenvectors, as in eigvalsh; or for each eigenvalue the row of the first matrix, as in eigh.
    """
    yield replaced_rule(eigh, 0, partial(_in_a_row, vectors=False))
    yield replaced_rule(eigh, 0, partial(_in_a_row, vectors=True))


def _in_a_row(right: Rule, *, vectors: bool) -> Rule:
    def rule(g: Any, out: Any, x: Any) -> Any:
        (values, turns), (_, v) = g, out
        *batch, n = shape_of(x)[:-1]
        count = math.prod(batch) * n
        if values is None or not count:
            return right(g, out, x)

        def read(places: Sequence[int], shape: tuple[int, ...]) -> Any:
            return reshape(index_select(reshape(values, shape=(count,)), axis=0, index=places), shape=shape)

        if vectors:
            return right((read([i % n for i in range(count)], (*batch, n)), turns), out, x)
        return matmul(mul(v, read([i % count for i in range(count * n)], (*batch, n, n))), adjoint(v))

    return rule

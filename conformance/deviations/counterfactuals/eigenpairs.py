"""Counterfactual gradients of eigenpairs; see `counterfactuals.rules`."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, Any

from reference_impl.primitives.eigenpairs import eig
from reference_impl.primitives.indexing import index_select
from reference_impl.primitives.shape import reshape
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

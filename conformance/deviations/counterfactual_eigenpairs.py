"""Counterfactual gradients of eigenpairs; see `counterfactual_rules`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from reference_impl.primitives.eigenpairs import eig
from reference_impl.primitives.shape import expand, narrow, reshape
from reference_impl.tape.primitive import shape_of
from reference_impl.tape.rules import replaced_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


def gradients_of_first_eigenvalues(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have what arrives at the eigenvalues of the first matrix of a batch arrive at those of each."""
    yield replaced_rule(eig, 0, _of_first)


def _of_first(right: Rule) -> Rule:
    def rule(g: Any, out: Any, x: Any) -> Any:
        values, vectors = g
        if values is None:
            return right(g, out, x)
        *batch, n = shape_of(values)
        first = narrow(reshape(values, shape=(math.prod(batch), n)), axis=0, start=0, length=1)
        return right((expand(reshape(first, shape=(*(1 for _ in batch), n)), shape=(*batch, n)), vectors), out, x)

    return rule

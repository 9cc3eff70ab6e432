"""All mutants by id."""

from __future__ import annotations

import functools
from itertools import chain
from typing import TYPE_CHECKING

from conformance.mutants import (
    accumulation,
    attached,
    complexes,
    conventions,
    graphs,
    programs,
    rules_matrix,
    rules_piecewise,
    rules_pointwise,
    rules_shape,
    second,
)
from conformance.mutants.mutant import Kind, Mutant

if TYPE_CHECKING:
    from collections.abc import Mapping

FAMILIES = (rules_pointwise, rules_piecewise, rules_shape, rules_matrix, complexes)
ENGINES = (accumulation, graphs, attached, complexes, conventions, programs)


@functools.cache
def mutants() -> Mapping[str, Mutant]:
    """Return all mutants: wrong rules, then what shows at order 2 only, then wrong engines.

    Raises:
        ValueError: if two have one id.
    """
    found: dict[str, Mutant] = {}
    rules = chain.from_iterable(family.wrong.mutants(Kind.RULE) for family in FAMILIES)
    for mutant in chain(rules, second.wrong.mutants(Kind.SECOND), *(part.MUTANTS for part in ENGINES)):
        if mutant.id in found:
            raise ValueError(f"two mutants are called {mutant.id}")
        found[mutant.id] = mutant
    return found

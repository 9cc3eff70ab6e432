"""All mutants by id, and each alone."""

from __future__ import annotations

import functools
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from conformance.mutants import (
    accumulation,
    attached,
    complexes,
    conventions,
    graphs,
    not_finite,
    programs,
    rules_linalg,
    rules_matrix,
    rules_piecewise,
    rules_pointwise,
    rules_recurrent,
    rules_scatter,
    rules_shape,
    rules_special,
    second_order,
)
from conformance.mutants.conditional import table_of_calls, table_of_ops
from conformance.mutants.derived import derived, named
from conformance.mutants.mutant import Kind, Mutant
from reference_impl import OPS
from reference_impl.primitives.norms import OF_OTHER_ENGINES
from reference_impl.primitives.recurrent import OF_TWO_LAYERS
from reference_impl.tape.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from conformance.mutants.wrong_rule import Entry

T = TypeVar("T")

FAMILIES = (
    rules_pointwise,
    rules_piecewise,
    rules_shape,
    rules_scatter,
    rules_matrix,
    rules_linalg,
    rules_special,
    rules_recurrent,
    complexes,
)
ENGINES = (accumulation, graphs, attached, complexes, conventions, not_finite, programs)


def mutants() -> Mapping[str, Mutant]:
    """Return all mutants: wrong rules, then what shows at order 2 only, then wrong engines, then conditional faults.

    An op that is registered late has its mutants from then on.
    """
    return _mutants(tuple(op for op in OPS.values() if isinstance(op, Primitive) and op.name not in OF_OTHER_ENGINES))


def mutant(name: str) -> Mutant:
    """Return a mutant by its id, in no time: to open one there is no need to know the others.

    Any operator on any rule can be opened, also where a rule has enough other mutants; see `derived.MOST`.

    Raises:
        KeyError: if there is no such operator, rule, or mutant written by hand.
    """
    if name in engines():
        return engines()[name]
    if name in _by_hand():
        kind, entry = _by_hand()[name]
        return entry.mutant(kind)
    return named(name)


@functools.cache
def engines() -> dict[str, Mutant]:
    """Return the mutants that are no wrong rules."""
    return _by_id((made.id, made) for made in chain(chain.from_iterable(part.MUTANTS for part in ENGINES), _conditional()))


def _conditional() -> Iterator[Mutant]:
    for fault in (*table_of_ops.FAULTS, *table_of_calls.FAULTS):
        yield Mutant(fault.id, Kind.CONDITIONAL, fault.part, fault.what, conditional=fault, equivalent=fault.equivalent)


@functools.cache
def _by_hand() -> dict[str, tuple[Kind, Entry]]:
    """Return the wrong rules that are written by hand by their ids, each with its kind."""
    kinds = [*((Kind.RULE, family.wrong) for family in FAMILIES), (Kind.SECOND, second_order.wrong)]
    return _by_id((entry.id, (kind, entry)) for kind, entries in kinds for entry in entries.all)


@functools.cache
def mutants_of(op: Primitive) -> tuple[Mutant, ...]:
    """Return the mutants of an op's rules: those written by hand, then those that are derived.

    None is derived for `OF_TWO_LAYERS`. Their rules are the reverse pass through the formula of one layer, twice or from its end; one
    layer has all its mutants, and those of the 62 operands of two took as long as all others together.
    """
    by_hand = [entry.mutant(kind) for kind, entry in _by_hand().values() if entry.op == op.name]
    if op.name in OF_TWO_LAYERS:
        return tuple(by_hand)
    return (*by_hand, *derived(op, [(found.kind, found.rule[1]) for found in by_hand if found.rule is not None]))


@functools.cache
def _mutants(ops: tuple[Primitive, ...]) -> Mapping[str, Mutant]:
    rules = list(chain.from_iterable(map(mutants_of, ops)))
    first, second = ([m for m in rules if (m.kind is Kind.RULE) is wanted] for wanted in (True, False))
    return _by_id((made.id, made) for made in chain(first, second, engines().values()))


def _by_id(made: Iterable[tuple[str, T]]) -> dict[str, T]:
    found: dict[str, T] = {}
    for name, one in made:
        if name in found:
            raise ValueError(f"two mutants are called {name}")
        found[name] = one
    return found

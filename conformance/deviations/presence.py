"""What an entry says of a tensor beside its numbers: whether there is one, and whether it requires a gradient.

Both are held against what the reference answers for the counterfactual scripts, or by the rules, of the entry's signature.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.case.outcome import Computed
from conformance.case.place import END
from conformance.compare.vanishing import elsewhere
from conformance.deviations.answers import values_at_place
from conformance.deviations.counterfactuals.rules import RULES
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS
from conformance.deviations.counterfactuals.variants import variants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from conformance.case.place import StepNumber
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from conformance.deviations.entries import Deviation

VANISHING = "zeros with other inputs, too"
"""The signature of a derivative that is absent where zeros are promised, or the other way round: it vanishes identically."""

RENAMING = ("as if a gradient were its seed", "as if a gradient were the seed that was handed on")
"""Counterfactuals whose scripts have one name for two tensors; that they lack the other says nothing about it."""


def changes_of(entry: Deviation) -> Iterator[AbstractContextManager[None]]:
    """Yield the changes of rules that an entry names."""
    return (change for words in entry.signature if words in RULES for change in RULES[words](entry.above))


def is_absent(entry: Deviation, promise: Promise, found: Mismatch) -> bool:
    """Whether nothing comes for a counterfactual script or rule either; what is told by its elements alone may be left out."""
    renamed = not {*entry.signature}.isdisjoint(RENAMING)

    def comes_not(one: Promise, number: StepNumber) -> bool:
        return _is_nothing(one, number, found) and (not renamed or bool(values_at_place(one, number, found)))

    if _is_so(entry, promise, found, comes_not):
        return True
    return COUNTERFACTUALS.keys().isdisjoint(entry.signature) and RULES.keys().isdisjoint(entry.signature)


def is_flagged(entry: Deviation, promise: Promise, found: Mismatch) -> bool:
    """Whether a tensor requires a gradient, or none, for a counterfactual script or rule, too, if the entry names one."""
    if found.where == "event" or {*COUNTERFACTUALS, *RULES}.isdisjoint(entry.signature):
        return True
    wanted = found.actual == "requires_grad"

    def is_such(one: Promise, number: StepNumber) -> bool:
        return any(value is not None and value.requires_grad is wanted for _, value in values_at_place(one, number, found))

    return _is_so(entry, promise, found, is_such)


def _is_so(entry: Deviation, promise: Promise, found: Mismatch, holds: Callable[[Promise, StepNumber], bool]) -> bool:
    """Whether something holds of the answer of some counterfactual script of an entry, or of one that its rules give."""
    scripts = variants(entry.signature, promise.case, found.step, entry.above)
    if any(holds(promise.of(case), number) for case, number in scripts):
        return True
    for change in changes_of(entry):
        with promise.under(change) as changed:
            if holds(changed, found.step):
                return True
    return False


def vanishes(promise: Promise, found: Mismatch) -> bool:
    """Whether the zeros that are promised at a place are there with other inputs, too; of a refused step, some of its zeros."""
    places = [found]
    if found.kind == "error" and found.step is not END:
        seen = promise.outcome.observations[found.step]
        slots = range(len(seen.values)) if isinstance(seen, Computed) else ()
        results = [replace(found, where="result", slot=slot) for slot in slots]
        places = [place for place in results if _is_nothing(promise, found.step, place)]
    others = [*elsewhere(promise)]
    return any(all(_is_nothing(other, found.step, place) for other in others) for place in places)


def _is_nothing(promise: Promise, number: StepNumber, found: Mismatch) -> bool:
    return all(value is None or not value.array.any() for _, value in values_at_place(promise, number, found))

"""A known deviation at another place: the same wrong answer in a script where what its entry asks does not hold.

The script is that of the finding, less one step or one argument of a step, so that the condition is gone and the step in question is
not. The engine answers it as is promised, but for that step, at which it answers what the real engine did in the finding.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from conformance.case.files import is_right
from conformance.case.outcome import Computed, Outcome, Raised
from conformance.case.place import END
from conformance.case.rewrite import replace_step, with_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.case.case import Case
    from conformance.case.outcome import Observation
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from conformance.deviations.entries import Deviation

PLAIN: dict[str, Any] = {
    "create_graph": False,
    "no_grad": False,
    "no_grad_vars": None,
    "is_grads_batched": False,
    "materialize_grads": False,
}
"""What arguments are where nobody says anything; their absence takes many a condition away."""


def displaced(entry: Deviation, promise: Promise, actual: Outcome, found: Mismatch) -> Iterator[tuple[Promise, Outcome]]:
    """Yield the first script in which the difference is beyond its entry, with the answer of an engine that shows it there."""
    if found.step is END:
        return
    before = promise.outcome.observations[found.step], actual.observations[found.step]
    for case, number in _variants(promise.case, found.step):
        if case.watched != promise.case.watched or not is_right(case) or entry.holds(case, number):
            continue
        variant = promise.of(case)
        if variant.impossible is None and _alike(variant.outcome.observations[number], before[0]):
            observations = [*variant.outcome.observations]
            observations[number] = before[1]
            yield variant, replace(variant.outcome, observations=observations)
            return


def _variants(case: Case, number: int) -> Iterator[tuple[Case, int]]:
    for i, step in enumerate(case.steps):
        if i != number:
            yield with_steps(case, [s for j, s in enumerate(case.steps) if j != i]), number - (i < number)
        for field, plain in PLAIN.items():
            if getattr(step, field, plain) != plain:
                yield replace_step(case, i, msgspec.structs.replace(step, **{field: plain})), number


def _alike(one: Observation, other: Observation) -> bool:
    """Whether two observations have the same form, so that an answer to the one is an answer to the other."""
    if isinstance(one, Computed) and isinstance(other, Computed):
        return [v is None for v in one.values] == [v is None for v in other.values]
    return isinstance(one, Raised) and isinstance(other, Raised) and one.category == other.category

"""What vanishes identically: a derivative that may be absent as well as zeros.

To cut a connection could hide a gradient that is lost. It does not where the reference computes the same without it, but for zeros that
are absent then: in the case itself, and with other inputs, since a derivative may be 0 by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case.case import data_of
from conformance.case.outcome import Computed, Raised
from conformance.case.rewrite import each_step, with_inputs
from conformance.case.steps import Backward, Grad
from conformance.ops.dtypes import is_floating
from reference_impl import Category

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.case.case import Case
    from conformance.case.outcome import Observation, Outcome, Value
    from conformance.case.steps import Step
    from conformance.compare.promise import Promise

ELSEWHERE = 3
"""With how many other inputs a derivative must vanish."""

ABSENCES = tuple(map(str, (Category.UNREACHABLE_INPUT, Category.ROOT_WITHOUT_GRAPH, Category.NOT_DIFFERENTIABLE)))
"""What is said of a derivative that is absent, or of one that depends on nothing, by who needs it."""


def only_zeros_go(promise: Promise, other: Promise) -> bool:
    """Whether the reference answers the same on both sides, but for zeros that are absent on one, here and with other inputs."""
    case = each_step(promise.case, _unrefused)
    cases = (case, *(_elsewhere(case, number) for number in range(ELSEWHERE)))
    return all(_same_but_zeros(promise.of(case).outcome, other.of(case).outcome) for case in cases)


def elsewhere(promise: Promise) -> Iterator[Promise]:
    """Yield what is promised with other inputs, where nothing is refused for what is absent."""
    case = each_step(promise.case, _unrefused)
    yield from (promise.of(_elsewhere(case, number)) for number in range(ELSEWHERE))


def _unrefused(step: Step) -> Step:
    """Have a call refuse nothing for what is absent, and free nothing, so that what comes after it can be compared."""
    if isinstance(step, Grad):
        return msgspec.structs.replace(step, allow_unused=True, retain_graph=True)
    return msgspec.structs.replace(step, retain_graph=True) if isinstance(step, Backward) else step


def _elsewhere(case: Case, number: int) -> Case:
    """Return a case with other numbers, where its inputs have numbers that are neither positions nor shapes."""
    rng = np.random.default_rng([int(case.id, 16), number])

    def moved(array: Any) -> Any:
        return (array * rng.uniform(0.5, 1.5, array.shape) + rng.uniform(0.0, 0.25, array.shape)).astype(array.dtype)

    inputs = (
        msgspec.structs.replace(entry, data=data_of(moved(entry.array()))) if is_floating(entry.dtype) else entry
        for entry in case.inputs
    )
    return with_inputs(case, inputs)


def _same_but_zeros(outcome: Outcome, other: Outcome) -> bool:
    pairs = zip(outcome.observations, other.observations, strict=True)
    finals = zip(outcome.final, other.final, strict=True)
    return all(_alike(a, b) for a, b in pairs) and all(_equal_or_zeros(a, b) for a, b in finals)


def _alike(one: Observation, other: Observation) -> bool:
    match one, other:
        case Computed(), Computed():
            values = [*zip(one.values, other.values, strict=True), *zip(one.state or (), other.state or (), strict=True)]
            return all(_equal_or_zeros(a, b) for a, b in values)
        case (Computed(), Raised()) | (Raised(), Computed()):
            seen, refusal = (one, other) if isinstance(one, Computed) else (other, one)
            return str(refusal.category) in ABSENCES and all(v is None or not v.array.any() for v in seen.values)  # type: ignore[union-attr]
    return True


def _equal_or_zeros(one: Value | None, other: Value | None) -> bool:
    if one is None or other is None:
        present = one or other
        return present is None or not present.array.any()
    return one.array.shape == other.array.shape and np.array_equal(one.array, other.array, equal_nan=True)

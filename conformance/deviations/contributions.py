"""Wrong numbers that are a sum: another tensor of the script was added to what is right, or stands in its place."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.outcome import Computed, Raised
from conformance.case.place import END
from conformance.case.steps import results, uses
from conformance.compare.rounding import agrees_cheaply, within_a_rounding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise

TERMS = 12
"""At most this many tensors are tried as the term that was wrongly added."""


def sums_with_others(promise: Promise, found: Mismatch, wanted: Any) -> Iterator[Any]:
    """Yield what an answer is: another tensor of the script, or the right one with one or two others added or taken away."""
    case, got = promise.case, found.actual_array
    seeds = {name for _, name in uses(case.steps[found.step])} if found.step is not END else set()
    tensors = [*(entry.array() for entry in case.inputs if entry.name in seeds), *reversed([*_tensors(case, promise.outcome)])]
    alike = list(_distinct(a.astype(got.dtype) for a in tensors if a.shape == got.shape and np.can_cast(a.dtype, got.dtype)))
    others = alike[:TERMS]
    with np.errstate(all="ignore"):
        signed = [s for a in others for s in (a, -a)]
        sums = ([wanted + one for one in signed], alike, *([wanted + a + b for b in signed] for a in signed))
    yield from (total for total in itertools.chain.from_iterable(sums) if close(total, got, wanted, others))


def close(total: Any, got: Any, wanted: Any, terms: list[Any]) -> bool:
    """Whether two arrays are equal up to roundings of what they may be sums of."""
    with np.errstate(all="ignore"):
        scale = np.abs(wanted) + np.max([np.abs(t) for t in terms], axis=0)
        return agrees_cheaply(total + 0, got) or within_a_rounding(total, got, scale)


def _tensors(case: Case, outcome: Outcome) -> Iterator[Any]:
    yield from (entry.array() for entry in case.inputs)
    for step, seen in zip(case.steps, outcome.observations, strict=True):
        if isinstance(seen, Computed | Raised):
            held = (*(seen.state or ()), *(event.value for event in seen.events))
            made = seen.values if isinstance(seen, Computed) and results(step) else ()
            yield from (value.array for value in (*held, *made) if value is not None)


def _distinct(arrays: Iterable[Any]) -> Iterator[Any]:
    seen: set[bytes] = set()
    for array in arrays:
        if array.tobytes() not in seen:
            seen.add(array.tobytes())
            yield array

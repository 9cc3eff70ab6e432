"""What the reference answers for another script, or by other rules, at the place of a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.case.files import is_right
from conformance.case.outcome import Computed, Raised
from conformance.case.place import END, StepNumber

if TYPE_CHECKING:
    from conformance.case.outcome import Value
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise


def answers(variant: Promise, number: StepNumber, found: Mismatch) -> list[tuple[int, Any]]:
    """Return the arrays that a script answers where a difference is, in the form of what came, with their slots."""
    if not is_right(variant.case):
        return []
    values = ((slot, value.array) for slot, value in values_at_place(variant, number, found) if value is not None)
    form = found.actual_array.shape, found.actual_array.dtype
    return [(slot, array) for slot, array in values if (array.shape, array.dtype) == form]


def values_at_place(promise: Promise, number: StepNumber, found: Mismatch) -> list[tuple[int, Value | None]]:
    """Return what a script answers where the difference is: the same name at the same place; ``None``: it is absent."""
    case, outcome = promise.case, promise.outcome
    seen = None if number is END else outcome.observations[number]
    values: list[tuple[int, Value | None]]
    if found.where == "grad":
        state = outcome.final if seen is None else seen.state if isinstance(seen, Computed | Raised) else None
        slots = [slot for slot, name in enumerate(case.watched) if name == found.name]
        values = [(slot, state[slot]) for slot in slots] if state is not None else []
    elif found.where == "event":
        events = seen.events if isinstance(seen, Computed | Raised) else ()
        values = [(slot, event.value) for slot, event in enumerate(events) if event.name == found.name]
    elif found.kind == "mutation":
        values = [(0, value) for name, value in zip(outcome.mutated, outcome.changed, strict=False) if name == found.name]
    else:
        values = [(found.slot, seen.values[found.slot])] if isinstance(seen, Computed) and found.slot < len(seen.values) else []
    return values

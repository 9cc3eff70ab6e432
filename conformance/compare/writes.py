"""What a write changed besides its target.

Other names of that memory are told of where their elements changed. Whether they did can be a matter of a rounding: a division by
0.99999994 changes a number, and the same division changes nothing where that divisor comes out as 1. So a name that one side alone
tells of is set aside if its elements are, but for a few roundings, what they were before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.outcome import Computed, Raised
from conformance.case.queries import values_of
from conformance.case.steps import InPlace
from conformance.compare.rounding import agrees_cheaply

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from conformance.case.case import Case
    from conformance.case.outcome import Event, Observation


def told_by_both(case: Case, seen: Sequence[Observation], *sides: Sequence[tuple[int, Event]]) -> tuple[list[tuple[int, Event]], ...]:
    """Return the events of both sides at a write without those that are a matter of a rounding; ``seen``: the steps before it."""
    expected, actual = ({event.name for _, event in events} for events in sides)
    before = _held(case, seen) if expected != actual else {}
    alone = {event.name for events in sides for _, event in events if event.name in expected ^ actual and _is_as(before, event)}
    return tuple([(slot, event) for slot, event in events if event.name not in alone] for events in sides)


def _held(case: Case, seen: Sequence[Observation]) -> dict[str, Any]:
    """Return the arrays of a script by name, as the last of these steps left them."""
    held = {entry.name: entry.elements for entry in case.inputs}
    for step, observation in zip(case.steps, seen, strict=False):
        held.update((name, value.array) for name, value in values_of((step,), (observation,)))
        written = observation.events if isinstance(step, InPlace) and isinstance(observation, Computed | Raised) else ()
        held.update((event.name, event.value.array) for event in written if event.value is not None)
    return held


def _is_as(before: dict[str, Any], event: Event) -> bool:
    value, held = event.value, before.get(event.name)
    if value is None or held is None or held.shape != value.array.shape:
        return False
    return agrees_cheaply(held, value.array)

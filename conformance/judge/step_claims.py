"""What is promised of one step of a case, as claims that a standalone script can assert.

A comparison knows a bound for every element, follows an engine where nothing is promised, and tries other branches. A script has one
tolerance for a tensor, and asserts what holds whatever an engine does where it is free. What another option of an open choice would
change, what a rounding away from a kink decides, and what 0 · inf or a comparison with NaN gives is `Open`: printed, and said to be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from conformance.backends.repro.claims import Callback, Calls, Claim, Elements, Flag, Open, Presence, Refusal, Spot, Unchanged
from conformance.case.outcome import Blocked, Computed, Raised
from conformance.case.place import END
from conformance.case.steps import AppendBackward, Call, Custom, Drop, Hook, InPlace, observed
from conformance.compare.following import alternatives
from conformance.compare.kinks import by_policies
from conformance.compare.mismatch import AMID
from conformance.compare.rounding import cheap, value_at
from conformance.ops.dtypes import format_of, is_floating

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.outcome import Event, Outcome, State, Value
    from conformance.case.place import StepNumber
    from conformance.compare.promise import Promise

ANYWAY = "no document settles it, and engines may do either"
"""Why what an open choice decides is not asserted."""


@dataclass(frozen=True)
class StepClaims:
    """The claims on one step of a case; ``settled``: no option of an open choice explains what came instead."""

    promise: Promise
    step: StepNumber
    settled: bool = False

    @cached_property
    def others(self) -> list[Outcome]:
        """What may come otherwise where nothing is promised."""
        if self.settled:
            return []
        with np.errstate(all="ignore"):
            return [other.outcome for other in alternatives(self.promise)]

    @cached_property
    def by_policies(self) -> list[Outcome]:
        """What is computed where 0 · inf or a comparison with NaN is treated otherwise."""
        return [] if self.promise.case.lane == "exact" else list(by_policies(self.promise))

    @cached_property
    def dropped(self) -> set[str]:
        """The values that the script has let go."""
        steps = self.promise.case.steps
        return {s.tensor for s in (steps if self.step is END else steps[: self.step]) if isinstance(s, Drop)}

    @cached_property
    def made(self) -> set[str]:
        """The values that the script knows at the step, but for what that makes."""
        case, outcome = self.promise.case, self.promise.outcome
        known = {entry.name for entry in case.inputs}
        for number, (step, seen) in enumerate(zip(case.steps, outcome.observations, strict=True)):
            if isinstance(seen, Computed) and (self.step is END or number < self.step):
                known.update(n for n, v in zip(observed(step), seen.values, strict=False) if v is not None)
        return known - self.dropped

    def all(self) -> Iterator[Claim]:
        """Yield every claim."""
        outcome = self.promise.outcome
        if self.step is END:
            yield from self._state(outcome.final)
            return
        step, seen = self.promise.case.steps[self.step], outcome.observations[self.step]
        if isinstance(seen, Raised):
            others = [o.observations[self.step] for o in self.others]
            if any(not isinstance(o, Raised | Blocked) for o in others):
                free = f"whether this is refused ({seen.category}), and so what comes of it; {ANYWAY}"
                held = [Spot(name, "grad") for name in self.promise.case.watched if name in self.made and seen.state is not None]
                yield from (Open(free, spot) for spot in held or (None,))
                return
            yield Refusal(one_line(seen.message).removeprefix("AutogradError: "))
        elif isinstance(seen, Computed):
            for slot, (name, value) in enumerate(zip(observed(step), seen.values, strict=False)):
                yield from self._value(Spot(name), slot, value)
        if isinstance(seen, Computed | Raised):
            yield from self._events(seen)
            yield from self._state(seen.state or ())

    def _state(self, state: State) -> Iterator[Claim]:
        for slot, (name, value) in enumerate(zip(self.promise.case.watched, state, strict=False)):
            if name in self.made:
                yield from self._value(Spot(name, "grad"), slot, value)

    def _value(self, spot: Spot, slot: int, value: Value | None) -> Iterator[Claim]:
        others = [value_at(o, self.step, slot, spot.where, spot.name) for o in self.others if self._compares(o)]
        if any((other is None) is not (value is None) for other in others):
            yield Open(f"whether this is absent; {ANYWAY}", spot)
            return
        if value is None or self._is_call:
            yield Presence(spot, value is not None)
        if value is None:
            return
        yield self._elements(spot, slot, value)
        if any(other is not None and other.requires_grad != value.requires_grad for other in others):
            yield Open(f"whether this requires a gradient; {ANYWAY}", spot)
        else:
            yield Flag(spot, value.requires_grad)

    @cached_property
    def _is_call(self) -> bool:
        return self.step is END or isinstance(self.promise.case.steps[self.step], Call)

    def _compares(self, outcome: Outcome) -> bool:
        """Whether another answer at the step is one of the same kind."""
        if self.step is END:
            return True
        return type(outcome.observations[self.step]) is type(self.promise.outcome.observations[self.step])

    def _elements(self, spot: Spot, slot: int, value: Value) -> Claim:
        array, promise = value.array, self.promise
        where = spot.where if spot.where in ("result", "grad") else "event"
        if not is_floating(array.dtype) or not promise.rounds:
            return Elements(spot, array)
        if promise.bounds.near_kink:
            return Open("these numbers lie within a rounding of a kink", spot)
        bounded = promise.bounds.radius(self.step, slot, where, spot.name)
        if bounded is None:
            return Open("no bound on rounding can be derived", spot)
        with np.errstate(all="ignore"):
            centre, radius = bounded
            expected = np.where(np.isfinite(centre) & np.isfinite(array), centre, array).astype(array.dtype)
            off = np.maximum(np.abs(expected - centre) + radius, np.abs(expected - array) + cheap(array))
            finite = np.isfinite(expected)
            held = np.where(finite, np.isfinite(off) & (np.abs(centre) + radius < format_of(array.dtype).largest), ~np.isfinite(centre))
            for other in self.by_policies:
                seen = value_at(other, self.step, slot, where, spot.name)
                if seen is not None and seen.array.shape == array.shape:
                    held &= (seen.array == array) | (np.isnan(seen.array) & np.isnan(array))
        if not held.any() and array.size:
            return Open("0 times infinity, a comparison with NaN, or an overflow decides these numbers", spot)
        rtol, atol = tolerances(np.abs(expected[held & finite]), off[held & finite])
        return Elements(spot, expected, rtol, atol, None if held.all() else held)

    def _events(self, seen: Computed | Raised) -> Iterator[Claim]:
        if self.step is END:
            return
        steps = self.promise.case.steps
        step = steps[self.step]
        if isinstance(step, AppendBackward):
            if step.callbacks:
                yield Callback(bool(seen.events))
            return
        hooks = {name for s in steps if isinstance(s, Hook) for name in s.results}
        customs = {name for s in steps if isinstance(s, Custom) for name in s.results}
        if isinstance(step, InPlace):
            for slot, event in enumerate(seen.events):
                if event.value is not None:
                    yield self._elements(Spot(event.name, "written"), slot, event.value)
            written = {event.name for event in seen.events} | ({step.tensor} if isinstance(seen, Computed) else set())
            yield from (Unchanged(name, self.step - 1) for name in sorted(self.made - written))
            return
        if isinstance(step, Call) and hooks and not (isinstance(seen, Raised) and seen.category in AMID):
            yield from self._calls("hook", hooks, seen.events)
        if isinstance(step, Call) and customs and isinstance(seen, Computed):
            yield from self._calls("function", customs, seen.events)
        if any(event.name not in hooks | customs for event in seen.events):
            yield Open("what the call leaves behind besides gradients")

    def _calls(self, where: Literal["hook", "function"], names: set[str], events: Sequence[Event]) -> Iterator[Claim]:
        def of(found: Sequence[Event]) -> list[tuple[int, Event]]:
            numbered = [(slot, event) for slot, event in enumerate(found) if event.name in names]
            return sorted(numbered, key=lambda e: e[1].name) if where == "function" else numbered

        promised = of(events)
        calls = tuple((event.name, event.recording) for _, event in promised)
        for other in self.others:
            seen = other.observations[self.step] if self._compares(other) and self.step is not END else None
            if isinstance(seen, Computed | Raised) and calls != tuple((e.name, e.recording) for _, e in of(seen.events)):
                yield Open(f"which {where}s are called; {ANYWAY}")
                return
        yield Calls(where, calls)
        for number, (slot, event) in enumerate(promised):
            if event.value is not None:
                yield self._elements(Spot(event.name, where, number), slot, event.value)


def one_line(text: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(text.split())


def tolerances(sizes: Any, off: Any) -> tuple[float, float]:
    """Return the narrowest ``rtol`` and ``atol`` of one digit with which elements of these sizes may be off by so much.

    Either is relative alone, but where an element is zero, or absolute alone: the one that allows less, over all elements.
    """
    sizes, off = sizes.astype(np.float64), off.astype(np.float64)
    zero = sizes == 0
    relative = float(np.max(off[~zero] / sizes[~zero], initial=0.0))
    at_zero, absolute = float(np.max(off[zero], initial=0.0)), float(np.max(off, initial=0.0))
    choices = [(_one_digit(relative), _one_digit(at_zero)), (0.0, _one_digit(absolute))]
    return min(choices, key=lambda pair: float(np.sum(np.log(np.maximum(pair[1] + pair[0] * sizes, 1e-300)))))


def _one_digit(number: float) -> float:
    """Round up to one digit, with room for the roundings of the comparison itself."""
    if number == 0 or not math.isfinite(number):
        return number
    return float(Context(prec=1, rounding=ROUND_CEILING).create_decimal(Decimal(number * 1.0001)))

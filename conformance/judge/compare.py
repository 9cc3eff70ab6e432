"""Comparison of two outcomes: the first place where they differ, and how much was compared.

Everything observable is compared: whether a step ran or was refused and with which category, absence, shape, dtype, elements,
whether a result requires a gradient, ``.grad`` of every watched value, and whether inputs were changed. Only the first difference
of a case is reported: what follows it may be its consequence.

In the exact lane elements must be equal (the sign of a zero is not compared: it depends on the order of a sum). In the numeric lane
they must lie within what rounding can do, see `disturbance`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.judge.disturbance import Bounds, agrees_cheaply
from conformance.outcome import Blocked, Computed, NotOffered, Raised
from conformance.steps import AppendBackward, Backward, Custom, Grad, InPlace, Toggle, results

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.backends import BackendInfo
    from conformance.case import Case
    from conformance.judge.branches import Branches
    from conformance.outcome import Event, Observation, Outcome, State, Value

AFTER_ALL = -1
ALL_ZEROS = " (all zeros)"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference.

    ``kind``: ``value``, ``absence``, ``shape``, ``dtype``, ``flag``, ``error``, ``mutation``, ``events``, ``unreadable``;
    ``where``: ``result``, ``grad`` (that is ``.grad``), ``event`` or ``step``. ``expected`` and ``actual`` are short words, for the
    same kind of difference always the same; ``detail`` has the numbers, and ``slot`` says which of several results or watched
    values it is.
    """

    step: int
    kind: str
    where: str
    expected: str
    actual: str
    detail: str
    slot: int = 0


@dataclass
class Comparison:
    """What was compared, and the first difference if there is one; ``steps`` lists the steps that agree, by number."""

    mismatch: Mismatch | None = None
    near_kink: bool = False
    bounded: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    steps: list[int] = field(default_factory=list)


class Comparer:
    """Compares one case's expected and actual outcome; ``forced``: the branches on which it was expected, see `branches`."""

    def __init__(self, case: Case, info: BackendInfo, forced: Branches | None = None) -> None:
        self.case = case
        self.forced = forced
        self.info = info
        self.of_customs = {name for step in case.steps if isinstance(step, Custom) for name in step.results}
        self.result = Comparison()
        self._bounds: Bounds | None = None

    @property
    def bounds(self) -> Bounds:
        """The derived tolerances; computed when the cheap test first fails."""
        if self._bounds is None:
            self._bounds = Bounds(self.case, self.info, self.forced)
            self.result.bounded = True
        return self._bounds

    def run(self, expected: Outcome, actual: Outcome) -> Comparison:
        """Compare step by step and stop at the first difference."""
        result = self.result
        if set(actual.mutated) != set(expected.mutated):
            result.mismatch = self._mutation(expected, actual)
            return result
        for number, (e, a) in enumerate(zip(expected.observations, actual.observations, strict=True)):
            result.mismatch = self._observation(number, e, a)
            if result.mismatch is not None:
                return result
            if isinstance(e, Computed | Raised):
                result.steps.append(number)
        result.mismatch = self._state(AFTER_ALL, expected.final, actual.final)
        return result

    def _mutation(self, expected: Outcome, actual: Outcome) -> Mismatch:
        names = ", ".join(sorted(set(actual.mutated) ^ set(expected.mutated)))
        calls = [i for i, s in enumerate(self.case.steps) if isinstance(s, AppendBackward | Backward | Grad)]
        return Mismatch(calls[-1] if calls else 0, "mutation", "step", "unchanged", "changed", f"elements of {names} changed")

    def _observation(self, number: int, expected: Observation, actual: Observation) -> Mismatch | None:
        counts = self.result.counts
        match expected, actual:
            case Computed(), Computed():
                autograd = isinstance(self.case.steps[number], AppendBackward | Backward | Grad)
                counts["calls" if autograd else "ops"] += 1
                found = self._events(number, *self._split(expected, actual, customs=False))
                if found is not None:
                    return found
                for slot, (e, a) in enumerate(zip(expected.values, actual.values, strict=True)):
                    found = self._value(number, slot, e, a, where="result")
                    if found is not None:
                        return found
                    if autograd:
                        _count_gradient(counts, e)
                found = self._state(number, expected.state, actual.state)
                return found or self._events(number, *self._split(expected, actual, customs=True))
            case Raised(), Raised():
                if expected.category != actual.category:
                    return self._refusal(number, expected, actual)
                counts["errors"] += 1
                found = self._events(number, *self._split(expected, actual, customs=False))
                return found or self._state(number, expected.state, actual.state)
            case (NotOffered(), NotOffered()) | (Blocked(), Blocked()):
                counts["not_offered" if isinstance(expected, NotOffered) else "blocked"] += 1
                return None
            case _:
                return self._refusal(number, expected, actual)

    def _refusal(self, number: int, expected: Observation, actual: Observation) -> Mismatch:
        detail = actual.message if isinstance(actual, Raised) else expected.message if isinstance(expected, Raised) else ""
        if isinstance(actual, Computed) and actual.values and not any(v is not None and v.array.any() for v in actual.values):
            detail += ALL_ZEROS
        return Mismatch(number, "error", "step", _word(expected), _word(actual), detail)

    def _split(self, *seen: Computed | Raised, customs: bool) -> Iterator[list[tuple[int, Event]]]:
        """Yield the events of hooks, or of custom functions, of each observation, with their positions.

        Which backwards of custom functions run, and when, depends on an order that nobody promises. So they are sorted by name, are
        not compared where the call was refused on the way, and come last: they tell something where the results agree.
        """
        for observation in seen:
            events = [(i, event) for i, event in enumerate(observation.events) if (event.name in self.of_customs) is customs]
            yield sorted(events, key=lambda e: e[1].name) if customs else events

    def _events(self, number: int, expected: list[tuple[int, Event]], actual: list[tuple[int, Event]]) -> Mismatch | None:
        wanted, got = ([e.name for _, e in events] for events in (expected, actual))
        if wanted != got:
            kind = "order" if sorted(wanted) == sorted(got) else "more" if len(got) > len(wanted) else "fewer"
            return Mismatch(number, "events", "event", "as promised", kind, f"called {got}, expected {wanted}")
        for (slot, e), (_, a) in zip(expected, actual, strict=True):
            found = self._value(number, slot, e.value, a.value, where="event", name=e.name)
            if found is not None:
                return found
            if e.recording != a.recording:
                wanted_mode, mode = ("recording" if x.recording else "not recording" for x in (e, a))
                return Mismatch(number, "flag", "event", wanted_mode, mode, e.name)
            self.result.counts["events"] += 1
        return None

    def _state(self, number: int, expected: State | None, actual: State | None) -> Mismatch | None:
        if expected is None or actual is None:
            return None
        for slot, (e, a) in enumerate(zip(expected, actual, strict=True)):
            found = self._value(number, slot, e, a, where="grad")
            if found is not None:
                return found
            if number != AFTER_ALL:
                _count_gradient(self.result.counts, e)
        return None

    def _value(
        self, number: int, slot: int, expected: Value | None, actual: Value | None, *, where: str, name: str | None = None
    ) -> Mismatch | None:
        name = name or self._name(number, slot, where)
        if expected is None or actual is None:
            if expected is actual:
                return None
            wanted, got = ("absent" if v is None else "present" for v in (expected, actual))
            present = expected or actual
            zeros = ALL_ZEROS if present is not None and not present.array.any() else ""
            return Mismatch(number, "absence", where, wanted, got, name + zeros)
        if actual.unreadable:
            return Mismatch(number, "unreadable", where, "readable", "unreadable", f"{name}: {actual.unreadable}")
        e, a = expected.array, actual.array
        if e.shape != a.shape:
            return Mismatch(number, "shape", where, "as its primal", "another", f"{name}: shape {a.shape}, expected {e.shape}")
        if e.dtype != a.dtype:
            return Mismatch(number, "dtype", where, str(e.dtype), str(a.dtype), name)
        if not self._elements_agree(number, slot, e, a, where, name):
            return Mismatch(number, "value", where, "right", "wrong", describe(name, e, a), slot)
        if expected.requires_grad != actual.requires_grad and where != "event":  # no document says what a hook's argument requires
            wanted, got = ("requires_grad" if v.requires_grad else "constant" for v in (expected, actual))
            return Mismatch(number, "flag", where, wanted, got, name)
        self.result.counts["elements"] += e.size
        if where == "result" or number == AFTER_ALL:  # what is seen again after each step is not counted again
            self.result.counts["values"] += 1
        return None

    def _elements_agree(self, number: int, slot: int, expected: Any, actual: Any, where: str, name: str) -> bool:
        exact = self.case.lane == "exact"
        if np.array_equal(expected, actual, equal_nan=True):
            return True
        if expected.dtype.kind != "f" or (exact and self.bounds.exact):
            return False
        if not exact and agrees_cheaply(expected, actual):
            return True
        accepted = self.bounds.accepts(actual, number, slot, where, name)
        if not accepted and self.bounds.near_kink:
            self.result.near_kink = True
        return accepted

    def _name(self, number: int, slot: int, where: str) -> str:
        if where == "grad":
            return f"{self.case.watched[slot]}.grad"
        step = self.case.steps[number]
        return step.tensor if isinstance(step, InPlace | Toggle) else results(step)[slot]


def _count_gradient(counts: Counter[str], value: Value | None) -> None:
    counts["absent" if value is None else "gradients"] += 1
    if value is not None:
        counts["gradient_elements"] += value.array.size


def _word(seen: Observation) -> str:
    match seen:
        case Computed():
            return "computed"
        case Raised():
            return str(seen.category)
        case NotOffered():
            return "not_offered"
        case Blocked():
            return "blocked"


def describe(name: str, expected: Any, actual: Any) -> str:
    """Say how many elements differ, where worst, what was got and what was expected."""
    with np.errstate(all="ignore"):
        error = np.abs(np.asarray(actual, dtype=np.float64) - np.asarray(expected, dtype=np.float64))
    error = np.where(np.isnan(error), np.where(np.isnan(actual) & np.isnan(expected), 0.0, np.inf), error)
    place = tuple(int(i) for i in np.unravel_index(int(np.argmax(error)), error.shape)) if error.ndim else ()
    differing = int(np.count_nonzero(error))
    return (
        f"{name}: {differing} of {error.size} elements differ; worst at {place}: "
        f"got {actual[place]:.9g}, expected {expected[place]:.9g}, off by {error[place]:.3g}"
    )

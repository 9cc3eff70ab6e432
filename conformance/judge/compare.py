"""Comparison of two outcomes: the first place where they differ unaccountably, and how much was compared.

Everything observable is compared: whether a step ran or was refused and with which category, absence, shape, dtype, elements,
whether a result requires a gradient, ``.grad`` of every watched value, and whether inputs were changed. Only the first difference
that is no known deviation is reported: what follows it may be its consequence. After a known deviation the comparison goes on, and
what may be a consequence of it is set aside, see `shadow`.

In the exact lane elements must be equal (the sign of a zero is not compared: it depends on the order of a sum). In the numeric lane
they must lie within what rounding can do, see `disturbance`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conformance.deviations import label
from conformance.judge.disturbance import Bounds, agrees_cheaply, is_sampled
from conformance.judge.formats import is_floating
from conformance.judge.shadow import Shadow
from conformance.outcome import Blocked, Computed, NotOffered, Raised
from conformance.steps import AppendBackward, Backward, Custom, Grad, InPlace, Toggle, results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.backends import BackendInfo
    from conformance.case import Case
    from conformance.judge.branches import Branches
    from conformance.outcome import Event, Observation, Outcome, State, Value

Known: TypeAlias = "Callable[[Mismatch], str | None]"
"""Names the entry of the known deviation that a difference is, if it is one."""

AFTER_ALL = -1
ALL_ZEROS = " (all zeros)"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference.

    ``kind``: ``value``, ``absence``, ``shape``, ``dtype``, ``flag``, ``error``, ``mutation``, ``events``, ``unreadable``;
    ``where``: ``result``, ``grad`` (that is ``.grad``), ``event`` or ``step``. ``expected`` and ``actual`` are short words, for the
    same kind of difference always the same; ``detail`` has the numbers. ``name`` and ``slot`` say which value it is, ``wanted`` and
    ``got`` are its elements where both sides have some; they are not recorded.
    """

    step: int
    kind: str
    where: str
    expected: str
    actual: str
    detail: str
    name: str = ""
    slot: int = 0
    wanted: Any = field(default=None, compare=False, repr=False)
    got: Any = field(default=None, compare=False, repr=False)


@dataclass
class Comparison:
    """What was compared, and the first difference that nobody knows, if there is one.

    ``known``: the known deviations, each with the id of its entry; ``shadowed``: the differences that may be consequences of them;
    ``steps`` lists the steps that agree, by number. ``bounded``: the cheap test did not do. ``ratios``: where a bound was computed,
    the largest error over it, by what the step is called.
    """

    mismatch: Mismatch | None = None
    known: list[tuple[Mismatch, str]] = field(default_factory=list)
    shadowed: list[Mismatch] = field(default_factory=list)
    near_kink: bool = False
    bounded: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    ratios: dict[str, float] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)


class Comparer:
    """Compares one case's expected and actual outcome; ``forced``: the branches on which it was expected, see `branches`."""

    def __init__(self, case: Case, info: BackendInfo, forced: Branches | None = None) -> None:
        self.case = case
        self.forced = forced
        self.info = info
        self.of_customs = {name for step in case.steps if isinstance(step, Custom) for name in step.results}
        self.result = Comparison()
        self.bounds = Bounds(case, info, forced)
        self.sampled = is_sampled(case)

    def run(self, expected: Outcome, actual: Outcome, known: Known = lambda _: None) -> Comparison:
        """Compare step by step and stop at the first difference that is not ``known``, nor a consequence of what is."""
        shadow: Shadow | None = None
        result = self.result
        for found in self.differences(expected, actual):
            seen = () if found.step < 0 else (expected.observations[found.step], actual.observations[found.step])
            if shadow is not None:
                shadow.enter(found.step)
            if shadow is not None and shadow.falls_on(found):
                result.shadowed.append(found)
                result.counts["shadowed"] += 1
            else:
                entry = known(found)
                if entry is None:
                    result.mismatch = found
                    break
                result.known.append((found, entry))
                shadow = shadow or Shadow(self.case)
            shadow.enter(found.step)
            shadow.cast(found, *seen)
        return result

    def differences(self, expected: Outcome, actual: Outcome) -> Iterator[Mismatch]:
        """Yield every difference, step by step."""
        if set(actual.mutated) != set(expected.mutated):
            yield self._mutation(expected, actual)
        for number, (e, a) in enumerate(zip(expected.observations, actual.observations, strict=True)):
            agrees = True
            for found in self._observation(number, e, a):
                agrees = False
                yield found
            if agrees and isinstance(e, Computed | Raised):
                self.result.steps.append(number)
                if self.result.known:
                    self.result.counts["after_known"] += 1
        yield from self._state(AFTER_ALL, expected.final, actual.final)

    def _mutation(self, expected: Outcome, actual: Outcome) -> Mismatch:
        names = ", ".join(sorted(set(actual.mutated) ^ set(expected.mutated)))
        calls = [i for i, s in enumerate(self.case.steps) if isinstance(s, AppendBackward | Backward | Grad)]
        detail = f"elements of {names} changed"
        return Mismatch(calls[-1] if calls else 0, "mutation", "step", "unchanged", "changed", detail, names)

    def _observation(self, number: int, expected: Observation, actual: Observation) -> Iterator[Mismatch]:
        counts = self.result.counts
        match expected, actual:
            case Computed(), Computed():
                autograd = isinstance(self.case.steps[number], AppendBackward | Backward | Grad)
                counts["calls" if autograd else "ops"] += 1
                yield from self._events(number, *self._split(expected, actual, customs=False))
                for slot, (e, a) in enumerate(zip(expected.values, actual.values, strict=True)):
                    found = self._value(number, slot, e, a, where="result")
                    if found is not None:
                        yield found
                    elif autograd:
                        _count_gradient(counts, e)
                yield from self._state(number, expected.state, actual.state)
                yield from self._events(number, *self._split(expected, actual, customs=True))
            case Raised(), Raised():
                if expected.category != actual.category:
                    yield self._refusal(number, expected, actual)
                else:
                    counts["errors"] += 1
                yield from self._events(number, *self._split(expected, actual, customs=False))
                yield from self._state(number, expected.state, actual.state)
            case (NotOffered(), NotOffered()) | (Blocked(), Blocked()):
                counts["not_offered" if isinstance(expected, NotOffered) else "blocked"] += 1
            case _:
                yield self._refusal(number, expected, actual)

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

    def _events(self, number: int, expected: list[tuple[int, Event]], actual: list[tuple[int, Event]]) -> Iterator[Mismatch]:
        wanted, got = ([e.name for _, e in events] for events in (expected, actual))
        if wanted != got:
            kind = "order" if sorted(wanted) == sorted(got) else "more" if len(got) > len(wanted) else "fewer"
            yield Mismatch(number, "events", "event", "as promised", kind, f"called {got}, expected {wanted}")
            return
        for (slot, e), (_, a) in zip(expected, actual, strict=True):
            found = self._value(number, slot, e.value, a.value, where="event", name=e.name)
            if found is None and e.recording != a.recording:
                wanted_mode, mode = ("recording" if x.recording else "not recording" for x in (e, a))
                found = Mismatch(number, "flag", "event", wanted_mode, mode, e.name, e.name, slot)
            if found is not None:
                yield found
            else:
                self.result.counts["events"] += 1

    def _state(self, number: int, expected: State | None, actual: State | None) -> Iterator[Mismatch]:
        if expected is None or actual is None:
            return
        for slot, (e, a) in enumerate(zip(expected, actual, strict=True)):
            found = self._value(number, slot, e, a, where="grad")
            if found is not None:
                yield found
            elif number != AFTER_ALL:
                _count_gradient(self.result.counts, e)

    def _value(
        self, number: int, slot: int, expected: Value | None, actual: Value | None, *, where: str, name: str | None = None
    ) -> Mismatch | None:
        bare = name or self._name(number, slot, where)
        name = f"{bare}.grad" if where == "grad" else bare

        def differs(kind: str, wanted: str, got: str, detail: str) -> Mismatch:
            arrays = (v.array if v is not None else None for v in (expected, actual))
            return Mismatch(number, kind, where, wanted, got, detail, bare, slot, *arrays)

        if expected is None or actual is None:
            if expected is actual:
                return None
            wanted, got = ("absent" if v is None else "present" for v in (expected, actual))
            present = expected or actual
            zeros = ALL_ZEROS if present is not None and not present.array.any() else ""
            return differs("absence", wanted, got, name + zeros)
        if actual.unreadable:
            return differs("unreadable", "readable", "unreadable", f"{name}: {actual.unreadable}")
        e, a = expected.array, actual.array
        if e.shape != a.shape:
            return differs("shape", "as its primal", "another", f"{name}: shape {a.shape}, expected {e.shape}")
        if e.dtype != a.dtype:
            return differs("dtype", str(e.dtype), str(a.dtype), name)
        if not self._elements_agree(number, slot, e, a, where, bare):
            return differs("value", "right", "wrong", describe(name, e, a))
        if expected.requires_grad != actual.requires_grad and where != "event":  # no document says what a hook's argument requires
            wanted, got = ("requires_grad" if v.requires_grad else "constant" for v in (expected, actual))
            return differs("flag", wanted, got, name)
        self.result.counts["elements"] += e.size
        if where == "result" or number == AFTER_ALL:  # what is seen again after each step is not counted again
            self.result.counts["values"] += 1
        return None

    def _elements_agree(self, number: int, slot: int, expected: Any, actual: Any, where: str, name: str) -> bool:
        exact = self.case.lane == "exact"
        floating = is_floating(expected.dtype)
        ratio = self._ratio(actual, number, slot, where, name) if self.sampled and floating else None
        if expected.tobytes() == actual.tobytes() or np.array_equal(expected, actual, equal_nan=True):  # the first is cheaper
            return True
        if not floating:
            return False
        if not exact and agrees_cheaply(expected, actual):
            return True
        self.result.bounded = True
        if exact and self.bounds.exact:
            return False
        accepted = (self._ratio(actual, number, slot, where, name) if ratio is None else ratio) <= 1
        if not accepted and self.bounds.near_kink:
            self.result.near_kink = True
        return accepted

    def _ratio(self, actual: Any, number: int, slot: int, where: str, name: str) -> float:
        """Return error over bound, and keep the largest of each kind of step."""
        ratio = self.bounds.ratio(actual, number, slot, where, name)
        step = label(self.case, number)
        self.result.ratios[step] = max(ratio, self.result.ratios.get(step, 0.0))
        return ratio

    def _name(self, number: int, slot: int, where: str) -> str:
        if where == "grad":
            return self.case.watched[slot]
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
        error = np.abs(actual.astype(np.result_type(actual, np.float64)) - expected)
    error = np.where(np.isnan(error), np.where(np.isnan(actual) & np.isnan(expected), 0.0, np.inf), error)
    place = tuple(int(i) for i in np.unravel_index(int(np.argmax(error)), error.shape)) if error.ndim else ()
    differing = int(np.count_nonzero(error))
    return (
        f"{name}: {differing} of {error.size} elements differ; worst at {place}: "
        f"got {actual[place].item():.9g}, expected {expected[place].item():.9g}, off by {error[place]:.3g}"
    )

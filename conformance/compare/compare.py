"""Comparison: the first mismatch that no known deviation explains, and counts of what was compared.

A green case proves nothing if only part of it was compared, and a red one says little if its first difference is the consequence of
another. So everything observable is compared (whether a step ran or was refused and with which category, absence, shape, dtype,
elements, whether a result requires a gradient, ``.grad`` of every watched value, whether inputs were changed), what agreed is counted,
and only the first mismatch that nobody knows is reported. After a known deviation the comparison goes on, and what may be a consequence
of it is set aside (`taint`).

In the exact lane elements must be equal; the sign of a zero is not compared, since it depends on the order of a sum. In the numeric
lane they must lie within what rounding can do (`rounding`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case.aliases import lying_in, sharing_with
from conformance.case.outcome import Blocked, Computed, NotOffered, Raised
from conformance.case.place import END, StepNumber
from conformance.case.queries import arrays_of, label, upstream_of
from conformance.case.rewrite import replace_step
from conformance.case.steps import Backward, Call, Custom, Grad, Hook, InPlace, observed
from conformance.compare.comparison import Comparison
from conformance.compare.mismatch import ALL_ZEROS, AMID, BASIC, POISON, WITH_NAN, ZEROS_FOR_NONE, Mismatch, describe, word_of
from conformance.compare.rounding import agrees_cheaply, is_sampled
from conformance.compare.taint import Taint
from conformance.compare.writes import told_by_both
from conformance.ops.dtypes import is_floating
from reference_impl import Category

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.case.outcome import Event, Observation, Outcome, State, Value
    from conformance.compare.comparison import Known
    from conformance.compare.promise import Promise


class Comparer:
    """Compares what was promised for a case with what an engine answered."""

    def __init__(self, promise: Promise) -> None:
        self.promise = promise
        self.case = case = promise.case
        self.of_customs = {name for step in case.steps if isinstance(step, Custom) for name in step.results}
        self.result = Comparison()
        self.bounds = promise.bounds
        self.sampled = is_sampled(case)
        self.off: set[int] = set()  # the steps that agree because rounding may carry their numbers as far as they are off

    def run(self, actual: Outcome, known: Known = lambda _: None) -> Comparison:
        """Compare step by step and stop at the first difference that is not ``known``, nor a consequence of what is."""
        taint: Taint | None = None
        result = self.result
        expected = self.promise.outcome
        for found in self.differences(actual):
            seen = () if found.step is END else (expected.observations[found.step], actual.observations[found.step])
            if taint is not None:
                taint.advance(found.step)
            if taint is not None and taint.covers(found):
                result.shadowed.append(found)
                result.counts["shadowed"] += 1
            else:
                entry = known(found if taint is None else replace(found, tainted=frozenset(taint.slots)))
                if entry is None:
                    result.mismatch = found
                    break
                result.known.append((found, entry))
                taint = taint or Taint(self.case, self.off)
            taint.advance(found.step)
            taint.mark(found, *seen)
            taint.everything |= leaves_damage(found, known)
        return result

    def differences(self, actual: Outcome) -> Iterator[Mismatch]:
        """Yield every difference, step by step."""
        expected = self.promise.outcome
        if set(actual.mutated) != set(expected.mutated):
            yield from self._mutations(expected, actual)
        for number, (e, a) in enumerate(zip(expected.observations, actual.observations, strict=True)):
            agrees = True
            for found in self.observation(number, e, a):
                agrees = False
                yield found
            if agrees and isinstance(e, Computed | Raised):
                self.result.steps.append(number)
                if self.result.known:
                    self.result.counts["after_known"] += 1
        yield from self._state(END, expected.final, actual.final)

    def _mutations(self, expected: Outcome, actual: Outcome) -> Iterator[Mismatch]:
        """Yield the values whose elements changed on one side alone, a view after its base; they are told of the last call."""
        step = max((number for number, step in enumerate(self.case.steps) if isinstance(step, Call)), default=0)
        held = dict(zip(actual.mutated, actual.changed, strict=False))
        elements = dict(arrays_of(self.case, expected.observations))
        changed = set(actual.mutated) ^ set(expected.mutated)
        of_seeds = self._in_memory_of_seeds()
        for name in [name for name in dict.fromkeys([*elements, *sorted(changed)]) if name in changed]:
            where, got = "seed" if name in of_seeds else "step", held[name].array if name in held else None
            detail = f"elements of {name} changed"
            yield Mismatch(step, "mutation", where, "unchanged", "changed", detail, name, 0, elements.get(name), got)

    def _in_memory_of_seeds(self) -> set[str]:
        """Return the values that may lie in the memory of a seed, or of a tensor that a hook returns.

        A seed that is a view lies in memory in which others lie, too. And a gradient may be its own seed.
        """
        steps = self.case.steps
        given = {name for step in steps if isinstance(step, Call) for name in step.seeds or () if name is not None}
        given |= {step.tensor_returned for step in steps if isinstance(step, Hook) and step.tensor_returned is not None}
        shared = sharing_with(given, steps)
        fed = (step for step in steps if isinstance(step, Grad) and not shared.isdisjoint(step.seeds or ()))
        return lying_in({*shared, *(name for step in fed for name in step.results)}, steps)

    def observation(self, number: int, expected: Observation, actual: Observation) -> Iterator[Mismatch]:
        """Yield every difference at a step."""
        counts = self.result.counts
        match expected, actual:
            case Computed(), Computed():
                autograd = isinstance(self.case.steps[number], Call)
                counts["calls" if autograd else "ops"] += 1
                happened = bool(expected.events or actual.events)
                if happened:
                    yield from self._events(number, actual, *self._split(expected, actual, customs=False))
                for slot, (e, a) in enumerate(zip(expected.values, actual.values, strict=True)):
                    found = self._value(number, slot, e, a, where="result")
                    if found is not None:
                        yield found
                    elif autograd:
                        self._count_gradient(number, self._asked(number)[slot], e)
                yield from self._state(number, expected.state, actual.state, isinstance(self.case.steps[number], Backward))
                if happened:
                    yield from self._events(number, actual, *self._split(expected, actual, customs=True))
            case Raised(), Raised():
                if expected.category != actual.category:
                    yield self._refusal(number, expected, actual)
                else:
                    counts["errors"] += 1
                before, after = self._split(expected, actual, customs=False)
                if expected.category == actual.category in AMID and [e.name for _, e in before] != [e.name for _, e in after]:
                    counts["reached_otherwise"] += 1
                    yield from self._reached(number, actual, before, after)
                else:
                    yield from self._events(number, actual, before, after)
                yield from self._state(number, expected.state, actual.state)
            case (NotOffered(), NotOffered()) | (Blocked(), Blocked()):
                counts["not_offered" if isinstance(expected, NotOffered) else "blocked"] += 1
            case _:
                yield self._refusal(number, expected, actual)

    def _refusal(self, number: int, expected: Observation, actual: Observation) -> Mismatch:
        detail = actual.message if isinstance(actual, Raised) else expected.message if isinstance(expected, Raised) else ""
        if isinstance(actual, Computed) and actual.values and not any(v is not None and v.array.any() for v in actual.values):
            detail += ALL_ZEROS
        elif isinstance(actual, Computed) and isinstance(expected, Raised) and self._gives_zeros_for_none(number, expected, actual):
            detail += ZEROS_FOR_NONE
        return Mismatch(number, "error", "step", word_of(expected), word_of(actual), detail, answer=actual)

    def _gives_zeros_for_none(self, number: int, expected: Raised, actual: Computed) -> bool:
        """Whether a call that must be refused for what is unreachable gives zeros for that, and for the rest what is promised."""
        step = self.case.steps[number]
        if expected.category is not Category.UNREACHABLE_INPUT or not isinstance(step, Grad):
            return False
        allowed = replace_step(self.case, number, msgspec.structs.replace(step, allow_unused=True))
        of_allowed = Comparer(self.promise.of(allowed))
        seen = of_allowed.promise.outcome.observations[number]
        return isinstance(seen, Computed) and all(
            a is not None and (not a.array.any() if e is None else of_allowed._is_promised(number, slot, e.array, a.array))
            for slot, (e, a) in enumerate(zip(seen.values, actual.values, strict=True))
        )

    def _is_promised(self, number: int, slot: int, expected: Any, actual: Any) -> bool:
        name = self._name(number, slot, "result")
        return expected.shape == actual.shape and self._elements_agree(number, slot, expected, actual, "result", name)

    def _split(self, *seen: Computed | Raised, customs: bool) -> Iterator[list[tuple[int, Event]]]:
        """Yield the events of hooks, or of custom functions, of each observation, with their positions.

        Which backwards of custom functions run, and when, depends on an order that nobody promises. So they are sorted by name, are
        not compared where the call was refused on the way, and come last: they tell something where the results agree.
        """
        for observation in seen:
            if not observation.events:
                yield []
                continue
            events = [(i, event) for i, event in enumerate(observation.events) if (event.name in self.of_customs) is customs]
            yield sorted(events, key=lambda e: e[1].name) if customs else events

    def _events(
        self, number: int, answer: Observation, expected: list[tuple[int, Event]], actual: list[tuple[int, Event]]
    ) -> Iterator[Mismatch]:
        if not expected and not actual:
            return
        if self.case.lane == "numeric" and isinstance(self.case.steps[number], InPlace):
            expected, actual = told_by_both(self.case, self.promise.outcome.observations[:number], expected, actual)
        wanted, got = ([e.name for _, e in events] for events in (expected, actual))
        if wanted != got:
            kind = "order" if sorted(wanted) == sorted(got) else "more" if len(got) > len(wanted) else "fewer"
            yield Mismatch(number, "events", "event", "as promised", kind, f"called {got}, expected {wanted}", answer=answer)
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

    def _reached(
        self, number: int, answer: Observation, expected: list[tuple[int, Event]], actual: list[tuple[int, Event]]
    ) -> Iterator[Mismatch]:
        """Yield what differs although nobody promises which hooks a pass had called before it failed.

        A hook of the pass is called once at most, and what it is given is promised.
        """
        wanted, got = ([event.name for _, event in events] for events in (expected, actual))
        before = self.case.steps[:number]
        behind = upstream_of(before, getattr(self.case.steps[number], "roots", ()))
        hooks = {step.results[0] for step in before if isinstance(step, Hook) and step.tensor in behind}
        if any(name not in hooks.union(wanted) or got.count(name) > max(1, wanted.count(name)) for name in got):
            yield Mismatch(number, "events", "event", "as promised", "more", f"called {got}, expected {wanted}", answer=answer)
            return
        expected, actual = (
            sorted((e for e in events if e[1].name in common), key=lambda e: e[1].name)
            for events, common in ((expected, got), (actual, wanted))
        )
        if len(expected) == len(actual):  # what is called several times may have been called less often
            yield from self._events(number, answer, expected, actual)

    def _state(self, number: StepNumber, expected: State | None, actual: State | None, gives: bool = False) -> Iterator[Mismatch]:
        """Yield the differences of ``.grad``; ``gives``: whether the step is what gives it."""
        if expected is None or actual is None:
            return
        for slot, (e, a) in enumerate(zip(expected, actual, strict=True)):
            found = self._value(number, slot, e, a, where="grad")
            if found is not None:
                yield found
            elif number is not END:
                self._count_gradient(number, self.case.watched[slot] if gives else None, e)

    def _count_gradient(self, number: int, of: str | None, value: Value | None) -> None:
        """Count a gradient that agrees; ``of``: of which value, if this call gave it."""
        counts = self.result.counts
        counts["absent" if value is None else "gradients"] += 1
        if value is not None:
            counts["gradient_elements"] += value.array.size
            if of is not None:
                self.result.gradients.setdefault(number, set()).add(of)

    def _value(
        self, number: StepNumber, slot: int, expected: Value | None, actual: Value | None, *, where: str, name: str | None = None
    ) -> Mismatch | None:
        bare = name or self._name(number, slot, where)
        name = f"{bare}.grad" if where == "grad" else bare

        def differs(kind: str, wanted: str, got: str, detail: str, ratio: float = np.inf) -> Mismatch:
            right, wrong = (v.array if v is not None else None for v in (expected, actual))
            return Mismatch(number, kind, where, wanted, got, detail, bare, slot, right, wrong, ratio=ratio)

        if expected is None or actual is None:
            if expected is actual:
                return None
            wanted, got = ("absent" if v is None else "present" for v in (expected, actual))
            present = expected or actual
            return differs("absence", wanted, got, name + _words_for(present))
        if bool(expected.unreadable) != bool(actual.unreadable):
            wanted, got = ("unreadable" if v.unreadable else "readable" for v in (expected, actual))
            return differs("unreadable", wanted, got, f"{name}: {actual.unreadable or expected.unreadable}")
        if actual.unreadable:
            return None
        e, a = expected.array, actual.array
        if e.shape != a.shape:
            got = "another" if e.ndim == a.ndim else "more axes" if a.ndim > e.ndim else "fewer axes"
            return differs("shape", "as its primal", got, f"{name}: shape {a.shape}, expected {e.shape}")
        if e.dtype != a.dtype:
            return differs("dtype", str(e.dtype), str(a.dtype), name)
        if not self._elements_agree(number, slot, e, a, where, bare):
            rounds = is_floating(e.dtype) and self.promise.rounds
            ratios = self.bounds.ratios(a, number, slot, where, bare) if rounds else None
            worst = np.inf if ratios is None else float(np.max(ratios, initial=0.0))
            return differs("value", "right", "wrong", describe(name, e, a, ratios), worst)
        if expected.requires_grad != actual.requires_grad and where != "event":  # no document says what a hook's argument requires
            wanted, got = ("requires_grad" if v.requires_grad else "constant" for v in (expected, actual))
            return differs("flag", wanted, got, name)
        self.result.counts["elements"] += e.size
        if where == "result" or number is END:  # what is seen again after each step is not counted again
            self.result.counts["values"] += 1
        return None

    def _elements_agree(self, number: StepNumber, slot: int, expected: Any, actual: Any, where: str, name: str) -> bool:
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
        if not self.promise.rounds:
            return False
        accepted = (self._ratio(actual, number, slot, where, name) if ratio is None else ratio) <= 1
        if not accepted:
            self.result.rejected = self.bounds
        if accepted and number is not END:
            self.off.add(number)
        return accepted

    def _ratio(self, actual: Any, number: StepNumber, slot: int, where: str, name: str) -> float:
        """Return error over bound, and keep the largest of each kind of step."""
        ratio = self.bounds.ratio(actual, number, slot, where, name)
        step = label(self.case, number)
        self.result.ratios[step] = max(ratio, self.result.ratios.get(step, 0.0))
        return ratio

    def _asked(self, number: int) -> tuple[str, ...]:
        """Return the values whose gradients are the results of a call."""
        asked = getattr(self.case.steps[number], "asked", None)
        return tuple(entry.name for entry in self.case.inputs if entry.differentiable) if asked is None else asked

    def _name(self, number: StepNumber, slot: int, where: str) -> str:
        if where == "grad" or number is END:
            return self.case.watched[slot]
        return observed(self.case.steps[number])[slot]


def leaves_damage(found: Mismatch, known: Known) -> bool:
    """Whether an error inside of the engine is one of those that are known to leave the process damaged."""
    inside = (found.kind, found.actual) == ("error", str(Category.UNMAPPED))
    return inside and known(Mismatch(found.step, POISON, BASIC, "intact", "broken", found.detail)) is not None


def _words_for(present: Value | None) -> str:
    """Say of a value that should be absent what may explain it."""
    if present is None:
        return ""
    if present.unreadable:
        return f": {present.unreadable}"
    if not present.array.any():
        return ALL_ZEROS
    return WITH_NAN if np.isnan(present.array).any() else ""

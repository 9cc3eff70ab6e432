"""Excess: an engine that does more than a known deviation says.

A known deviation must hide itself and nothing else. So what an engine answered where an entry explains a difference is changed to
something that the entry does not say: other wrong numbers, wrong numbers elsewhere, another refusal, another absence. Outcomes are
plain data, so each excess is a new one of these, and no framework runs again. An excess that is judged a known deviation is one that
a wrong engine could commit unseen.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.outcome import Computed, Outcome, Raised, Value
from conformance.case.place import END
from conformance.case.queries import arrays_of
from conformance.case.steps import results
from reference_impl import Category

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.case.outcome import Observation
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise

    Change = Callable[[Any], Any]

WHERE = {"result": "values", "grad": "state"}
"""Where an observation has what a difference is about."""

LITTLE = 2.0**-10
"""How far off a number is, relatively, that is wrong by little: far beyond rounding, and lost in a deviation that takes any number."""
MANY = 0.3711
"""The factor of a number that is wrong by much; small, since what is near the end of the range shall not leave it."""
ELSEWHERE = "mutant::Kernel > mutant::elsewhere | in mutant/engine.py differentiate"
"""The frame of a death that no entry can know."""
OTHERWISE = "what no entry can have foreseen"
"""The message of a refusal that no entry can know."""


def excesses(promise: Promise, actual: Outcome, found: Mismatch) -> Iterator[tuple[str, Outcome]]:
    """Yield what an engine may do beyond a difference, each with its name."""
    match found.kind:
        case "value":
            if np.issubdtype(found.actual_array.dtype, np.inexact):
                yield from _of_numbers(promise, actual, found)
            if found.expected_array.any():  # an engine that says nothing where the answer is 0 is a deviation of its own
                yield "absent instead", _with_value(actual, found, None)
        case "absence" | "flag" | "shape" | "dtype" | "unreadable":
            yield from _of_a_tensor(promise, actual, found)
        case "error":
            yield from _of_a_refusal(promise, actual, found)
        case "events":
            yield from _of_events(promise, actual, found)
        case "mutation":
            arrays = arrays_of(promise.case, promise.outcome.observations)
            wrong = {name: Value(_off(array), requires_grad=False) for name, array in arrays}
            changed = dict(zip(actual.mutated, actual.changed, strict=False))
            for words, others in (
                ("everything is changed", wrong | changed),
                ("other numbers", {name: wrong[name] for name in changed}),
            ):
                yield words, replace(actual, mutated=tuple(others), changed=tuple(others.values()))


def _of_numbers(promise: Promise, actual: Outcome, found: Mismatch) -> Iterator[tuple[str, Outcome]]:
    right, got = found.expected_array, found.actual_array
    wrong = ~((right == got) | (np.isnan(right) & np.isnan(got)))
    if promise.rounds:
        wrong &= promise.bounds.ratios(got, found.step, found.slot, found.where, found.name) > 1

    def rewritten(change: Change, where: Any) -> Outcome:
        with np.errstate(all="ignore"):
            array = np.where(where, change(got), got).astype(got.dtype)
        return _with_value(actual, found, array)

    yield "a little beside", rewritten(_little, wrong)
    yield "another factor", rewritten(_much, wrong)
    if not wrong.all():
        yield "a right element", rewritten(_little, ~wrong)
    for words, lost, kept in (("lost", np.nan, ~np.isnan(got)), ("infinite", np.inf, np.isfinite(got))):
        if (~wrong & kept).any():
            yield f"a right element is {words}", rewritten(functools.partial(np.full_like, fill_value=lost), ~wrong & kept)


def _little(got: Any) -> Any:
    """Return numbers that are a little off, nearer to 0 where they are not small; something small where they are not finite."""
    finite = np.where(np.isfinite(got), got, 0)
    scale = np.clip(np.abs(finite).max(initial=0), 1, 1e30)
    return np.where(np.abs(finite) < 1, finite + LITTLE * scale, finite * (1 - LITTLE))


def _much(got: Any) -> Any:
    """Return numbers that are quite different, and no sums of what a script may have."""
    return MANY * np.asarray(np.where(np.isfinite(got) & (np.abs(got) > LITTLE), got, 1))


def _of_a_tensor(promise: Promise, actual: Outcome, found: Mismatch) -> Iterator[tuple[str, Outcome]]:
    right, got = value_at(promise.outcome, found), value_at(actual, found)
    if got is not None and not got.unreadable:
        if got.array.size:
            yield "other numbers", _with_value(actual, found, _off(got.array))
        if found.kind != "absence" and (right is None or right.array.any()):
            yield "absent instead", _with_value(actual, found, None)
        if found.kind == "shape" or not got.array.size:  # which is all that can be said of a tensor without elements
            yield "another shape", _with_value(actual, found, got.array[None, None])
        if found.kind == "dtype":
            yield "another dtype", _with_value(actual, found, got.array.astype(np.float16))
    elif right is not None:
        yield "other numbers", _with_value(actual, found, _off(right.array))
        for other in _beside(promise, actual, found):
            yield "another is absent, too", _with_value(actual, other, None)


def _beside(promise: Promise, actual: Outcome, found: Mismatch) -> Iterator[Mismatch]:
    """Yield the first place of the same step and kind at which what is promised came: numbers that are not 0."""
    if found.where == "event":
        return
    values = actual.final if found.step is END else getattr(actual.observations[found.step], WHERE[found.where], None)
    for slot in range(len(values or ())):
        other = replace(found, slot=slot)
        right, got = value_at(promise.outcome, other), value_at(actual, other)
        if slot != found.slot and right is not None and got is not None and right.array.any() and not got.unreadable:
            yield other
            return


def _off(array: Any) -> Any:
    """Return other numbers; of an empty array there are none."""
    with np.errstate(all="ignore"):
        return (array * MANY + 1).astype(array.dtype)


def _of_a_refusal(promise: Promise, actual: Outcome, found: Mismatch) -> Iterator[tuple[str, Outcome]]:
    assert found.step is not END  # noqa: S101 - the end of a case is not refused
    step = promise.case.steps[found.step]
    wanted, got = promise.outcome.observations[found.step], actual.observations[found.step]
    state = got.state if isinstance(got, Computed | Raised) else None
    others = [c for c in Category if str(c) not in (found.expected, found.actual)]
    unlike = Category.OP_SHAPE if Category.OP_SHAPE in others else Category.DTYPE
    yield "another category", _with(actual, found.step, Raised(unlike, OTHERWISE, state))
    if isinstance(got, Raised) and got.category is Category.UNMAPPED:  # a category says what a message of its own does
        yield "another message", _with(actual, found.step, replace(got, message=OTHERWISE))
    computed = got if isinstance(got, Computed) else wanted
    if isinstance(computed, Computed):
        if any(value is not None and value.array.size for value in (*computed.values, *(computed.state or ()))):
            yield "other numbers", _with(actual, found.step, _with_others(computed))
    elif isinstance(wanted, Raised):
        made = tuple(Value(np.full((7,), MANY, np.float32), requires_grad=False) for _ in results(step))
        yield "computed instead", _with(actual, found.step, Computed(made, wanted.state, wanted.events))


def _with_others(seen: Computed) -> Computed:
    """Return what was observed with other numbers, those that it left in ``.grad`` included."""
    values, state = ([None if v is None else replace(v, array=_off(v.array)) for v in held or ()] for held in (seen.values, seen.state))
    return replace(seen, values=tuple(values), state=None if seen.state is None else tuple(state))


def _of_events(promise: Promise, actual: Outcome, found: Mismatch) -> Iterator[tuple[str, Outcome]]:
    assert found.step is not END  # noqa: S101 - nothing is called at the end of a case
    wanted, got = promise.outcome.observations[found.step], actual.observations[found.step]
    if isinstance(got, Computed | Raised) and isinstance(wanted, Computed | Raised):
        calls = got.events or wanted.events
        yield "each call thrice", _with(actual, found.step, replace(got, events=(*calls, *calls, *calls)))
        if got.events:
            yield "no call", _with(actual, found.step, replace(got, events=()))


def value_at(outcome: Outcome, found: Mismatch) -> Value | None:
    """Return the value that a difference is about, as an outcome has it; ``None``: absent, or there is no such place."""
    if found.step is END:
        return outcome.final[found.slot]
    seen = outcome.observations[found.step]
    if found.where == "event":
        return seen.events[found.slot].value if isinstance(seen, Computed | Raised) else None
    if found.where == "grad":
        return seen.state[found.slot] if isinstance(seen, Computed | Raised) and seen.state is not None else None
    return seen.values[found.slot] if isinstance(seen, Computed) else None


def _with_value(outcome: Outcome, found: Mismatch, array: Any) -> Outcome:
    """Return an outcome in which the value that a difference is about has other elements, or is absent."""
    before = value_at(outcome, found)
    value = None if array is None else Value(array, before.requires_grad if before is not None else False)
    if found.step is END:
        return replace(outcome, final=_put(outcome.final, found.slot, value))
    seen = outcome.observations[found.step]
    if found.where == "event" and isinstance(seen, Computed | Raised):
        event = replace(seen.events[found.slot], value=value)
        return _with(outcome, found.step, replace(seen, events=_put(seen.events, found.slot, event)))
    if found.where == "grad" and isinstance(seen, Computed | Raised) and seen.state is not None:
        return _with(outcome, found.step, replace(seen, state=_put(seen.state, found.slot, value)))
    assert isinstance(seen, Computed)  # noqa: S101 - a value is one of a step that ran
    return _with(outcome, found.step, replace(seen, values=_put(seen.values, found.slot, value)))


def _with(outcome: Outcome, number: int, seen: Observation) -> Outcome:
    observations = [*outcome.observations]
    observations[number] = seen
    return replace(outcome, observations=observations)


def _put(values: tuple[Any, ...], slot: int, value: Any) -> tuple[Any, ...]:
    return *values[:slot], value, *values[slot + 1 :]

"""Cotangents as hooks show them: on every value behind the roots of a call one that returns nothing.

An engine without hooks is asked for all these gradients by the call itself, where that is a `grad`. So is every engine where the call
takes a batch of seeds: what a hook is given there may be a tensor that nobody can look at, as in PyTorch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from conformance.case.case import Case
from conformance.case.outcome import Computed, Raised
from conformance.case.steps import Grad, Hook
from conformance.compare.compare import Comparer
from conformance.judge.unlocalised import NotAskedError, UnlocalisedError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.backends import Backend
    from conformance.case.outcome import Event, Outcome
    from conformance.case.steps import Call
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise

WATCH = "watch_"
HOOKS = "step:hook"
OTHER_HOOKS = "not named: with hooks on the values in between, other hooks are called than should be"


def wrong_under_hooks(
    promise: Promise, number: int, call: Call, accused: Backend, watched: Sequence[str], kinds: Collection[str]
) -> set[str]:
    """Return the values whose cotangents show a difference of these kinds, by hooks on them or by the call itself.

    Raises:
        UnlocalisedError: if the cotangents cannot be told.
    """
    asking = accused.info.refusal((HOOKS,)) is not None or getattr(call, "is_grads_batched", False)
    hooked = _hooked(promise.case, number, call, watched, asking=asking)
    at = len(hooked.steps) - 1
    promised, answered = promise.of(hooked), accused.run(hooked)
    if not isinstance(answered.observations[at], Computed | Raised):
        raise NotAskedError
    actual = but_for_zeros(answered, promised.outcome, at)
    differences = [m for m in Comparer(promised).differences(actual) if m.step == at]
    if not differences:  # whether a cotangent that vanishes is absent is what differs
        actual = answered
        differences = [m for m in Comparer(promised).differences(actual) if m.step == at]
    wrong = _wrong(hooked, at, differences, _uncalled(promised.outcome, actual, at), kinds)
    if wrong is None:
        raise UnlocalisedError(OTHER_HOOKS)
    return wrong


def _hooked(case: Case, number: int, call: Call, watched: Sequence[str], *, asking: bool) -> Case:
    """Return the script up to a call that shows the cotangents of the values ``watched``: by hooks, or ``asking`` the call for them."""
    before = case.steps[:number]
    if asking and isinstance(call, Grad):
        more = [name for name in watched if name not in call.inputs]
        names = *call.results, *(WATCH + name for name in more)
        return Case(case.inputs, (*before, msgspec.structs.replace(call, inputs=(*call.inputs, *more), results=names)), case.lane)
    hooks = (Hook(name, (WATCH + name,), "nothing") for name in watched)
    return Case(case.inputs, (*before, *hooks, call), case.lane)


def but_for_zeros(actual: Outcome, expected: Outcome, at: int) -> Outcome:
    """Return an outcome as if cotangents that vanish were absent, or zeros, where the promised outcome has them so.

    Nobody promises whether a cotangent that vanishes is zeros or absent, and it makes no other number wrong.
    """
    promised, seen = expected.observations[at], actual.observations[at]
    if not isinstance(promised, Computed | Raised) or not isinstance(seen, Computed | Raised):
        return actual
    names = [{event.name for event in o.events} for o in (promised, seen)]

    def alone(event: Event, other: int) -> bool:
        value = event.value
        return event.name.startswith(WATCH) and event.name not in names[other] and (value is None or not value.array.any())

    events = [event for event in seen.events if not alone(event, 0)]
    for i, event in enumerate(promised.events):
        if alone(event, 1):
            events.insert(i, event)
    observations = list(actual.observations)
    observations[at] = replace(seen, events=tuple(events))
    return replace(actual, observations=observations)


def _uncalled(expected: Outcome, actual: Outcome, at: int) -> set[str]:
    """Return the values whose hooks were called on one side alone: there a cotangent is absent."""
    called = [{event.name for event in getattr(o.observations[at], "events", ())} for o in (expected, actual)]
    return {name.removeprefix(WATCH) for name in called[0] ^ called[1] if name.startswith(WATCH)}


def _wrong(hooked: Case, at: int, differences: list[Mismatch], uncalled: set[str], kinds: Collection[str]) -> set[str] | None:
    """Return the values whose cotangents show a difference of these kinds; ``None`` if the calls of hooks cannot be compared."""
    step = hooked.steps[at]
    wrong = set(uncalled) if "absence" in kinds else set()
    for found in differences:
        if found.kind == "error" or (found.kind == "events" and not uncalled):
            return None
        if found.kind not in kinds:
            continue
        if found.where == "event":
            wrong.add(found.name.removeprefix(WATCH))
        elif found.where == "result" and isinstance(step, Grad):
            wrong.add(step.inputs[found.slot])
        else:
            wrong.add(f"{found.name}.grad")
    return wrong

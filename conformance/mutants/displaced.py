"""A known deviation at another place: the same wrong answer in a script where what its entry asks does not hold.

The script is that of the finding, less one step or one argument of a step, so that the condition is gone and the step in question is
not. The engine answers it as is promised, but for that step, at which it answers what the real engine did in the finding. Or it does in
the place of that step what the real engine did, in a call that has nothing to do with it: all that was before is as it was. Or it is
wrong in such a call that comes after the step, which no refusal explains.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case.case import Case, Input
from conformance.case.files import is_right
from conformance.case.outcome import Computed, Outcome, Raised, Value
from conformance.case.place import END
from conformance.case.rewrite import replace_step, with_steps
from conformance.case.steps import Backward, Grad, Op
from conformance.compare.compare import leaves_damage
from conformance.deviations.explain import excuse
from conformance.mutants.excess import MANY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.outcome import Observation, State
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from conformance.deviations.entries import Deviation

BESIDE, MADE, FOUND = "elsewhere_0", "elsewhere_1", "elsewhere_2"
"""What a call that has nothing to do with a script is about; no script has such names."""
LEAF = Input(BESIDE, (2,), (1.0, 2.0))
PLAIN: dict[str, Any] = {
    "create_graph": False,
    "no_grad": False,
    "no_grad_vars": None,
    "is_grads_batched": False,
    "materialize_grads": False,
}
"""What arguments are where nobody says anything; their absence takes many a condition away."""


def displaced(entry: Deviation, promise: Promise, actual: Outcome, found: Mismatch) -> Iterator[tuple[Promise, Outcome]]:
    """Yield the first script in which the difference is beyond its entry, with the answer of an engine that shows it there."""
    if found.step is END:
        return
    before = promise.outcome.observations[found.step], actual.observations[found.step]
    for case, number in _variants(promise.case, found.step):
        if case.watched != promise.case.watched or not is_right(case) or entry.holds(case, number):
            continue
        variant = promise.of(case)
        if variant.impossible is None and _alike(variant.outcome.observations[number], before[0]):
            observations = [*variant.outcome.observations]
            observations[number] = before[1]
            yield variant, replace(variant.outcome, observations=observations)
            return


def beside(promise: Promise, actual: Outcome, found: Mismatch) -> Iterator[tuple[Promise, Outcome]]:
    """Yield a script with a call about other tensors in the place of the step, which is refused as that one was, or has nothing.

    A program is differentiated as a whole, so it has no such call.
    """
    if found.step is END or promise.info.dialect.static or not isinstance(step := promise.case.steps[found.step], Grad | Backward):
        return
    seen = actual.observations[found.step]
    called = Grad((MADE,), (BESIDE,), (FOUND,)) if isinstance(step, Grad) else Backward((MADE,))
    steps = *promise.case.steps[: found.step], Op("sum", (BESIDE,), (MADE,), {"axis": None, "keepdims": False}), called
    variant = promise.of(Case((*promise.case.inputs, LEAF), steps, promise.case.lane))
    *before, right = variant.outcome.observations
    if variant.impossible is not None or not isinstance(right, Computed):
        return
    wrong: Observation | None = None
    if found.kind == "error" and isinstance(seen, Raised):
        wrong = replace(seen, state=right.state, events=())
    elif found.kind == "absence" and found.actual == "absent" and right.values:
        wrong = replace(right, values=(None,))
    elif found.kind == "value" and right.values and right.values[0] is not None:
        wrong = replace(right, values=(replace(right.values[0], array=right.values[0].array * MANY),))
    if wrong is not None:
        yield variant, replace(variant.outcome, observations=[*before, wrong])


def afterwards(promise: Promise, actual: Outcome, found: Mismatch) -> Iterator[tuple[Promise, Outcome]]:
    """Yield a script with a call about other tensors after a step that was refused, whose ``.grad`` is wrong.

    A refusal that is known to leave the process damaged says nothing of what comes after it.
    """
    if found.kind != "error" or found.step is END or promise.info.dialect.static or leaves_damage(found, excuse(promise)):
        return
    count = found.step + 1
    *seen, refused = actual.observations[:count]
    if not isinstance(refused, Raised):
        return
    called = Op("sum", (BESIDE,), (MADE,), {"axis": None, "keepdims": False}), Backward((MADE,))
    variant = promise.of(Case((*promise.case.inputs, LEAF), (*promise.case.steps[:count], *called), promise.case.lane))
    *_, made, right = variant.outcome.observations
    if variant.impossible is not None or not isinstance(right, Computed) or right.state is None:
        return
    watched = variant.case.watched
    held = dict(zip(promise.case.watched, _last_state([*seen, refused]), strict=False))
    held[BESIDE] = Value(np.full(2, MANY, np.float32), requires_grad=False)
    state = tuple(held.get(name) for name in watched)
    before = [_watched_as(one, promise.case.watched, watched) for one in (*seen, refused)]
    yield variant, replace(variant.outcome, observations=[*before, made, replace(right, state=state)], final=state)


def _last_state(observations: Sequence[Observation]) -> State:
    """Return what was in ``.grad`` when it was last looked at."""
    states = (one.state for one in reversed(observations) if isinstance(one, Computed | Raised) and one.state is not None)
    return next(states, ())


def _watched_as(seen: Observation, watched: Sequence[str], others: Sequence[str]) -> Observation:
    """Return an observation with the ``.grad`` of others, which is absent where it was not watched."""
    if not isinstance(seen, Computed | Raised) or seen.state is None:
        return seen
    held = dict(zip(watched, seen.state, strict=True))
    return replace(seen, state=tuple(held.get(name) for name in others))


def _variants(case: Case, number: int) -> Iterator[tuple[Case, int]]:
    for i, step in enumerate(case.steps):
        if i != number:
            yield with_steps(case, [s for j, s in enumerate(case.steps) if j != i]), number - (i < number)
        for field, plain in PLAIN.items():
            if getattr(step, field, plain) != plain:
                yield replace_step(case, i, msgspec.structs.replace(step, **{field: plain})), number


def _alike(one: Observation, other: Observation) -> bool:
    """Whether two observations have the same form, so that an answer to the one is an answer to the other."""
    if isinstance(one, Computed) and isinstance(other, Computed):
        return [v is None for v in one.values] == [v is None for v in other.values]
    return isinstance(one, Raised) and isinstance(other, Raised) and one.category == other.category

"""Cotangents without hooks: a value that is put into the script as a leaf has its cotangent in ``.grad``.

An engine with nothing but `backward` shows no cotangent of a value in between. So the step that makes the value is cut out, and its
results are inputs, with the elements that they have. Example: of ``z = exp(mul(x, y))`` the script ``z = exp(m)`` with the leaf ``m``
is run, and ``m.grad`` is what exp hands on to mul. What earlier calls have left in ``.grad`` cannot be told apart from it, so only the
first call of a script is asked.

Where a pass ends in an exception that nobody expected, no engine shows all its cotangents. So the call is asked for one value at a
time: from the roots down to that one it is refused, or it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.case.case import Case, input_of
from conformance.case.outcome import Computed, Raised
from conformance.case.rewrite import cut
from conformance.case.steps import Backward, Grad, results
from conformance.compare.compare import Comparer
from conformance.judge.unlocalised import NotAskedError, UnlocalisedError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.backends import Backend
    from conformance.case.steps import Call
    from conformance.compare.promise import Promise

MOST = 64
"""Each value costs a run of the script, so a pass through more of them is asked when its case is smaller."""
NOT_THE_FIRST = "not named: without hooks the cotangents of a later call cannot be told from those of an earlier one"
TOO_MANY = "not named: without hooks each value needs a run of its own, and the pass goes through too many"
REFUSED = "not named: without hooks each value is made a leaf, and a script with one is refused"
REFUSING = frozenset({"error", "shape"})
"""The kinds of differences at which a refusal begins: a cotangent of another shape fits no rule that it is handed on to."""
ALONE = "asked_alone"


def wrong_of_leaves(
    promise: Promise, number: int, call: Backward, accused: Backend, asked: Collection[str], kinds: Collection[str]
) -> set[str]:
    """Return those of the values ``asked`` whose cotangents in a call show a difference of these kinds.

    Raises:
        UnlocalisedError: if that cannot be told.
    """
    case = promise.case
    if any(isinstance(step, Grad | Backward) for step in case.steps[:number]):
        raise UnlocalisedError(NOT_THE_FIRST)
    if len(asked) > MOST:
        raise UnlocalisedError(TOO_MANY)
    whole = Case(case.inputs, (*case.steps[:number], msgspec.structs.replace(call, inputs=None)), case.lane)
    scripts = [whole]
    for i, seen in enumerate(promise.outcome.observations[:number]):
        if isinstance(seen, Computed) and not set(asked).isdisjoint(names := results(case.steps[i])):
            made = [(n, v) for n, v in zip(names, seen.values, strict=True) if v is not None]
            scripts.append(cut(whole, [i], [input_of(n, v.array, differentiable=v.requires_grad) for n, v in made]))
    wrong = set()
    for script in scripts:
        last = len(script.steps) - 1
        leaves = {entry.name for entry in script.inputs}
        for found in Comparer(promise.of(script)).differences(accused.run(script)):
            if found.step == last and found.kind == "error":
                raise UnlocalisedError(REFUSED)
            if found.step == last and found.name in leaves and found.kind in kinds:
                wrong.add(found.name)
    return wrong.intersection(asked)


def refused_for(promise: Promise, number: int, call: Call, accused: Backend, asked: Sequence[str]) -> set[str]:
    """Return those of the values ``asked`` for which a call is refused, or answers another shape, if it is asked for one alone.

    Raises:
        UnlocalisedError: if that cannot be told.
    """
    asked = tuple(dict.fromkeys((*asked, *(call.inputs if isinstance(call, Grad) else ()))))
    if len(asked) > MOST:
        raise UnlocalisedError(TOO_MANY)
    wrong = set()
    for name in asked:
        script = _asking_for(promise, number, call, name)
        seen = accused.run(script)
        if not isinstance(seen.observations[-1], Computed | Raised):
            raise NotAskedError
        found = Comparer(promise.of(script)).differences(seen)
        if any(one.step == len(script.steps) - 1 and one.kind in REFUSING for one in found):
            wrong.add(name)
    return wrong


def _asking_for(promise: Promise, number: int, call: Call, name: str) -> Case:
    """Return the script up to a call, in which the call asks for the cotangent of one value alone."""
    case = promise.case
    if isinstance(call, Grad):
        return Case(case.inputs, (*case.steps[:number], msgspec.structs.replace(call, inputs=(name,), results=(ALONE,))), case.lane)
    whole = Case(case.inputs, (*case.steps[:number], msgspec.structs.replace(call, inputs=None)), case.lane)
    for i, seen in enumerate(promise.outcome.observations[:number]):
        if isinstance(seen, Computed) and name in results(case.steps[i]):
            whole = cut(whole, [i], [input_of(n, v.array) for n, v in zip(results(case.steps[i]), seen.values, strict=True) if v])
    inputs = (msgspec.structs.replace(entry, differentiable=entry.name == name) for entry in whole.inputs)
    return Case(tuple(inputs), whole.steps, whole.lane)

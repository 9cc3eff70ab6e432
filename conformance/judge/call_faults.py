"""Faults of a call itself: what it answers, accumulates or shows is not what arrives where it should.

A difference begins at the rule of an op only if the op hands on a wrong cotangent. A call may go wrong by itself: it answers zeros for
an input that nothing reaches, forgets to answer what has arrived, accumulates into a tensor that is not among its ``inputs``, or shows
a hook something else than what arrives. Then all rules are right, and to name the nearest op would accuse the wrong one. So before any
rule is looked at, the engine is asked once more: with a hook on what it answered wrongly, or without hooks for what a hook saw.
Example: a hook on an expanded tensor sees twice the gradient, and `grad` of that tensor is right; then it is the hook that is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.case import Case
from conformance.case.outcome import Computed, Raised
from conformance.case.steps import Backward, Grad, Hook, RemoveHook
from conformance.compare.compare import Comparer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.backends import Backend
    from conformance.case.steps import Step
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise

ASKED = "asked_again"
SHOWN = "shown_to_a_hook"


def fault_of_call(promise: Promise, number: int, call: Grad | Backward, accused: Backend, found: Mismatch) -> str:
    """Say what a call does wrong by itself, where it differs; empty where it hands on what it was given, or nobody can tell."""
    if isinstance(call, Backward) and found.where == "grad" and call.inputs is not None and found.name not in call.inputs:
        return f"it accumulates into {found.name}, which is not among its inputs"
    if found.where == "event":
        return _fault_of_hook(promise, number, call, accused, found)
    if isinstance(call, Grad) and found.where == "result" and found.kind == "absence":
        return _fault_of_answer(promise, number, call, accused, found)
    return ""


def _fault_of_hook(promise: Promise, number: int, call: Grad | Backward, accused: Backend, found: Mismatch) -> str:
    before = promise.case.steps[:number]
    hooked = next((step.tensor for step in before if isinstance(step, Hook) and found.name in step.results), None)
    if hooked is None or accused.info.refusal(("step:grad",)) is not None:
        return ""
    asking = Grad(call.roots, (hooked,), (ASKED,), call.seeds, retain_graph=call.retain_graph, create_graph=call.create_graph)
    asked = [*(step for step in before if not isinstance(step, Hook | RemoveHook)), asking]
    if _differs(promise, asked, accused):
        return ""
    return f"what the hook {found.name} is given; asked for {hooked}, grad answers what is right"


def _fault_of_answer(promise: Promise, number: int, call: Grad, accused: Backend, found: Mismatch) -> str:
    if accused.info.refusal(("step:hook",)) is not None:
        return ""
    asked = call.inputs[found.slot]
    script = Case(promise.case.inputs, (*promise.case.steps[:number], Hook(asked, (SHOWN,), "nothing"), call), promise.case.lane)
    seen = [outcome.observations[-1] for outcome in (promise.of(script).outcome, accused.run(script))]
    arrives = [isinstance(one, Computed | Raised) and any(event.name == SHOWN for event in one.events) for one in seen]
    if arrives[0] != arrives[1]:
        return ""
    return f"what it answers for {asked}, at which {'a' if arrives[0] else 'no'} cotangent arrives, as is promised"


def _differs(promise: Promise, steps: Sequence[Step], accused: Backend) -> bool:
    """Whether the last of some steps is answered otherwise than is promised."""
    script = Case(promise.case.inputs, tuple(steps), promise.case.lane)
    return any(differs.step == len(steps) - 1 for differs in Comparer(promise.of(script)).differences(accused.run(script)))

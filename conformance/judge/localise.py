"""Fault localisation: the first wrong node of a reverse pass.

A wrong gradient of a leaf says little about which of twenty ops is at fault. So the script is run again with a hook that answers
nothing on every computed value behind the roots of the diverging call, and both sides show the cotangent of every value. In reverse
order, the first step whose results have the right cotangents and one of whose operands does not is the one whose rule, or whose sum,
is wrong. Example: in ``z = sum(exp(mul(x, y)))`` with a wrong rule of exp, what arrives at exp's result is right and what leaves for
its operand is not, so exp is named, although mul passes the wrong number on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.dumped import DOT
from conformance.case.case import Case
from conformance.case.outcome import Computed
from conformance.case.place import END
from conformance.case.queries import label
from conformance.case.steps import Backward, Detach, Edge, Grad, Hook, InPlace, Op, results, uses
from conformance.compare.compare import Comparer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.backends import Backend
    from conformance.case.outcome import Outcome
    from conformance.case.steps import Call
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise

WATCH = "watch_"


def first_node(promise: Promise, accused: Backend, found: Mismatch) -> str:
    """Return the first step of the pass that receives correct cotangents and emits a wrong one, or why none can be named."""
    if found.step is END:
        return "not named: the difference is in the state after the last step"
    case = promise.case
    step = case.steps[found.step]
    if isinstance(step, Op):
        return f"step {found.step} ({step.op}): its forward"
    if not isinstance(step, Grad | Backward) or found.kind not in ("value", "absence"):
        return f"not named: a difference of kind {found.kind} at {label(case, found.step)} has no cotangents"
    if found.where == "event" and found.name == DOT:
        return "not named: what is dumped are no cotangents"
    if any(isinstance(s, InPlace | Edge) for s in case.steps[: found.step]):
        return "not named: in-place updates and edges give values more than one place in the graph"
    return _in_pass(promise, found.step, step, accused)


def _in_pass(promise: Promise, number: int, call: Call, accused: Backend) -> str:
    case = promise.case
    accumulates = isinstance(call, Backward)
    watched = _behind(case, number, call.roots, promise.outcome, leaves=accumulates)
    hooks = tuple(Hook(name, (WATCH + name,), "nothing") for name in watched)
    hooked = Case(case.inputs, (*case.steps[:number], *hooks, call), case.lane)
    at = number + len(hooks)
    differences = Comparer(promise.of(hooked)).differences(accused.run(hooked))
    wrong = _wrong(hooked, at, [m for m in differences if m.step == at])
    if wrong is None:
        return "not named: with hooks on the values in between, other hooks are called than should be"
    if not wrong:
        return "not named: with hooks on the values in between, nothing differs"
    roots = call.roots
    for i in reversed(range(number)):
        arriving = [name for name in results(case.steps[i]) if name in watched]
        passed = [name for _, name in uses(case.steps[i]) if name in wrong]
        if arriving and passed and wrong.isdisjoint(arriving):
            return f"step {i} ({label(case, i)}): what arrives at {', '.join(arriving)} is right, what leaves for {passed[0]} is not"
    if accumulates and wrong and wrong.isdisjoint(watched):
        return f"the accumulation into {min(wrong)}: the cotangent that arrives is right"
    if not wrong.isdisjoint(roots):
        return f"the call itself: the cotangent of its root {next(name for name in roots if name in wrong)} is not right"
    return "not named: no step is given right cotangents and passes on a wrong one"


def _behind(case: Case, number: int, roots: Sequence[str], expected: Outcome, *, leaves: bool) -> list[str]:
    """List the computed values behind the roots of a call that require a gradient, the newest first; then the ``leaves``, if asked."""
    wanted = set(roots)
    found = []
    for step, seen in reversed(list(zip(case.steps[:number], expected.observations[:number], strict=True))):
        if isinstance(step, Detach) or not isinstance(seen, Computed) or wanted.isdisjoint(results(step)):
            continue
        wanted.update(name for _, name in uses(step))
        found += [n for n, v in zip(results(step), seen.values, strict=False) if v is not None and v.requires_grad and n in wanted]
    return found + [i.name for i in case.inputs if leaves and i.differentiable and i.name in wanted]


def _wrong(hooked: Case, at: int, differences: list[Mismatch]) -> set[str] | None:
    """Return the values whose cotangents differ; ``None`` if the calls of the hooks cannot be compared."""
    step = hooked.steps[at]
    wrong = set()
    for found in differences:
        if found.kind in ("events", "error"):
            return None
        if found.where == "event":
            wrong.add(found.name.removeprefix(WATCH))
        elif found.where == "result" and isinstance(step, Grad):
            wrong.add(step.inputs[found.slot])
        else:
            wrong.add(f"{found.name}.grad")
    return wrong

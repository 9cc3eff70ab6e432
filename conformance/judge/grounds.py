"""Grounds: what a promise rests on where numbers cannot decide.

No derivative tells whether a call has to be refused, whether a result requires a gradient, or whether a gradient is absent. Three other
things do. A switch of the dialect decides if the engine would be right with that switch alone as another dialect has it. A clause of a
document may demand the refusal. And the script shows whether anything leads from what is differentiated to what is asked for, while the
flags that the engine shows of its own tensors may contradict each other. Each votes with its reason, or says why it cannot tell. A
convention accuses an engine that claims to follow it, and says nothing about the reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.case.aliases import Aliases
from conformance.case.outcome import Computed, Raised
from conformance.case.place import END
from conformance.case.prose import counted
from conformance.case.queries import label
from conformance.case.steps import (
    Backward,
    Custom,
    Detach,
    Edge,
    Grad,
    Hook,
    InPlace,
    Op,
    RetainGrad,
    SetRequiresGrad,
    kind,
    results,
    uses,
)
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.judge.dispute import Opinion, Vote, silent
from conformance.judge.documents import documents
from conformance.judge.ways import linear_in, way_to
from reference_impl import DIALECTS, Category
from reference_impl.dialects.switches import SWITCHES

if TYPE_CHECKING:
    from conformance.case.outcome import Observation
    from conformance.case.steps import Step
    from conformance.compare.mismatch import Mismatch
    from conformance.judge.dispute import Dispute
    from reference_impl import Dialect

UNTOLD = (InPlace, Edge, Custom, SetRequiresGrad)
"""Steps after which the script alone does not say what depends on what."""
UNFLIPPED = ("static", "not_offered")
"""Switches that change what a script is, and not what it promises."""


def by_dialect(dispute: Dispute) -> Vote:
    """Look for the switch that decides: with it as another dialect has it, the engine would be right at this place."""
    base, voter = dispute.promise.info.dialect, "conventions of its dialect"
    for switch in SWITCHES:
        for other in DIALECTS.values():
            value = getattr(other, switch.field)
            if switch.field in UNFLIPPED or value == getattr(base, switch.field):
                continue
            if _is_right(dispute, replace(base, **{switch.field: value})):
                tabled = isinstance(value, Collection) and not isinstance(value, str)
                instead = "" if tabled else f"; it would be right here by the answer of {other.name}: {switch.answer(other)}"
                answer = "as its table says, op by op" if tabled else switch.answer(base)
                reason = f"{switch.question} {answer} ({switch.source}; switch {switch.field}){instead}"
                return Vote(voter, Opinion.WRONG, Opinion.SILENT, reason)
    return silent(voter, "no single switch decides it: with any one as another dialect has it, the engine would still differ here")


def _is_right(dispute: Dispute, flipped: Dialect) -> bool:
    """Whether an engine of another dialect would be right in what it did at the disputed place."""
    promise = Promise(dispute.case, replace(dispute.promise.info, dialect=flipped))
    at = [m for m in Comparer(promise).differences(dispute.actual) if m.step == dispute.found.step]
    return not any(_place(m) == _place(dispute.found) or m.where == "step" for m in at)


def _place(found: Mismatch) -> tuple[str, int, str]:
    return found.where, found.slot, found.name


def by_documents(dispute: Dispute) -> Vote:
    """Look for the clause that demands the refusal that was expected."""
    found, dialect, voter = dispute.found, dispute.accused.info.dialect.name, "documents"
    if found.kind != "error" or found.step is END:
        return silent(voter, f"no clause is about a difference of this kind ({found.kind}) at one step")
    call = kind(dispute.case.steps[found.step])
    for document in documents():
        for clause, category in document.refusals.items():
            if (document.dialect, document.call, category) == (dialect, call, found.expected):
                reason = f"{clause}: {document.promises[clause]} ({document.source})"
                return Vote(voter, Opinion.WRONG, Opinion.SILENT, reason)
    return silent(voter, f"no clause of {dialect} says of {call} that it is {found.expected.replace('_', ' ')}")


def by_script(dispute: Dispute) -> Vote:
    """Ask the script, and what the engine shows of its own tensors, whether a gradient is there, or a flag set."""
    found, voter = dispute.found, "the graph of the script"
    if found.step is END:
        return silent(voter, "the difference is in the state after the last step, which several calls made")
    step = dispute.case.steps[found.step]
    if found.kind == "flag" and isinstance(step, Op | Detach):
        return _by_flags(dispute, found.step, step, voter)
    if found.kind == "flag" and found.where == "result" and isinstance(step, Grad):
        return _by_seeds(dispute, found.step, step, voter)
    if found.kind == "absence" and isinstance(step, Grad | Backward):
        return _by_path(dispute, found.step, step, voter)
    if found.kind == "events" and isinstance(step, Grad | Backward):
        return _by_hooks(dispute, found.step, step, voter)
    if found.kind == "mutation":
        return _by_writes(dispute, voter)
    if found.kind == "error":
        return _by_refusal(dispute, found.step, step, voter)
    return silent(voter, f"{found.kind} at {label(dispute.case, found.step)} is not a matter of what depends on what")


def _by_writes(dispute: Dispute, voter: str) -> Vote:
    """Ask whether a step writes to any tensor: no other may change what it is given."""
    if any(isinstance(step, InPlace) for step in dispute.case.steps):
        return silent(voter, "the script writes to tensors, and what shares memory with these may change")
    return Vote(
        voter, Opinion.WRONG, Opinion.RIGHT, f"no step of the script writes to any tensor, so none may change {dispute.found.name}"
    )


def _by_refusal(dispute: Dispute, number: int, step: Step, voter: str) -> Vote:
    """Hold a refusal, or its lack, against what the script writes, and against the flags that the engine itself shows."""
    found, before = dispute.found, dispute.case.steps[:number]
    if any(isinstance(earlier, InPlace) for earlier in before):
        return silent(voter, "flags, or what was saved, may have been changed in place before")
    if found.actual == Category.IN_PLACE_VERSION:
        return Vote(voter, Opinion.WRONG, Opinion.RIGHT, "no step before writes to any tensor, so none that was saved has changed")
    refused_as_leaf = found.actual == Category.IN_PLACE_LEAF and isinstance(step, InPlace) and step.tensor not in Aliases(before).parent
    expected_as_constant = found.expected == Category.NOT_DIFFERENTIABLE and isinstance(step, Edge | Hook | RetainGrad)
    if isinstance(step, Edge | Hook | RetainGrad | InPlace) and (refused_as_leaf or expected_as_constant):
        toggled = any(isinstance(earlier, SetRequiresGrad) and earlier.tensor == step.tensor for earlier in before)
        if not toggled and _shown_flags(dispute, number).get(step.tensor) is False:
            reason = f"{step.tensor} requires no gradient, as the engine itself showed it, and no step has set its flag"
            return Vote(voter, Opinion.WRONG, Opinion.RIGHT, reason)
    return silent(voter, f"whether {label(dispute.case, number)} is refused is not a matter of what depends on what")


def _by_flags(dispute: Dispute, number: int, step: Op | Detach, voter: str) -> Vote:
    """Hold the flag of a result against those of its operands, as the engine itself shows them."""
    if any(isinstance(earlier, SetRequiresGrad | InPlace) for earlier in dispute.case.steps[:number]):
        return silent(voter, "flags, or what they belong to, were changed before")
    shown = _shown_flags(dispute, number)
    operands = [name for _, name in uses(step)]
    given = [name for name in operands if shown.get(name)]
    wanted = bool(given) and isinstance(step, Op) and not step.no_grad
    if wanted is not (dispute.found.expected == "requires_grad"):
        return silent(voter, "the promise is not simply that of the operands' flags")
    inside = "it is detached" if isinstance(step, Detach) else "it is computed inside no_grad" if step.no_grad else ""
    why = inside or (f"its operand {given[0]} requires a gradient" if given else "none of its operands requires a gradient")
    return Vote(voter, Opinion.WRONG, Opinion.RIGHT, f"{why}, by the engine's own flags")


def _shown_flags(dispute: Dispute, number: int) -> dict[str, bool]:
    """Return whether each value before a step requires a gradient, as the engine shows it."""
    shown = {entry.name: entry.differentiable for entry in dispute.case.inputs}
    for earlier, seen in zip(dispute.case.steps[:number], dispute.actual.observations, strict=False):
        if isinstance(seen, Computed):
            pairs = zip(results(earlier), seen.values, strict=False)
            shown.update((name, value.requires_grad) for name, value in pairs if value is not None)
    return shown


def _by_seeds(dispute: Dispute, number: int, call: Grad, voter: str) -> Vote:
    """Hold the flag of a gradient against those of its seeds, in which it is linear."""
    expected = dispute.found.expected
    if not call.create_graph:
        if expected == "requires_grad":
            return silent(voter, "the promise is not simply that of a call without create_graph")
        return Vote(voter, Opinion.WRONG, Opinion.RIGHT, "the call is without create_graph, so no gradient of it has a graph")
    if any(isinstance(earlier, UNTOLD) for earlier in dispute.case.steps[:number]):
        return silent(voter, "in-place updates, edges, custom functions and changed flags say more than the script")
    shown = _shown_flags(dispute, number)
    given = [seed for seed in linear_in(dispute.case, number, call, call.inputs[dispute.found.slot]) if shown.get(seed)]
    if not given or expected != "requires_grad":
        return silent(
            voter, "no seed that requires a gradient decides it: whether a derivative depends on more is a matter of its formula"
        )
    return Vote(
        voter, Opinion.WRONG, Opinion.RIGHT, f"with create_graph it is linear in the seed {given[0]}, which requires a gradient"
    )


def _by_path(dispute: Dispute, number: int, call: Grad | Backward, voter: str) -> Vote:
    """Look for a path through differentiable steps from a root of a call to the value whose gradient is asked for."""
    case, found = dispute.case, dispute.found
    if isinstance(call, Grad) and found.where != "result":
        return silent(voter, f"{found.name}.grad is nothing that grad is asked for: whether it is there is no matter of the graph")
    name = call.inputs[found.slot] if isinstance(call, Grad) else found.name
    if isinstance(call, Backward) and call.inputs is not None and name not in call.inputs:
        if found.expected != "absent":
            return silent(voter, f"the call asks for {', '.join(call.inputs)}, and not for {name}")
        return Vote(voter, Opinion.WRONG, Opinion.RIGHT, f"the call asks for {', '.join(call.inputs)}, and not for {name}")
    before = case.steps[:number]
    if any(isinstance(s, UNTOLD) or (isinstance(s, Hook) and s.returns != "nothing") for s in before):
        return silent(voter, "in-place updates, edges, custom functions, changed flags and hooks that answer say more than the script")
    if call.constants or name not in {entry.name for entry in case.inputs if entry.differentiable}:
        return silent(voter, f"{name} is computed, or something is held constant: more counts than a way to it")
    way = way_to(case, number, call.roots, name)
    if way.derived:
        return silent(voter, f"a derivative lies between: whether that depends on {name} is a matter of how its formula is written")
    if way.names and found.expected == "present":
        return Vote(voter, Opinion.WRONG, Opinion.RIGHT, f"{name} is reached ({way.words}): its gradient may be zero, and is there")
    if not way.names and found.expected == "absent":
        reason = f"nothing leads from {', '.join(call.roots)} to {name}{f', which stops at {way.cut}' if way.cut else ''}"
        return Vote(voter, Opinion.WRONG, Opinion.RIGHT, reason)
    return silent(voter, "the promise rests on more than the script's graph: parameters of the call, or a state before it")


def _by_hooks(dispute: Dispute, number: int, call: Grad | Backward, voter: str) -> Vote:
    """Ask whether a pass goes through the tensor of a hook that is called too seldom or too often: once is right, or never."""
    case = dispute.case
    before = case.steps[:number]
    if call.constants or any(isinstance(step, UNTOLD) for step in before):
        return silent(voter, "in-place updates, edges, custom functions, changed flags and constants say more than the script")
    wanted, got = (_called(outcome.observations[number]) for outcome in (dispute.promise.outcome, dispute.actual))
    hooked = {step.results[0]: step.tensor for step in before if isinstance(step, Hook)}
    asked = {entry.name for entry in case.inputs if entry.differentiable} if call.asked is None else call.asked
    for hook, tensor in hooked.items():
        way = way_to(case, number, call.roots, tensor)
        passed = way.names and any(name == tensor or way_to(case, number, (tensor,), name).names for name in asked)
        if way.derived or wanted[hook] == got[hook]:
            continue
        if passed and wanted[hook]:
            reason = (
                f"the pass goes through {tensor} ({way.words}), so {hook} is called once; it was called {counted(got[hook], 'time')}"
            )
            return Vote(voter, Opinion.WRONG, Opinion.RIGHT, reason)
        if not way.names and not wanted[hook]:
            return Vote(
                voter, Opinion.WRONG, Opinion.RIGHT, f"nothing leads from {', '.join(call.roots)} to {tensor}, so {hook} is not called"
            )
    return silent(voter, "which hooks of these are called is no matter of what leads where")


def _called(seen: Observation) -> Counter[str]:
    return Counter(event.name for event in seen.events) if isinstance(seen, Computed | Raised) else Counter()


GROUNDS = (by_dialect, by_documents, by_script)
"""Who votes, before the other backends, on a difference that is not one of numbers."""

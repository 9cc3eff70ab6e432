"""Counterfactuals of gradients: what a script would be if a gradient were taken, or handed on, at another place of the graph.

A framework's graph has other nodes than the one that a script describes. A view that was written has a new place in it; the gradient of
a tensor may be read before its hooks, or be the seed itself; two gradients may be results of one node. Each of these is a script, too.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import msgspec

from conformance.case.aliases import Aliases
from conformance.case.outcome import Computed
from conformance.case.place import END, StepNumber
from conformance.case.queries import edges, twins, until
from conformance.case.rewrite import (
    CONSTANT,
    each_step,
    expand_steps,
    rename,
    rename_behind,
    replace_step,
    with_inputs,
    with_steps,
)
from conformance.case.steps import Backward, ClearGrad, Custom, Detach, Edge, Grad, Hook, InPlace, Op, SetRequiresGrad, results, uses
from conformance.compare.promise import promised
from conformance.deviations.conditions.hooks import hook_on_asked
from conformance.deviations.conditions.in_place import ASSIGNMENTS, constant_written
from conformance.deviations.conditions.lending import seeds_handed_on
from conformance.deviations.counterfactuals.batches import OF_BATCHES
from reference_impl import PADDLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step
    from conformance.deviations.counterfactuals.calls import Variant


def written_views_copied(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have views be copies of what they were from the last write to their memory on: one, or all, each with its name from there on.

    What was computed from a view before leads to what it was; edges that were taken before, too, but where a call asks for them.
    """
    before = until(case, number)
    aliases = Aliases(before)
    writes = {aliases.root(step.tensor): i for i, step in enumerate(before) if isinstance(step, InPlace) and i != number}
    made_by = aliases.parent.items()
    parted = {name: writes[aliases.root(name)] for name, (_, by) in made_by if isinstance(by, Op) and aliases.root(name) in writes}
    for chosen in [*([name] for name in parted), *([list(parted)] if len(parted) > 1 else [])]:
        old = {name: f"{CONSTANT}{name}" for name in chosen}

        def copied(i: int, step: Step, old: Mapping[str, str] = old) -> list[Step]:
            behind = {name: was for name, was in old.items() if i <= parted[name]}
            copies = (Op("clone", (was,), (name,)) for name, was in old.items() if i == parted[name])
            return [rename(step, behind), *copies]

        yield expand_steps(case, number, copied)


def captured_before_hooks(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have `grad` return the gradients of the hooked values that it asks for, beside others, as they are before the hooks."""
    hooked = {s.tensor for s in case.steps if isinstance(s, Hook)}
    copies = {name: f"{CONSTANT}{name}" for s in case.steps for name in results(s) if isinstance(s, Op | Custom) and name in hooked}

    def captured(i: int, step: Step) -> list[Step]:
        if isinstance(step, Op | Custom | Edge):
            operands = {name: copy for name, copy in copies.items() if name not in results(step)}
            return [rename(step, operands), *(Op("clone", (name,), (copies[name],)) for name in results(step) if name in copies)]
        if isinstance(step, Grad) and hook_on_asked(case, i):
            # a root that is asked for itself lies behind no copy of it, so that the call starts from the copy
            inputs, outputs = (tuple(copies.get(name, name) for name in names) for names in (step.inputs, step.outputs))
            return [msgspec.structs.replace(step, inputs=inputs, outputs=outputs)]
        return [step]

    if copies and not any(isinstance(s, InPlace) for s in case.steps):
        yield expand_steps(case, number, captured)


def hooked_gradients_started(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have the call start from the hooked gradients too, those of calls for several, with seeds of zeros."""
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad | Backward):
        return
    hooked = {s.tensor for s in case.steps[:number] if isinstance(s, Hook)} - {*call.roots}
    made = (s for s in case.steps[:number] if isinstance(s, Grad) and s.create_graph and len(s.results) > 1)
    gradients = [name for s in made for name in s.results if name in hooked]
    before: list[Step] = []
    for name in gradients:
        fixed, none = f"{CONSTANT}{name}_fixed", f"{CONSTANT}{name}_none"
        before += [Detach(name, (fixed,)), Op("mul_scalar", (fixed,), (none,), {"other": 0.0})]
    seeds = (*(call.seeds or (None,) * len(call.roots)), *(f"{CONSTANT}{name}_none" for name in gradients))
    field = next((field for field in call.SEEDS if getattr(call, field) is not None), call.SEEDS[0])
    wider = msgspec.structs.replace(call, **{call.ROOTS: (*call.roots, *gradients), field: seeds}, form=None)
    yield with_steps(case, (*case.steps[:number], *before, wider, *case.steps[number + 1 :])), number + len(before)


def gradients_of_one_node(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have gradients of a call with a graph be results of one node that hands them on: a hooked one and another, or all of them."""
    hooked, seen = {s.tensor for s in until(case, number) if isinstance(s, Hook)}, promised(case, PADDLE).observations
    for i, call in enumerate(until(case, number)):
        answer = seen[i]
        if i == number or not isinstance(call, Grad) or not call.create_graph or not isinstance(answer, Computed):
            continue
        there = [name for name, value in zip(call.results, answer.values, strict=True) if value is not None]
        pairs = [pair for pair in itertools.combinations(there, 2) if not hooked.isdisjoint(pair)]
        for names in dict.fromkeys([*pairs, tuple(there)] if pairs else []):
            own, made, arrived = (tuple(f"{CONSTANT}{name}{more}" for name in names) for more in ("", "_made", "_cotangent"))
            forward = tuple(Op("clone", (one,), (other,)) for one, other in zip(own, made, strict=True))
            apart = rename(call, dict(zip(names, own, strict=True))), Custom(own, names, forward, made, arrived, arrived)
            yield with_steps(case, (*case.steps[:i], *apart, *case.steps[i + 1 :])), number if number is END else number + 1


def hooked_alone(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have `backward` run for one hooked tensor alone, so that no other leaf has what it would have got before the hook."""
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Backward) or call.inputs is not None:
        return
    for name in dict.fromkeys(step.tensor for step in case.steps[:number] if isinstance(step, Hook)):
        yield replace_step(case, number, msgspec.structs.replace(call, inputs=(name,))), number


def written_constants_tracked(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a constant require a gradient that is written in place or by setitem, right before that; what is written is a copy of it."""
    found = [i for i in range(len(until(case, number))) if constant_written(case, i)]
    for chosen in [*([i] for i in found), *([found] if len(found) > 1 else [])]:
        variant = case
        for i in reversed(chosen):
            variant = with_steps(variant, _written_as_leaf(variant.steps, i))
        yield variant, number if number is END else number + 2 * sum(i <= number for i in chosen)


def _written_as_leaf(steps: Sequence[Step], i: int) -> tuple[Step, ...]:
    step = steps[i]
    if isinstance(step, InPlace):
        made: tuple[Step, ...] = SetRequiresGrad(step.tensor, requires_grad=True), Op("clone", (step.tensor,), (f"{CONSTANT}{i}",))
        return rename_behind((*steps[:i], *made, *steps[i:]), i + 1, {step.tensor: f"{CONSTANT}{i}"})
    names = [name for field, name in uses(step) if field == "operands"]
    made = Detach(names[0], (f"{CONSTANT}{i}",)), SetRequiresGrad(f"{CONSTANT}{i}", requires_grad=True)
    return *steps[:i], *made, msgspec.structs.replace(step, operands=(f"{CONSTANT}{i}", *names[1:])), *steps[i + 1 :]


def own_constants_tracked(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Have leaves lead to what the ops make: the constants that an op writes it into, one for each matrix, and for a batch another."""
    seen = promised(case, PADDLE).observations

    def further(i: int, step: Step) -> list[Step]:
        answer = seen[i]
        made = answer.values[0] if isinstance(answer, Computed) and answer.values else None
        if not isinstance(step, Op) or step.op not in ops or made is None or not made.requires_grad:
            return [step]
        *batch, _, _ = made.array.shape
        names = [f"{CONSTANT}{step.results[0]}_{n}" for n in range(1 + math.prod(batch) if batch else 1)]
        steps: list[Step] = [msgspec.structs.replace(step, results=(names[0],))]
        for name, total in itertools.pairwise([*names, step.results[0]]):
            leaf = f"{name}_leaf"
            steps += [Detach(name, (leaf,)), SetRequiresGrad(leaf, requires_grad=True), Op("add", (name, leaf), (total,))]
        return steps

    yield expand_steps(case, number, further)


def gradients_are_seeds(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a gradient of an output in itself be the seed: one tensor from then on, which is called by either name."""
    yield from _one_tensor(case, number, twins(until(case, number)))


def gradients_are_seeds_handed_on(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a gradient be the seed that ops handed on as it is: one tensor from then on, which is called by either name."""
    calls = range(len(until(case, number)))
    yield from _one_tensor(case, number, {made: seed for i in calls for made, seed in seeds_handed_on(case, i).items()})


def _one_tensor(case: Case, number: StepNumber, same: Mapping[str, str]) -> Iterator[Variant]:
    steps = until(case, number)
    for made, seed in same.items():
        place = next(i for i, step in enumerate(steps) if made in results(step))
        own = rename(steps[place], {made: f"{CONSTANT}{made}"})
        one = with_steps(case, rename_behind((*case.steps[:place], own, *case.steps[place + 1 :]), place, {made: seed}))
        yield one, number
        named = each_step(one, lambda step, names={seed: made}: rename(step, names))  # type: ignore[misc]
        for fields in ({"name": made}, {"name": made, "differentiable": True}):  # of a constant seed Paddle makes no constant
            inputs = (msgspec.structs.replace(entry, **fields) if entry.name == seed else entry for entry in one.inputs)
            yield with_inputs(named, inputs), number


def written_into_by_name(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Have the name of what an op wrote be that of a leaf into which it wrote: the ``.grad`` of that name is what arrives there."""
    seen = promised(case, PADDLE).observations
    for i, step in enumerate(until(case, number)):
        answer = seen[i]
        out = answer.values[0] if isinstance(answer, Computed) and answer.values else None
        if i == number or not isinstance(step, Op) or step.op not in ops or out is None:
            continue
        name = step.results[0]
        made, value, written = (f"{CONSTANT}{name}{more}" for more in ("", "_value", "_written"))
        leaf = Detach(made, (name,)), SetRequiresGrad(name, requires_grad=True)
        if step.op in ASSIGNMENTS:
            write: tuple[Step, ...] = (msgspec.structs.replace(step, operands=(name, *step.operands[1:]), results=(written,)),)
        else:  # the powers of vander are written beside a column of ones
            rows, columns = out.array.shape
            key = {"key": [[0, rows, 1], [1, columns, 1]]}
            write = Op("getitem_slice", (made,), (value,), key), Op("setitem", (name, value), (written,), key)
        steps = msgspec.structs.replace(step, results=(made,)), *leaf, *write
        behind = (later if isinstance(later, ClearGrad) else rename(later, {name: written}) for later in case.steps[i + 1 :])
        yield with_steps(case, (*case.steps[:i], *steps, *behind)), number if number is END else number + len(steps) - 1


def toggled_edges_dropped(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have `backward` not start from edges of leaves whose flag was taken off: what arrives there is added to no ``.grad``."""
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Backward):
        return
    of = edges(case.steps[:number])
    off = {step.tensor for step in case.steps[:number] if isinstance(step, SetRequiresGrad) and not step.requires_grad}
    kept = [i for i, root in enumerate(call.roots) if of.get(root) not in off]
    if kept and len(kept) < len(call.roots):
        fields = {field: held for field in (call.ROOTS, *call.SEEDS) if (held := getattr(call, field)) is not None}
        fewer = {field: tuple(held[i] for i in kept if i < len(held)) for field, held in fields.items()}
        yield replace_step(case, number, msgspec.structs.replace(call, **fewer)), number


OF_GRADIENTS: dict[str, Callable[[Case, StepNumber, Sequence[str]], Iterator[Variant]]] = {
    **OF_BATCHES,
    "as if views were copies since the last write": written_views_copied,
    "as if written constants required a gradient": written_constants_tracked,
    "as if constants that an op writes into required a gradient": own_constants_tracked,
    "as if what is written into were a leaf of that name": written_into_by_name,
    "as if gradients were captured before hooks": captured_before_hooks,
    "as if hooked gradients beside a root were roots": hooked_gradients_started,
    "as if a gradient were its seed": gradients_are_seeds,
    "as if a gradient were the seed that was handed on": gradients_are_seeds_handed_on,
    "as if edges of leaves without a flag were no roots": toggled_edges_dropped,
    "as if a pass ran for a hooked tensor alone": hooked_alone,
    "as if gradients of a call were results of one node": gradients_of_one_node,
}
"""The counterfactuals of this kind by the words that an entry uses."""

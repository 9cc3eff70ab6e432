"""Counterfactuals of refusals: what a script would be if what an engine does not refuse, or does not call, were not written in it.

They say what an engine answers where a refusal is promised, or other calls of hooks. An entry of a ``deviation.toml`` names them as
what comes ``instead``, and the answer of the step as a whole is held against them; see `conformance.deviations.explain`.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from conformance.case.case import Case
from conformance.case.place import END, StepNumber
from conformance.case.queries import constant_inputs, constants_made, frozen_seeds, leaves, twins, until
from conformance.case.rewrite import (
    CONSTANT,
    answering_nothing,
    detach_uses,
    each_step,
    expand_steps,
    interpose,
    rename,
    replace_step,
    with_steps,
    without_constant,
    without_seed,
    without_seeds,
)
from conformance.case.steps import (
    Backward,
    Custom,
    Grad,
    Hook,
    InPlace,
    Op,
    RemoveHook,
    RetainGrad,
    SetRequiresGrad,
    results,
)
from conformance.deviations.conditions.calls import input_is_output, moves_nothing, names_in_paddle, views_of_toggled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from conformance.case.steps import Step

Variant = tuple[Case, StepNumber]
"""A script, and the number that the step in question has there."""


def surplus_seeds_dropped(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Drop the seeds of the call, and of those before it, that are beyond their roots."""
    call = None if number is END else case.steps[number]
    if number is not END and isinstance(call, Grad | Backward) and call.seeds is not None:
        steps = [*(without_surplus_seeds(step) for step in case.steps[: number + 1]), *case.steps[number + 1 :]]
        yield with_steps(case, tuple(steps)), number


def without_surplus_seeds(step: Step) -> Step:
    """Have a call drop the seeds that are beyond its roots."""
    while isinstance(step, Grad | Backward) and len(step.seeds or ()) > len(step.roots):
        step = without_seed(step, len(step.roots))
    return step


def no_seeds(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Pass no seeds to the call."""
    call = None if number is END else case.steps[number]
    if number is not END and isinstance(call, Grad | Backward):
        yield replace_step(case, number, without_seeds(call)), number


def leaf_hooks_gone(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Remove the hooks on leaves for the step, which other calls meet; an output's gradient in itself is one, too."""
    if number is not END:
        own, same = leaves(case), names_in_paddle(case, len(case.steps))
        of_themselves = (name for i in range(number) if input_is_output(case, i) for name in results(case.steps[i]))
        yield _unhooked(case, number, {*own, *(name for name, first in same.items() if first in own), *of_themselves})


def hooks_gone(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Remove the hooks of one tensor for the step: other calls meet them."""
    if number is not END:
        for name in dict.fromkeys(s.tensor for s in case.steps[:number] if isinstance(s, Hook)):
            yield _unhooked(case, number, {name})


def _unhooked(case: Case, number: int, tensors: AbstractSet[str]) -> Variant:
    before = case.steps[:number]
    removed = {s.hook for s in before if isinstance(s, RemoveHook)}
    hooks = [s for s in before if isinstance(s, Hook) and s.tensor in tensors and removed.isdisjoint(s.results)]
    handles = {name: f"{CONSTANT}{name}_{number}_again" for hook in hooks for name in hook.results}
    again = [msgspec.structs.replace(hook, results=tuple(handles[name] for name in hook.results)) for hook in hooks]
    after = [rename(step, handles) if isinstance(step, RemoveHook) else step for step in case.steps[number + 1 :]]
    return with_steps(case, (*before, *map(RemoveHook, handles), case.steps[number], *again, *after)), number + len(handles)


def hooks_removed_by_number(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a handle remove what has its number among what was registered on its tensor since the last recorded write: maybe nothing.

    Hooks have numbers, and so has the one by which a gradient is retained, once for a tensor.
    """
    writes, numbers = Counter[str](), Counter[tuple[str, int]]()
    registered: dict[tuple[str, int, int], int] = {}
    given: dict[str, tuple[str, int]] = {}
    retained: set[str] = set()
    changed: dict[int, list[Step]] = {}
    for i, step in enumerate(case.steps):
        if isinstance(step, InPlace):
            writes[step.tensor] += not step.no_grad
        elif isinstance(step, Hook) or (isinstance(step, RetainGrad) and step.tensor not in retained):
            retained.update([step.tensor] if isinstance(step, RetainGrad) else ())
            place = step.tensor, writes[step.tensor]
            registered[*place, numbers[place]] = i
            given.update((handle, (step.tensor, numbers[place])) for handle in results(step))
            numbers[place] += 1
        elif isinstance(step, RemoveHook):
            tensor, own = given[step.hook]
            found = registered.get((tensor, writes[tensor], own))
            changed[i] = [] if found is None else [RemoveHook(handle) for handle in results(case.steps[found])]
            if found is not None and isinstance(case.steps[found], RetainGrad):
                changed[found] = []
    yield expand_steps(case, number, lambda i, step: changed.get(i, [step]))


def unreachable_allowed(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have the call allow inputs that do not affect its outputs."""
    call = None if number is END else case.steps[number]
    if number is not END and isinstance(call, Grad):
        yield replace_step(case, number, msgspec.structs.replace(call, allow_unused=True)), number


def refusals_lifted(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Take away reasons to refuse the call, of one kind, of two or of three, so that it comes to what else is to be refused.

    They are what hooks answer, how many gradients custom backwards return, what was freed, and the order of derivative.
    """
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad | Backward):
        return

    def of_first_order(lifted: Case) -> Case:
        step = lifted.steps[number]
        return replace_step(lifted, number, msgspec.structs.replace(step, create_graph=False)) if isinstance(step, Grad) else lifted

    unanswered = functools.partial(answering_nothing, returns=("error", "another_dtype", "tensor"))
    ways: list[Callable[[Case], Case]] = [
        *(functools.partial(each_step, change=change) for change in (unanswered, returning_as_many, keeping_its_graph)),
        of_first_order,
    ]
    for count in range(1, len(ways)):
        for taken in itertools.combinations(ways, count):
            lifted = functools.reduce(lambda so_far, lift: lift(so_far), taken, case)
            if lifted != case:
                yield lifted, number


def returning_as_many(step: Step) -> Step:
    """Have a custom backward return one gradient for each operand: surplus ones are dropped, missing ones are nothing."""
    if not isinstance(step, Custom) or len(step.gradients) == len(step.operands):
        return step
    missing = (None,) * (len(step.operands) - len(step.gradients))
    return msgspec.structs.replace(step, gradients=(*step.gradients, *missing)[: len(step.operands)])


def keeping_its_graph(step: Step) -> Step:
    """Have a call keep its graph."""
    return msgspec.structs.replace(step, retain_graph=True) if isinstance(step, Grad | Backward) else step


def cut_forgotten(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Take one of the tensors from the call's ``no_grad_vars``."""
    call = None if number is END else case.steps[number]
    if number is not END and isinstance(call, Grad):
        for i in range(len(call.no_grad_vars or ())):
            yield replace_step(case, number, without_constant(call, i)), number


def cut_forgotten_and_kept(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Take one of the tensors from the call's ``no_grad_vars``, and have every `grad` keep its graph, of which more is reached then."""
    for variant, moved in cut_forgotten(case, number, ops):
        yield from nothing_freed(variant, moved, ops)


def missing_gradients_none(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have every custom backward return nothing for the operands that it leaves out."""

    def padded(step: Step) -> Step:
        if not isinstance(step, Custom):
            return step
        missing = (None,) * (len(step.operands) - len(step.gradients))
        return msgspec.structs.replace(step, gradients=(*step.gradients, *missing))

    yield each_step(case, padded), number


def missing_gradients_zeros(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have every custom backward return zeros for the operands that it gives None to, so that what is behind them runs."""

    def filled(step: Step) -> Step:
        if not isinstance(step, Custom):
            return step
        given = [*zip(step.operands, step.gradients, strict=False)]
        zeros = {name: f"{CONSTANT}{name}_zeros" for name, gradient in given if gradient is None}
        return msgspec.structs.replace(
            step,
            saved=(*step.saved, *(name for name in zeros if name not in step.saved)),
            backward=(*step.backward, *(Op("mul_scalar", (name,), (zero,), {"other": 0.0}) for name, zero in zeros.items())),
            gradients=(*(zeros[n] if gradient is None else gradient for n, gradient in given), *step.gradients[len(given) :]),
        )

    yield each_step(case, filled), number


def flags_set_again(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Set the flags again that were taken off, right before the step."""
    if number is END:
        return
    off = dict.fromkeys(s.tensor for s in case.steps[:number] if isinstance(s, SetRequiresGrad) and not s.requires_grad)
    if off:
        again = (SetRequiresGrad(name, requires_grad=True) for name in off)
        yield replace_step(case, number, *again, case.steps[number]), number + len(off)


def views_of_toggled_flagged(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Set the flags of the views that the call asks for, of tensors whose flags were set, right before it."""
    call = None if number is END else case.steps[number]
    if number is not END and isinstance(call, Grad):
        views = views_of_toggled(case.steps[:number])
        flags = [SetRequiresGrad(name, requires_grad=True) for name in dict.fromkeys(call.inputs) if name in views]
        yield replace_step(case, number, *flags, call), number + len(flags)


def frozen_seeds_constant(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Take the flag off the seed of each `grad` without a graph of an output in itself, right behind the call."""
    yield expand_steps(
        case, number, lambda i, step: [step, *(SetRequiresGrad(name, requires_grad=False) for name in sorted(frozen_seeds(case, i)))]
    )


def saved_leaves_constant(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have custom functions save copies of those of their operands of which the flag is taken off somewhere; a copy is a constant."""
    stopped = {step.tensor for step in case.steps if isinstance(step, SetRequiresGrad) and not step.requires_grad}

    def copied(step: Step) -> Step:
        if not isinstance(step, Custom):
            return step
        names = {name: f"{CONSTANT}{name}_saved" for name in step.saved if name in stopped and name in step.operands}
        copies = tuple(Op("clone", (name,), (copy,)) for name, copy in names.items())
        return msgspec.structs.replace(
            step,
            forward=(*step.forward, *copies),
            saved=tuple(names.get(name, name) for name in step.saved),
            backward=tuple(rename(op, names) for op in step.backward),
            gradients=tuple(name if name is None else names.get(name, name) for name in step.gradients),
        )

    yield each_step(case, copied), number


def seed_constant(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Cut a seed of a `grad` with a graph off from what it was made of, and from itself: one, or all."""
    found = [
        (i, "grad_outputs", position)
        for i, step in enumerate(until(case, number))
        if isinstance(step, Grad) and step.create_graph and i != number
        for position, name in enumerate(step.grad_outputs or ())
        if name is not None
    ]
    for places in [*([place] for place in found), *([found] if len(found) > 1 else [])]:
        yield detach_uses(case, places), number if number is END else number + len(places)


def constant_seeds_tracked(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have the constants that are seeds of a `grad` with a graph, by whatever name, require a gradient from that call on.

    A hook on such a seed by another name is one on the seed, also where the reference has a cast of it by that name.
    """
    stopped, same = constants_made(case.steps, constant_inputs(case)), twins(case.steps)

    def tracked(_: int, step: Step) -> list[Step]:
        if isinstance(step, Hook) and same.get(step.tensor) in stopped:
            return [msgspec.structs.replace(step, tensor=same[step.tensor])]
        given = (step.seeds or ()) if isinstance(step, Grad) and step.create_graph else ()
        seeds = (other for name in given if name is not None for other in (same.get(name, name), name))
        return [*(SetRequiresGrad(name, requires_grad=True) for name in dict.fromkeys(seeds) if name in stopped), step]

    variant, begins = expand_steps(case, number, tracked)
    yield variant, begins if number is END or begins is END else variant.steps.index(case.steps[number], begins)


def op_recorded(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have an op that moves nothing be recorded where it is inside ``no_grad``: it has the flag of its operand, which it may be."""
    step = None if number is END else case.steps[number]
    if number is not END and isinstance(step, Op) and step.no_grad and moves_nothing(case, number):
        yield replace_step(case, number, msgspec.structs.replace(step, no_grad=False)), number


def derivatives_copied(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a derivative that a call begins with, a `grad` asks for or cuts, or a hook is on be a copy of what it is: one, or all."""
    call = None if number is END else case.steps[number]
    made = {n for s in case.steps if isinstance(s, Grad) for n in s.results}
    if number is not END and isinstance(call, Grad | Backward):
        named = (*call.roots, *((*call.inputs, *(call.no_grad_vars or ())) if isinstance(call, Grad) else ()))
        hooked = (step.tensor for step in case.steps[:number] if isinstance(step, Hook))
        asked = [name for name in dict.fromkeys((*named, *hooked)) if name in made]
        for copied in [*([name] for name in asked), *([asked] if len(asked) > 1 else [])]:
            steps = case.steps
            for name in copied:
                steps = interpose(steps, name, Op("clone", (name,), (f"{CONSTANT}{name}",)))
            yield with_steps(case, steps), number + len(copied)


def siblings_asked(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a `grad` call ask for another gradient of an earlier call in the place of the one that it asks for."""
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad):
        return
    for position, asked in enumerate(call.inputs):
        for made in (s.results for s in case.steps[:number] if isinstance(s, Grad) and asked in s.results):
            for other in made:
                if other not in call.inputs:
                    inputs = (*call.inputs[:position], other, *call.inputs[position + 1 :])
                    yield replace_step(case, number, msgspec.structs.replace(call, inputs=inputs)), number


def others_asked(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a `grad` ask for other leaves, too, behind what it asks for: for one of them, or for all."""
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad):
        return
    others = sorted(leaves(case) - {*call.inputs})
    for more in [*([name] for name in others), *([others] if len(others) > 1 else [])]:
        named = (*call.results, *(f"{CONSTANT}{i}" for i in range(len(more))))
        form = None if call.form == "bare" else call.form
        wider = msgspec.structs.replace(call, inputs=(*call.inputs, *more), results=named, allow_unused=True, form=form)
        yield replace_step(case, number, wider), number


def nothing_freed(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have every `grad` keep its graph."""
    yield each_step(case, lambda s: msgspec.structs.replace(s, retain_graph=True) if isinstance(s, Grad) else s), number

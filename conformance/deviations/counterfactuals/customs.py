"""Counterfactuals of custom functions: backwards that return gradients of the right shape, and operands that are returned.

An engine that does not look at the shape of what a backward returns goes on with it. Nobody can say what it reads then, but it comes to
what the function was given, and nowhere else. One that makes a new tensor of an operand that is returned, and writes the history of the
result into the operand, has the two in each other's place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.case.place import END, StepNumber
from conformance.case.queries import until
from conformance.case.rewrite import CONSTANT, each_step, rename, replace_step, with_steps
from conformance.case.steps import ClearGrad, Custom, Detach, Op, SetRequiresGrad
from conformance.deviations.conditions.calls import names_in_paddle
from conformance.deviations.conditions.in_place import shapes_at
from conformance.deviations.conditions.operands import flags_at
from conformance.deviations.counterfactuals.calls import nothing_freed
from reference_impl import PADDLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step
    from conformance.deviations.counterfactuals.calls import Variant

TOTAL = {"axis": None, "keepdims": False}


def gradients_of_customs_fitted(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a custom backward return zeros in the shapes of its operands: that of one function, or of all, with and without freeing.

    Where it returns nothing it still does: an operand that requires no gradient may not be given one. One that returns more or fewer
    than it has operands is refused for that, whatever their shapes.
    """
    if number is END:
        return
    shapes = shapes_at(case, number, PADDLE)
    made = enumerate(until(case, number))
    returning = ((i, step) for i, step in made if isinstance(step, Custom) and len(step.gradients) == len(step.operands))
    customs = {i: step for i, step in returning if all(name in shapes for name in step.operands)}
    fitted = {i: _fitted(step, [shapes[name] for name in step.operands]) for i, step in customs.items()}
    for chosen in [*([i] for i in fitted), *([list(fitted)] if len(fitted) > 1 else [])]:
        other = with_steps(case, (fitted[i] if i in chosen else step for i, step in enumerate(case.steps)))
        yield other, number
        yield from nothing_freed(other, number, ())


def _fitted(step: Custom, shapes: Sequence[tuple[int, ...]]) -> Custom:
    total, none = f"{CONSTANT}total", f"{CONSTANT}none"
    gradients = tuple(None if returned is None else f"{CONSTANT}fit_{i}" for i, returned in enumerate(step.gradients))
    made = (
        Op("sum", step.cotangents[:1], (total,), TOTAL),
        Op("mul_scalar", (total,), (none,), {"other": 0.0}),
        *(Op("expand", (none,), (name,), {"shape": [*shape]}) for name, shape in zip(gradients, shapes, strict=True) if name),
    )
    return msgspec.structs.replace(step, backward=(*step.backward, *made), gradients=gradients)


def returned_operands_swapped(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have an operand that a custom function returns be its result from then on, or its first one, and the result a leaf.

    The leaf lies in the operand's memory, and requires a gradient if the operand did before. Where the function is not recorded, the
    operand stays what it is. The operand has all its names changed, also that of what a shape op that moves nothing gave back.
    So a call may come to what a `grad` before it should have freed, and be refused or not: with and without freeing.
    """
    later = any(isinstance(step, Custom) and not {*step.operands}.isdisjoint(step.outputs[1:]) for step in case.steps)
    saving = each_step(case, _saving_what_it_made)
    for one in (case, saving) if saving.steps != case.steps else (case,):
        for first in (False, True) if later else (False,):
            other, moved = _swapped(case, one, number, first=first)
            yield other, moved
            yield from ((kept, moved) for kept, _ in nothing_freed(other, moved, ()) if kept.steps != other.steps)


def _saving_what_it_made(step: Step) -> Step:
    """Have a custom function that saves an operand and returns it save the result: its history is what the operand has from then on."""
    if not isinstance(step, Custom) or (kept := {*step.saved} & {*step.outputs} & {*step.operands}) == set():
        return step
    names = {name: f"{CONSTANT}{name}_returned" for name in sorted(kept)}

    def renamed(given: Sequence[str]) -> tuple[str, ...]:
        return tuple(names.get(name, name) for name in given)

    return msgspec.structs.replace(
        step,
        forward=(*step.forward, *(Op("clone", (name,), (made,)) for name, made in names.items())),
        outputs=renamed(step.outputs),
        saved=renamed(step.saved),
        backward=tuple(msgspec.structs.replace(op, operands=renamed(op.operands)) for op in step.backward),
        gradients=tuple(name if name is None else names.get(name, name) for name in step.gradients),
    )


def _swapped(case: Case, other: Case, number: StepNumber, *, first: bool) -> Variant:
    """Return another case with what a case returns of its operands swapped."""
    i = 0
    while i < len(case.steps):
        made, names = _leaves(case, i, first=first)
        behind = [
            [later if isinstance(later, ClearGrad) else rename(later, names) for later in of.steps[i + 1 :]] for of in (case, other)
        ]
        if made:
            case, other = (with_steps(of, (*of.steps[: i + 1], *made, *steps)) for of, steps in zip((case, other), behind, strict=True))
        number = number if number is END or number <= i else number + len(made)
        i += 1 + len(made)
    return other, number


def _leaves(case: Case, number: int, *, first: bool) -> tuple[list[Step], dict[str, str]]:
    """Return the steps that make leaves of what a step returns of its operands, and what stands for which name behind it."""
    step = case.steps[number]
    made: list[Step] = []
    names: dict[str, str] = {}
    if not isinstance(step, Custom) or {*step.outputs}.isdisjoint(step.operands):
        return made, names
    flags = flags_at(case, number)
    recorded = not step.no_grad and any(flags.get(name) for name in step.operands)
    same = names_in_paddle(case, number)
    for result, operand in zip(step.results, step.outputs, strict=True):
        if operand in step.operands:
            names[result] = f"{CONSTANT}{result}"
            made.append(Detach(operand, (names[result],)))
            if flags.get(operand):
                made.append(SetRequiresGrad(names[result], requires_grad=True))
            if recorded:
                one = same.get(operand, operand)
                alike = [operand, one, *(name for name, other in same.items() if other == one)]
                names.update(dict.fromkeys(alike, step.results[0] if first else result))
    return made, names


def results_flagged_as_operands(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a custom function be recorded if an operand that it returns requires a gradient, and otherwise not."""
    step = None if number is END else case.steps[number]
    if number is not END and isinstance(step, Custom):
        flags = flags_at(case, number)
        for operand in {*step.outputs} & {*step.operands} & flags.keys():
            yield replace_step(case, number, msgspec.structs.replace(step, no_grad=not flags[operand])), number


OF_CUSTOMS: dict[str, Callable[[Case, StepNumber, Sequence[str]], Iterator[Variant]]] = {
    "as if gradients of custom functions had the shapes of the operands": gradients_of_customs_fitted,
    "as if results had the flags of returned operands": results_flagged_as_operands,
    "as if returned operands were the results": returned_operands_swapped,
}
"""The counterfactuals of this kind by the words that an entry uses."""

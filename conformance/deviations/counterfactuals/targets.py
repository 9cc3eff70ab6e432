"""Counterfactuals of the targets of a call: one is missing, there is none, or one is not cut off though the call says so."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import msgspec

from conformance.case.case import Input
from conformance.case.place import END, StepNumber
from conformance.case.rewrite import CONSTANT, replace_step, with_inputs, without_root, without_seeds
from conformance.case.steps import Backward, Call, Grad, SetRequiresGrad
from conformance.deviations.conditions.programs import one_variable, stopping
from conformance.deviations.conditions.several import made_together

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from conformance.case.case import Case
    from conformance.deviations.counterfactuals.calls import Variant


def targets_once(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Drop one of the targets of the call, all but one that are one variable, or those that one op made, with their seeds.

    The targets and inputs of `grad` may stand for the variables that they are other names of.
    """
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad | Backward) or len(call.roots) < 2:
        return
    places, same = range(len(call.roots)), one_variable(case, number)
    together = [[i for i in places if call.roots[i] in made] for made in made_together(case.steps[:number])]
    aimed = [*_variables(call, same)]
    alike = ([i for i, other in aimed if i != kept and other == name] for kept, name in aimed)
    for dropped in [*([i] for i in places), *(found for found in (*alike, *together) if 1 < len(found) < len(call.roots))]:
        left = functools.reduce(without_root, reversed(dropped), call)
        yield replace_step(case, number, left), number
        if isinstance(left, Grad) and not same.keys().isdisjoint((*left.outputs, *left.inputs)):
            outputs, inputs = (tuple(same.get(n, n) for n in names) for names in (left.outputs, left.inputs))
            yield replace_step(case, number, msgspec.structs.replace(left, outputs=outputs, inputs=inputs)), number


def _variables(call: Call, same: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Yield the places of the roots of a call, each with its variable."""
    return ((i, same.get(root, root)) for i, root in enumerate(call.roots))


def no_target(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have the call start from a number that nothing was computed from."""
    call = None if number is END else case.steps[number]
    if number is not END and isinstance(call, Grad):
        started = msgspec.structs.replace(without_seeds(call), outputs=(CONSTANT,))
        yield replace_step(with_inputs(case, (*case.inputs, Input(CONSTANT, (), (1.0,)))), number, started), number


def targets_not_cut(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Let gradients flow to a call's own targets: remove them from its ``no_grad_vars`` or ``no_grad_set``, all, or one.

    That one may be the only target then, and stops gradients no more.
    """
    if number is END or not isinstance(call := case.steps[number], Call):
        return
    same, stopped = one_variable(case, number), stopping(case, number)
    cut, aimed = {same.get(n, n) for n in (*(call.constants or ()), *stopped)}, [*_variables(call, same)]

    def without(uncut: Collection[str], kept: Call) -> Call:
        left = tuple(n for n in kept.constants or () if same.get(n, n) not in uncut)
        return kept if kept.constants is None else msgspec.structs.replace(kept, **{kept.CONSTANTS: left})

    if call.constants is not None:
        yield replace_step(case, number, without([name for _, name in aimed], call)), number
    if not isinstance(call, Grad):
        return
    for kept, name in aimed:
        if name in cut:
            if (uncut := without([name], call)) != call:
                yield replace_step(case, number, uncut), number
            others = (i for i, _ in reversed(aimed) if i != kept)
            alone = functools.reduce(without_root, others, msgspec.structs.replace(call, allow_unused=True))
            flowing = (SetRequiresGrad(n, requires_grad=True) for n in stopped if same.get(n, n) == name)
            opened = [*flowing, without([name], alone)]
            yield replace_step(case, number, *opened), number + len(opened) - 1


OF_TARGETS: dict[str, Callable[[Case, StepNumber, Sequence[str]], Iterator[Variant]]] = {
    "as if a target were missing": targets_once,
    "as if there were no target": no_target,
    "as if targets were not cut": targets_not_cut,
}
"""The counterfactuals by the words that an entry uses."""

"""Conditions on custom functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.case.outcome import Computed, Raised
from conformance.case.queries import upstream_of
from conformance.case.rewrite import replace_step
from conformance.case.steps import Backward, Custom, Detach, Grad, InPlace, Op, SetRequiresGrad, ops, results, uses
from conformance.compare.promise import promised
from conformance.deviations.conditions.registry import condition
from reference_impl import PADDLE, TORCH, Category

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.case.case import Case


def _above(case: Case, number: int, *, returned: bool = False) -> list[Custom]:
    """Return the custom functions that made the values of a step, directly or not, or returned one of them, an operand."""
    wanted = {name for _, name in uses(case.steps[number])}
    found = []
    for step in reversed(case.steps[: number + 1]):
        made = (step.tensor,) if isinstance(step, InPlace) else results(step)
        if returned and isinstance(step, Custom):
            made = (*made, *(name for name in step.outputs if name in step.operands))
        if not wanted.isdisjoint(made):
            wanted.update(name for _, name in uses(step))
            found += [step] if isinstance(step, Custom) else []
    return found


@condition
def custom_above(case: Case, number: int) -> bool:
    """Whether a custom function made the values of the step, directly or not."""
    return bool(_above(case, number))


@condition
def custom_beside(case: Case, number: int) -> bool:
    """Whether a custom function made the values of the step, directly or not, or returned one of them, an operand."""
    return bool(_above(case, number, returned=True))


@condition
def custom_casts(case: Case, number: int) -> bool:
    """Whether a custom function that casts made the values of the step."""
    return any(op.op == "cast" for s in _above(case, number) for op in ops(s))


@condition
def custom_gives_none(case: Case, number: int) -> bool:
    """Whether a custom function that gives an operand no gradient made the values of the step, or returned one, an operand."""
    return any(None in s.gradients for s in _above(case, number, returned=True))


@condition
def custom_gives_fixed_gradient(case: Case, number: int) -> bool:
    """Whether a `grad` call with a graph comes by a custom function of whose gradients one is made of cotangents that do not arrive."""
    call = case.steps[number]
    if not isinstance(call, Grad) or not call.create_graph:
        return False
    behind = upstream_of(case.steps[:number], call.roots)
    for custom in _above(case, number):
        fixed = {name for name, made in zip(custom.cotangents, custom.results, strict=True) if made not in behind}
        for op in custom.backward:
            if fixed.issuperset(op.operands):
                fixed.update(op.results)
        if not fixed.isdisjoint(custom.gradients):
            return True
    return False


@condition
def custom_result_unused(case: Case, number: int) -> bool:
    """Whether a `grad` call comes by a custom function of which a result is used by no root, so that it has no gradient."""
    call = case.steps[number]
    if not isinstance(call, Grad):
        return False
    used = upstream_of(case.steps[:number], call.roots)
    return any(not used.issuperset(custom.results) for custom in _above(case, number) if not used.isdisjoint(custom.results))


@condition
def custom_walked_again(case: Case, number: int) -> bool:
    """Whether a call walks over a custom function that a `backward` before it has walked over."""
    if not isinstance(case.steps[number], Backward | Grad):
        return False
    passes = (i for i, s in enumerate(case.steps[:number]) if isinstance(s, Backward))
    walked = {name for i in passes for custom in _above(case, i) for name in custom.results}
    return any(not walked.isdisjoint(custom.results) for custom in _above(case, number))


@condition
def custom_returns_operand(case: Case, number: int) -> bool:
    """Whether an output of a custom function is one of its operands."""
    step = case.steps[number]
    return isinstance(step, Custom) and not set(step.outputs).isdisjoint(step.operands)


@condition
def made_of_returned_operand(case: Case, number: int) -> bool:
    """Whether the step uses a constant that a custom function before it returned, or what was made of such a constant."""
    constants = {entry.name for entry in case.inputs if not entry.differentiable}
    made: set[str] = set()
    for i, step in enumerate(case.steps[:number]):
        if isinstance(step, Detach) or (isinstance(step, Op) and (step.no_grad or constants.issuperset(step.operands))):
            constants.update(step.results)
        if isinstance(step, SetRequiresGrad):
            (constants.discard if step.requires_grad else constants.add)(step.tensor)
        if custom_returns_operand(case, i):
            made.update(constants.intersection(name for _, name in uses(step)))
        elif not made.isdisjoint(name for _, name in uses(step)):
            made.update(results(step))
    return not made.isdisjoint(name for _, name in uses(case.steps[number]))


@condition
def custom_shares_gradient(case: Case, number: int) -> bool:
    """Whether a custom backward returns what it did not make itself, or the same tensor twice."""
    step = case.steps[number]
    if not isinstance(step, Custom):
        return False
    given = [name for name in step.gradients if name is not None]
    return len(set(given)) < len(given) or not {*step.saved, *step.cotangents}.isdisjoint(given)


@condition
def custom_gradient_misfits(case: Case, number: int) -> bool:
    """Whether a custom backward returns, at the step, a gradient of the wrong shape; what has no higher derivative may refuse first."""
    call = case.steps[number]
    plain = msgspec.structs.replace(call, create_graph=False) if isinstance(call, Grad) else call
    answers = (promised(script, PADDLE).observations[number] for script in (case, replace_step(case, number, plain)))
    refused = (seen for seen in answers if isinstance(seen, Raised) and seen.category is Category.CALLBACK_RESULT)
    return any("its gradient" in seen.message for seen in refused)


@condition
def custom_sums_number(case: Case, number: int) -> bool:
    """Whether a custom function above the step has a backward that sums a tensor without axes, naming none."""
    numbers = {entry.name for entry in case.inputs if entry.shape == ()}
    for step, seen in zip(case.steps, promised(case, TORCH).observations, strict=True):
        made = zip(results(step), seen.values if isinstance(seen, Computed) else (), strict=False)
        numbers.update(name for name, value in made if value is not None and value.array.ndim == 0)
    return any(_sums_number(step, numbers) for step in _above(case, number))


def _sums_number(step: Custom, given: Collection[str]) -> bool:
    numbers = {cotangent for cotangent, made in zip(step.cotangents, step.results, strict=False) if made in given}
    numbers.update(name for name in step.saved if name in step.operands and name in given)
    for op in step.backward:
        whole = op.op == "sum" and op.attrs.get("axis") is None
        if whole and not numbers.isdisjoint(op.operands):
            return True
        if (whole and not op.attrs.get("keepdims")) or numbers.issuperset(op.operands):
            numbers.update(op.results)
    return False

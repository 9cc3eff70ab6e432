"""Conditions on custom functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.outcome import Computed, Raised
from conformance.case.steps import Backward, Custom, Grad, InPlace, ops, results, uses
from conformance.compare.promise import promised
from conformance.deviations.conditions.registry import condition
from reference_impl import PADDLE, TORCH, Category

if TYPE_CHECKING:
    from conformance.case.case import Case
    from conformance.case.outcome import Observation


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
def custom_casts(case: Case, number: int) -> bool:
    """Whether a custom function that casts made the values of the step."""
    return any(op.op == "cast" for s in _above(case, number) for op in ops(s))


@condition
def custom_gives_none(case: Case, number: int) -> bool:
    """Whether a custom function that gives an operand no gradient made the values of the step, or returned one, an operand."""
    return any(None in s.gradients for s in _above(case, number, returned=True))


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


Sums = dict[str, dict[str, float]]
"""For each operand of a custom function, or for each tensor, how often it gets each gradient that the backward returns."""


def right_sums(step: Custom) -> Sums:
    """Return what the operands of a custom function get: an operand that stands there twice gets the sum of both."""
    sums: Sums = {}
    for operand, name in zip(step.operands, step.gradients, strict=False):
        if name is not None:
            parts = sums.setdefault(operand, {})
            parts[name] = parts.get(name, 0.0) + 1.0
    return sums


def sums_in_place(step: Custom) -> Sums:
    """Return what they get if a sum is formed in the memory of its first term: whoever else is given that tensor gets the sum, too."""
    memory, first = _summed_memory(step)
    return {operand: memory[name] for operand, name in first.items()}


def cotangents_summed(step: Custom) -> Sums:
    """Return what the cotangents hold then, those that do not hold what they did."""
    memory, _ = _summed_memory(step)
    return {name: memory[name] for name in step.cotangents if memory.get(name, {name: 1.0}) != {name: 1.0}}


def _summed_memory(step: Custom) -> tuple[Sums, dict[str, str]]:
    """Return what the tensors hold that the backward returned, and for each operand in which of them its sum is formed."""
    memory = {name: {name: 1.0} for name in step.gradients if name is not None}
    first: dict[str, str] = {}
    for operand, name in zip(step.operands, step.gradients, strict=False):
        if name is None:
            continue
        if operand in first:
            held, term = memory[first[operand]], dict(memory[name])
            held.update((part, held.get(part, 0.0) + times) for part, times in term.items())
        else:
            first[operand] = name
    return memory, first


@condition
def custom_sums_in_place(case: Case, number: int) -> bool:
    """Whether a custom backward returns one tensor several times, such that a sum that is formed in it makes others wrong."""
    step = case.steps[number]
    return isinstance(step, Custom) and right_sums(step) != sums_in_place(step)


@condition
def custom_gradient_misfits(case: Case, number: int) -> bool:
    """Whether a custom backward returns, at the step, a gradient of the wrong shape."""
    seen = promised(case, PADDLE).observations[number]
    return isinstance(seen, Raised) and seen.category is Category.CALLBACK_RESULT and "its gradient" in seen.message


@condition
def custom_sums_number(case: Case, number: int) -> bool:
    """Whether a custom function above the step has a backward that sums a tensor without axes, naming none."""
    seen = {results(step): observation for step, observation in zip(case.steps, promised(case, TORCH).observations, strict=True)}
    return any(_sums_number(step, seen[step.results]) for step in _above(case, number))


def _sums_number(step: Custom, made: Observation) -> bool:
    values = zip(step.cotangents, made.values if isinstance(made, Computed) else (), strict=False)
    numbers = {cotangent for cotangent, value in values if value is not None and value.array.ndim == 0}
    for op in step.backward:
        whole = op.op == "sum" and op.attrs.get("axis") is None
        if whole and not numbers.isdisjoint(op.operands):
            return True
        if (whole and not op.attrs.get("keepdims")) or numbers.issuperset(op.operands):
            numbers.update(op.results)
    return False

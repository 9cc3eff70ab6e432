"""Conditions on calls with a batch of seeds, ``is_grads_batched``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.queries import edges, upstream
from conformance.case.steps import Grad
from conformance.deviations.conditions.registry import condition

if TYPE_CHECKING:
    from conformance.case.case import Case


@condition
def batched(case: Case, number: int) -> bool:
    """Whether a `grad` call is batched."""
    call = case.steps[number]
    return isinstance(call, Grad) and call.is_grads_batched


@condition
def batched_identity(case: Case, number: int) -> bool:
    """Whether a batched `grad` call asks for one of its outputs, by itself or by its edge."""
    call, of = case.steps[number], edges(case.steps[:number])
    if not isinstance(call, Grad) or not call.is_grads_batched:
        return False
    return not {of.get(name, name) for name in call.outputs}.isdisjoint(of.get(name, name) for name in call.inputs)


@condition
def batched_chain(case: Case, number: int) -> bool:
    """Whether a batched `grad` call with a graph asks for two values of which one was made of the other."""
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Grad) or not call.is_grads_batched or not call.create_graph:
        return False
    asked = {edges(before).get(name, name) for name in call.inputs}
    return any(not (upstream(before, name) - {name}).isdisjoint(asked) for name in asked)

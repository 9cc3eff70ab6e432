"""Conditions on the calls of a script: what they ask for, with which parameters, and after what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.aliases import lying_in
from conformance.case.outcome import Computed, Raised
from conformance.case.queries import call_at, derivatives, edges, keeps_graph, made_by, twins, unwritten_edges, upstream_of
from conformance.case.steps import (
    Backward,
    Call,
    ClearGrad,
    Grad,
    Op,
    SetRequiresGrad,
    results,
    uses,
)
from conformance.compare.promise import promised
from conformance.deviations.conditions.registry import case_condition, condition
from reference_impl import PADDLE, TORCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step

SHAPED = ("getitem_slice", "reshape", "expand", "broadcast_to", "rot90")
"""Ops that Paddle does by giving the operand back, where it has the shape of the result; of the last one that hangs on the turns."""
EXPANDING = ("expand", "broadcast_to")
"""Those that do so for a shape without axes alone."""
TURNS = 4


@case_condition
def size_zero(case: Case) -> bool:
    """Whether the case has a tensor without elements."""
    if any(0 in entry.shape for entry in case.inputs):
        return True
    made = (seen.values for seen in promised(case, PADDLE).observations if isinstance(seen, Computed))
    return any(value is not None and not value.array.size for values in made for value in values)


@case_condition
def numeric_lane(case: Case) -> bool:
    """Whether the numbers of the case round, so that comparing them takes bounds."""
    return case.lane == "numeric"


@condition
def no_grad(case: Case, number: int) -> bool:
    """Whether the step runs inside no_grad."""
    return bool(getattr(case.steps[number], "no_grad", False))


@condition
def no_grad_vars(case: Case, number: int) -> bool:
    """Whether a `grad` call has no_grad_vars."""
    call = case.steps[number]
    return isinstance(call, Grad) and call.no_grad_vars is not None


@condition
def asks_for_cut(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of one of its no_grad_vars."""
    call = case.steps[number]
    return isinstance(call, Grad) and not {*call.inputs}.isdisjoint(call.no_grad_vars or ())


@condition
def create_graph(case: Case, number: int) -> bool:
    """Whether a call asks for a graph of its gradients."""
    call = case.steps[number]
    return isinstance(call, Grad | Backward) and call.create_graph


@condition
def no_graph_after_derivative(case: Case, number: int) -> bool:
    """Whether a call that makes no graph of its gradients comes after one that does."""
    plain = isinstance(case.steps[number], Grad | Backward) and not create_graph(case, number)
    return plain and any(create_graph(case, i) for i in range(number))


@condition
def create_graph_in_no_grad(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for a graph inside no_grad."""
    call = case.steps[number]
    return isinstance(call, Grad) and call.create_graph and call.no_grad


@condition
def several_roots(case: Case, number: int) -> bool:
    """Whether a call has several roots."""
    call = call_at(case, number)
    return call is not None and len(call.roots) > 1


@condition
def backward_with_inputs(case: Case, number: int) -> bool:
    """Whether a `backward` names its inputs."""
    call = case.steps[number]
    return isinstance(call, Backward) and call.inputs is not None


@condition
def frees_graph(case: Case, number: int) -> bool:
    """Whether a `grad` call frees its graph."""
    call = case.steps[number]
    return isinstance(call, Grad) and not keeps_graph(call)


@condition
def retaining_backward(case: Case, number: int) -> bool:
    """Whether a `backward` keeps its graph."""
    call = case.steps[number]
    return isinstance(call, Backward) and keeps_graph(call)


@condition
def second_pass(case: Case, number: int) -> bool:
    """Whether a `backward` comes after another."""
    return isinstance(case.steps[number], Backward) and any(isinstance(s, Backward) for s in case.steps[:number])


@condition
def held_gradient_changed(case: Case, number: int) -> bool:
    """Whether the step adds to, or zeroes, gradients that an earlier `backward` left."""
    step = case.steps[number]
    adds = isinstance(step, Backward) or (isinstance(step, ClearGrad) and step.to == "zero")
    return adds and any(isinstance(s, Backward) for s in case.steps[:number])


@condition
def backward_after_two_derivatives(case: Case, number: int) -> bool:
    """Whether a `backward` comes after two derivatives with a graph of their own."""
    created = sum(isinstance(s, Grad) and s.create_graph for s in case.steps[:number])
    return isinstance(case.steps[number], Backward) and created > 1


@condition
def asks_for_what_roots_were_made_of(case: Case, number: int) -> bool:
    """Whether a later call may leave gradients absent, or asks for nothing but what its outputs were made of, be it by a derivative."""
    call = call_at(case, number)
    if call is None or not any(isinstance(step, Call) for step in case.steps[:number]):
        return False
    if not isinstance(call, Grad) or call.allow_unused:
        return True
    return below_roots(case, number).issuperset(call.inputs)


@condition
def asks_for_unreachable(case: Case, number: int) -> bool:
    """Whether a `grad` call may leave no gradient absent, and asks for one of what its outputs were not made of."""
    call = case.steps[number]
    return isinstance(call, Grad) and not call.allow_unused and not below_roots(case, number).issuperset(call.inputs)


def below_roots(case: Case, number: int) -> set[str]:
    """Return what the roots of a call were made of, by ops and by derivatives, with all the names that it has."""
    call, before = call_at(case, number), case.steps[:number]
    same = twins(before)
    below = {same.get(name, name) for name in upstream_of(before, () if call is None else call.roots)}
    return below | {name for name, first in same.items() if first in below}


@condition
def materialized(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for zeros in the place of absent gradients."""
    call = case.steps[number]
    return isinstance(call, Grad) and call.materialize_grads


@condition
def toggles(case: Case, number: int) -> bool:
    """Whether the step sets the flag of a tensor."""
    return isinstance(case.steps[number], SetRequiresGrad)


@condition
def toggles_what_was_normalized(case: Case, number: int) -> bool:
    """Whether the step sets the flag of a tensor that was normalized in groups before."""
    return _toggles_first_operand(case, number, "group_norm")


@condition
def toggles_what_was_multiplied(case: Case, number: int) -> bool:
    """Whether the step sets the flag of a tensor whose elements were multiplied with what was scattered to them before."""
    return _toggles_first_operand(case, number, "scatter_reduce_prod")


@condition
def toggles_what_was_solved_with(case: Case, number: int) -> bool:
    """Whether the step sets the flag of a matrix of linear equations that were solved before."""
    return _toggles_first_operand(case, number, "solve")


def _toggles_first_operand(case: Case, number: int, op: str) -> bool:
    step = case.steps[number]
    made = (made for made in case.steps[:number] if isinstance(made, Op) and made.op == op)
    return isinstance(step, SetRequiresGrad) and step.tensor in {one.operands[0] for one in made}


@condition
def refused_by_paddle(case: Case, number: int) -> bool:
    """Whether the step is refused in Paddle's dialect."""
    return isinstance(promised(case, PADDLE).observations[number], Raised)


@condition
def refused_by_torch(case: Case, number: int) -> bool:
    """Whether the step is refused in PyTorch's dialect."""
    return isinstance(promised(case, TORCH).observations[number], Raised)


@condition
def number_meets_gradient(case: Case, number: int) -> bool:
    """Whether the step computes with one tensor, the result of an earlier `grad` call, and a number."""
    step, before = case.steps[number], case.steps[:number]
    returned = {name for s in before if isinstance(s, Grad) for name in s.results}
    return isinstance(step, Op) and len(step.operands) == 1 and "other" in step.attrs and not returned.isdisjoint(step.operands)


@condition
def input_is_output(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of one of its own outputs, or of what a shape op made of it that moved nothing.

    A seed and the gradient of an output in itself are one.
    """
    return bool(outputs_asked_for(case, number))


def outputs_asked_for(case: Case, number: int) -> set[str]:
    """Return the outputs of a `grad` call that are among its inputs, as `input_is_output` means it, by all names that each has."""
    call = case.steps[number]
    if not isinstance(call, Grad):
        return set()
    same = names_in_paddle(case, number)  # which runs the reference: for calls alone
    of = unwritten_edges(case.steps[:number])
    asked, roots = ({same.get(name, name) for name in (of.get(n, n) for n in names)} for names in (call.inputs, call.outputs))
    return {name for name in {*same, *asked} if same.get(name, name) in asked & roots}


def names_in_paddle(case: Case, number: int) -> dict[str, str]:
    """Return for each name before a step that stands for another tensor, as Paddle has them, the first name of that."""
    copies = made_by(PADDLE.spelled, case.steps[:number])  # a cast to its own dtype is another tensor there
    same = {name: first for name, first in twins(case.steps[:number]).items() if name not in copies}
    for i, step in enumerate(case.steps[:number]):
        if isinstance(step, Op) and moves_nothing(case, i):
            same[step.results[0]] = same.get(step.operands[0], step.operands[0])
    return same


@condition
def input_is_derivative(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of a derivative that was computed with create_graph."""
    call = case.steps[number]
    return isinstance(call, Grad) and not derivatives(case.steps[:number]).isdisjoint(call.inputs)


@condition
def differentiates_derivative_by_itself(case: Case, number: int) -> bool:
    """Whether a `grad` call has a derivative that was computed with create_graph both as an output and as an input."""
    call = case.steps[number]
    return isinstance(call, Grad) and not derivatives(case.steps[:number]).isdisjoint({*call.inputs} & {*call.outputs})


@condition
def captured_on_the_way(case: Case, number: int) -> bool:
    """Whether a `grad` call with several inputs asks for the gradient of a computed value."""
    call = case.steps[number]
    given = {entry.name for entry in case.inputs}
    return isinstance(call, Grad) and len(call.inputs) > 1 and not given.issuperset(call.inputs)


@condition
def asks_for_computed(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of a computed value."""
    call = case.steps[number]
    return isinstance(call, Grad) and not {entry.name for entry in case.inputs}.issuperset(call.inputs)


@condition
def edge_of_computed_input(case: Case, number: int) -> bool:
    """Whether a `backward` has the edge of a computed tensor among its inputs."""
    call = case.steps[number]
    given = {entry.name for entry in case.inputs}
    found = {edge for edge, tensor in edges(case.steps).items() if tensor not in given}
    return isinstance(call, Backward) and not found.isdisjoint(call.inputs or ())


@condition
def edge_of_toggled(case: Case, number: int) -> bool:
    """Whether a call takes the edge of a tensor whose flag was taken off."""
    off = {s.tensor for s in case.steps[:number] if isinstance(s, SetRequiresGrad) and not s.requires_grad}
    found = {edge for edge, tensor in edges(case.steps).items() if tensor in off}
    call = call_at(case, number)
    return call is not None and not found.isdisjoint(name for _, name in uses(call))


@condition
def untracked_asked(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of a tensor whose flag was taken off."""
    call = case.steps[number]
    said = {s.tensor: s.requires_grad for s in case.steps[:number] if isinstance(s, SetRequiresGrad)}
    return isinstance(call, Grad) and any(not said.get(name, True) for name in call.inputs)


@condition
def starts_from_view_of_toggled(case: Case, number: int) -> bool:
    """Whether a call starts from a view, whose own flag was not set, of a tensor whose flag was set."""
    call = call_at(case, number)
    return call is not None and not views_of_toggled(case.steps[:number]).isdisjoint(call.roots)


@condition
def view_of_toggled_asked(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of a view, whose own flag was not set, of a tensor whose flag was set."""
    call = case.steps[number]
    return isinstance(call, Grad) and not views_of_toggled(case.steps[:number]).isdisjoint(call.inputs)


def views_of_toggled(before: Sequence[Step]) -> set[str]:
    """Return the views, whose own flags were not set, of tensors whose flags were."""
    on = {s.tensor for s in before if isinstance(s, SetRequiresGrad) and s.requires_grad}
    return lying_in(on, (step for step in before if isinstance(step, Op))) - on


@condition
def moves_nothing(case: Case, number: int) -> bool:
    """Whether a shape op has a result of the shape of its operand; an expansion, one without axes, and a rotation, of full turns."""
    step = case.steps[number]
    if not isinstance(step, Op) or step.op not in SHAPED or step.attrs.get("k", 0) % TURNS:
        return False
    seen = promised(case, PADDLE).observations[number]
    if not isinstance(seen, Computed):
        return False
    if step.op in EXPANDING:
        return not step.attrs["shape"]
    shapes = {entry.name: entry.shape for entry in case.inputs}
    for earlier, made in zip(case.steps[:number], promised(case, PADDLE).observations, strict=False):
        if isinstance(made, Computed):
            shapes.update(zip(results(earlier), (v.array.shape if v is not None else () for v in made.values), strict=False))
    value = seen.values[0]
    return shapes.get(step.operands[0]) == (value.array.shape if value is not None else ())

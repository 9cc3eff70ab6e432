"""Conditions on hooks and on retained gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.aliases import Aliases
from conformance.case.outcome import Computed
from conformance.case.queries import call_at, comes_by, edges, leaves, twins, upstream_of
from conformance.case.rewrite import CONSTANT, with_steps
from conformance.case.steps import Backward, Custom, Grad, Hook, InPlace, RemoveHook, RetainGrad, SetRequiresGrad, results
from conformance.compare.promise import promised
from conformance.deviations.conditions.calls import input_is_output, names_in_paddle
from conformance.deviations.conditions.in_place import shapes_at
from conformance.deviations.conditions.registry import condition
from reference_impl import PADDLE, TORCH

if TYPE_CHECKING:
    from conformance.case.case import Case


@condition
def hooks(case: Case, number: int) -> bool:
    """Whether the step registers a hook."""
    return isinstance(case.steps[number], Hook)


@condition
def hooked_beside_roots(case: Case, number: int) -> bool:
    """Whether a call comes by a value by which what has a hook, or retains its gradient, was computed, or by that itself."""
    before = case.steps[:number]
    hooked = {s.tensor for s in before if isinstance(s, Hook | RetainGrad)}
    hooked.update(name for s in before if isinstance(s, Backward) for name in s.inputs or ())
    return comes_by(case, number, upstream_of(before, hooked))


@condition
def retains(case: Case, number: int) -> bool:
    """Whether the step asks a value to retain its gradient."""
    return isinstance(case.steps[number], RetainGrad)


@condition
def hooks_or_retains(case: Case, number: int) -> bool:
    """Whether the step registers a hook, or has a gradient retained: `backward` does, too, for the inputs that it names."""
    step = case.steps[number]
    return isinstance(step, Hook | RetainGrad) or (isinstance(step, Backward) and step.inputs is not None)


@condition
def one_root_above_no_input(case: Case, number: int) -> bool:
    """Whether a call with one root names inputs, and is promised to reach none of them, or is refused."""
    call = call_at(case, number)
    if call is None or len(call.roots) != 1 or not call.asked:
        return False
    asking = Grad(
        call.roots,
        call.asked,
        tuple(f"{CONSTANT}{i}" for i in range(len(call.asked))),
        call.seeds,
        retain_graph=True,
        allow_unused=True,
    )
    seen = promised(with_steps(case, (*case.steps[:number], asking)), TORCH).observations[number]
    return not isinstance(seen, Computed) or not any(seen.values)


@condition
def hook_returns_tensor(case: Case, number: int) -> bool:
    """Whether the step registers a hook that returns a tensor of the script."""
    step = case.steps[number]
    return isinstance(step, Hook) and step.returns == "tensor"


@condition
def comes_by_hook_of_another_shape(case: Case, number: int) -> bool:
    """Whether a call comes by a tensor whose hook returns one of another shape, or by what such a tensor was computed from."""
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Grad | Backward):
        return False
    same, of, shapes = twins(before), edges(before), shapes_at(case, number, PADDLE)
    answering = (step for step in before if isinstance(step, Hook) and step.returns == "tensor")
    hooked = {step.tensor for step in answering if shapes.get(step.tensor) != shapes.get(step.tensor_returned or "")}
    below, above = upstream_of(before, hooked), upstream_of(before, (of.get(root, root) for root in call.roots))
    return not {same.get(name, name) for name in below}.isdisjoint(same.get(name, name) for name in above)


@condition
def hook_of_another_dtype(case: Case, number: int) -> bool:
    """Whether the step registers a hook that may return something of another dtype."""
    step = case.steps[number]
    return isinstance(step, Hook) and step.returns in ("another_dtype", "tensor")


@condition
def second_hook_of_another_dtype(case: Case, number: int) -> bool:
    """Whether the step registers a hook that returns another dtype on a tensor that has such a hook already."""
    step, dtype = case.steps[number], "another_dtype"
    if not isinstance(step, Hook) or step.returns != dtype:
        return False
    return any(isinstance(s, Hook) and s.returns == dtype and s.tensor == step.tensor for s in case.steps[:number])


@condition
def hooks_one_of_gradients(case: Case, number: int) -> bool:
    """Whether the step registers a hook on one of several gradients of a `grad` call with a graph."""
    step = case.steps[number]
    made = {n for s in case.steps[:number] if isinstance(s, Grad) and s.create_graph and len(s.results) > 1 for n in s.results}
    return isinstance(step, Hook) and step.tensor in made


@condition
def removes_hook_after_write(case: Case, number: int) -> bool:
    """Whether the step removes a hook from a tensor that was written to since, with the write recorded."""
    step, before = case.steps[number], case.steps[:number]
    if not isinstance(step, RemoveHook):
        return False
    hooked = ((i, s.tensor) for i, s in enumerate(before) if isinstance(s, Hook) and step.hook in s.results)
    return any(isinstance(s, InPlace) and s.tensor == tensor and not s.no_grad for i, tensor in hooked for s in before[i:])


@condition
def hook_raises(case: Case, number: int) -> bool:
    """Whether the step registers a hook that raises an error."""
    step = case.steps[number]
    return isinstance(step, Hook) and step.returns == "error"


@condition
def hook_returns_differentiable(case: Case, number: int) -> bool:
    """Whether the step registers a hook that returns a tensor that requires a gradient."""
    step = case.steps[number]
    tracked = {entry.name for entry in case.inputs if entry.differentiable}
    tracked.update(s.tensor for s in case.steps if isinstance(s, InPlace) or (isinstance(s, SetRequiresGrad) and s.requires_grad))
    return isinstance(step, Hook) and step.returns == "tensor" and step.tensor_returned in tracked


@condition
def hook_on_custom(case: Case, number: int) -> bool:
    """Whether the step gives an output of a custom function a hook that returns something."""
    step = case.steps[number]
    made = {name for s in case.steps if isinstance(s, Custom) for name in s.results}
    return isinstance(step, Hook) and step.returns in ("scaled", "tensor", "another_dtype") and step.tensor in made


@condition
def hook_on_asked(case: Case, number: int) -> bool:
    """Whether a `grad` call with several inputs asks for the gradient of a value, by any name, that has a hook, or of its edge."""
    call = case.steps[number]
    if not isinstance(call, Grad) or len(call.inputs) < 2:
        return False
    of, same = edges(case.steps), twins(case.steps[:number])
    hooked, asked = ({same.get(name, name) for name in names} for names in (_hooked(case, number), (of.get(n, n) for n in call.inputs)))
    return not hooked.isdisjoint(asked)


@condition
def leaf_hook_asked(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of a leaf that has a hook, or of what is one number with it.

    A constant whose flag was set is a leaf; a derivative of a leaf in itself is the seed, another leaf.
    """
    call, before, hooked = case.steps[number], case.steps[:number], _hooked(case, number)
    if not isinstance(call, Grad) or not hooked:
        return False
    same = names_in_paddle(case, number)
    identical = any(input_is_output(case, i) and not hooked.isdisjoint(results(s)) for i, s in enumerate(before))
    asked = {same.get(name, name) for name in call.inputs}.union(call.inputs)
    met = {same.get(name, name) for name in hooked}.union(hooked) & leaves(case)
    return identical or not met.isdisjoint(asked)


def _hooked(case: Case, number: int) -> set[str]:
    return {s.tensor for s in case.steps[:number] if isinstance(s, Hook)}


@condition
def hook_gives_view(case: Case, number: int) -> bool:
    """Whether the step registers a hook that returns a view, which may have steps between its elements."""
    step = case.steps[number]
    return isinstance(step, Hook) and step.tensor_returned in Aliases(case.steps[:number]).parent

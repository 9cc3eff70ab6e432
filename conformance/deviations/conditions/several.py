"""Conditions about ops that have several results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.aliases import sharing_with
from conformance.case.queries import upstream, upstream_of
from conformance.case.steps import Backward, Custom, Grad, Hook, Op, RetainGrad, results
from conformance.deviations.conditions.calls import moves_nothing
from conformance.deviations.conditions.registry import condition
from conformance.deviations.counterfactuals.slots import BEHIND_NUMBERS, later_gradients, shape_of
from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step


OF_SHARES = frozenset({"cross_entropy_soft", "cross_entropy_smoothed", "cross_entropy_distilled"})
"""The losses of which Paddle makes those of each sample together with the softmax, where there is no weight of the classes."""
SOFTMAX = "(softmax)"
"""Stands for the first result of the node of such losses, which no script has."""


def _made_by_ops(steps: Sequence[Step]) -> Iterator[tuple[str, ...]]:
    for step in steps:
        if isinstance(step, Op) and catalogue()[step.op].multi_output:
            yield step.results
        elif isinstance(step, Op) and step.op in OF_SHARES and step.attrs["reduction"] == "none" and step.attrs.get("weight") is None:
            yield SOFTMAX, *step.results


def made_together(steps: Sequence[Step]) -> Iterator[tuple[str, ...]]:
    """Yield the results of each op, or custom function, that has several."""
    yield from _made_by_ops(steps)
    yield from (s.results for s in steps if isinstance(s, Custom) and len(s.results) > 1)


@condition
def seed_of_several(case: Case, number: int) -> bool:
    """Whether a `grad` call with a graph has for a seed a later result of an op with several, or its own root, if that comes of one.

    What a shape op that changes nothing makes of such a result is that result in Paddle.
    """
    call = case.steps[number]
    if not isinstance(call, Grad) or not call.create_graph:
        return False
    made = [*made_together(case.steps[:number])]
    several = {name for names in made for name in names}
    later = {name for names in made for name in names[1:]}
    for i, step in enumerate(case.steps[:number]):
        if isinstance(step, Op) and not later.isdisjoint(step.operands[:1]) and moves_nothing(case, i):
            later.update(step.results)
    if not later.isdisjoint(call.seeds or ()):
        return True
    own = (root for root, seed in zip(call.outputs, call.seeds or (), strict=False) if root == seed)
    return any(not several.isdisjoint(upstream(case.steps[:number], root)) for root in own)


@condition
def seed_made_later(case: Case, number: int) -> bool:
    """Whether a `grad` call has for a seed a later result of an op with several, or a derivative in a later operand of an op."""
    return bool(_seeds_made_later(case, number))


@condition
def makes_seed_of_later_call(case: Case, number: int) -> bool:
    """Whether the step makes the seed of a later call, a later result of an op with several, or a derivative in a later operand."""
    made = results(case.steps[number])
    return any(not _seeds_made_later(case, later).isdisjoint(made) for later in range(number + 1, len(case.steps)))


def _seeds_made_later(case: Case, number: int) -> set[str | None]:
    """Return the seeds of a `grad` call that are later results of ops, or derivatives in later operands.

    The first operand may be a number, and the last one of an operator of a gradient is the seed.
    """
    call, before = case.steps[number], case.steps[:number]
    later = {name for names in _made_by_ops(before) for name in names[1:]}
    made = (step for step in before if isinstance(step, Op))
    operands = {name for step in made for name in step.operands[step.op not in BEHIND_NUMBERS :]}
    operands.update(seed for step in before if isinstance(step, Grad) for seed in step.seeds or () if seed is not None)
    asked = (pair for step in before if isinstance(step, Grad) for pair in zip(step.inputs, step.results, strict=True))
    later.update(gradient for name, gradient in asked if name in operands)
    return {seed for seed in call.seeds or () if seed in later} if isinstance(call, Grad) else set()


@condition
def seed_of_later_operand(case: Case, number: int) -> bool:
    """Whether a `grad` call with a graph has for a seed a derivative in what is a later operand of some op."""
    return any(call < number for call, _, _ in later_gradients(case, number)) and isinstance(case.steps[number], Grad)


@condition
def seed_of_operand_of_other_shape(case: Case, number: int) -> bool:
    """Whether a `grad` call with a graph has for a seed a derivative in a later operand that has not the shape of the result."""
    found = [place for place in later_gradients(case, number) if place[0] < number] if isinstance(case.steps[number], Grad) else []
    return any(shape_of(case, call, gradient) != shape_of(case, op, results(case.steps[op])[0]) for call, op, gradient in found)


@condition
def input_of_several(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of a result of an op, or a custom function, with several results."""
    call = case.steps[number]
    made = {name for names in made_together(case.steps) for name in names}
    return isinstance(call, Grad) and not made.isdisjoint(call.inputs)


@condition
def input_of_hooked_several(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for a result of an op with several of which one, not the first, has a hook or retains its gradient."""
    call, before = case.steps[number], case.steps[:number]
    hooked = {step.tensor for step in before if isinstance(step, Hook | RetainGrad)}
    asked = {*call.inputs} if isinstance(call, Grad) else set()
    return any(not asked.isdisjoint(names) and not hooked.isdisjoint(names[1:]) for names in made_together(before))


@condition
def gradients_of_one_call(case: Case, number: int) -> bool:
    """Whether a `grad` call has for an output and an input two gradients of one earlier call."""
    call = case.steps[number]
    made = (set(step.results) for step in case.steps[:number] if isinstance(step, Grad))
    return isinstance(call, Grad) and any(names & {*call.outputs} and (names & {*call.inputs}) - {*call.outputs} for names in made)


@condition
def one_of_gradients_asked(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of one of several gradients of an earlier call with a graph."""
    call = case.steps[number]
    made = (s.results for s in case.steps[:number] if isinstance(s, Grad) and s.create_graph and len(s.results) > 1)
    return isinstance(call, Grad) and not {name for names in made for name in names}.isdisjoint(call.inputs)


@condition
def one_of_two_unbound_seeded(case: Case, number: int) -> bool:
    """Whether a `grad` call starts, with a seed, from one of the two results of `unbind`, and not from the other."""
    call = case.steps[number]
    roots = zip(call.outputs, call.seeds or (), strict=False) if isinstance(call, Grad) else ()
    seeded = {root for root, seed in roots if seed is not None}
    pairs = (s.results for s in case.steps[:number] if isinstance(s, Op) and s.op == "unbind" and len(s.results) == 2)
    return any(len(seeded.intersection(pair)) == 1 for pair in pairs)


@condition
def part_asked_in_its_memory(case: Case, number: int) -> bool:
    """Whether a `grad` call has, at one place, a seeded result of `unbind` and an input that may lie in the same memory."""
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Grad) or len(call.inputs) != len(call.outputs):
        return False
    parts = {name for s in before if isinstance(s, Op) and s.op == "unbind" for name in s.results}
    places = zip(call.outputs, call.seeds or (), call.inputs, strict=False)
    return any(root in parts and seed is not None and asked in sharing_with((root,), before) for root, seed, asked in places)


@condition
def gradient_of_unbound(case: Case, number: int) -> bool:
    """Whether a `grad` call makes a graph of the gradient of `unbind`, a stack of the gradients of all parts."""
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Grad) or not call.create_graph:
        return False
    above = upstream_of(before, call.roots)
    return any(isinstance(s, Op) and s.op == "unbind" and not above.isdisjoint(s.results) for s in before)


@condition
def unpacked_in_part(case: Case, number: int) -> bool:
    """Whether a call starts from what one of the factors of an `lu_unpack` has a part in, and the other has not."""
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Grad | Backward):
        return False
    above = upstream_of(before, call.roots)
    return any(len(above.intersection(s.results)) == 1 for s in before if isinstance(s, Op) and s.op == "lu_unpack")


@condition
def several_cut(case: Case, number: int) -> bool:
    """Whether a `grad` call has two results of one op or custom function in ``no_grad_vars``."""
    call = case.steps[number]
    cut = set(call.no_grad_vars or ()) if isinstance(call, Grad) else set()
    return any(len(cut.intersection(made)) > 1 for made in made_together(case.steps))


@condition
def output_beside_input(case: Case, number: int) -> bool:
    """Whether a `grad` call has an output and an input that are two results of one op or custom function."""
    call = case.steps[number]
    if not isinstance(call, Grad):
        return False
    roots, asked = set(call.outputs), set(call.inputs)
    return any((roots & {*made}) - asked and (asked & {*made}) - roots for made in made_together(case.steps))


@condition
def root_behind_cut(case: Case, number: int) -> bool:
    """Whether a `grad` call cuts all ways from its other outputs to the op that made one of them, and there are some."""
    return bool(roots_behind_cut(case, number))


def roots_behind_cut(case: Case, number: int) -> set[str]:
    """Return these outputs, with those to which what is left of the ways leads from such outputs alone."""
    call = case.steps[number]
    if not isinstance(call, Grad) or not call.no_grad_vars:
        return set()
    earlier = case.steps[:number]
    made = {name: {*names} for names in made_together(earlier) for name in names}
    behind: set[str] = set()
    while True:
        found = {root for root in call.outputs if _is_behind(earlier, call, made.get(root, {root}), behind)} - behind
        if not found:
            return behind
        behind |= found


def _is_behind(earlier: Sequence[Step], call: Grad, beside: set[str], behind: set[str]) -> bool:
    """Whether ways lead from other outputs of a call to what was made together, and all are cut that do not begin ``behind``."""
    others = [name for name in call.outputs if name not in beside]
    ways = any(not beside.isdisjoint(upstream(earlier, other)) for other in others)
    started = (other for other in others if other not in behind)
    return ways and all(beside.isdisjoint(upstream(earlier, other, but=call.no_grad_vars or ())) for other in started)

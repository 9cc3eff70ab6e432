"""Counterfactuals in which values are constants: operands, seeds and derivatives, one at a time, two, or all in the same place."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import msgspec

from conformance.case.place import END, StepNumber
from conformance.case.queries import keeps_graph, until, upstream_of
from conformance.case.rewrite import CONSTANT, detach_uses, each_step, expand_steps, replace_step, without_root
from conformance.case.steps import Custom, Detach, Grad, Op, SetRequiresGrad
from conformance.deviations.conditions.several import roots_behind_cut

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.rewrite import Use
    from conformance.case.steps import Step
    from conformance.deviations.counterfactuals.calls import Variant

RECORDS_NOTHING = frozenset(
    {
        *("kl_div_in_target", "kl_div_of_logs_in_target"),
        *("binary_cross_entropy_in_target", "binary_cross_entropy_with_logits_in_target"),
        *("clamp_low_tensor", "clamp_high_tensor", "cross_entropy_distilled", "diag_embed", "diagonal_scatter", "lerp"),
    }
)
"""Ops of which Paddle has no gradient in the last operand, by several findings: a gradient may lack the parts of two of them."""

MOST = 64
"""A counterfactual yields at most so many scripts, because each of them costs a run of the reference."""


def operand_constant(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Cut operands or seeds off from the graph: one, two, or every one in the same place; of these ``ops`` if there are some."""
    places = [
        (i, field, position)
        for i, step in enumerate(until(case, number))
        if isinstance(step, Op | Custom | Grad) and not (ops and isinstance(step, Op | Custom) and getattr(step, "op", "") not in ops)
        for field in (("operands",) if isinstance(step, Op | Custom) else Grad.SEEDS)
        for position, name in enumerate(getattr(step, field) or ())
        if name is not None
    ]
    yield from _each_cut(case, number, places)


def beside_target_used_nowhere(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a result of an op with several, of those that a call asks for, be a constant at all of its uses, if one of them is a target.

    That holds where the call asks for nothing that the op was given or that leads to it.
    """
    call = None if number is END else case.steps[number]
    for asked, op in _asked_of_several(case, number):
        given = upstream_of(until(case, number), op.operands)
        if isinstance(call, Grad) and given.isdisjoint(call.inputs) and not {*op.results}.isdisjoint(call.outputs):
            yield _cut(case, number, _uses(case, number, asked))


def _asked_of_several(case: Case, number: StepNumber) -> Iterator[tuple[str, Op | Custom]]:
    """Yield the results of ops with several results that a call asks for, each with its op."""
    asked = getattr(case.steps[number], "inputs", ()) if number is not END else ()
    several = (step for step in until(case, number) if isinstance(step, Op | Custom) and len(step.results) > 1)
    return ((name, step) for step in several for name in step.results if name in asked)


def _uses(case: Case, number: StepNumber, name: str) -> list[Use]:
    return [
        (i, "operands", position)
        for i, step in enumerate(until(case, number))
        if isinstance(step, Op | Custom)
        for position, operand in enumerate(step.operands)
        if operand == name
    ]


def last_operand_constant(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Cut the last operands of ops off from the graph, and nothing else but those of which other entries say the same, all at once."""
    places, others = _last_of(case, number, ops), _last_of(case, number, RECORDS_NOTHING)
    yield from _each_cut(case, number, places)
    if places and not RECORDS_NOTHING.isdisjoint(ops) and {*others} > {*places}:
        yield _cut(case, number, others)


def _last_of(case: Case, number: StepNumber, ops: Container[str]) -> list[Use]:
    steps = enumerate(until(case, number))
    return [(i, "operands", len(step.operands) - 1) for i, step in steps if isinstance(step, Op) and step.op in ops]


def _each_cut(case: Case, number: StepNumber, places: Sequence[Use]) -> Iterator[Variant]:
    """Cut values off at one of these places, at two, at all of one op and position, or at all."""
    alike: dict[tuple[Any, ...], list[Use]] = {}
    for place in reversed(places):
        alike.setdefault((getattr(case.steps[place[0]], "op", ""), *place[1:]), []).append(place)
    singles = ([place] for place in reversed(places))
    pairs = (list(pair) for pair in itertools.combinations(reversed(places), 2))
    whole = [list(reversed(places))] if len(alike) > 1 else []
    for cut in itertools.islice(itertools.chain(singles, (a for a in alike.values() if len(a) > 1), whole, pairs), MOST):
        yield _cut(case, number, cut)


def _cut(case: Case, number: StepNumber, places: Sequence[Use]) -> Variant:
    """Detach values at these places; what the call in question then no longer reaches is no reason to refuse it."""
    call = None if number is END else case.steps[number]
    if number is not END and isinstance(call, Grad):
        case = replace_step(case, number, msgspec.structs.replace(call, allow_unused=True))
    moved = number if number is END else number + sum(i <= number for i, _, _ in places)
    return detach_uses(case, places), moved


def targets_behind_cut(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Drop the outputs of a `grad` call to which every way from the others is cut by its ``no_grad_vars``."""
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad):
        return
    lost = roots_behind_cut(case, number)
    dropped = [i for i, root in enumerate(call.outputs) if root in lost]
    if 0 < len(dropped) < len(call.outputs):
        yield replace_step(case, number, functools.reduce(without_root, reversed(dropped), call)), number


def no_graph_in_no_grad(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have the `grad` calls inside ``no_grad`` make no graph, whatever they ask for."""

    def plain(step: Step) -> Step:
        if not isinstance(step, Grad) or not step.no_grad:
            return step
        return msgspec.structs.replace(step, create_graph=False, retain_graph=keeps_graph(step))

    yield each_step(case, plain), number


def derivatives_in_no_grad_leaves(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have what a `grad` with create_graph gives inside ``no_grad`` be leaves: flagged, and without a history."""

    def written(i: int, step: Step) -> list[Step]:
        if not isinstance(step, Grad) or not (step.create_graph and step.no_grad) or i == number:
            return [step]
        names = {name: f"{CONSTANT}{name}" for name in step.results}
        detached = [Detach(made, (name,)) for name, made in names.items()]
        flagged = [SetRequiresGrad(name, requires_grad=True) for name in names]
        return [msgspec.structs.replace(step, results=tuple(names.values())), *detached, *flagged]

    yield expand_steps(case, number, written)


OF_CUTS: dict[str, Callable[[Case, StepNumber, Sequence[str]], Iterator[Variant]]] = {
    "as if an operand were a constant": operand_constant,
    "as if the last operand were a constant": last_operand_constant,
    "as if a result beside a target were used nowhere": beside_target_used_nowhere,
    "as if derivatives inside no_grad were leaves": derivatives_in_no_grad_leaves,
    "as if no graph were made inside no_grad": no_graph_in_no_grad,
    "as if targets behind the cut were missing": targets_behind_cut,
}
"""The counterfactuals by the words that an entry uses."""

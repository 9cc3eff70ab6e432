"""Which of the gradients of a call may differ, by the tensor whose gradient it is: where one of them is wrong, the others are right."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from conformance.case.aliases import sharing_with
from conformance.case.place import END, StepNumber
from conformance.case.queries import derivatives, leaves, made_by, twins, until, upstream_of
from conformance.case.steps import AppendBackward, Backward, Call, Custom, Grad, Hook, RetainGrad
from conformance.deviations.conditions.calls import below_roots, outputs_asked_for
from conformance.deviations.conditions.complex import leaves_seeded_in_other_dtypes
from conformance.deviations.conditions.in_place import ASSIGNMENTS
from conformance.deviations.conditions.lending import lent_as_views
from conformance.deviations.conditions.programs import one_variable
from conformance.deviations.conditions.seeds import lent_from, narrow_seeds_with_another_part
from conformance.deviations.conditions.several import made_together
from conformance.deviations.counterfactuals.seeds import misfitting

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step
    from conformance.compare.mismatch import Mismatch


def a_derivative(case: Case, _: StepNumber, asked: str | None) -> bool:
    """Whether a derivative that was computed with create_graph is asked for."""
    return asked in derivatives(case.steps)


def a_result_of_several(case: Case, _: StepNumber, asked: str | None) -> bool:
    """Whether a result of an op, or of a custom function, with several results is asked for."""
    return asked in {name for names in made_together(case.steps) for name in names}


def an_output_or_below(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether an output of the call is asked for, or what such an output was computed from."""
    if number is END:
        return False
    captured, before = outputs_asked_for(case, number), case.steps[:number]
    return _is_among(asked, upstream_of(before, captured), before)


def what_a_misfit_reaches(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether a root whose seed has another shape was computed from the tensor, or is the tensor itself."""
    if number is END:
        return False
    before = case.steps[:number]
    return _is_among(asked, upstream_of(before, misfitting(case, number).values()), before)


def what_a_root_was_made_of(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether a root of the call, or of a `backward` until then, was made of the tensor, by ops and by derivatives."""
    calls = (i for i, step in enumerate(until(case, number)) if i == number or isinstance(step, Backward))
    return any(asked in below_roots(case, i) for i in calls)


def what_a_root_reaches_before_a_cut(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether a root of a `grad` call is the tensor, or was made of it in a way that its ``no_grad_vars`` leave."""
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad):
        return False
    return asked in upstream_of(case.steps[:number], call.roots, but=call.no_grad_vars or ())


def a_target(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether the tensor is a target of the call in a program, maybe by another name of that variable."""
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Call) or asked is None:
        return False
    same = one_variable(case, number)
    return same.get(asked, asked) in {same.get(root, root) for root in call.roots}


def what_a_returning_hook_reaches(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether a hook of the tensor returns a tensor, or one of what was computed from it does."""
    before = until(case, number)
    hooked = {step.tensor for step in before if isinstance(step, Hook) and step.returns == "tensor"}
    return _is_among(asked, upstream_of(before, hooked), before)


def a_leaf_seeded_in_another_dtype(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether the tensor is a leaf that was a root with a seed of another dtype."""
    return asked in leaves_seeded_in_other_dtypes(case, number)


def a_seed_of_a_wider_root(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether the tensor was the seed of a root of a wider dtype in a call with a graph, and has another part in what comes."""
    return any(asked in narrow_seeds_with_another_part(case, i) for i in range(len(until(case, number))))


def what_setitem_made(case: Case, _: StepNumber, asked: str | None) -> bool:
    """Whether the tensor is what setitem made, or an op that is made by it in Paddle."""
    return asked in made_by((*ASSIGNMENTS, "vander"), case.steps)


def a_returned_operand(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether the tensor is an operand of a custom function that returns it, or what is returned then."""
    customs = (step for step in until(case, number) if isinstance(step, Custom))
    pairs = (pair for step in customs for pair in zip(step.results, step.outputs, strict=True) if pair[1] in step.operands)
    return any(asked in pair for pair in pairs)


def what_a_custom_function_was_given(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether the tensor is an operand of a custom function, or what such an operand was computed from."""
    before = until(case, number)
    given = {name for step in before if isinstance(step, Custom) for name in step.operands}
    return _is_among(asked, upstream_of(before, given), before)


def what_a_retained_gradient_is_handed_on_to(case: Case, number: StepNumber, asked: str | None) -> bool:
    """Whether a pass has been by a tensor that retains its gradient, and the tensor is that one, or was handed that gradient."""
    before = until(case, number)
    same = twins(before)
    retained = {same.get(step.tensor, step.tensor) for step in before if isinstance(step, RetainGrad)}
    passed = {name for i, step in enumerate(before) if isinstance(step, Call) for name in upstream_of(before[:i], step.roots)}
    return _is_among(asked, lent_from(before, {name for name in passed if same.get(name, name) in retained}), before)


def a_seed_lent_as_a_view(case: Case, _: StepNumber, asked: str | None) -> bool:
    """Whether the tensor is a seed, or what a hook returned, of which a leaf was handed a view, or may share its memory.

    So may a gradient that another call was seeded with it for, which is a view of it, too.
    """
    lent = sharing_with({name for number in range(len(case.steps)) for name in lent_as_views(case, number)}, case.steps)
    seeded = (step for step in case.steps if isinstance(step, Grad) and not lent.isdisjoint(step.seeds or ()))
    return asked in lent or any(asked in step.results for step in seeded)


def a_leaf_lent_a_view(case: Case, _: StepNumber, asked: str | None) -> bool:
    """Whether the tensor is no leaf, or one that was handed a view of a seed, or of what a hook returned."""
    lent = (lent_as_views(case, number).values() for number in range(len(case.steps)))
    return asked not in leaves(case) or asked in set().union(*itertools.chain.from_iterable(lent))


def _is_among(asked: str | None, names: Collection[str], before: Sequence[Step]) -> bool:
    """Whether a tensor is one of these; several names may stand for one."""
    same = twins(before)
    return asked is not None and same.get(asked, asked) in {same.get(name, name) for name in names}


def tensor_of(case: Case, found: Mismatch) -> str | None:
    """Return the tensor whose gradient differs: of the results of a `grad` call or a backward part, what it asks for there."""
    call = None if found.step is END or found.where != "result" else case.steps[found.step]
    if not isinstance(call, Grad | AppendBackward):
        return found.name
    asked = case.parameters if call.asked is None else call.asked
    return asked[found.slot] if found.slot < len(asked) else found.name


ASKED: dict[str, Callable[[Case, StepNumber, str | None], bool]] = {
    "a derivative": a_derivative,
    "a result of several": a_result_of_several,
    "an output, or what lies below one": an_output_or_below,
    "what a root was made of, be it by a derivative": what_a_root_was_made_of,
    "what has a hook that returns a tensor, or lies below one": what_a_returning_hook_reaches,
    "a leaf with a seed of another dtype": a_leaf_seeded_in_another_dtype,
    "what retains its gradient, or is handed it on": what_a_retained_gradient_is_handed_on_to,
    "no leaf, but for one that was handed a view of a seed": a_leaf_lent_a_view,
    "a seed of which a leaf was handed a view": a_seed_lent_as_a_view,
    "a seed of a wider root": a_seed_of_a_wider_root,
    "a target": a_target,
    "what a root reaches before a cut": what_a_root_reaches_before_a_cut,
    "what setitem made": what_setitem_made,
    "an operand that a custom function returned": a_returned_operand,
    "what a custom function was given, or lies below": what_a_custom_function_was_given,
    "a root whose seed has another shape, or what lies below one": what_a_misfit_reaches,
}
"""The predicates by the words that an entry uses."""

"""Conditions on whose memory PyTorch may take for ``.grad``: that of a view which a pass hands on to a leaf.

What arrives at a leaf is kept without a copy if nobody else holds that tensor. The caller holds the seed, and each operand of a sum is
handed the same tensor, so either is copied. A view is a new tensor, which nobody else holds, and its memory is that of another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from conformance.case.queries import arrays_of, edges, leaves, upstream_of
from conformance.case.steps import Backward, Custom, Grad, InPlace, Op, observed
from conformance.compare.promise import promised
from conformance.deviations.conditions.registry import condition
from conformance.deviations.conditions.seeds import lent_by, seeds_given
from reference_impl import TORCH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    from conformance.case.case import Case
    from conformance.case.steps import Step

HANDING_ON = frozenset({"add", "sub", "add_scalar", "clone", "positive", "cast"})
"""Ops whose gradient is the cotangent itself, and no view of it, where the operand has the form of the result."""
REPEATING = frozenset({"tile", "repeat", "expand", "expand_as", "broadcast_to"})
"""Ops of which the same holds of their gradient alone: what is repeated once is new memory, and no repetition is summed."""


@condition
def part_lent_as_view(case: Case, number: int) -> bool:
    """Whether a `backward` hands a view of what it hands to another operand, or root, as well on to a leaf."""
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Backward):
        return False
    behind = upstream_of(before, call.roots)
    return not _viewed(case, before, behind, apart=True).isdisjoint(leaves(case))


def lent_as_views(case: Case, number: int) -> dict[str, set[str]]:
    """Return the seeds of a `backward`, and what hooks return, of which it hands a view on to leaves, each with these."""
    call, before = case.steps[number], case.steps[:number]
    found: dict[str, set[str]] = {}
    if not isinstance(call, Backward):
        return found
    for name, lent in seeds_given(call, before):
        if viewed := _viewed(case, before, {name}, apart=False) & leaves(case):
            found.setdefault(lent, set()).update(viewed)
    return found


@condition
def gradient_is_handed_on_seed(case: Case, number: int) -> bool:
    """Whether a `grad` call hands a seed, as it is, on to what is asked for, through ops that compute nothing for it."""
    return bool(seeds_handed_on(case, number))


def seeds_handed_on(case: Case, number: int) -> dict[str, str]:
    """Return the results of a `grad` call that are seeds of it, handed on as `gradient_is_handed_on_seed` means it, with these."""
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Grad):
        return {}
    forms, of, asked = _forms(case), edges(before), list(zip(call.inputs, call.results, strict=False))
    values = dict(arrays_of(case, promised(case, TORCH).observations))
    found: dict[str, str] = {}
    pairs = zip(call.roots, call.seeds or (), strict=False)
    for root, seed in ((root, seed) for root, seed in pairs if seed is not None):
        lent = {of.get(root, root)}
        for step in reversed(before):
            made = observed(step)
            if not lent.isdisjoint(made):
                lent.update(operand for operand in lent_by(step) if _handed_on(step, operand, made, forms, HANDING_ON | REPEATING))
        for name, result in asked:
            is_seed = seed in values and result in values and forms[seed] == forms[result]
            if (
                is_seed
                and of.get(name, name) in lent - {of.get(root, root)}
                and np.array_equal(values[seed], values[result], equal_nan=True)
            ):
                found[result] = seed
    return found


def _viewed(case: Case, before: Sequence[Step], given: Collection[str], *, apart: bool) -> set[str]:
    """Return the values to which a view of what arrives at those that are ``given`` is handed on, or that of a view.

    ``apart``: by itself, and not to all operands of an op.
    """
    lent, viewed, forms = {*given}, set[str](), _forms(case)
    for step in reversed(before):
        made = observed(step)
        if lent.isdisjoint(made):
            continue
        operands = [*lent_by(step), *_given_to_functions(step, before)]
        is_view = not viewed.isdisjoint(made) and not (apart and len(operands) > 1)
        lent.update(operands)
        viewed.update(operand for operand in operands if is_view or not _handed_on(step, operand, made, forms))
    return viewed


def _given_to_functions(step: Step, before: Sequence[Step]) -> Iterator[str]:
    """Yield what was given to the custom functions by which a derivative with a graph comes: it may be made of that as it is."""
    if isinstance(step, Grad) and step.create_graph:
        behind = upstream_of(before, step.roots)
        functions = (made for made in before if isinstance(made, Custom) and not behind.isdisjoint(made.results))
        yield from (operand for made in functions for operand in made.operands)


def _handed_on(step: Step, operand: str, made: Collection[str], forms: dict[str, Any], ops: Collection[str] = HANDING_ON) -> bool:
    """Whether an operand is handed the cotangent of a result itself."""
    if isinstance(step, Custom) or not isinstance(step, Op | InPlace) or step.op not in ops:
        return False
    return all(forms.get(operand) == forms.get(name) for name in made)


def _forms(case: Case) -> dict[str, Any]:
    """Return the shape and the dtype of each value; what is refused has none."""
    arrays = arrays_of(case, promised(case, TORCH).observations)
    return {name: (array.shape, array.dtype) for name, array in arrays}

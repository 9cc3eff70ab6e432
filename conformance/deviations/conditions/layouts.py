"""Conditions on how the elements of an operand lie in memory, and on whether there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.aliases import lying_in, sharing_with
from conformance.case.queries import made_by
from conformance.case.steps import Grad, InPlace, Op
from conformance.deviations.conditions.in_place import shapes_at
from conformance.deviations.conditions.registry import condition
from reference_impl import PADDLE

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.case.case import Case

EXPANDING = frozenset({"expand", "expand_as", "broadcast_to"})
SPARSE = EXPANDING | {"getitem_strided", "getitem_int", "select", "diagonal", "unbind", "as_strided"}
"""Ops after which a vector's elements may not lie one behind another; one that is reversed is a copy in PyTorch."""
OVERLAPPING = frozenset({"tensor_unfold", "as_strided"})
"""Ops that may have one element of the memory in several places, by steps that are not 0."""
MIDDLES = frozenset({"median", "median_min", "nanmedian"})


def _lying(case: Case, number: int, ops: Collection[str]) -> set[str]:
    """Return what was made by one of some ops before a step, with the views of it."""
    before = case.steps[:number]
    return lying_in(made_by(ops, before), before)


@condition
def weight_with_gaps(case: Case, number: int) -> bool:
    """Whether the second operand of an op may have gaps between its elements: a leaf, or by an index, a step or an expansion.

    The gradient of a sum is an expansion, too.
    """
    step = case.steps[number]
    apart = {entry.name for entry in case.inputs if entry.strided is True} | _lying(case, number, SPARSE)
    summed = {made.operands[0] for made in case.steps[:number] if isinstance(made, Op) and made.op == "sum"}
    asked = (pair for made in case.steps[:number] if isinstance(made, Grad) for pair in zip(made.inputs, made.results, strict=True))
    apart |= {gradient for name, gradient in asked if name in summed}
    return isinstance(step, Op) and len(step.operands) > 1 and step.operands[1] in apart


@condition
def rows_without_elements(case: Case, number: int) -> bool:
    """Whether the first operand of an op has rows without elements."""
    step = case.steps[number]
    return isinstance(step, Op) and shapes_at(case, number, PADDLE).get(step.operands[0], ())[-1:] == (0,)


@condition
def difference_of_dot(case: Case, number: int) -> bool:
    """Whether the step is a difference with the product of two vectors."""
    return _combines_dot(case, number, "sub")


@condition
def sum_with_dot(case: Case, number: int) -> bool:
    """Whether the step adds something to the product of two vectors."""
    return _combines_dot(case, number, "add")


def _combines_dot(case: Case, number: int, by: str) -> bool:
    step = case.steps[number]
    if not isinstance(step, Op) or step.op != by:
        return False
    shapes = shapes_at(case, number, PADDLE)
    return any(
        shapes.get(name) == () for name in made_by(("matmul", "matmul_transposed"), case.steps[:number]) if name in step.operands
    )


@condition
def scattered_along_negative_axis(case: Case, number: int) -> bool:
    """Whether the step writes to a slice of an axis that is counted from the end."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op == "slice_scatter" and int(step.attrs["axis"]) < 0


@condition
def view_narrowed(case: Case, number: int) -> bool:
    """Whether the step narrows what shares its memory with other tensors, and no copy of it."""
    step = case.steps[number]
    if not isinstance(step, Op) or step.op != "narrow_view" or step.attrs["copied"]:
        return False
    return len(sharing_with({step.operands[0]}, case.steps[:number])) > 1


@condition
def windows_of_expanded(case: Case, number: int) -> bool:
    """Whether the step takes windows of a signal that was made by an expansion."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op == "stft" and step.operands[0] in made_by(("expand",), case.steps[:number])


@condition
def middle_of_expanded(case: Case, number: int) -> bool:
    """Whether the step is a median of what was made by an expansion."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op in MIDDLES and step.operands[0] in _lying(case, number, EXPANDING)


@condition
def scatters_into_overlapping(case: Case, number: int) -> bool:
    """Whether the step puts elements into what was made as overlapping windows, or is a view of that."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op.endswith("_scatter") and step.operands[0] in _lying(case, number, OVERLAPPING)


@condition
def writes_overlapping(case: Case, number: int) -> bool:
    """Whether the step changes in place what was made as overlapping windows, or is a view of that."""
    step = case.steps[number]
    return isinstance(step, InPlace) and step.tensor in _lying(case, number, OVERLAPPING)

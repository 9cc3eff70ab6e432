"""Conditions on how the elements of an operand lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.steps import Op
from conformance.deviations.conditions.registry import condition

if TYPE_CHECKING:
    from conformance.case.case import Case

SPARSE = frozenset({"getitem_strided", "expand"})
"""Ops after which a vector's elements do not lie one behind another; one that is reversed is a copy in PyTorch."""
MIDDLES = frozenset({"median", "median_min", "nanmedian"})


@condition
def weight_with_gaps(case: Case, number: int) -> bool:
    """Whether the second operand of an op was made by a slice with a step or by an expansion."""
    step = case.steps[number]
    made = {name for s in case.steps[:number] if isinstance(s, Op) and s.op in SPARSE for name in s.results}
    return isinstance(step, Op) and step.operands[1:2] != () and step.operands[1] in made


@condition
def windows_of_expanded(case: Case, number: int) -> bool:
    """Whether the step takes windows of a signal that was made by an expansion."""
    step = case.steps[number]
    made = {name for s in case.steps[:number] if isinstance(s, Op) and s.op == "expand" for name in s.results}
    return isinstance(step, Op) and step.op == "stft" and step.operands[0] in made


@condition
def middle_of_expanded(case: Case, number: int) -> bool:
    """Whether the step is a median of what was made by an expansion."""
    step = case.steps[number]
    made = {name for s in case.steps[:number] if isinstance(s, Op) and s.op == "expand" for name in s.results}
    return isinstance(step, Op) and step.op in MIDDLES and step.operands[0] in made

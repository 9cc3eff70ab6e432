"""Counterfactuals of results that are their operands: what a script would be if both names were those of one tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.rewrite import rename_behind, with_steps
from conformance.case.steps import Op
from conformance.deviations.conditions.points import dropout_of_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.place import StepNumber
    from conformance.deviations.counterfactuals.calls import Variant


def dropouts_of_nothing_returned(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have what was given to a recorded dropout of nothing be its result from there on.

    The operand then has the node of the result, while what was computed from it before ends where it did.
    """
    found = [i for i, step in enumerate(case.steps) if isinstance(step, Op) and not step.no_grad and dropout_of_nothing(case, i)]
    steps = case.steps
    for i in found:
        dropped = steps[i]
        steps = rename_behind(steps, i, dict.fromkeys(dropped.operands, dropped.results[0]) if isinstance(dropped, Op) else {})
    if found:
        yield with_steps(case, steps), number

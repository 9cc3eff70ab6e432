"""Which of the results of a `grad` call may differ, by what is asked for: where one of them is wrong, the others are right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.place import END, StepNumber
from conformance.case.queries import derivatives, twins, upstream_of
from conformance.case.steps import Grad
from conformance.deviations.conditions.calls import outputs_asked_for
from conformance.deviations.conditions.points import dropped_nothings
from conformance.deviations.conditions.several import made_together

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.case.case import Case


def a_derivative(case: Case, number: StepNumber, slot: int) -> bool:
    """Whether a derivative that was computed with create_graph is asked for."""
    return _asked(case, number, slot) in derivatives(case.steps)


def a_result_of_several(case: Case, number: StepNumber, slot: int) -> bool:
    """Whether a result of an op, or of a custom function, with several results is asked for."""
    return _asked(case, number, slot) in {name for names in made_together(case.steps) for name in names}


def an_output_or_below(case: Case, number: StepNumber, slot: int) -> bool:
    """Whether an output of the call is asked for, or what such an output was computed from."""
    if number is END:
        return False
    captured, before = outputs_asked_for(case, number), case.steps[:number]
    same, asked = twins(before), _asked(case, number, slot)
    return asked is not None and same.get(asked, asked) in {same.get(n, n) for n in upstream_of(before, captured)}


def a_dropped_nothing(case: Case, number: StepNumber, slot: int) -> bool:
    """Whether a tensor without elements is asked for of which a dropout in evaluation was recorded before."""
    return number is not END and _asked(case, number, slot) in dropped_nothings(case, number)


def _asked(case: Case, number: StepNumber, slot: int) -> str | None:
    call = None if number is END else case.steps[number]
    return call.inputs[slot] if isinstance(call, Grad) and slot < len(call.inputs) else None


ASKED: dict[str, Callable[[Case, StepNumber, int], bool]] = {
    "a derivative": a_derivative,
    "a result of several": a_result_of_several,
    "a tensor without elements that a dropout was given": a_dropped_nothing,
    "an output, or what lies below one": an_output_or_below,
}
"""The predicates by the words that an entry uses."""

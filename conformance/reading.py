"""Reading scripts: the steps around a step, the calls among them, and what they ask for. Step -1 stands for the whole case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops import catalogue
from conformance.steps import Backward, Custom, Grad, Op, Step, results, uses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case import Case


def until(case: Case, number: int) -> Sequence[Step]:
    """Return the steps up to a step, with it; all for step -1."""
    return case.steps if number < 0 else case.steps[: number + 1]


def before(case: Case, number: int) -> Sequence[Step]:
    """Return the steps before a step; all for step -1."""
    return case.steps if number < 0 else case.steps[:number]


def at(case: Case, number: int) -> Sequence[Step]:
    """Return a step alone; all for step -1."""
    return case.steps if number < 0 else case.steps[number : number + 1]


def calls(steps: Sequence[Step]) -> Iterator[tuple[tuple[str, ...], tuple[str | None, ...] | None, Grad | Backward]]:
    """Yield the calls among steps: roots, seeds, and the step."""
    for step in steps:
        if isinstance(step, Grad):
            yield step.outputs, step.grad_outputs, step
        elif isinstance(step, Backward):
            yield step.tensors, step.grad_variables if step.grad_tensors is None else step.grad_tensors, step


def upstream(steps: Sequence[Step], name: str) -> set[str]:
    """Return the values that a value was computed from, directly or not, with itself."""
    wanted = {name}
    for step in reversed(steps):
        if not wanted.isdisjoint(results(step)):
            wanted.update(used for _, used in uses(step))
    return wanted


def input_is_output(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of one of its own outputs."""
    return any(isinstance(s, Grad) and not set(s.inputs).isdisjoint(s.outputs) for s in at(case, number))


def input_of_several(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of a result of an op, or a custom function, with several results."""
    several = (
        s.results
        for s in case.steps
        if (isinstance(s, Op) and catalogue()[s.op].several) or (isinstance(s, Custom) and len(s.results) > 1)
    )
    made = {name for names in several for name in names}
    return any(isinstance(s, Grad) and not made.isdisjoint(s.inputs) for s in at(case, number))


def mixed_dtypes(case: Case, number: int) -> bool:
    """Whether the case has floating tensors of more than one dtype."""
    return len({entry.dtype for entry in case.inputs}) > 1 or any(isinstance(s, Op) and s.op == "cast" for s in case.steps)

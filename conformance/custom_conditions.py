"""Named conditions on custom functions, for the predicates of known deviations; see `conformance.conditions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.reference import predicted
from conformance.outcome import Raised
from conformance.reading import until
from conformance.steps import Backward, Custom, Grad, InPlace, ops, results, uses
from reference_impl import PADDLE, Category

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.case import Case
    from conformance.outcome import Observation


def _customs_above(case: Case, number: int) -> list[Custom]:
    """Return the custom functions that made the values of a step, directly or not; all of them for the whole case."""
    if number < 0:
        return [step for step in case.steps if isinstance(step, Custom)]
    wanted = {name for _, name in uses(case.steps[number])}
    found = []
    for step in reversed(case.steps[: number + 1]):
        if not wanted.isdisjoint((step.tensor,) if isinstance(step, InPlace) else results(step)):
            wanted.update(name for _, name in uses(step))
            found += [step] if isinstance(step, Custom) else []
    return found


def custom_walked_again(case: Case, number: int) -> bool:
    """Whether a call walks over a custom function that a `backward` before it has walked over."""
    walked: set[str] = set()
    for i, step in enumerate(until(case, number)):
        if isinstance(step, Backward | Grad):
            names = {name for custom in _customs_above(case, i) for name in custom.results}
            if not walked.isdisjoint(names):
                return True
            walked |= names if isinstance(step, Backward) else set()
    return False


def custom_returns_operand(case: Case, number: int) -> bool:
    """Whether an output of some custom function up to here is one of its operands."""
    return any(isinstance(s, Custom) and not set(s.outputs).isdisjoint(s.operands) for s in until(case, number))


def custom_shares_gradient(case: Case, number: int) -> bool:
    """Whether a custom backward up to here returns what it did not make itself, or the same tensor twice."""
    for step in until(case, number):
        if isinstance(step, Custom):
            given = [name for name in step.gradients if name is not None]
            if len(set(given)) < len(given) or not {*step.saved, *step.cotangents}.isdisjoint(given):
                return True
    return False


def custom_gradient_misfits(case: Case, number: int) -> bool:
    """Whether a custom backward returns, at the step or anywhere in the case, a gradient of the wrong shape."""
    seen = _at_outcome(case, number)
    return any(isinstance(o, Raised) and o.category is Category.CALLBACK_RESULT and "its gradient" in o.message for o in seen)


def _at_outcome(case: Case, number: int) -> Sequence[Observation]:
    outcome = predicted(case, PADDLE)
    return outcome.observations if number < 0 else outcome.observations[number : number + 1]


CUSTOM_CONDITIONS: dict[str, Callable[[Case, int], bool]] = {
    "custom_above": lambda case, number: bool(_customs_above(case, number)),
    "custom_casts": lambda case, number: any(op.op == "cast" for s in _customs_above(case, number) for op in ops(s)),
    "custom_gives_none": lambda case, number: any(None in s.gradients for s in _customs_above(case, number)),
    "custom_walked_again": custom_walked_again,
    "custom_returns_operand": custom_returns_operand,
    "custom_shares_gradient": custom_shares_gradient,
    "custom_gradient_misfits": custom_gradient_misfits,
}

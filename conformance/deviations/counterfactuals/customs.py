"""Counterfactuals of custom functions: what a call answers whose backward returns gradients of the right shape.

An engine that does not look at the shape of what a backward returns goes on with it. Nobody can say what it reads then, but it comes to
what the function was given, and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.case.place import END, StepNumber
from conformance.case.queries import until
from conformance.case.rewrite import CONSTANT, with_steps
from conformance.case.steps import Custom, Op
from conformance.deviations.conditions.in_place import shapes_at
from conformance.deviations.counterfactuals.calls import nothing_freed
from reference_impl import PADDLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.deviations.counterfactuals.calls import Variant

TOTAL = {"axis": None, "keepdims": False}


def gradients_of_customs_fitted(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a custom backward return zeros in the shapes of its operands: that of one function, or of all, with and without freeing.

    Where it returns nothing it still does: an operand that requires no gradient may not be given one. One that returns more or fewer
    than it has operands is refused for that, whatever their shapes.
    """
    if number is END:
        return
    shapes = shapes_at(case, number, PADDLE)
    made = enumerate(until(case, number))
    returning = ((i, step) for i, step in made if isinstance(step, Custom) and len(step.gradients) == len(step.operands))
    customs = {i: step for i, step in returning if all(name in shapes for name in step.operands)}
    fitted = {i: _fitted(step, [shapes[name] for name in step.operands]) for i, step in customs.items()}
    for chosen in [*([i] for i in fitted), *([list(fitted)] if len(fitted) > 1 else [])]:
        other = with_steps(case, (fitted[i] if i in chosen else step for i, step in enumerate(case.steps)))
        yield other, number
        yield from nothing_freed(other, number, ())


def _fitted(step: Custom, shapes: Sequence[tuple[int, ...]]) -> Custom:
    total, none = f"{CONSTANT}total", f"{CONSTANT}none"
    gradients = tuple(None if returned is None else f"{CONSTANT}fit_{i}" for i, returned in enumerate(step.gradients))
    made = (
        Op("sum", step.cotangents[:1], (total,), TOTAL),
        Op("mul_scalar", (total,), (none,), {"other": 0.0}),
        *(Op("expand", (none,), (name,), {"shape": [*shape]}) for name, shape in zip(gradients, shapes, strict=True) if name),
    )
    return msgspec.structs.replace(step, backward=(*step.backward, *made), gradients=gradients)

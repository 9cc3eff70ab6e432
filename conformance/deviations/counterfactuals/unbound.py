"""Counterfactuals of parts: what a call answers that stacks the gradient of one part alone, as if there were no other parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.place import END, StepNumber
from conformance.case.queries import upstream_of
from conformance.case.rewrite import CONSTANT, rename, replace_step
from conformance.case.steps import Grad, Op
from conformance.deviations.conditions.in_place import shapes_at
from reference_impl import PADDLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.deviations.counterfactuals.calls import Variant


def parts_stacked_alone(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a seeded part of an `unbind` of `as_real` be the only one: of what it was made of only the slice is there that it came from.

    That is what has the same shape; so is what is asked for.
    """
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad):
        return
    seeded = {root for root, seed in zip(call.outputs, call.seeds or (), strict=False) if seed is not None}
    before = case.steps[:number]
    viewed = {step.results[0]: step for step in before if isinstance(step, Op) and step.op == "as_real"}
    for unbound in before:
        if not isinstance(unbound, Op) or unbound.op != "unbind" or unbound.operands[0] not in viewed:
            continue
        as_real = viewed[unbound.operands[0]]
        for slot, part in enumerate(unbound.results):
            if part in seeded:
                yield _of_slice(case, number, (as_real, unbound), slot)


def _of_slice(case: Case, number: int, ops: tuple[Op, Op], slot: int) -> Variant:
    as_real, unbound = ops
    call, before, shapes = case.steps[number], case.steps[:number], shapes_at(case, number, PADDLE)
    whole = shapes[as_real.operands[0]]
    axis = unbound.attrs["axis"] % (len(whole) + 1)
    alike = {name for name in upstream_of(before, as_real.operands) if shapes.get(name) == whole}
    names = {name: f"{CONSTANT}{name}" for name in (*sorted(alike), *as_real.results, unbound.results[slot])}
    made = [step for step in before if isinstance(step, Op) and alike.issuperset(step.results)]
    computed = {name for step in made for name in step.results}
    key = [[slot, slot + 1, 1] if i == axis else [0, n, 1] for i, n in enumerate(whole)]
    alone = Op("unbind", as_real.results, (unbound.results[slot],), unbound.attrs)
    steps = (
        *(Op("getitem_slice", (name,), (names[name],), {"key": key}) for name in sorted(alike - computed)),
        *(rename(step, names) for step in (*made, as_real, alone)),
        rename(call, {**names, **{name: name for name in getattr(call, "results", ())}}),
    )
    return replace_step(case, number, *steps), number + len(steps) - 1

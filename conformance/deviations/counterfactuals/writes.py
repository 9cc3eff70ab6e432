"""Counterfactuals of in-place updates: what a script would be if an update were of a copy, of something new, or not recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.case.place import END, StepNumber
from conformance.case.queries import until
from conformance.case.rewrite import CONSTANT, expand_steps, rename_behind, replace_step, with_steps
from conformance.case.steps import Backward, Grad, InPlace, Op, SetRequiresGrad
from conformance.deviations.conditions.calls import held_gradient_changed
from conformance.deviations.conditions.in_place import RESHAPING, VIEWED, gradient_written, shapes_at
from reference_impl import PADDLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from conformance.case.case import Case
    from conformance.case.steps import Step
    from conformance.deviations.counterfactuals.calls import Variant


def write_unrecorded(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Update in place without recording it."""
    step = None if number is END else case.steps[number]
    if number is not END and isinstance(step, InPlace):
        yield replace_step(case, number, msgspec.structs.replace(step, no_grad=True)), number


def copy_written(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Update a copy in the place of what is updated, which stands for it from then on."""
    step = None if number is END else case.steps[number]
    if number is not END and isinstance(step, InPlace):
        copied = f"{CONSTANT}{step.tensor}"
        steps = replace_step(case, number, Op("clone", (step.tensor,), (copied,)), step).steps
        yield with_steps(case, rename_behind(steps, number, {step.tensor: copied})), number + 1


def write_bound_anew(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have the op not be in place: its result stands for what it would change, from then on."""
    step = None if number is END else case.steps[number]
    if number is not END and isinstance(step, InPlace):
        made = f"{CONSTANT}{step.tensor}"
        written = Op(step.op, (step.tensor, *step.operands), (made,), step.attrs, step.no_grad)
        yield with_steps(case, rename_behind(replace_step(case, number, written).steps, number, {step.tensor: made})), number


def flags_of_written_kept(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Take no flag off a tensor that is written to afterwards."""
    written = {step.tensor: i for i, step in enumerate(until(case, number)) if isinstance(step, InPlace)}
    kept = [
        i
        for i, step in enumerate(case.steps)
        if isinstance(step, SetRequiresGrad) and not step.requires_grad and i < written.get(step.tensor, 0)
    ]
    if kept:
        steps = (step for i, step in enumerate(case.steps) if i not in kept)
        yield with_steps(case, steps), number if number is END else number - sum(i < number for i in kept)


def another_gradient_written(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Update, in the place of a returned gradient, another one or a seed: it may lie in the same memory."""
    for i, step in enumerate(until(case, number)):
        if number is not END and isinstance(step, InPlace) and gradient_written(case, i):
            calls = (made for made in case.steps[:i] if isinstance(made, Grad))
            named = {name for call in calls for name in (*call.results, *(call.seeds or ()))}
            for other in sorted(name for name in named if name not in (None, step.tensor)):
                yield replace_step(case, i, msgspec.structs.replace(step, tensor=other)), number


def seeds_written_by_accumulation(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Update a seed in place behind a call that adds to what an earlier call with that seed has left: they may be one."""
    if number is END:
        return
    for i in range(number):
        if held_gradient_changed(case, i):
            calls = (call for call in case.steps[:i] if isinstance(call, Backward))
            for seed in sorted({seed for call in calls for seed in call.seeds or () if seed is not None}):
                written = InPlace("mul_scalar", seed, (), {"other": 1.0}, no_grad=True)
                yield replace_step(case, i, case.steps[i], written), number + 1


def reshaped_numbers_copied(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have what a tensor without axes was reshaped to be a copy, stacked axis by axis: no view is left between the two."""
    if number is END:
        return
    known = shapes_at(case, number, PADDLE)

    def copied(_: int, step: Step) -> list[Step]:
        if not isinstance(step, Op) or step.op not in RESHAPING or known.get(step.operands[0]) != () or step.results[0] not in known:
            return [step]
        axes = len(known[step.results[0]])
        made = [*(f"{CONSTANT}{step.results[0]}_{n}" for n in range(1, axes)), step.results[0]]
        op, attrs = ("stack", {"axis": 0}) if axes else ("clone", {})
        of = (step.operands[0], *made)
        return [Op(op, (x,), (result,), attrs, step.no_grad) for x, result in zip(of, made, strict=False)]

    yield expand_steps(case, number, copied)


def laid_out_copied(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have views that are laid out row by row, before they are viewed, be copies that lie so."""
    if number is not END:
        known = shapes_at(case, number, PADDLE)
        # A clone lies as its operand does; what is selected lies row by row.
        viewed = {s.operands[0] for s in case.steps[:number] if isinstance(s, Op) and s.op in VIEWED}
        yield _behind(case, number, {x: ("index_select", {"index": [*range(known[x][0])], "axis": 0}) for x in viewed if known[x]})


def _behind(case: Case, number: StepNumber, made: Mapping[str, tuple[str, dict[str, Any]]]) -> Variant:
    """Have results of ops be what another op makes of them."""

    def further(_: int, step: Step) -> list[Step]:
        if not isinstance(step, Op) or step.results[0] not in made:
            return [step]
        op, attrs = made[step.results[0]]
        shared = f"{CONSTANT}{step.results[0]}"
        return [msgspec.structs.replace(step, results=(shared,)), Op(op, (shared,), step.results, attrs)]

    return expand_steps(case, number, further)

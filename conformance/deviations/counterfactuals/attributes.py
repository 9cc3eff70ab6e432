"""Counterfactual attributes and operands: what a script would be if an op had been given others than it was.

An entry of a ``deviation.toml`` names these like the other counterfactual scripts, and its ``above`` says whose attributes are meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from conformance.case.place import END
from conformance.case.rewrite import CONSTANT, each_op, expand_steps
from conformance.case.steps import Op
from reference_impl.primitives.resampling import FRONT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.place import StepNumber
    from conformance.case.steps import InPlace, Step
    from conformance.deviations.counterfactuals.calls import Variant


def in_front(size: Sequence[int]) -> list[Any]:
    """Return an ``align_corners`` for each axis of an interpolation by which one place lies half a place before the first one."""
    return [FRONT if n == 1 else False for n in size]


def single_points_in_front(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Have interpolations to one place read half a place before the first one, in the place of the middle."""

    def moved(op: Op | InPlace) -> Op | InPlace:
        if op.op not in ops or op.attrs["align_corners"]:
            return op
        return msgspec.structs.replace(op, attrs={**op.attrs, "align_corners": in_front(op.attrs["size"])})

    yield each_op(case, moved), number


def casts_to_complex_numbers(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Have casts to real numbers keep imaginary parts, as they do in a gradient that is seeded with complex ones."""

    def kept(op: Op | InPlace) -> Op | InPlace:
        dtype = {"float32": "complex64", "float64": "complex128"}.get(op.attrs.get("dtype", ""))
        return op if op.op not in ops or dtype is None else msgspec.structs.replace(op, attrs={**op.attrs, "dtype": dtype})

    yield each_op(case, kept), number


CLIP = -64.0
"""The least difference to the largest logit that Paddle's softmax takes."""


def logits_clipped(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Have ops of logits take each one for no less than the largest along its axis, or along axis 1, less 64."""

    def clipped(i: int, step: Step) -> list[Step]:
        if not isinstance(step, Op) or step.op not in ops:
            return [step]
        top, low, logits = (f"{CONSTANT}{i}_{k}" for k in range(3))
        return [
            Op("amax", step.operands[:1], (top,), {"axis": [step.attrs.get("axis", 1)], "keepdims": True}),
            Op("add_scalar", (top,), (low,), {"other": CLIP}),
            Op("maximum", (step.operands[0], low), (logits,)),
            msgspec.structs.replace(step, operands=(logits, *step.operands[1:])),
        ]

    if number is not END:
        changed, begins = expand_steps(case, number, clipped)
        assert begins is not END, "it was none"  # noqa: S101
        yield changed, begins + len(clipped(number, case.steps[number])) - 1

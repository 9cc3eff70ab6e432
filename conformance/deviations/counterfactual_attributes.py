"""Counterfactual attributes: what a script would be if an op had been given other attributes than it was.

An entry of a ``deviation.toml`` names these like the other counterfactual scripts, and its ``above`` says whose attributes are meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.case.rewrite import each_op
from reference_impl.primitives.resampling import FRONT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.place import StepNumber
    from conformance.case.steps import InPlace, Op
    from conformance.deviations.counterfactual_calls import Variant


def single_points_in_front(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Have interpolations to one place read half a place before the first one, in the place of the middle."""

    def moved(op: Op | InPlace) -> Op | InPlace:
        if op.op not in ops or op.attrs["align_corners"]:
            return op
        return msgspec.structs.replace(op, attrs={**op.attrs, "align_corners": [FRONT if n == 1 else False for n in op.attrs["size"]]})

    yield each_op(case, moved), number

"""Counterfactuals of flags: a view that says of itself what its base says, in the derivatives that are made of it as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from conformance.case.aliases import lying_in
from conformance.case.rewrite import expand_steps
from conformance.case.steps import Op, SetRequiresGrad
from reference_impl.reverse import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.case.case import Case
    from conformance.case.place import StepNumber
    from conformance.case.steps import Step
    from conformance.deviations.counterfactuals.calls import Variant


def views_flagged_with_their_bases(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Set the flag of a tensor for the views, too, that were made of it before it required a gradient, as often as it is set."""
    flagged: set[str] = set()

    def followed(i: int, step: Step) -> list[Step]:
        if not isinstance(step, SetRequiresGrad):
            return [step]
        before = [earlier for earlier in case.steps[:i] if isinstance(earlier, Op)]
        views = lying_in({step.tensor}, before) - {step.tensor}
        following = sorted(views if step.requires_grad else views & flagged)
        flagged.update(following)
        return [step, *(SetRequiresGrad(name, requires_grad=step.requires_grad) for name in following)]

    yield expand_steps(case, number, followed)


def views_of_operands_flagged(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have ops that keep views of their operands be differentiated by the flags that these have when that is done."""
    yield patch.object(walk.ReversePass, "_toggled", lambda *_: {})

"""Counterfactuals of flags: a view that says what its base says, and a matrix that is asked for the flag that it has now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from conformance.case.aliases import lying_in
from conformance.case.rewrite import expand_steps
from conformance.case.steps import Op, SetRequiresGrad
from reference_impl import OPS
from reference_impl.reverse import walk
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.case.case import Case
    from conformance.case.place import StepNumber
    from conformance.case.steps import Step
    from conformance.deviations.counterfactuals.calls import Variant
    from reference_impl.tape.primitive import Application, Primitive
    from reference_impl.tape.rules import Pull, Pulled


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
    """Have ops that keep views of their operands be differentiated by the flags that these, or their bases, have when that is done."""
    yield patch.object(walk.ReversePass, "_toggled", lambda _, node: {o: False for o in node.operands if _follows(o)})


def _follows(operand: Any) -> bool:
    """Whether a constant is a view of what requires a gradient, as the factor is that an op transposes."""
    base = operand
    while type(base) is Tensor and base.link is not None:
        base = base.link[0]
    return base is not operand and not operand.requires_grad and base.requires_grad


def matrices_without_a_flag_dropped(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have nothing come of `solve` for a matrix that is a leaf and requires no gradient any more; the right side has its own."""
    yield intercepted_rules(_without_matrix)


def _without_matrix(
    right: Pull, op: Primitive, node: Application, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]
) -> Pulled:
    pulled = right(node, asked, g, out, operands)
    matrix = node.operands[0] if op is OPS["solve"] and isinstance(node, Node) else None
    dropped = type(matrix) is Tensor and matrix.node is None and not matrix.requires_grad
    return [(position, None if dropped and position == 0 else cotangent) for position, cotangent in pulled]

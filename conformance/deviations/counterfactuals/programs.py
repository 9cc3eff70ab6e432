"""Counterfactual rules of programs: what a call of ``gradients`` leaves out of its search for operators, or out of what it returns."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

from reference_impl.primitives.shape import link
from reference_impl.static.program import Variable
from reference_impl.static.transform import replaced_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.static.program import Operator

CONTRIBUTIONS = 4
"""Which of the contributions to a variable may be the one that is returned: the first that a framework makes, in its own order."""


def siblings_of_inputs_hidden(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a search that meets an operator of which one result is an input not go on from its other results."""
    yield replaced_part("search", _stopping_at_inputs)


def _stopping_at_inputs(_: Callable[..., Any]) -> Callable[..., Any]:
    def search(backward: Any, wanted: Sequence[Variable]) -> dict[Operator, list[int]]:
        """Find operators as the right search does, but none from a hidden result alone; one that is found is differentiated in all."""
        backward.above = found = {v for v in wanted if backward.flows(v)}
        units = {v.unit for v in wanted} - {None}
        hidden = {v for op in backward.program.operators for v in op.outputs if v.unit in units and backward.flows(v)} - found
        asked = {}
        for op in backward.program.operators:
            outputs = {v for v in op.outputs if backward.flows(v)}
            if outputs and not (found - hidden).isdisjoint(op.operands[p] for p in backward.positions(op)):
                asked[op] = backward.positions(op)
                found |= outputs
        return asked

    return search


def contributions_to_slots_not_summed(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a call return one contribution to a variable that was made beside others: that of an operand, or of all of one operator."""
    for told, kept in itertools.product((id, _unit), range(CONTRIBUTIONS)):
        yield replaced_part("write", partial(_keeping_one, told, kept))


def _unit(contribution: Variable) -> object:
    return contribution.unit


def _is_link_alone(contribution: Variable) -> bool:
    """Whether a contribution is zeros, which only say that there is a dependence; a framework has no operator for that."""
    made = contribution.operator
    return made is not None and made.primitive is link and not isinstance(made.operands[0], Variable)


def _keeping_one(told: Callable[[Variable], object], kept: int, right: Callable[..., Any]) -> Callable[..., Any]:
    def write(backward: Any, seeds: Any) -> None:
        """Write the backward part, and drop what arrived and was not summed on the way: it was for this call alone."""
        right(backward, seeds)
        for variable, parts in backward.arrived.items():
            apart = list(dict.fromkeys(told(part) for part in parts if not _is_link_alone(part)))
            if variable.operator is not None and len(variable.operator.outputs) > 1 and len(apart) > kept:
                backward.arrived[variable] = [part for part in parts if told(part) == apart[kept]]

    return write

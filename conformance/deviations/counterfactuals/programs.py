"""Counterfactual rules of programs: what a call of ``gradients`` leaves out of its search for operators, or out of what it returns."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from reference_impl.primitives.shape import chunk, link, split, unbind
from reference_impl.static.program import Variable
from reference_impl.static.transform import replaced_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.static.program import Operator

LISTS = (split, chunk, unbind)
"""Ops that give a list in a program. Its parts are the results of another operator, which is gone through before the op is."""


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
    """Have a call return one contribution to a variable that was made beside others: that of the operator that is gone through first.

    That is what comes of one operand of an op, or all that comes of one gradient operator, which may make zeros or nothing where there
    is only a dependence.
    """
    for told, counted in itertools.product((_itself, _unit), (_is_more_than_link, _is_any)):
        yield replaced_part("write", partial(_keeping_first, told, counted))


def _itself(contribution: Variable) -> object:
    return contribution


def _unit(contribution: Variable) -> object:
    return contribution.unit


def _is_more_than_link(contribution: Variable) -> bool:
    """Whether a contribution is more than zeros which only say that there is a dependence."""
    made = contribution.operator
    return made is None or made.primitive is not link or isinstance(made.operands[0], Variable)


def _is_any(_: Variable) -> bool:
    return True


def _keeping_first(
    told: Callable[[Variable], object], counted: Callable[[Variable], bool], right: Callable[..., Any]
) -> Callable[..., Any]:
    def write(backward: Any, seeds: Any) -> None:
        """Write the backward part, and drop what arrived and was not summed on the way: it was for this call alone."""
        right(backward, seeds)
        places = {backward.units[unit]: place for place, unit in enumerate(_gone_through(backward, seeds)) if unit in backward.units}
        for variable, parts in backward.arrived.items():
            made = [part for part in parts if counted(part)]
            if variable.operator is not None and len(variable.operator.outputs) > 1 and len({*map(told, made)}) > 1:
                first = min(made, key=lambda part: places.get(part.unit, -1))  # a seed is there before all others
                backward.arrived[variable] = [part for part in parts if told(part) == told(first)]

    return write


class _Parts(NamedTuple):
    """The operator that takes the parts out of the list of another one."""

    listing: object


def _gone_through(backward: Any, seeds: Any) -> list[object]:
    """Return the units of operators in the order in which the framework goes through them, from the targets down.

    One has its turn when all that take its results have had theirs; of several, that which was reached first.
    """
    leading, inputs = {target for target, _ in seeds}, dict[object, list[Variable]]()
    for op in reversed(backward.asked):
        if not leading.isdisjoint(op.outputs):
            leading.update(v for v in op.operands if isinstance(v, Variable))
    for op in backward.asked:
        if not leading.isdisjoint(op.outputs):
            inputs.setdefault(op.unit, []).extend(v for v in op.operands if isinstance(v, Variable))
    makers = {unit: [v.operator.unit for v in given if v.operator is not None] for unit, given in inputs.items()}
    below = {unit: [maker for maker in found if maker in inputs and maker is not unit] for unit, found in makers.items()}
    pending = Counter(itertools.chain.from_iterable(below.values()))
    listing = {op.unit for op in backward.asked if op.primitive in LISTS}
    found: list[object] = [_Parts(unit) if unit in listing else unit for unit in inputs if not pending[unit]]
    for unit in found:  # which grows meanwhile
        if isinstance(unit, _Parts):
            found.append(unit.listing)
            continue
        for other in below[unit]:
            pending[other] -= 1
            if not pending[other]:
                found.append(_Parts(other) if other in listing else other)
    return found

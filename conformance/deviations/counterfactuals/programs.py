"""Counterfactual rules of programs: what is left out when a call of ``gradients`` looks for the operators that it goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl.static.transform import replaced_search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.static.program import Operator, Variable
    from reference_impl.static.transform import Search


def siblings_of_inputs_hidden(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a search that meets an operator of which one result is an input not go on from its other results."""
    yield replaced_search(_stopping_at_inputs)


def _stopping_at_inputs(_: Search) -> Search:
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

"""Counterfactuals of captured gradients: what a `grad` call answers that takes one result of a node for another.

Paddle keeps the inputs of a call by their nodes, and of each node one result: the last one that the call names. What arrives at that
result is the answer for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.case.place import END, StepNumber
from conformance.case.queries import upstream_of
from conformance.case.rewrite import CONSTANT, replace_step, with_steps
from conformance.case.steps import Grad, Op
from conformance.deviations.conditions.several import made_together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.deviations.counterfactuals.calls import Variant


def another_result_asked(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a `grad` call ask for another result of an op with several than it does; if it asks for both, they change places.

    A result of a node that runs at which nothing arrives has zeros there, where otherwise its gradient would be absent; so it is for
    the result itself that is asked for. A node of which no result is reached does not run.
    """
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad):
        return
    reached = upstream_of(case.steps[:number], call.outputs)
    running = [names for names in made_together(case.steps[:number]) if not reached.isdisjoint(names)]
    for position, asked in enumerate(call.inputs):
        for other in (name for names in running if asked in names for name in names):
            inputs = [asked if name == other else name for name in call.inputs]
            inputs[position] = other
            taken = msgspec.structs.replace(call, inputs=tuple(inputs))
            if other != asked:
                yield replace_step(case, number, taken), number
            nothing = Op("mul_scalar", (other,), (f"{CONSTANT}{other}",), {"other": 0.0})
            seeds = None if call.grad_outputs is None else (*call.grad_outputs, None)
            beside = msgspec.structs.replace(taken, outputs=(*call.outputs, *nothing.results), grad_outputs=seeds)
            yield with_steps(case, (*case.steps[:number], nothing, beside, *case.steps[number + 1 :])), number + 1

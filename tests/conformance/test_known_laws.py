"""Laws that an engine breaks as a known deviation says, and no more than that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from conformance.campaign.workers.backend_cache import backend
from conformance.case.files import read
from conformance.case.outcome import Computed
from conformance.case.steps import Grad
from conformance.deviations.counterfactuals.starts import outputs_in_some_order
from conformance.deviations.findings import evidence
from conformance.laws.registry import try_laws
from conformance.laws.relation import Status

if TYPE_CHECKING:
    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Observation, Outcome
    from conformance.laws.relation import Answer

SUM_ORDER = "paddle-grad-sum-order"
OFTEN = 5
"""How often a script is run twice whose two answers are the same only by accident."""


class Growing:
    """Paddle whose gradients of several outputs are a last bit larger in each second run."""

    def __init__(self) -> None:
        self.paddle = backend("paddle")
        self.info = self.paddle.info
        self.runs = 0

    def run(self, case: Case) -> Outcome:
        """Run a case."""
        self.runs += 1
        outcome = self.paddle.run(case)
        if self.runs % 2:
            return outcome
        steps = zip(case.steps, outcome.observations, strict=True)
        return replace(outcome, observations=[_larger(seen) if isinstance(step, Grad) else seen for step, seen in steps])


class Reordering(Growing):
    """Paddle whose first gradient of several outputs begins with the first and the last of its orders in turn.

    Paddle's own order is that of addresses, which may be the same in each run of a process.
    """

    def run(self, case: Case) -> Outcome:
        """Run a case."""
        self.runs += 1
        number = next((i for i, step in enumerate(case.steps) if isinstance(step, Grad) and len(step.outputs) > 1), None)
        if number is None:
            return self.paddle.run(case)
        script, moved = [*outputs_in_some_order(case, number, ())][-(self.runs % 2)]
        outcome = self.paddle.run(script)
        own = [_silent(seen) for i, seen in enumerate(outcome.observations) if not number <= i < moved]
        return replace(outcome, observations=own)


def _silent(seen: Observation) -> Observation:
    return replace(seen, events=()) if isinstance(seen, Computed) else seen


def _larger(seen: Observation) -> Observation:
    if not isinstance(seen, Computed):
        return seen
    return replace(seen, values=tuple(v and replace(v, array=np.nextafter(v.array, v.array.dtype.type(np.inf))) for v in seen.values))


def repeated(engine: Backend) -> list[Answer]:
    case = read(evidence(SUM_ORDER))
    return [tried.answer for _ in range(OFTEN) for tried in try_laws(case, engine, engine.run(case), ["repeatable"])]


@pytest.mark.frameworks
def test_last_bits_that_the_order_of_the_outputs_explains_are_known() -> None:
    found = repeated(Reordering())
    assert {SUM_ORDER} == {answer.deviation for answer in found if answer.status is not Status.HELD}


@pytest.mark.frameworks
def test_last_bits_that_no_order_of_the_outputs_explains_break_the_law() -> None:
    assert {Status.BROKEN} == {answer.status for answer in repeated(Growing())}

"""Laws that an engine breaks as a known deviation says, and no more than that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from conformance.campaign.opened import backend
from conformance.case.files import read
from conformance.case.outcome import Computed
from conformance.case.steps import Grad
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


class Restless:
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


def _larger(seen: Observation) -> Observation:
    if not isinstance(seen, Computed):
        return seen
    return replace(seen, values=tuple(v and replace(v, array=np.nextafter(v.array, v.array.dtype.type(np.inf))) for v in seen.values))


def repeated(engine: Backend) -> list[Answer]:
    case = read(evidence(SUM_ORDER))
    return [tried.answer for _ in range(OFTEN) for tried in try_laws(case, engine, engine.run(case), ["repeatable"])]


@pytest.mark.frameworks
def test_last_bits_that_the_order_of_the_outputs_explains_are_known() -> None:
    found = repeated(backend("paddle"))
    assert {SUM_ORDER} == {answer.deviation for answer in found if answer.status is not Status.HELD}


@pytest.mark.frameworks
def test_last_bits_that_no_order_of_the_outputs_explains_break_the_law() -> None:
    assert {Status.BROKEN} == {answer.status for answer in repeated(Restless())}

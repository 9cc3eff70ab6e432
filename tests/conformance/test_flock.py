"""The flock: asked about many ops at one go, an engine answers what it answers alone, and what is ill is put down to its op."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.backends.reference import reference
from conformance.campaign.opened import backend
from conformance.campaign.pool import Workers
from conformance.case.case import Case, Input
from conformance.case.outcome import Outcome, Raised, plainly
from conformance.case.steps import Backward, Op
from conformance.judge import canary
from conformance.judge.canary import ailment_after, is_ill
from conformance.judge.canary_case import canary_of
from conformance.judge.flock import SIZE, apart, flock
from conformance.ops import catalogue
from reference_impl import TORCH, Category
from tests import wrong_engines
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from conformance.backends import Backend

REFUSED = Case(
    (Input("x", (2,), (0.5, 1.5)),),
    (
        *(Op(op, (of,), (to,)) for op, of, to in (("sin", "x", "a"), ("exp", "a", "b"), ("tanh", "b", "y"))),
        Backward(("y",), ("x",)),
        Backward(("y",), ("x",)),
    ),
)
OPS = "sin", "exp", "tanh"


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canary, "_well", {})


def well_before(engine: Backend) -> Backend:
    """Ask the canaries of all ops, which are well, so that flocks are asked from now on."""
    assert [] == [op for op in catalogue() if is_ill(op, engine)]
    return engine


class Listening(wrong_engines.WrongEngine):
    """A right engine that keeps the scripts that it runs."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.heard: list[Case] = []

    def run(self, case: Case) -> Outcome:
        """Run a script and keep it."""
        self.heard.append(case)
        return super().run(case)


def otherwise_in_a_flock(name: str, asked: list[str]) -> list[str]:
    """Return which ops answer otherwise in a flock than alone, of those that a backend computes."""
    engine = backend(name)
    outcomes = {op: engine.run(case) for op in asked if (case := canary_of(op)) is not None}
    alone = {op: plainly(seen) for op, seen in outcomes.items() if canary.is_computed(seen)}
    found = []
    for at in range(0, len(alone), SIZE):
        ops = tuple(alone)[at : at + SIZE]
        answers = apart(ops, engine.run(flock(ops)))
        found += ops if answers is None else [op for op, seen in zip(ops, answers, strict=True) if plainly(seen) != alone[op]]
    return found


OTHERWISE = {"paddle": ["positive"]}
"""Ops of Paddle that return their operand, which is then root and leaf of one call: beside other roots its gradient is absent."""
DEADLY = {"paddle": ["qr_triangle"]}
"""Ops of which a backend dies anyway, by the finding `paddle-qr-one-factor-crash`."""


@pytest.mark.parametrize("name", ["torch", "paddle", "reference"])
def test_what_a_canary_answers_in_a_flock_is_to_the_last_bit_what_it_answers_alone(name: str) -> None:
    ops = [op for op in catalogue() if op not in DEADLY.get(name, [])]
    with Workers((name,), 1) as workers:
        assert workers.call(otherwise_in_a_flock, name, ops) == OTHERWISE.get(name, [])


def test_canaries_that_are_known_to_be_well_are_asked_at_one_go() -> None:
    engine = Listening("listening")
    well_before(engine)
    outcome = engine.run(REFUSED)
    engine.heard.clear()
    assert ailment_after(REFUSED, outcome, engine) is None
    assert [canary.CANARY, flock(tuple(canary._turn(REFUSED)))] == engine.heard


def test_the_op_that_a_refusal_damages_is_named_and_no_other_of_the_flock() -> None:
    engine = well_before(wrong_engines.breaks_exp_after_a_refusal())
    found = ailment_after(REFUSED, engine.run(REFUSED), engine)
    assert found is not None
    assert found.op == "exp"


def test_an_engine_that_refuses_every_flock_is_asked_one_by_one() -> None:
    class Alone(Listening):
        def run(self, case: Case) -> Outcome:
            outcome = super().run(case)
            if len(case.steps) > 2 and case not in (REFUSED, canary.CANARY):
                outcome.observations[-1] = Raised(Category.UNMAPPED, "one op at a time")
            return outcome

    engine = Alone("alone")
    well_before(engine)
    outcome = engine.run(REFUSED)
    engine.heard.clear()
    assert ailment_after(REFUSED, outcome, engine) is None
    assert [canary_of(op) for op in canary._turn(REFUSED)] == engine.heard[2:]


def test_an_op_that_is_not_offered_is_not_asked() -> None:
    engine = Listening("lacking")
    engine.info = replace(engine.info, not_offered={**engine.info.not_offered, "op:exp": "there is none"})
    outcome = engine.run(REFUSED)
    engine.heard.clear()
    ailment_after(REFUSED, outcome, engine)
    assert "exp" not in {step.op for case in engine.heard for step in case.steps if isinstance(step, Op)}


def test_a_right_engine_is_as_well_as_before_in_a_flock() -> None:
    engine = well_before(correct())
    assert ailment_after(REFUSED, engine.run(REFUSED), engine) is None


def test_of_a_flock_whose_call_is_refused_nothing_is_told() -> None:
    lacking = reference(TORCH, {**TORCH.not_offered, "step:grad": "there is no such call"})
    assert apart(OPS, lacking.run(flock(OPS))) is None

"""The numerical oracle votes where forwards decide, and is silent elsewhere; with it the audit finds a wrong reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conformance.backends.dumped import DOT
from conformance.campaign.records.tally import Tally
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Outcome
from conformance.case.rewrite import each_op
from conformance.case.steps import Backward, Detach, Grad, Hook, InPlace, Op, RetainGrad
from conformance.compare.compare import Comparer
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.judge.audit import audit
from conformance.judge.blame import LAW_ITSELF, ORACLES, _gradient, _numerically, who
from conformance.judge.dispute import Dispute, Opinion, Vote
from conformance.judge.localisation import first_node
from conformance.judge.oracle import SilentError, slope
from conformance.mutants.registry import mutant
from reference_impl import OPS, PADDLE
from tests.conformance.blamed import LOST, ORACLE, RIGHT, SILENT, SIN, SUMMED, TWICE, WRONG, X, accused, blamed, reasons
from tests.conformance.engines import INFO, TOTAL
from tests.wrong_engines import WrongEngine, correct


class Elsewhere(WrongEngine):
    """Computes another function: ``cos`` where a script says ``exp``."""

    def run(self, case: Case) -> Outcome:
        """Run the other script."""
        return super().run(each_op(case, lambda op: Op("cos", op.operands, op.results) if op.op == "exp" else op))


@pytest.mark.parametrize(("forward", "said"), [(None, RIGHT), (correct(), RIGHT), (Elsewhere("elsewhere"), SILENT)])
def test_the_derivative_of_another_function_is_no_vote_against_the_reference(forward: Any, said: Opinion) -> None:
    engine = mutant("sin-x-sign").open()
    promise, actual = Promise(SIN, engine.info), engine.run(SIN)
    found = Comparer(promise).run(actual).mismatch
    assert found is not None
    vote = _numerically(Dispute(promise, engine, actual, found, ()), ORACLES[1], forward)
    assert (WRONG, said) == (vote.accused, vote.reference)


def add_a_few_roundings(outcome: Any) -> None:
    last = outcome.observations[-1]
    if isinstance(last, Computed):
        last.values = tuple(replace(value, array=value.array * (1 + 64 * np.finfo(value.array.dtype).eps)) for value in last.values)


def test_an_oracle_that_is_too_coarse_for_a_difference_votes_for_neither_side() -> None:
    found = blamed(Case((Input("x", (3,), (0.1, 0.7, -1.3), "float64"),), LOST.steps), add_a_few_roundings)
    said = reasons(found)
    assert [(SILENT, SILENT, True)] * 2 == [(*said[name][:2], "not sharp enough" in said[name][2]) for name in ORACLES]
    assert ("accused", WRONG) == (found.who, said["reference in float64"][0])


@pytest.mark.parametrize(("fault", "case", "came"), [("dropped_accumulation", SUMMED, "; added 0"), ("sin-x-sign", SIN, "; got ")])
def test_the_oracle_says_of_a_grad_that_accumulates_what_the_call_added(fault: str, case: Case, came: str) -> None:
    assert [True] == [came in vote.reason for vote in accused(fault, case).votes if vote.voter == ORACLES[0]]


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([("a", WRONG, RIGHT), (ORACLE, WRONG, RIGHT)], "accused"),
        ([("a", WRONG, RIGHT), ("b", RIGHT, WRONG)], "unclear"),
        ([("a", SILENT, SILENT)], "unclear"),
        ([("a", WRONG, RIGHT), (ORACLE, RIGHT, WRONG)], "reference"),
        ([("a", WRONG, RIGHT), (ORACLE, WRONG, WRONG)], "reference"),
        ([("a", RIGHT, WRONG), (ORACLE, WRONG, RIGHT)], "accused"),
        ([("a", RIGHT, WRONG), (ORACLE, WRONG, SILENT)], "unclear"),
        ([(LAW_ITSELF, WRONG, RIGHT)], "accused"),
        ([(LAW_ITSELF, WRONG, WRONG)], "reference"),
    ],
)
def test_the_oracle_outweighs_all_others(votes: list[tuple[str, Opinion, Opinion]], expected: str) -> None:
    assert expected == who([Vote(*vote, "") for vote in votes])


@pytest.fixture
def wrong_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the reference, and with it every engine made of it, a wrong rule of sin."""
    monkeypatch.setattr(OPS["sin"], "rules", [lambda g, _out, _x: OPS["neg"](g)])


@pytest.mark.usefixtures("wrong_reference")
def test_a_wrong_reference_that_agrees_with_a_wrong_engine_is_seen_by_the_audit() -> None:
    said = audit(Promise(SIN, INFO))
    assert said is not None
    assert said.startswith("step 4: the reference gives the gradient of x the slope ")


@pytest.mark.usefixtures("wrong_reference")
def test_a_wrong_reference_that_agrees_with_a_wrong_engine_makes_the_run_a_fault_of_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.judge.judgement.is_due", lambda _: True)
    tally = Tally(["correct"])
    tally.add(run_case(SIN, [correct()]))
    assert tally.verdict()[0] == "suite_error"


def test_a_finding_that_blames_the_reference_makes_the_run_a_fault_of_the_suite() -> None:
    tally = Tally([], wrong_references=["torch-1"])
    assert ("suite_error", ["torch-1: the numerical oracle contradicts the reference"]) == tally.verdict()


def test_the_audit_says_nothing_of_a_root_that_is_held_constant() -> None:
    call = Grad(("s", "z"), ("x",), ("g",), no_grad_vars=("z",))  # z brings its own seed all the same
    case = Case((Input("x", (), (0.5,)),), (Op("sin", ("x",), ("s",)), Op("exp", ("s",), ("z",)), call))
    assert audit(Promise(case, replace(INFO, dialect=PADDLE, not_offered=PADDLE.not_offered))) is None


@pytest.mark.parametrize("case", [SIN, TWICE, SUMMED], ids=["first order", "second order", "accumulated"])
def test_the_audit_finds_nothing_wrong_with_a_right_reference(case: Case) -> None:
    assert audit(Promise(case, INFO)) is None


def derived(case: Case, number: int, name: str) -> float:
    return slope(Promise(case, INFO), number, name, np.array([1.0, 0.0, 0.0])).value


def test_the_oracle_knows_a_gradient_from_forwards() -> None:
    case = Case((X,), (Op("square", ("x",), ("q",)), Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))))
    assert derived(case, 2, "x") == pytest.approx(0.2, abs=1e-8)


def test_the_oracle_holds_a_detached_value_constant() -> None:
    steps = (Detach("x", ("d",)), Op("mul", ("x", "d"), ("q",)), Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",)))
    assert derived(Case((X,), steps), 3, "x") == pytest.approx(0.1, abs=1e-8)


def test_the_oracle_is_silent_where_a_formula_decides_what_a_derivative_depends_on() -> None:
    case = Case(
        (X,), (Op("exp", ("x",), ("e",)), Grad(("e",), ("x",), ("g",), ("x",), create_graph=True), Grad(("g",), ("e",), ("h",), ("x",)))
    )
    with pytest.raises(SilentError, match="how its formula is written"):
        slope(Promise(case, INFO), 2, "e", np.ones(3))


def test_the_oracle_is_silent_about_a_leaf_that_the_call_holds_constant() -> None:
    case = Case((X,), (Op("square", ("x",), ("q",)), Grad(("q",), ("x",), ("g",), no_grad_vars=("x",), allow_unused=True)))
    with pytest.raises(SilentError, match="autograd holds x constant"):
        slope(Promise(case, INFO), 1, "x", np.ones(3))


def test_the_oracle_is_silent_about_an_input_that_needs_no_gradient() -> None:
    inputs = (X, Input("s", (3,), (1.0, 2.0, 3.0), differentiable=False))
    again = Grad(("g",), ("s",), ("h",), ("x",), allow_unused=True)
    case = Case(inputs, (Op("square", ("x",), ("q",)), Grad(("q",), ("x",), ("g",), ("s",), create_graph=True), again))
    with pytest.raises(SilentError, match="autograd holds s constant"):
        slope(Promise(case, INFO), 2, "s", np.ones(3))


def test_the_oracle_is_silent_where_a_variance_is_less_than_a_bound_that_its_derivative_ignores() -> None:
    steps = (Op("gaussian_nll_loss", ("x", "x", "x"), ("y",), {"eps": 0.5, "reduction": "none"}), Grad(("y",), ("x",), ("g",), ("x",)))
    with pytest.raises(SilentError, match="its derivative ignores"):
        slope(Promise(Case((X,), steps), INFO), 1, "x", np.ones(3))


def test_the_oracle_is_not_sharp_at_a_kink() -> None:
    case = Case((Input("x", (1,), (0.0,)),), (Op("abs", ("x",), ("a",)), Grad(("a",), ("x",), ("g",))))
    assert slope(Promise(case, INFO), 1, "x", np.ones(1)).error == np.inf


@pytest.mark.parametrize(
    "step",
    [Hook("x", ("k",), "scaled", factor=2.0), InPlace("mul_scalar", "q", (), {"other": 2.0})],
    ids=["a hook that answers", "an in-place update"],
)
def test_the_oracle_is_silent_where_a_gradient_is_no_matter_of_forwards(step: Any) -> None:
    case = Case((X,), (Op("square", ("x",), ("q",)), step, Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))))
    with pytest.raises(SilentError, match="no matter of forwards"):
        slope(Promise(case, INFO), 3, "x", np.ones(3))


def test_a_dump_has_no_cotangent_and_says_so() -> None:
    dumped = Mismatch(1, "value", "event", "right", "wrong", DOT, DOT, 0, np.array([1, 1]), np.array([1, 2]))
    case = Case((X,), (Op("square", ("x",), ("q",)), Backward(("q",), dump_backward_graph=True)))
    engine = WrongEngine("correct", dialect=PADDLE)
    assert "not named: what is dumped are no cotangents" == first_node(Promise(case, engine.info), engine, dumped).words


def test_the_oracle_is_silent_where_a_replaced_gradient_does_not_show_whether_a_call_reached_it() -> None:
    case = Case(
        (X,), (Op("square", ("x",), ("q",)), RetainGrad("q"), Op("sum", ("q",), ("z",), TOTAL), Backward(("z",)), Backward(("x",)))
    )
    ones, twos = np.ones(3, np.float32), np.full(3, 2, np.float32)
    aliased = Mismatch(4, "value", "grad", "right", "wrong", "q.grad", "q", case.watched.index("q"), ones, twos)
    engine = WrongEngine("correct", dialect=PADDLE)
    outcome = engine.run(case)
    with pytest.raises(SilentError, match="replaced"):
        _gradient(Dispute(Promise(case, engine.info, outcome), engine, outcome, aliased))

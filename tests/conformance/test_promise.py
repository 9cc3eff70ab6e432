"""A promise: what a dialect promises for a case, computed once, and the other runs that a judge asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends.reference import reference
from conformance.case.case import Case, Input
from conformance.case.outcome import plainly
from conformance.case.steps import Grad, Op
from conformance.compare.branches import Recorder
from conformance.compare.following import alternatives
from conformance.compare.promise import Promise, impossible
from conformance.deviations.changed_rules import changed_rules
from conformance.judge.verdict import Bucket, judge
from tests.conformance.drawn import USUAL
from tests.conformance.engines import EXACT, INFO, NUMERIC, TOTAL, answer

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome

AT_ZERO = Case(
    (Input("x", (2,), (0.0, 2.0)),),
    (Op("relu", ("x",), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))),
)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    """The cases that promises run on the reference from now on."""
    seen: list[Case] = []

    def counting(*arguments: Any, **options: Any) -> Any:
        backend = reference(*arguments, **options)

        class Counting:
            def run(self, case: Case) -> Outcome:
                seen.append(case)
                return backend.run(case)

        return Counting()

    monkeypatch.setattr("conformance.compare.promise.reference", counting)
    return seen


def gradient(outcome: Outcome) -> list[float]:
    return outcome.observations[-1].values[0].array.tolist()  # type: ignore[union-attr]


def test_the_reference_runs_once_however_often_a_promise_is_asked(runs: list[Case]) -> None:
    promise = Promise(EXACT, INFO)
    assert promise.outcome is promise.outcome
    assert [EXACT] == runs


def test_a_verdict_on_a_right_answer_in_the_exact_lane_runs_the_reference_once(runs: list[Case]) -> None:

    assert judge(Promise(EXACT, INFO), answer(EXACT)).bucket is Bucket.AGREED
    assert [EXACT] == runs


def test_bounds_are_derived_from_the_run_that_says_what_is_right(runs: list[Case]) -> None:
    promise = Promise(NUMERIC, INFO)
    gradient = promise.outcome.observations[3].values[0].array  # type: ignore[union-attr]
    assert [True, False] == [promise.bounds.accepts(given, 3, 0, "result") for given in (gradient, 2 * gradient)]
    assert [NUMERIC] == runs


def test_what_was_observed_already_is_not_run_again(runs: list[Case]) -> None:
    outcome = answer(EXACT)
    assert Promise(EXACT, INFO, outcome).outcome is outcome
    assert not runs


def test_nothing_runs_before_something_is_asked(runs: list[Case]) -> None:
    promise = Promise(NUMERIC, INFO)
    assert promise.bounds is promise.bounds
    assert not runs


def test_on_other_branches_another_gradient_is_promised() -> None:
    promise, recorder = Promise(AT_ZERO, INFO), Recorder()
    promise.run(None, recorder.choose)
    branches = [np.ones_like(answered) for answered in recorder.answers]
    assert [1.0, 1.0] == gradient(promise.on(branches).outcome)


def test_another_script_turns_off_where_the_branches_do_and_takes_its_own_ones_elsewhere() -> None:
    case = Case((Input("x", (3,), (-1.0, 0.0, 2.0)),), AT_ZERO.steps, "exact")
    variant = Case((Input("x", (3,), (5.0, 0.0, 2.0)),), AT_ZERO.steps, "exact")
    promise, recorder = Promise(case, INFO), Recorder()
    promise.run(None, recorder.choose)
    branches = [np.array([0.0, 1.0, 1.0], answered.dtype) for answered in recorder.answers]
    there = promise.on(branches, recorder.answers)
    assert ([0.0, 1.0, 1.0], [1.0, 1.0, 1.0]) == (gradient(there.outcome), gradient(there.of(variant).outcome))


def test_a_promise_on_other_branches_leaves_the_first_as_it_was() -> None:
    promise = Promise(AT_ZERO, INFO)
    promise.on([np.ones(2, np.float32)])
    assert [0.0, 1.0] == gradient(promise.outcome)


def test_another_case_is_promised_by_the_same_dialect() -> None:
    variant = Promise(EXACT, INFO).of(NUMERIC)
    assert (NUMERIC, INFO) == (variant.case, variant.info)


def test_the_reference_runs_another_script_once_however_often_it_is_asked_for(runs: list[Case]) -> None:
    promise = Promise(EXACT, INFO)
    for other in (promise.of(AT_ZERO), promise.of(NUMERIC).of(AT_ZERO)):
        assert gradient(other.outcome) == [0.0, 1.0]
    assert [AT_ZERO] == runs


def negated(right: Any, _: int, *given: Any, **attrs: Any) -> Any:
    return -right(*given, **attrs)


def test_other_rules_promise_another_gradient_while_they_hold() -> None:
    promise = Promise(AT_ZERO, INFO)
    with promise.under(changed_rules(("relu",), negated)) as changed:
        assert gradient(changed.outcome) == [0.0, -1.0]
    assert gradient(promise.outcome) == [0.0, 1.0]


def test_what_other_rules_promise_of_another_script_is_not_kept_for_the_right_ones() -> None:
    promise = Promise(EXACT, INFO)
    with promise.under(changed_rules(("relu",), negated)):
        assert gradient(promise.of(AT_ZERO).outcome) == [0.0, -1.0]
    assert gradient(promise.of(AT_ZERO).outcome) == [0.0, 1.0]


def test_what_the_right_rules_promise_of_another_script_is_not_kept_for_others() -> None:
    promise = Promise(EXACT, INFO)
    assert gradient(promise.of(AT_ZERO).outcome) == [0.0, 1.0]
    with promise.under(changed_rules(("relu",), negated)):
        assert gradient(promise.of(AT_ZERO).outcome) == [0.0, -1.0]


def test_the_wider_run_is_in_double_precision() -> None:
    assert np.float64 == Promise(NUMERIC, INFO).widened.observations[0].values[0].array.dtype  # type: ignore[union-attr]


def test_what_one_dialect_can_run_is_not_impossible() -> None:
    vectors = (Input("x", (1,), (2.0,)), Input("b", (1,), (1.0,)))
    assert impossible(Case(vectors, (Op("linear", ("x", "x", "b"), ("y",)),))) is None


def test_what_no_dialect_can_run_is_impossible() -> None:
    assert impossible(Case((Input("x", (1,), (2.0,)),), (Op("sum", ("x",), ("y",), {"axis": 5, "keepdims": False}),))) is not None


def test_what_an_open_choice_would_change_nothing_of_is_no_alternative() -> None:
    promises = [Promise(case, INFO) for case in USUAL[:16]]
    others = [(plainly(promise.outcome), plainly(other.outcome)) for promise in promises for other in alternatives(promise)]
    assert len(others) > 20
    assert not [told for told, otherwise in others if told == otherwise]

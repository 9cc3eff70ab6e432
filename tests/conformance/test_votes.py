"""Votes on a broken law and on a process that a refusal damaged: who is wrong, where, and when nothing can be said."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import pytest

from conformance.backends import open_backend
from conformance.campaign.findings.explain import blame_case
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Grad, Op
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.blame import LAW_ITSELF
from conformance.judge.dispute import Opinion
from conformance.judge.poison import blame_of_poison
from conformance.laws.judging import Judging
from conformance.laws.registry import broken_laws
from conformance.laws.votes import blame_of_law
from tests.lawless_engines import one_sided_mul
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from conformance.judge.dispute import Blame

WRONG, RIGHT, SILENT = Opinion.WRONG, Opinion.RIGHT, Opinion.SILENT
LAWLESS = "tests.lawless_engines:one_sided_mul"
BREAKING = "tests.wrong_engines:breaks_exp_after_a_refusal"
FLIPPED = "conformance.mutants.engines:exp-x-sign"


def agrees(case: Case) -> bool:
    """Whether the lawless engine answers a case as it should: nothing but the law shows its fault."""
    (verdict,) = run_case(case, [one_sided_mul()]).verdicts.values()
    return verdict.bucket == "agreed"


X = Input("x", (2,), (0.5, 1.5))
EXP = Op("exp", ("x",), ("y",))
FREED = Case((X,), (EXP, Backward(("y",), ("x",)), Backward(("y",), ("x",)), Grad(("y",), ("x",), ("g",), ("x",))))


@functools.cache
def hessian() -> Case:
    """Draw a case in which nothing but that law shows the fault."""
    cases = (case_of(3, i, DrawOptions()) for i in itertools.count())
    return next(case for case in cases if agrees(case) and "hessian" in broken_laws(case, one_sided_mul()))


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers((LAWLESS, BREAKING), 1) as opened:
        yield opened


def test_an_engine_that_breaks_a_law_which_the_reference_keeps_is_wrong_where_its_derivative_is(workers: Workers) -> None:
    blamed = workers.call(blame_case, (hessian(),), LAWLESS, (), Judging(law="hessian"))
    assert blamed is not None
    (vote,) = blamed.votes
    assert ("accused", LAW_ITSELF, WRONG, RIGHT) == (blamed.who, vote.voter, vote.accused, vote.reference)
    assert vote.reason.startswith("hessian (second derivatives are symmetric): ")
    assert ("in a case of the law, tried on step ", True) == (blamed.node[:36], "the rule of mul" in blamed.node)


def test_a_law_that_the_reference_breaks_too_accuses_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.laws.votes.reference", lambda *_: one_sided_mul())
    assert "reference" == blame_of_law(hessian(), one_sided_mul(), "hessian").who


@pytest.mark.parametrize(("other", "who"), [(correct, "accused"), (one_sided_mul, "unclear")])
def test_other_engines_vote_by_the_law(other: Callable[[], Any], who: str) -> None:
    assert who == blame_of_law(hessian(), one_sided_mul(), "hessian", [other()]).who


def test_a_law_that_is_not_broken_again_accuses_nobody() -> None:
    blamed = blame_of_law(hessian(), correct(), "hessian")
    assert ("unclear", "not named: the law is not broken again") == (blamed.who, blamed.node)
    assert blamed.votes[0].reason.startswith("hessian is not broken again: ")


def test_the_refusal_that_damages_an_engine_is_named_with_the_answer_of_the_canary(workers: Workers) -> None:
    blamed = workers.call(blame_case, (FREED,), BREAKING, (), None)
    assert blamed is not None
    (vote,) = blamed.votes
    assert ("accused", "step 2 (backward), whose refusal leaves the engine damaged") == (blamed.who, blamed.node)
    expected = "right in a process that refused nothing; after the refusal at step 2 (backward) exp is wrong: expected right, got wrong"
    assert (WRONG, SILENT, True) == (vote.accused, vote.reference, vote.reason.startswith(expected))


def anew(name: str) -> Callable[[Callable[..., Any], Sequence[Any]], Any]:
    """Stand for fresh processes: each call has an engine of its own."""

    def fresh(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        return function(*(open_backend(name) if hasattr(a, "run") else a for a in arguments))

    return fresh


def poisoned(name: str, *cases: Case) -> Blame:
    return blame_of_poison(cases, open_backend(name), "elementary", anew(name))


def test_an_op_that_is_wrong_without_a_refusal_is_no_damage() -> None:
    blamed = poisoned(FLIPPED, FREED)
    assert ("accused", "exp, by itself") == (blamed.who, blamed.node)
    assert "in a process that refused nothing, too, so that is no damage" in blamed.votes[0].reason


def test_damage_by_an_earlier_case_is_not_laid_to_a_refusal_of_the_last_one() -> None:
    assert "the cases before it, which leave the engine damaged" == poisoned(BREAKING, FREED, Case((X,), (EXP,))).node


def test_damage_by_a_step_before_the_refusal_is_not_laid_to_the_refusal() -> None:
    tanh = Case((X,), (Op("tanh", ("x",), ("t",)), *FREED.steps))
    blamed = poisoned("tests.wrong_engines:remembers_tanh", tanh)
    assert ("accused", "the steps before step 3 (backward)") == (blamed.who, blamed.node)


def test_where_no_refusal_does_the_damage_again_that_is_said() -> None:
    blamed = poisoned("tests.wrong_engines:correct", FREED)
    assert ("unclear", "not named: no refusal of this case does the damage in a fresh process") == (blamed.who, blamed.node)
    assert "right in a fresh process, also after each refusal of this case (steps: 2, 3)" == blamed.votes[0].reason


def test_a_process_that_dies_in_a_case_is_the_engines(workers: Workers) -> None:
    blamed = workers.call(blame_case, (Case((X,), (Op("sin", ("x",), ("y",)),)),), "tests.wrong_engines:dies_on_sin", (), None)
    assert blamed is not None
    assert ("accused", "ends in this case (-6), which nothing promises") == (blamed.who, blamed.votes[0].reason)

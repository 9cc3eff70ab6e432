"""Shrinking: every pass makes smaller what no other does, what comes out fails as before and as badly, and the rounds are counted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import pytest

from conformance.campaign.findings import shrink
from conformance.campaign.findings.explain import explain_case
from conformance.campaign.findings.reductions import PASSES, Pass, outcome_of
from conformance.campaign.findings.shrink import ShrinkResult, shrink_case, size_of
from conformance.campaign.records.fingerprint import GROSS, Fingerprint, fingerprint_of, is_gross
from conformance.campaign.records.verdicts import MismatchRecord, VerdictRecord
from conformance.campaign.workers.pool import Workers
from conformance.case.case import Case, Input
from conformance.case.queries import label
from conformance.case.rewrite import with_inputs
from conformance.case.steps import Edge, Grad, InPlace, Op
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging, Sampling

if TYPE_CHECKING:
    from collections.abc import Iterator

WRONG = "conformance.mutants.engines:sin-x-sign"
SLIGHTLY = "tests.wrong_engines:adds_to_the_gradient_of_exp"
CASE = Case(
    (Input("x", (2,), (1.25, 2.5), "float64"), Input("s", (2,), (0.75, 1.5), "float64")),
    (
        Op("cos", ("x",), ("a",)),
        Op("add", ("a", "x"), ("b",)),
        Op("sin", ("b",), ("y",)),
        Grad(("y",), ("x",), ("g",), ("s",), retain_graph=True),
        Op("neg", ("g",), ("h",)),
    ),
)


X, S = CASE.inputs
SIN = Op("sin", ("x",), ("y",))
GRAD = Grad(("y",), ("x",), ("g",), ("s",))
WRITTEN = Case((X, S), (Op("neg", ("x",), ("y",)), InPlace("sin", "y"), GRAD))
REDUCIBLE = {
    "bypass steps": Case((X, S), (SIN, Op("exp", ("y",), ("z",)), Grad(("z",), ("x",), ("g",), ("s",)))),
    "bypass steps that name an edge": Case((X, S), (SIN, Edge("y", ("e",)), Grad(("e",), ("x",), ("g",), ("s",)))),
    "compute out of place": WRITTEN,
    "shorten axes": Case((X, S), (SIN, GRAD)),
}


@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.words)
def test_every_pass_proposes_cases(one: Pass) -> None:
    assert [] != [*one.candidates(CASE), *one.candidates(WRITTEN)]


@pytest.mark.parametrize("index", range(0, 60, 3))
def test_a_pass_proposes_other_cases_of_whatever_is_drawn(index: int) -> None:
    case = case_of(5, index, DrawOptions(customs=0.2))
    proposed = [(one.words, other) for one in PASSES for other in one.candidates(case)]
    assert {"drop steps", "make inputs plainer"} <= {words for words, other in proposed if other != case}


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers((WRONG, SLIGHTLY), 1) as opened:
        yield opened


def shrunk(workers: Workers, case: Case, name: str = WRONG) -> ShrinkResult:
    fingerprint = fingerprint_of(name, workers.call(explain_case, case, name).verdict)
    return shrink_case(workers, case, fingerprint, Judging(timeout=20.0), math.inf)


def test_what_was_shrunk_fails_as_before_and_every_pass_that_helped_is_counted(workers: Workers) -> None:
    fingerprint = fingerprint_of(WRONG, workers.call(explain_case, CASE, WRONG).verdict)
    ((small,), rounds) = shrunk(workers, CASE)
    assert fingerprint == fingerprint_of(WRONG, workers.call(explain_case, small, WRONG).verdict)
    assert ((small,), {}) == shrunk(workers, small)
    assert ["sin", "grad"] == [step.op if isinstance(step, Op) else "grad" for step in small.steps]
    assert {"drop steps", "bypass steps"} <= set(rounds) <= {one.words for one in PASSES}
    assert size_of(small) < size_of(CASE)


@pytest.mark.parametrize("words", REDUCIBLE)
def test_what_one_pass_makes_smaller_no_other_does(words: str, workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    small = shrunk(workers, REDUCIBLE[words]).case
    monkeypatch.setattr(shrink, "PASSES", tuple(one for one in PASSES if not words.startswith(one.words)))
    assert size_of(small)[:4] < size_of(shrunk(workers, REDUCIBLE[words]).case)[:4]


@pytest.mark.parametrize("words", REDUCIBLE)
def test_every_wrong_sine_ends_as_a_sine_and_its_gradient(words: str, workers: Workers) -> None:
    small = shrunk(workers, REDUCIBLE[words]).case
    assert ((), ["op:sin", "grad"]) == (small.inputs[0].shape, [label(small, number) for number in range(len(small.steps))])


OFF = Case(
    (Input("x", (2,), (5.0, -2.25)), Input("s", (2,), (1.0, 1.0))),
    (Op("exp", ("x",), ("y",)), Grad(("y",), ("x",), ("g",), ("s",))),
)
"""The element that stays where the axis is taken away is the one whose gradient is so large that the fault looks like a rounding."""


def error_of(workers: Workers, case: Case) -> float:
    """Return the error over its bound of the wrong number."""
    mismatch = workers.call(explain_case, case, SLIGHTLY).verdict.mismatch
    return mismatch.ratio


def test_a_number_that_is_far_off_is_not_shrunk_to_one_that_may_be_rounding(workers: Workers) -> None:
    small = shrunk(workers, OFF, SLIGHTLY).case
    assert (True, True) == (size_of(small) < size_of(OFF), error_of(workers, small) >= GROSS)


def test_a_loop_that_does_not_look_at_the_size_of_an_error_ends_near_rounding(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shrink, "is_gross", lambda _: True)
    assert 1.0 < error_of(workers, shrunk(workers, OFF, SLIGHTLY).case) < GROSS


def test_a_number_that_is_hardly_off_is_shrunk_all_the_same(workers: Workers) -> None:
    hardly = with_inputs(OFF, (msgspec.structs.replace(OFF.inputs[0], data=(5.0, 4.0)), OFF.inputs[1]))
    assert () == shrunk(workers, hardly, SLIGHTLY).case.inputs[0].shape


@pytest.mark.parametrize(
    ("kind", "ratio", "gross"), [("value", 99.0, False), ("value", 100.0, True), ("value", None, True), ("absence", None, False)]
)
def test_an_error_is_gross_from_a_hundred_times_its_bound_or_where_none_is_allowed(kind: str, ratio: float | None, gross: bool) -> None:
    mismatch = MismatchRecord(3, "grad", kind, "result", "right", "wrong", "g", ratio=ratio)
    assert is_gross(VerdictRecord(Bucket.DIVERGED, {}, mismatch=mismatch)) == gross


def test_a_case_that_does_not_fail_so_stays_as_it_is(workers: Workers) -> None:
    assert ((CASE,), {}) == shrink_case(workers, CASE, Fingerprint(WRONG, Bucket.CRASHED), Judging(timeout=20.0))


def test_what_several_passes_propose_is_asked_once(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Case, ...]] = []

    def fail(_: Workers, sequences: list[tuple[Case, ...]], *__: object) -> list[bool]:
        asked.extend(sequences)
        return [False] * len(sequences)

    monkeypatch.setattr(shrink, "_fail", fail)
    monkeypatch.setattr(shrink, "PASSES", PASSES * 2)
    shrink_case(workers, CASE, Fingerprint(WRONG, Bucket.CRASHED), Judging(), math.inf)
    assert len(set(asked)) == len(asked)


def differing(**words: str) -> Fingerprint:
    mismatch = {"at": "grad", "kind": "value", "where": "result", "expected": "right", "actual": "wrong", "detail": "g", **words}
    return fingerprint_of(WRONG, VerdictRecord(Bucket.DIVERGED, {}, mismatch=MismatchRecord(3, **mismatch)))


def test_numbers_in_the_detail_do_not_tell_failures_apart() -> None:
    assert differing(detail="off by 1") == differing(detail="off by 2")


def test_messages_tell_refusals_apart_that_no_category_names() -> None:
    one, other, same = (differing(actual="unmapped", detail=text) for text in ("no graph 1", "no tensor 1", "no graph 22"))
    assert (True, False) == (one == same, one == other)


def test_findings_that_differ_have_different_names() -> None:
    assert 3 == len({differing(at=at).id for at in ("grad", "backward", "op:sin")})


def test_a_failure_of_a_law_is_judged_again_by_that_law_alone() -> None:
    campaign = Judging(Sampling.EVERY, laws_only=True, nulls=Sampling.EVERY, timeout=7.0)
    found = [differing(where=where).judging(campaign) for where in ("hessian", "result")]
    assert [Judging(law=law, laws_only=True, timeout=7.0) for law in ("hessian", "")] == found


@pytest.mark.filterwarnings("error")
def test_a_case_with_infinities_is_reduced_without_a_warning() -> None:
    inputs = (Input("x", (2,), (0.0, 2.0)), Input("s", (2,), ("inf", 1.0), differentiable=False))
    case = Case(inputs, (Op("square", ("x",), ("y",)), Grad(("y",), ("x",), ("g",), ("s",))), "exact")
    assert outcome_of(case).observations

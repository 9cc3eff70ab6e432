"""Shrinking: every pass proposes cases, what comes out fails as before, and the rounds are counted by pass."""

from __future__ import annotations

import math

import pytest

from conformance.campaign.explain import explain_case
from conformance.campaign.fingerprint import Fingerprint, fingerprint_of
from conformance.campaign.pool import Workers
from conformance.campaign.records import MismatchRecord, VerdictRecord
from conformance.campaign.reductions import PASSES, Pass
from conformance.campaign.shrink import shrink_case, size_of
from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Op
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging, LawSampling

WRONG = "conformance.mutants.engines:sin-x-sign"
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


@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.words)
def test_every_pass_proposes_cases(one: Pass) -> None:
    assert [] != list(one.candidates(CASE))


def test_what_was_shrunk_fails_as_before_and_every_pass_that_helped_is_counted() -> None:
    with Workers((WRONG,), 1) as workers:
        fingerprint = fingerprint_of(WRONG, workers.call(explain_case, CASE, WRONG).verdict)
        ((small,), rounds) = shrink_case(workers, CASE, fingerprint, Judging(timeout=20.0), math.inf)
        assert fingerprint == fingerprint_of(WRONG, workers.call(explain_case, small, WRONG).verdict)
        assert ((small,), {}) == shrink_case(workers, small, fingerprint, Judging(timeout=20.0), math.inf)
    assert ["add", "sin", "grad"] == [step.op if isinstance(step, Op) else "grad" for step in small.steps]
    assert {"drop steps", "cut values"} <= set(rounds) <= {one.words for one in PASSES}
    assert size_of(small) < size_of(CASE)


def test_a_case_that_does_not_fail_so_stays_as_it_is() -> None:
    with Workers((WRONG,), 1) as workers:
        assert ((CASE,), {}) == shrink_case(workers, CASE, Fingerprint(WRONG, Bucket.CRASHED), Judging(timeout=20.0))


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
    campaign = Judging(LawSampling.EVERY, laws_only=True, every_null=True, timeout=7.0)
    found = [differing(where=where).judging(campaign) for where in ("hessian", "result")]
    assert [Judging(law=law, laws_only=True, timeout=7.0) for law in ("hessian", "")] == found

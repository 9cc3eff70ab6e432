"""Triage: what begins at one op is one finding, wherever it shows, and what begins at five is five."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.campaign.findings.triage import absorbed, begins_at, is_open, triaged
from conformance.campaign.findings.write_up import Writing, findings
from conformance.campaign.records import Again
from conformance.campaign.records.fingerprint import Fingerprint
from conformance.campaign.records.tally import Failure, Tally
from conformance.campaign.records.verdicts import MismatchRecord, VerdictRecord
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Grad, InPlace, Op
from conformance.generate.scripts import DrawOptions
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging
from conformance.report.terminal import finding_line
from tests.conformance.drawn import Drawn
from tests.conformance.engines import TOTAL
from tests.wrong_engines import five_wrong_rules, refuses_float32

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.mutants.mutant import WrongEngine

NAME = "tests.wrong_engines:five_wrong_rules"
WRONG = {"tanh", "sigmoid", "exp", "sin", "log"}
DRAWN = Drawn(1, 80, DrawOptions(("numeric",), ("mul", "sum", *sorted(WRONG)), longest=6, changing=0.0))
X = Input("x", (2,), (0.5, 1.5))


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers((NAME,), 1) as opened:
        yield opened


def tally_of(cases: Sequence[Case], engine: WrongEngine | None = None) -> Tally:
    """Run cases on an engine, that with five wrong rules if none is given, under the name by which workers open that."""
    engine = engine or five_wrong_rules()
    engine.info = type(engine.info)(NAME, engine.info.version, engine.info.dialect, engine.info.not_offered)
    tally = Tally((NAME,))
    for index, case in enumerate(cases):
        tally.add(run_case(case, [engine], index=index))
    return tally


def test_five_wrong_rules_are_five_findings_that_name_them(workers: Workers) -> None:
    tally = tally_of(DRAWN)
    found = triaged(tally, workers, None)
    assert Counter(WRONG) == Counter(fingerprint.op for fingerprint in found if fingerprint.op)
    assert sum(failure.count for failure in found.values()) == sum(failure.count for failure in tally.failures.values())


def test_a_rule_that_is_wrong_in_several_places_is_one_finding(workers: Workers) -> None:
    forward = Op("sin", ("x",), ("y",)), Op("sum", ("y",), ("z",), TOTAL)
    several = [Case((X,), (*forward, Backward(("z",)))), Case((X,), (*forward, Grad(("z",), ("x",), ("g",))))]
    tally = tally_of(several)
    assert len(tally.failures) == 2
    ((fingerprint, failure),) = triaged(tally, workers, None).items()
    assert ("sin", 2) == (fingerprint.op, failure.count)


def test_what_begins_at_ops_that_are_one_call_of_an_engine_begins_at_the_first_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = five_wrong_rules()
    engine.info = replace(engine.info, alike={"sin": "tanh"})
    monkeypatch.setattr("conformance.campaign.findings.triage.backend", lambda _: engine)
    total = Op("sum", ("y",), ("z",), TOTAL), Backward(("z",))
    ops = "sin", "tanh", "exp"
    assert ["tanh", "tanh", "exp"] == [begins_at(Case((X,), (Op(op, ("x",), ("y",)), *total)), NAME) for op in ops]


def test_what_is_localised_when_it_is_small_is_no_finding_of_its_own() -> None:
    value = Fingerprint(NAME, Bucket.DIVERGED, "grad", "value", "result", "right", "wrong")
    law = Fingerprint(NAME, Bucket.DIVERGED, "grad", "law", "slope", "held", "broken")
    case = Case((X,), (Op("sin", ("x",), ("y",)),))
    found = {value._replace(op="sin"): Failure(case, 7, None, 2), value: Failure(case, 8, None, 3), law: Failure(case, 9, None)}
    assert value._replace(op="sin") == absorbed(found, value, "sin")
    assert law._replace(op="exp") == absorbed(found, law, "exp")
    assert {"sin": 5, "exp": 1} == {fingerprint.op: failure.count for fingerprint, failure in found.items()}


def test_results_of_one_wrong_dtype_are_one_finding_whichever_ops_they_are_of(workers: Workers) -> None:
    case = Case((X,), (Op("sin", ("x",), ("y",)),))
    wide = [Fingerprint(NAME, Bucket.DIVERGED, f"op:{op}", "dtype", "result", "float32", "float64") for op in ("sin", "exp", "log")]
    narrow = wide[0]._replace(expected="float64", actual="float32")
    tally = Tally((NAME,))
    tally.failing = {
        fingerprint: [Failure(case, number, None, at=frozenset({fingerprint.at}))] for number, fingerprint in enumerate([*wide, narrow])
    }
    tally.failures = {fingerprint: one for fingerprint, (one,) in tally.failing.items()}
    found = triaged(tally, workers, None)
    assert {wide[0]: 3, narrow: 1} == {fingerprint: failure.count for fingerprint, failure in found.items()}
    assert {"op:sin", "op:exp", "op:log"} == found[wide[0]].at


def tally_that_changed(*choices: str) -> Tally:
    """Return the tally of an engine whose choices turned out otherwise than was measured, each in one case."""
    case = Case((X,), (Op("sin", ("x",), ("y",)),))
    tally = Tally((NAME,))
    for number, choice in enumerate(choices):
        fingerprint = Fingerprint(NAME, Bucket.DIVERGED, "grad", "convention", "step", "refused", "computed", choice)
        tally.failing.setdefault(fingerprint, []).append(Failure(case, number, None, at=frozenset({fingerprint.place})))
    freed = Fingerprint(NAME, Bucket.DIVERGED, "backward", "error", "step", "graph_freed", "computed")
    tally.failing[freed] = [Failure(case, len(choices), None, at=frozenset({freed.place}))]
    tally.failures = {fingerprint: replace(kept[0], count=len(kept)) for fingerprint, kept in tally.failing.items()}
    return tally


@pytest.mark.parametrize(("kind", "where"), [("law", "adjoint"), ("value", "event")])
def test_a_broken_law_or_what_a_hook_sees_is_one_finding_whichever_call_shows_it(workers: Workers, kind: str, where: str) -> None:
    case = Case((X,), (Op("sin", ("x",), ("y",)),))
    tally = Tally((NAME,))
    for number, call in enumerate(("grad", "backward")):
        tally.failing[Fingerprint(NAME, Bucket.DIVERGED, call, kind, where, "right", "wrong")] = [Failure(case, number, None)]
    tally.failures = {fingerprint: kept[0] for fingerprint, kept in tally.failing.items()}
    assert [2] == [failure.count for failure in triaged(tally, workers, 0.0).values()]


FREED = "freed: sin x: computed", "freed: mul y: computed", "freed: mul x: computed", "freed: exp x: computed"


def test_a_choice_that_many_ops_change_at_once_is_one_finding_with_the_refusals_that_fail_to_come(workers: Workers) -> None:
    ((fingerprint, failure),) = triaged(tally_that_changed(*FREED), workers, None).items()
    assert ("freed: computed", 5, {*FREED}) == (fingerprint.message, failure.count, failure.at)


def test_choices_that_two_ops_change_are_two_findings_beside_a_refusal_that_fails_to_come(workers: Workers) -> None:
    tally = tally_that_changed(*FREED[:2])
    assert tally.failures == triaged(tally, workers, None)


def test_an_error_that_many_ops_raise_is_one_finding_with_all_places(workers: Workers) -> None:
    tally = tally_of(DRAWN, refuses_float32())
    refused = [fingerprint for fingerprint in tally.failures if fingerprint.actual == "not_differentiable"]
    ((fingerprint, failure),) = ((f, one) for f, one in triaged(tally, workers, None).items() if f.actual == "not_differentiable")
    assert ("error", "", len(refused) > 2) == (fingerprint.kind, fingerprint.at, True)
    assert {one.at for one in refused} == failure.at
    assert sum(tally.failures[one].count for one in refused) == failure.count


def test_a_finding_of_an_error_that_many_ops_raise_names_the_others(workers: Workers, tmp_path: Path) -> None:
    cases = [Case((X,), (Op(op, ("x",), ("y",)),)) for op in ("sin", "exp", "log")]
    tally = tally_of(cases, refuses_float32())
    tally.failures = triaged(tally, workers, None)
    (record,) = findings(tally, Writing(workers, workers, (NAME,), Judging(), tmp_path))
    assert {"op:sin", "op:exp", "op:log"} == {record.at, *record.also_at}


@pytest.mark.parametrize(("ops", "findings"), [(2, 2), (3, 1)])
def test_an_error_that_few_ops_raise_is_a_finding_of_each(workers: Workers, ops: int, findings: int) -> None:
    case = Case((X,), (Op("sin", ("x",), ("y",)),))
    tally = Tally((NAME,))
    for number, op in enumerate(("sin", "exp", "log")[:ops]):
        fingerprint = Fingerprint(NAME, Bucket.DIVERGED, f"op:{op}", "error", "step", "computed", "not_differentiable")
        tally.failing[fingerprint] = [Failure(case, number, None, at=frozenset({fingerprint.place}))]
    tally.failures = {fingerprint: kept[0] for fingerprint, kept in tally.failing.items()}
    assert findings == len(triaged(tally, workers, None))


def test_what_changed_for_many_ops_is_shown_by_any_of_them_and_by_nothing_that_refuses_more() -> None:
    (wide,) = {
        Fingerprint(NAME, Bucket.DIVERGED, "", "convention", "step", "refused", "computed", choice).of_any_op for choice in FREED
    }
    shown = [("refused", "computed", "freed: tan x: computed"), ("computed", "refused", "freed: tan x: refused")]
    verdicts = [VerdictRecord(Bucket.DIVERGED, {}, mismatch=mismatch_of(*words)) for words in shown]
    assert [True, False] == [wide.is_shown_by(verdict) for verdict in verdicts]


def mismatch_of(expected: str, actual: str, choice: str) -> MismatchRecord:
    return MismatchRecord(2, "grad", "convention", "step", expected, actual, f"{choice}; measured of torch 2.13.0: {expected}")


ASKED_AGAIN = [("value", "", True), ("law", "", True), ("value", "sin", False), ("error", "", False), ("flag", "", False)]


@pytest.mark.parametrize(("kind", "op", "asked"), ASKED_AGAIN)
def test_only_numbers_and_laws_of_which_nobody_knows_where_they_begin_are_asked_again(kind: str, op: str, asked: bool) -> None:
    assert asked == is_open(Fingerprint(NAME, Bucket.DIVERGED, "grad", kind, op=op))


def test_without_time_nothing_is_localised_and_nothing_lost(workers: Workers) -> None:
    tally = tally_of(DRAWN)
    assert tally.failures == triaged(tally, workers, 0.0)


WRITTEN = Op("clone", ("x",), ("w",)), InPlace("mul_scalar", "w", attrs={"other": 2.0})
"""An update in place that the call goes through, so that nobody can tell where a difference begins before it is taken out."""


def test_a_finding_that_was_absorbed_leaves_the_other_one_its_own_case(workers: Workers, tmp_path: Path) -> None:
    total = Op("sum", ("y",), ("z",), TOTAL)
    plain = Case((X,), (Op("sin", ("x",), ("y",)), total, Grad(("z",), ("x",), ("g",))))
    hidden = Case((X,), (*WRITTEN, Op("sin", ("w",), ("y",)), total, Backward(("z",))))
    tally = tally_of([hidden, plain])
    tally.failures = triaged(tally, workers, None)
    assert [("", "backward"), ("sin", "grad")] == sorted((fingerprint.op, fingerprint.at) for fingerprint in tally.failures)
    (record,) = findings(tally, Writing(workers, workers, (NAME,), Judging(), tmp_path))
    assert ("grad", 2, Again.ALONE) == (record.at, record.count, record.again)


def test_a_finding_says_where_the_suite_failed_while_it_was_written(workers: Workers, tmp_path: Path) -> None:
    plain = Case((X,), (Op("sin", ("x",), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))))
    tally = tally_of([plain])
    tally.failures = triaged(tally, workers, None)
    (record,) = findings(tally, Writing(workers, object(), (NAME,), Judging(), tmp_path))  # type: ignore[arg-type]
    assert ("ask_blame: AttributeError: 'object' object has no attribute 'call'",) == record.failed
    assert "the suite failed 1 time here: ask_blame: AttributeError" in finding_line(record)
    assert record.blame is None

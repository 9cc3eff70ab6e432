"""The examination: a canary that dies where nothing was refused is no sign of damage, and it is asked only when one has died."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.campaign.findings.explain import explain_case
from conformance.campaign.workers import examination, warm_up
from conformance.campaign.workers.backend_cache import backend
from conformance.campaign.workers.examination import EXAMINERS, Suspicion, begin, examine
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.warm_up import AS_MANY, MANY, prepare_for
from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Op
from conformance.judge.canary import EVERY, ops_of
from conformance.laws.judging import Judging
from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DYING = "tests.wrong_engines:dies_on_sin"
WRONG = "conformance.mutants.engines:exp-x-sign"
FEW = ("add", "mul", "sin", "cos", "exp", "sum")
"""The ops of which an engine here has canaries: what is learned of each is learned of all in the same way."""
REFUSED = Case((Input("x", (2,), (0.5, 1.5)),), (Op("exp", ("x",), ("y",)), Backward(("y",), ("x",)), Backward(("y",), ("x",))))


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "_examined", {})
    monkeypatch.setattr(examination, "_killed", {})
    monkeypatch.setattr(examination, "_slate", None)
    monkeypatch.setattr(warm_up, "_prepared", set())
    monkeypatch.setattr(warm_up, "_met", Counter())
    monkeypatch.setattr(warm_up, "_forkable", {WRONG, DYING})
    monkeypatch.setattr(examination, "ops_of", lambda family: [op for op in ops_of(family) if op in FEW])


@pytest.fixture
def workers() -> Iterator[Workers]:
    """Open a worker that is to examine."""
    with Workers((WRONG,), 1) as opened:
        yield opened


@pytest.mark.parametrize(("op", "ill"), [("sin", True), ("cos", False)])
def test_an_op_whose_canary_takes_its_process_along_is_ill_by_itself_and_no_other(op: str, ill: bool) -> None:
    assert examine(Suspicion(DYING, op)) is ill


def test_an_op_whose_canary_hangs_is_ill_by_itself() -> None:
    assert examine(Suspicion("tests.wrong_engines:spins_on_sin", "sin"))


@pytest.mark.parametrize(
    ("cases", "ahead", "learned"), [(MANY, None, set()), (MANY + 1, None, {"exp"}), (1, MANY - 1, set()), (1, MANY, {"exp"})]
)
def test_a_worker_of_many_cases_has_all_canaries_asked_at_once(
    cases: int, ahead: int | None, learned: set[str], tmp_path: Path
) -> None:
    prepare_for(cases, (WRONG,), tmp_path, ahead)
    assert learned == {op for op, ill in examination._examined.get(WRONG, {}).items() if ill and op == "exp"}


def test_an_op_whose_canary_takes_its_process_along_does_not_keep_the_others_from_being_asked(tmp_path: Path) -> None:
    begin()
    prepare_for(MANY + 1, (DYING,), tmp_path)
    assert examination._examined[DYING] == {op: op == "sin" for op in FEW}


def test_a_worker_of_many_cases_asks_no_canary_of_a_backend_that_has_few_of_them(tmp_path: Path) -> None:
    prepare_for(MANY, (DYING,), tmp_path)
    prepare_for(1, (WRONG,), tmp_path)
    assert {} == examination._examined


def test_of_a_backend_that_cannot_be_forked_all_canaries_are_asked_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(warm_up, "_forkable", set())
    prepare_for(AS_MANY * MANY, (WRONG,), tmp_path)
    assert {} == examination._examined


def test_what_one_worker_examined_no_other_has_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_for(MANY + 1, (WRONG,), tmp_path)
    found = examination._examined[WRONG]
    monkeypatch.setattr(examination, "_examined", {})
    monkeypatch.setattr(warm_up, "_prepared", set())
    monkeypatch.delattr(examination, "forked")
    prepare_for(MANY + 1, (WRONG,), tmp_path)
    assert found == examination._examined[WRONG]


def test_what_was_examined_before_is_no_reason_not_to_ask_all(tmp_path: Path) -> None:
    examine(Suspicion(WRONG, "sin"))
    prepare_for(MANY + 1, (WRONG,), tmp_path)
    assert set(FEW) == set(examination._examined[WRONG])


def test_an_op_is_examined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = examine(Suspicion(WRONG, "exp"))
    monkeypatch.delattr(examination, "forked")
    assert (True, True) == (first, examine(Suspicion(WRONG, "exp")))


def test_of_an_engine_that_takes_process_after_process_along_nothing_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "tests.wrong_engines:aborts_as_paddle"
    ops = list(catalogue())[: EXAMINERS + 1]
    killed = [examine(Suspicion(name, op)) for op in ops[:EXAMINERS]]
    monkeypatch.delattr(examination, "forked")
    assert [True] * len(ops) == [*killed, examine(Suspicion(name, ops[-1]))]


def test_what_an_examiner_talked_to_that_died_is_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []
    monkeypatch.setattr(backend(DYING), "close", lambda: closed.append(DYING), raising=False)
    examine(Suspicion(DYING, "sin"))
    assert closed == [DYING]


def test_a_wrong_rule_is_no_damage_in_a_case_that_is_told_step_by_step(workers: Workers) -> None:
    told = workers.call(explain_case, REFUSED, WRONG)
    assert told is not None
    assert told.verdict.mismatch is not None
    assert told.verdict.mismatch.kind == "value"


def test_damage_is_damage_in_a_case_that_is_told_step_by_step(workers: Workers) -> None:
    told = workers.call(explain_case, REFUSED, "tests.wrong_engines:breaks_exp_after_a_refusal")
    assert told is not None
    assert told.verdict.mismatch is not None
    assert told.verdict.mismatch.kind == "poison"


def test_a_canary_that_takes_its_process_along_where_nothing_was_refused_costs_no_case(workers: Workers) -> None:
    record = workers.judged([REFUSED], DYING, Judging(canary=EVERY))[0]
    assert record.verdicts[DYING].bucket == "agreed"


def test_processes_that_are_replaced_for_an_examination_are_counted(workers: Workers) -> None:
    workers.judged([REFUSED], DYING, Judging(canary=EVERY))
    assert workers.ended["examined"] >= 1

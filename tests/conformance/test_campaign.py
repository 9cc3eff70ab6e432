"""Campaigns: reproducible, and not to be stopped by an engine that dies, hangs or breaks."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING, Any

import pytest

from conformance.backends import BackendError
from conformance.campaign.options import Options
from conformance.campaign.records import CaseRecord, ExitReason, FindingRecord, Footer, Header, Interruption
from conformance.campaign.records.files import read
from conformance.campaign.run import CHUNK, Progress, run_campaign
from conformance.campaign.workers.chunk import chunk_of
from conformance.campaign.workers.pool import Workers
from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Op
from conformance.generate.scripts import DrawOptions, case_of
from conformance.laws.judging import Judging
from tests.conformance.drawn import USUAL
from tests.conformance.engines import EXACT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.campaign.records import Record
    from conformance.campaign.records.verdicts import VerdictRecord

CASES = 120


def uses_sin(case: Case) -> bool:
    return any(isinstance(step, Op) and step.op == "sin" for step in case.steps)


def records_of(out: Path, heard: Callable[[Progress], None] = lambda _: None, **options: Any) -> list[Record]:
    run_campaign(Options(out=out, **options), heard)
    return list(read(out / "run.ndjson"))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """Run a campaign with one worker process."""
    return records_of(tmp_path_factory.mktemp("alone"), backends=("reference",), cases=CASES, jobs=1)


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Record], list[Progress]]:
    """Run it once more, with as many worker processes as there are by default, and hear how far it is."""
    heard: list[Progress] = []
    return records_of(tmp_path_factory.mktemp("again"), heard.append, backends=("reference",), cases=CASES), heard


def footer_of(records: list[Record]) -> Footer:
    (footer,) = [r for r in records if isinstance(r, Footer)]
    return footer


def ids(records: list[Record]) -> list[tuple[int, str]]:
    return [(r.index, r.id) for r in records if isinstance(r, CaseRecord)]


def test_cases_are_recorded_in_order(alone: list[Record]) -> None:
    assert [(i, case.id) for i, case in enumerate(USUAL[:CASES])] == ids(alone)


def test_two_worker_processes_record_what_one_does(alone: list[Record], tmp_path: Path) -> None:
    assert ids(alone) == ids(records_of(tmp_path, backends=("reference",), cases=CASES, jobs=2))


def test_a_second_run_records_what_the_first_did(alone: list[Record], again: tuple[list[Record], list[Progress]]) -> None:
    records, _ = again
    assert ids(alone) == ids(records)


def test_a_record_begins_with_a_header_and_ends_with_a_footer(alone: list[Record]) -> None:
    assert (Header, Footer) == (type(alone[0]), type(alone[-1]))


def test_the_buckets_of_the_footer_sum_to_the_cases(alone: list[Record]) -> None:
    assert CASES == sum(footer_of(alone).ledger["reference"].values())


def test_the_footer_says_where_the_time_went(alone: list[Record]) -> None:
    assert {"reference", "generate", "judge", "all", "wall"} <= set(footer_of(alone).seconds)


def test_the_reference_conforms_to_itself(alone: list[Record]) -> None:
    assert ("conforms", 0) == (footer_of(alone).verdict, footer_of(alone).findings)


def test_what_is_broken_beside_the_cases_makes_a_verdict_red_and_is_recorded(tmp_path: Path) -> None:
    run_campaign(Options(("reference",), 20, out=tmp_path), broken=lambda *_: ["mul-vjp: stale"])
    footer = footer_of([*read(tmp_path / "run.ndjson")])
    assert ("diverges", ("mul-vjp: stale",)) == (footer.verdict, footer.broken)


def test_a_run_leaves_no_working_files(tmp_path: Path) -> None:
    records_of(tmp_path, backends=("reference",), cases=20)
    assert ["run.ndjson"] == [path.name for path in tmp_path.iterdir()]


def test_a_budget_of_nothing_compares_nothing_and_is_no_success(tmp_path: Path) -> None:
    footer = run_campaign(Options(("reference",), budget=0.0, out=tmp_path))
    assert (0, "no_result") == (footer.cases, footer.verdict)


def test_the_footer_says_why_no_more_cases_were_started(alone: list[Record], tmp_path: Path) -> None:
    spent = run_campaign(Options(("reference",), budget=0.0, out=tmp_path))
    assert (ExitReason.CASES, ExitReason.BUDGET) == (footer_of(alone).exit_reason, spent.exit_reason)


def test_a_run_that_is_interrupted_says_so_in_the_place_of_a_footer(tmp_path: Path) -> None:
    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_campaign(Options(("reference",), CASES, out=tmp_path), interrupt)
    *cases, last = list(read(tmp_path / "run.ndjson"))[1:]
    assert (Interruption("KeyboardInterrupt"), {CaseRecord}) == (last, {type(record) for record in cases})


def test_progress_hears_of_every_case(again: tuple[list[Record], list[Progress]]) -> None:
    _, heard = again
    assert (Progress(CASES, CASES, 0), True) == (heard[-1], {CHUNK, CASES} <= {progress.done for progress in heard})


def test_an_unknown_backend_is_refused_before_anything_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="'jax' is unknown"):
        run_campaign(Options(("jax",), out=tmp_path))
    assert not list(tmp_path.iterdir())


QUIET = list(islice((c for c in (case_of(2, i, DrawOptions()) for i in count()) if not uses_sin(c)), 4))
(LOUD,) = islice((c for c in (case_of(2, i, DrawOptions(ops=("sin",))) for i in count()) if uses_sin(c)), 1)
AMONG_OTHERS = (*QUIET[:2], LOUD, *QUIET[2:])
DYING = 240
FINE = {"agreed", "same_error", "not_offered"}


def run_on(engine: str, cases: tuple[Case, ...], folder: Path, timeout: float = 5.0) -> list[VerdictRecord]:
    """Run cases in a worker process and return the verdicts."""
    backends = (engine if ":" in engine else f"tests.wrong_engines:{engine}",)
    chunk = chunk_of(cases, backends, folder, Judging(timeout=timeout))
    with Workers(backends, 1) as workers:
        ((*records,),) = workers.run([chunk])
    assert [case.id for case in cases] == [r.id for r in records]
    return [verdict for r in records for verdict in r.verdicts.values()]


@pytest.mark.parametrize(("engine", "bucket", "timeout"), [("dies_on_sin", "crashed", 5.0), ("hangs_on_sin", "timed_out", 1.0)])
def test_a_case_that_takes_the_process_down_costs_only_itself(engine: str, bucket: str, timeout: float, tmp_path: Path) -> None:
    buckets = [v.bucket for v in run_on(engine, AMONG_OTHERS, tmp_path, timeout)]
    assert (bucket, True) == (buckets.pop(2), FINE.issuperset(buckets))


def test_several_cases_that_take_the_process_down_cost_only_themselves(tmp_path: Path) -> None:
    buckets = [v.bucket for v in run_on("dies_on_sin", (LOUD, QUIET[0], LOUD), tmp_path)]
    assert ["crashed", True, "crashed"] == [buckets[0], buckets[1] in FINE, buckets[2]]


@pytest.fixture(scope="module")
def dying(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """Run a campaign on an engine that dies on some cases."""
    out = tmp_path_factory.mktemp("dying")
    return records_of(out, backends=("tests.wrong_engines:dies_on_sin",), cases=DYING, jobs=2)


def test_a_campaign_goes_on_after_a_crash(dying: list[Record]) -> None:
    assert [case.id for case in USUAL[:DYING]] == [r.id for r in dying if isinstance(r, CaseRecord)]


def test_a_crash_is_recorded_with_its_case(dying: list[Record]) -> None:
    crashed = [r for r in dying if isinstance(r, CaseRecord) and any(v.bucket == "crashed" for v in r.verdicts.values())]
    assert [True] * sum(map(uses_sin, USUAL[:DYING])) == [r.case is not None for r in crashed]


def test_a_crash_is_a_finding(dying: list[Record]) -> None:
    assert ("diverges", ["crashed"]) == (footer_of(dying).verdict, [r.bucket for r in dying if isinstance(r, FindingRecord)])


def test_a_crash_beside_a_healthy_backend_costs_the_healthy_one_nothing(tmp_path: Path) -> None:
    backends = ("reference", "tests.wrong_engines:dies_on_sin")
    chunk = chunk_of((LOUD,), backends, tmp_path)
    with Workers(backends, 1) as workers:
        ((record,),) = workers.run([chunk])
    assert {"reference": True, "tests.wrong_engines:dies_on_sin": False} == {
        name: verdict.bucket in FINE for name, verdict in record.verdicts.items()
    }


def test_an_engine_that_breaks_after_a_refusal_is_poisoned(tmp_path: Path) -> None:
    (verdict,) = run_on("conformance.mutants.engines:breaks_after_a_refusal", (EXACT,), tmp_path)
    assert ("poison", "backward") == (verdict.mismatch.kind, verdict.mismatch.at)


TWICE = Case((Input("x", (2,), (0.5, 1.5)),), (Op("exp", ("x",), ("y",)), Backward(("y",), ("x",)), Backward(("y",), ("x",))))


def test_an_engine_that_dies_in_a_canary_after_a_refusal_says_so(tmp_path: Path) -> None:
    (verdict,) = run_on("dies_on_exp_after_a_refusal", (TWICE,), tmp_path)
    assert ("crashed", "canary", True) == (verdict.bucket, verdict.mismatch.where, "after what was refused" in verdict.mismatch.detail)


def test_an_op_that_is_wrong_where_nothing_was_refused_is_no_damage(tmp_path: Path) -> None:
    verdicts = run_on("conformance.mutants.engines:exp-x-sign", (EXACT, *QUIET), tmp_path)
    assert "poison" not in {v.mismatch.kind for v in verdicts if v.mismatch is not None}


def test_a_poisoned_process_judges_no_other_case(tmp_path: Path) -> None:
    squares = (EXACT, *(c for c in QUIET if c.id != EXACT.id))
    verdicts = run_on("conformance.mutants.engines:breaks_after_a_refusal", (*squares, EXACT), tmp_path)
    assert {"poison"} == {v.mismatch.kind for v in verdicts if v.mismatch is not None}


def test_a_pool_that_broke_is_opened_anew() -> None:
    with Workers(("reference",), 1) as workers:
        workers._pool.stop()
        assert workers.call(len, "ab") == 2

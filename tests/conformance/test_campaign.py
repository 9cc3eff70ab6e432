"""Campaigns: reproducible, and not to be stopped by an engine that dies, hangs or breaks."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING, Any

import pytest

from conformance.backends import BackendError
from conformance.campaign.pool import Workers
from conformance.campaign.run import Options, run_campaign
from conformance.campaign.worker import Chunk
from conformance.generate.scripts import Plan, case_of
from conformance.records import RecordError, Writer, read
from conformance.steps import Op
from tests.conformance.engines import EXACT

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.case import Case

CASES = 200


def uses_sin(case: Case) -> bool:
    return any(isinstance(step, Op) and step.op == "sin" for step in case.steps)


def records_of(out: Path, **options: Any) -> list[dict[str, Any]]:
    run_campaign(Options(out=out, **options))
    return list(read(out / "run.ndjson"))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Run a campaign with one worker process."""
    return records_of(tmp_path_factory.mktemp("alone"), backends=("reference",), cases=CASES, jobs=1)


def ids(records: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(r["index"], r["id"]) for r in records if r["kind"] == "case"]


def test_cases_are_recorded_in_order(alone: list[dict[str, Any]]) -> None:
    assert [(i, case_of(1, i, Plan()).id) for i in range(CASES)] == ids(alone)


def test_two_worker_processes_record_what_one_does(alone: list[dict[str, Any]], tmp_path: Path) -> None:
    assert ids(alone) == ids(records_of(tmp_path, backends=("reference",), cases=CASES, jobs=2))


def test_a_second_run_records_what_the_first_did(alone: list[dict[str, Any]], tmp_path: Path) -> None:
    assert ids(alone) == ids(records_of(tmp_path, backends=("reference",), cases=CASES))


def test_a_record_begins_with_a_header_and_ends_with_a_footer(alone: list[dict[str, Any]]) -> None:
    assert ("header", "footer") == (alone[0]["kind"], alone[-1]["kind"])


def test_the_buckets_of_the_footer_sum_to_the_cases(alone: list[dict[str, Any]]) -> None:
    assert CASES == sum(alone[-1]["ledger"]["reference"].values())


def test_the_footer_says_where_the_time_went(alone: list[dict[str, Any]]) -> None:
    assert {"reference", "generate", "judge", "all", "wall"} <= set(alone[-1]["seconds"])


def test_the_reference_conforms_to_itself(alone: list[dict[str, Any]]) -> None:
    assert ("conforms", 0) == (alone[-1]["verdict"], alone[-1]["findings"])


def test_a_run_leaves_no_working_files(tmp_path: Path) -> None:
    records_of(tmp_path, backends=("reference",), cases=20)
    assert ["run.ndjson"] == [path.name for path in tmp_path.iterdir()]


def test_a_budget_of_nothing_compares_nothing_and_is_no_success(tmp_path: Path) -> None:
    footer = run_campaign(Options(("reference",), budget=0.0, out=tmp_path))
    assert (0, "suite_error") == (footer["cases"], footer["verdict"])


def test_progress_hears_of_every_case(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    run_campaign(Options(("reference",), CASES, out=tmp_path), lambda done, failed: heard.append((done, failed)))
    assert [(100, 0), (200, 0)] == heard


def test_an_unknown_backend_is_refused_before_anything_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="'jax' is unknown"):
        run_campaign(Options(("jax",), out=tmp_path))
    assert not list(tmp_path.iterdir())


QUIET = list(islice((c for c in (case_of(2, i, Plan()) for i in count()) if not uses_sin(c)), 4))
(LOUD,) = islice((c for c in (case_of(2, i, Plan(ops=("sin",))) for i in count()) if uses_sin(c)), 1)
AMONG_OTHERS = (*QUIET[:2], LOUD, *QUIET[2:])
DYING = 400
FINE = {"agreed", "same_error", "not_offered"}


def run_on(engine: str, cases: tuple[Case, ...], folder: Path, timeout: float = 5.0) -> list[dict[str, Any]]:
    """Run cases in a worker process and return the verdicts."""
    backends = (engine if ":" in engine else f"tests.wrong_engines:{engine}",)
    chunk = Chunk(0, 0, len(cases), Plan(), backends, str(folder), timeout, cases, name="chunk")
    with Workers(backends, 1) as workers:
        ((*records,),) = workers.run([chunk])
    assert [case.id for case in cases] == [r["id"] for r in records]
    return [verdict for r in records for verdict in r["verdicts"].values()]


@pytest.mark.parametrize(("engine", "bucket", "timeout"), [("dies_on_sin", "crashed", 5.0), ("hangs_on_sin", "timed_out", 1.0)])
def test_a_case_that_takes_the_process_down_costs_only_itself(engine: str, bucket: str, timeout: float, tmp_path: Path) -> None:
    buckets = [v["bucket"] for v in run_on(engine, AMONG_OTHERS, tmp_path, timeout)]
    assert (bucket, True) == (buckets.pop(2), FINE.issuperset(buckets))


def test_several_cases_that_take_the_process_down_cost_only_themselves(tmp_path: Path) -> None:
    buckets = [v["bucket"] for v in run_on("dies_on_sin", (LOUD, QUIET[0], LOUD), tmp_path)]
    assert ["crashed", True, "crashed"] == [buckets[0], buckets[1] in FINE, buckets[2]]


@pytest.fixture(scope="module")
def dying(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Run a campaign on an engine that dies on some cases."""
    out = tmp_path_factory.mktemp("dying")
    return records_of(out, backends=("tests.wrong_engines:dies_on_sin",), cases=DYING, jobs=2)


def test_a_campaign_goes_on_after_a_crash(dying: list[dict[str, Any]]) -> None:
    assert [case_of(1, i, Plan()).id for i in range(DYING)] == [r["id"] for r in dying if r["kind"] == "case"]


def test_a_crash_is_recorded_with_its_case(dying: list[dict[str, Any]]) -> None:
    crashed = [r for r in dying if r["kind"] == "case" and any(v["bucket"] == "crashed" for v in r["verdicts"].values())]
    assert [True] * sum(uses_sin(case_of(1, i, Plan())) for i in range(DYING)) == ["case" in r for r in crashed]


def test_a_crash_is_a_finding(dying: list[dict[str, Any]]) -> None:
    assert ("diverges", ["crashed"]) == (dying[-1]["verdict"], [r["bucket"] for r in dying if r["kind"] == "finding"])


def test_a_crash_beside_a_healthy_backend_costs_the_healthy_one_nothing(tmp_path: Path) -> None:
    backends = ("reference", "tests.wrong_engines:dies_on_sin")
    chunk = Chunk(0, 0, 1, Plan(), backends, str(tmp_path), 5.0, (LOUD,), name="chunk")
    with Workers(backends, 1) as workers:
        ((record,),) = workers.run([chunk])
    assert {"reference": True, "tests.wrong_engines:dies_on_sin": False} == {
        name: verdict["bucket"] in FINE for name, verdict in record["verdicts"].items()
    }


def test_an_engine_that_breaks_after_a_refusal_is_poisoned(tmp_path: Path) -> None:
    (verdict,) = run_on("conformance.mutants.engines:breaks_after_a_refusal", (EXACT,), tmp_path)
    assert ("poison", "backward") == (verdict["mismatch"]["kind"], verdict["mismatch"]["at"])


def test_a_poisoned_process_judges_no_other_case(tmp_path: Path) -> None:
    squares = (EXACT, *(c for c in QUIET if c.id != EXACT.id))
    verdicts = run_on("conformance.mutants.engines:breaks_after_a_refusal", (*squares, EXACT), tmp_path)
    assert {"poison"} == {v["mismatch"]["kind"] for v in verdicts if "mismatch" in v}


def test_a_pool_that_broke_is_opened_anew() -> None:
    with Workers(("reference",), 1) as workers:
        workers._pool.stop()
        assert workers.call(len, "ab") == 2


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run.ndjson")
    for number in range(3):
        writer.write({"kind": "case", "index": number})
    writer.close()
    assert [0, 1, 2] == [r["index"] for r in read(tmp_path / "run.ndjson")]


def test_a_line_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    path.write_text('{"kind": "header"}\n{"kind": "ca')
    with pytest.raises(RecordError, match="line 2"):
        list(read(path))

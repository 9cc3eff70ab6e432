"""What can be resumed and what cannot, files of records that somebody died writing, and time that is up."""

from __future__ import annotations

import math
import resource
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
from click import UsageError

from conformance.campaign.findings.write_up import Writing, findings
from conformance.campaign.options import Options
from conformance.campaign.records import CaseRecord, ExitReason, FindingRecord, Header, Interruption, Record, RecordError
from conformance.campaign.records.files import Writer, extent, read, read_chunk, take_in
from conformance.campaign.records.gate import PointsRecord
from conformance.campaign.records.tally import Tally
from conformance.campaign.resume import go_on, sole, unended
from conformance.campaign.run import CHUNK, LAST_CHUNK, missing, run_campaign
from conformance.campaign.workers import dispatch, worker
from conformance.campaign.workers.backend_cache import backend
from conformance.campaign.workers.chunk import chunk_of
from conformance.campaign.workers.nursery import forked
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.cli.resume import resumed
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging
from tests.conformance.runs import finish, footer_of
from tests.conformance.test_records import FAILED
from tests.report.samples import FOOTER, HEADER, finding

if TYPE_CHECKING:
    from pathlib import Path

INTERRUPTED = Interruption("SIGTERM")
SEEN = msgspec.structs.replace(FAILED, index=7)


def written(folder: Path, *records: Record, torn: str = "") -> Path:
    """Write a record as a run leaves it."""
    path = folder / "run.ndjson"
    with Writer(path) as writer:
        for record in records:
            writer.write(record)
    with path.open("a") as file:
        file.write(torn)
    return path


def left_beside(path: Path, *records: CaseRecord, torn: str = "") -> Path:
    """Write what a worker leaves that is killed with its run."""
    folder = path.parent / ".work-1"
    folder.mkdir()
    return written(folder, *records, torn=torn)


TORN = '{"kind":"case","ind'


def test_a_line_without_its_end_is_no_record(tmp_path: Path) -> None:
    assert [HEADER, FAILED] == list(read(written(tmp_path, HEADER, FAILED, torn=TORN)))


def test_a_broken_line_that_has_its_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="line 2: "):
        list(read(written(tmp_path, HEADER, torn=TORN + "\n")))


def test_what_workers_left_is_read_with_the_record_and_nothing_twice(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, FAILED)
    left_beside(path, SEEN, FAILED, torn=TORN)
    assert [HEADER, FAILED, SEEN] == list(read(path))


def test_what_workers_left_is_no_part_of_a_run_that_ended(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, FAILED, FOOTER)
    left_beside(path, SEEN)
    assert [HEADER, FAILED, FOOTER] == list(read(path))


def test_what_workers_left_goes_into_the_record_in_the_place_of_a_torn_line(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, FAILED, torn=TORN)
    left_beside(path, SEEN, torn=TORN)
    assert (take_in(path), ["run.ndjson"]) == (({FAILED.index, SEEN.index}, path.stat().st_size), [p.name for p in tmp_path.iterdir()])


def test_a_writer_goes_on_behind_what_it_keeps(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, torn=TORN)
    with Writer(path, extent(path).size) as writer:
        writer.write(FOOTER)
    assert [HEADER, FOOTER] == list(read(path))


def fill(path: Path) -> None:
    """Write records until there is no more room."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
    with Writer(path) as writer:
        while True:
            writer.write(FAILED)


def test_a_record_for_which_there_is_no_room_leaves_no_half_of_it(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    with pytest.raises(OSError, match=r"File too large: '.*run.ndjson'"):
        forked(fill, [path])
    assert (True, True) == (path.stat().st_size > 0, path.read_bytes().endswith(b"\n"))


def test_going_on_leaves_the_header_and_the_cases_alone(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, FAILED, finding(), INTERRUPTED)
    assert (HEADER, [HEADER, FAILED]) == (go_on(path, msgspec.structs.replace(HEADER, jobs=9, started="now")), list(read(path)))


REFUSED = {
    "absent": ([], "No such file or directory"),
    "another schema": ([msgspec.structs.replace(HEADER, schema=1)], "line 1: written in schema 1"),
    "ended": ([HEADER, FOOTER], "the run ended \\(diverges\\); there is nothing to resume"),
    "a gate": ([HEADER, PointsRecord(())], "a gate is not resumed"),
    "no header": ([FAILED], "line 1: is no header, with which the record of a run begins"),
}


@pytest.mark.parametrize(("records", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_run_that_can_be_gone_on_with_is_refused(records: list[Record], message: str, tmp_path: Path) -> None:
    path = written(tmp_path, *records) if records else tmp_path / "run.ndjson"
    with pytest.raises(RecordError, match=message):
        unended(path)


def test_a_run_that_ended_is_refused_in_one_line(tmp_path: Path) -> None:
    written(tmp_path, HEADER, FOOTER)
    line = f"conformance: {tmp_path}/run.ndjson: the run ended (diverges); there is nothing to resume"
    assert (2, [line]) == finish("run", "--resume", tmp_path)


@pytest.mark.parametrize(
    ("now", "message"),
    [
        ({"environment": {**HEADER.environment, "numpy": "3"}}, "was begun with numpy 2.4.6, and here it is 3"),
        ({"backends": HEADER.backends[1:]}, r"was begun with backend torch 2.13.0\+cpu \(torch\), and here it is None"),
        ({"odds": {"deep": 0.5}}, "was begun with odds deep None, and here it is 0.5"),
        ({"seed": 2}, "was begun with seed 1, and here it is 2"),
    ],
)
def test_a_run_is_not_gone_on_with_by_something_else(now: dict[str, object], message: str, tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, FAILED, INTERRUPTED)
    with pytest.raises(RecordError, match=message):
        go_on(path, msgspec.structs.replace(HEADER, **now))
    assert [HEADER, FAILED, INTERRUPTED] == list(read(path))


def test_an_option_that_contradicts_the_run_is_refused(tmp_path: Path) -> None:
    written(tmp_path, HEADER)
    with pytest.raises(UsageError, match=r"ops mul,exp contradicts the run in .*, which has all"):
        resumed(tmp_path, {"ops": ("mul", "exp")})


def test_jobs_and_budget_may_be_given_anew(tmp_path: Path) -> None:
    written(tmp_path, HEADER)
    options = resumed(tmp_path, {"jobs": 7, "budget": 60.0, "seed": HEADER.seed})
    assert (7, 60.0, HEADER.seed, HEADER.cases) == (options["jobs"], options["budget"], options["seed"], options["cases"])


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    with sole(tmp_path):
        assert (2, [f"conformance: {tmp_path}: another run is writing there"]) == finish(
            *("run", "--backends", "reference", "--cases", 1, "--out", tmp_path)
        )


def test_a_case_that_has_a_record_is_not_run_again(tmp_path: Path) -> None:
    options = Options(("reference",), 20, out=tmp_path)
    run_campaign(options)
    header, *cases = (r for r in read(options.record) if isinstance(r, Header | CaseRecord))
    marked = [msgspec.structs.replace(case, lane="seen before") for case in cases[5:15] if isinstance(case, CaseRecord)]
    written(tmp_path, header, *marked, INTERRUPTED)
    assert (20, 10) == (run_campaign(options, resume=True).cases, footer_of(tmp_path).lanes["seen before"])


def test_the_cases_that_are_missing_come_in_ranges_of_a_chunk() -> None:
    assert [(0, 3), (5, 105), (105, 120), (121, 130)] == list(missing(130, {3, 4, 120}))


def test_the_last_ranges_are_small_where_workers_would_wait_for_each_other() -> None:
    sizes = [stop - start for start, stop in missing(1000, (), jobs=2)]
    assert (CHUNK, sorted(sizes, reverse=True), LAST_CHUNK, 1000) == (sizes[0], sizes, sizes[-2], sum(sizes))


def test_a_tally_does_not_depend_on_the_order_of_the_cases() -> None:
    opened = [backend("reference"), backend("conformance.mutants.engines:dropped_accumulation")]
    records = [run_case(case_of(1, i, DrawOptions()), opened, index=i) for i in range(60)]
    shuffled = sorted(records, key=lambda record: record.id)
    tallies = [Tally([engine.info.name for engine in opened]) for _ in range(2)]
    for tally, some in zip(tallies, (records, shuffled), strict=True):
        for record in some:
            tally.add(msgspec.structs.replace(record, seconds={}))
    one, other = (msgspec.json.encode(tally.footer(ExitReason.CASES, 0.0, 1, {}, {})) for tally in tallies)
    assert (one, tallies[0].ranked()) == (other, tallies[1].ranked())


@pytest.mark.parametrize("engine", ["raises_on_sin", "undrawable"])
def test_a_fault_of_the_suite_in_a_worker_costs_its_case_alone(engine: str, tmp_path: Path) -> None:
    name = f"tests.wrong_engines:{engine}"
    footer = run_campaign(Options((name,), 200, jobs=2, out=tmp_path))
    (found,) = (record for record in read(tmp_path / "run.ndjson") if isinstance(record, FindingRecord))
    assert (200, "suite_error", found.count) == (footer.cases, footer.verdict, footer.ledger[name][Bucket.HARNESS_ERROR])


def test_a_case_that_cannot_be_drawn_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fault(*_: object) -> None:
        raise RuntimeError("a fault of the generator")

    monkeypatch.setattr("conformance.campaign.workers.chunk.case_of", fault)
    chunk = replace(chunk_of([], ("reference",), tmp_path), stop=2, cases=None)
    forked(worker.run_chunk, [chunk])
    found = [record.verdicts["reference"].mismatch for record in read_chunk(chunk.records)]
    assert [("drawn", "a fault of the generator")] * 2 == [(mismatch.expected, mismatch.detail) for mismatch in found if mismatch]


def test_a_chunk_whose_time_is_up_starts_no_case(tmp_path: Path) -> None:
    chunk = chunk_of([case_of(1, i, DrawOptions()) for i in range(3)], ("reference",), tmp_path)
    with Workers(("reference",), 1) as workers:
        assert [[], []] == list(workers.run([replace(chunk, name=f"{n}", until=time.monotonic()) for n in range(2)]))


def test_of_the_cases_that_were_set_aside_one_is_run_even_if_the_time_is_up(tmp_path: Path) -> None:
    name = "tests.wrong_engines:hangs_on_sin"
    options = DrawOptions(ops=("sin",), complexes=0.0)
    chunk = chunk_of([case_of(2, i, options) for i in range(3)], (name,), tmp_path, Judging(timeout=0.3))
    with Workers((name,), 1) as workers:
        _, *aside = workers.run([replace(chunk, patience=0.2)], until=time.monotonic())
    assert [["timed_out"]] == [[record.verdicts[name].bucket for record in records] for records in aside]


def test_a_finding_gets_an_equal_share_of_the_time_that_is_left() -> None:
    with Workers(("reference",), 1) as workers:
        endless = Writing(workers, workers, ("reference",), Judging(), None)  # type: ignore[arg-type]
        ended = replace(endless, until=time.monotonic())
        ample = replace(endless, until=time.monotonic() + 1e9)
    assert (math.inf, 0.0, True) == (endless.share(3), ended.share(3), 2e8 < ample.share(4) <= 2.5e8)


def test_every_finding_is_written_although_the_time_is_up(tmp_path: Path) -> None:
    name = "conformance.mutants.engines:dropped_accumulation"
    tally = Tally([name])
    for index in range(60):
        tally.add(run_case(case_of(1, index, DrawOptions()), [backend(name)], index=index))
    begun: list[int] = []
    with Workers((name,), 1) as workers:
        writing = Writing(workers, workers, (name,), Judging(), tmp_path, time.monotonic())
        found = list(findings(tally, writing, begun.append))
    numbers = list(range(1, len(tally.failures) + 1))
    assert (numbers, [fingerprint.id for fingerprint, _ in tally.ranked()]) == (begun, [record.id for record in found])
    assert found


def test_progress_is_told_within_a_chunk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "TICK", 0.05)
    heard: list[int] = []
    name = "tests.wrong_engines:hangs_on_sin"
    cases = [case_of(2, 0, DrawOptions(ops=(op,), complexes=0.0)) for op in ("mul", "add", "sin")]
    with Workers((name,), 1) as workers:
        list(workers.run([chunk_of(cases, (name,), tmp_path, Judging(timeout=0.5))], meanwhile=heard.append))
    assert 2 in heard

"""Records: what is written is read back as it was, and what is no record of this schema is refused with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from conformance.campaign.records import SCHEMA, CaseRecord, Interruption, NullRecord, Record, RecordError
from conformance.campaign.records.clauses import ClauseCase, ClauseCell, ClauseRow
from conformance.campaign.records.files import Writer, hits, last_index, read, read_chunk
from conformance.campaign.records.gate import ClausesRecord, MutantsRecord, PointsRecord, ScoreRecord, SurvivorRecord, SweepRecord
from conformance.campaign.records.verdicts import VerdictRecord
from conformance.campaign.workers.trial import run_case
from conformance.case.place import END
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.dispute import Blame, Opinion, Vote
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging, Sampling
from conformance.laws.relation import Status
from conformance.mutants.registry import mutant
from tests.conformance.engines import EXACT
from tests.report.samples import FOOTER, HEADER, MISMATCH, differing, finding
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from pathlib import Path

BLAME = Blame("accused", (Vote("v", Opinion.WRONG, Opinion.RIGHT, "r"),), "n")
VERDICT = VerdictRecord(Bucket.DIVERGED, {"calls": 1}, True, {"grad": None, "op:mul": 0.5}, MISMATCH, "an-entry", ("an-entry",))
NULL = NullRecord("layout", "float32", 7, alarm=True, near_kink=False, detail="off")
FAILED = CaseRecord(
    3, EXACT.id, "exact", 2, True, {"torch": VERDICT}, {"torch": 0.5}, False, (NULL,), {"torch": {"hessian": Status.HELD}}, EXACT, 1
)
ALL: dict[str, Record] = {
    "header": HEADER,
    "case": FAILED,
    "finding": finding(blame=BLAME),
    "clauses": ClausesRecord((ClauseRow("PB-01", "p", "d", {"torch": ClauseCell("ok", "ok", (ClauseCase("c", "ok", ""),))}),), ("f",)),
    "points": PointsRecord((SweepRecord("torch", 2, {"agreed": 7}, {}, ("relu",)),)),
    "mutants": MutantsRecord(
        400, 1, 9.0, 0.5, (ScoreRecord("rule", 2, 1, 0, 41.5, 42),), (SurvivorRecord("sin", "rule", "w", ""),), "torch"
    ),
    "footer": FOOTER,
    "interrupted": Interruption("KeyboardInterrupt"),
}


def written(path: Path, *records: Record) -> Path:
    with Writer(path / "run.ndjson") as writer:
        for record in records:
            writer.write(record)
    return path / "run.ndjson"


def test_there_is_a_sample_of_every_kind_of_record() -> None:
    assert set(get_args(Record)) == {type(record) for record in ALL.values()}


@pytest.mark.parametrize("kind", ALL)
def test_a_record_is_read_as_it_was_written(kind: str, tmp_path: Path) -> None:
    assert [HEADER, ALL[kind]] == list(read(written(tmp_path, HEADER, ALL[kind])))


@pytest.mark.parametrize("kind", ALL)
def test_a_record_says_its_kind_first(kind: str) -> None:
    assert next(iter(msgspec.json.decode(msgspec.json.encode(ALL[kind])).items())) == ("kind", kind)


@pytest.mark.parametrize("index", range(20))
@pytest.mark.parametrize("name", ["correct", "dropped_accumulation"])
def test_what_a_worker_records_is_read_as_it_was_written(name: str, index: int, tmp_path: Path) -> None:
    engine = correct() if name == "correct" else mutant(name).open()
    record = run_case(case_of(1, index, DrawOptions()), [engine], Judging(Sampling.EVERY, nulls=Sampling.EVERY), index=index)
    assert [HEADER, record] == list(read(written(tmp_path, HEADER, record)))


def test_what_did_not_happen_is_not_written() -> None:
    plain = replace(FAILED, verdicts={"torch": VerdictRecord(Bucket.AGREED, {})}, nulls=(), laws={}, case=None, deaths=0)
    line = msgspec.to_builtins(plain)
    assert {"bucket", "counts"} == set(line["verdicts"]["torch"])
    assert {"kind", "index", "id", "lane", "order", "rich", "verdicts", "seconds", "poisoned", "nulls"} == set(line)


BROKEN: dict[str, tuple[Any, str]] = {
    "another schema": ({**msgspec.to_builtins(HEADER), "schema": 1}, f"line 1: written in schema 1 .* reads schema {SCHEMA}"),
    "an unknown kind": ({"kind": "verdict"}, "line 1: Invalid value 'verdict' - at `\\$.kind`"),
    "no kind": ({"id": "x"}, "line 1: Object missing required field `kind`"),
    "a field that is missing": ({"kind": "interrupted"}, "line 1: Object missing required field `reason`"),
    "a number in the place of a word": ({"kind": "interrupted", "reason": 7}, "line 1: Expected `str`, got `int` - at `\\$.reason`"),
    "an unknown bucket": (
        {**msgspec.to_builtins(FAILED), "verdicts": {"torch": {"bucket": "fine", "counts": {}}}},
        "line 1: Invalid enum value 'fine' - at `\\$.verdicts\\[...\\].bucket`",
    ),
    "an unknown verdict of the run": (
        {**msgspec.to_builtins(FOOTER), "verdict": "fine"},
        "Invalid enum value 'fine' - at `\\$.verdict`",
    ),
    "a case of another schema": (
        {**msgspec.to_builtins(finding()), "case": {"schema": 9, "program": "later"}},
        "line 1: Object .* - at `\\$.case`",
    ),
    "no object": ([], "line 1: Expected `object`, got `array`"),
}


@pytest.mark.parametrize(("line", "said"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_record_is_refused_with_file_line_and_reason(line: Any, said: str, tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    path.write_bytes(msgspec.json.encode(line) + b"\n")
    with pytest.raises(RecordError, match=f"run.ndjson: .*{said}") as refused:
        list(read(path))
    assert len(str(refused.value).splitlines()) == 1


def test_a_record_without_its_header_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="line 1: is no header, with which the record of a run begins"):
        list(read(written(tmp_path, FAILED, FOOTER)))


def test_an_empty_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="is empty; the record of a run begins with its header"):
        list(read(written(tmp_path)))


def test_a_line_cut_short_before_others_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER)
    path.write_text(path.read_text() + '{"kind": "ca\n')
    with pytest.raises(RecordError, match="line 2"):
        list(read(path))


def test_a_line_that_a_worker_did_not_finish_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, FAILED, FAILED)
    path.write_bytes(path.read_bytes()[:-2])
    assert [FAILED] == read_chunk(path)
    assert last_index(path) == FAILED.index


def test_the_last_case_is_that_of_the_last_line(tmp_path: Path) -> None:
    assert last_index(written(tmp_path, FAILED, replace(FAILED, index=FAILED.index + 1))) == FAILED.index + 1


def test_a_worker_that_recorded_nothing_left_no_records(tmp_path: Path) -> None:
    assert [] == read_chunk(tmp_path / "absent.ndjson")
    assert last_index(tmp_path / "absent.ndjson") is None


def test_the_hits_of_a_run_are_summed_over_its_backends(tmp_path: Path) -> None:
    footer = replace(FOOTER, deviations={"torch": {"a": 2, "b": 1}, "paddle": {"a": 3}})
    assert {"a": 5, "b": 1} == hits(written(tmp_path, HEADER, footer))


def test_a_run_without_footer_has_no_hits(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="has no footer"):
        hits(written(tmp_path, HEADER))


def test_a_difference_at_no_step_is_at_the_end() -> None:
    assert [END, 0] == [differing(step=step).mismatch.place for step in (-1, 0)]

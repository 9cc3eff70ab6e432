"""The baseline: what somebody accepted for the time being is not red, and everything else is."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import msgspec
import pytest

from conformance.campaign.baseline import acceptance, accepting, drawn_by, read_baseline, too_often, write_baseline
from conformance.campaign.findings.suspects import in_some, suspects, usual_shares
from conformance.campaign.records import Again, RecordError
from conformance.campaign.records.accepted import Accepted, AcceptedRecord
from conformance.campaign.records.fingerprint import Fingerprint
from conformance.campaign.records.tally import Failure
from conformance.case.case import Case, Input
from conformance.case.steps import Op
from conformance.judge.dispute import Blame
from conformance.judge.verdict import Bucket
from tests.conformance.door import conformance
from tests.conformance.engines import ROOT
from tests.report.samples import FOOTER, HEADER, finding

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.door import Done

ENGINE = "tests.wrong_engines:five_wrong_rules"
DAY = date(2026, 11, 23)
TANH = Fingerprint(ENGINE, Bucket.DIVERGED, "grad", "value", "result", "right", "wrong", op="tanh")
FLAG = Fingerprint(ENGINE, Bucket.DIVERGED, "grad", "flag", "result", "True", "False")
CASE = Case((Input("x", (2,), (0.5, 1.5)),), (Op("tanh", ("x",), ("y",)),))


def accepted(fingerprint: Fingerprint = TANH, **changes: object) -> Accepted:
    """Return an accepted finding."""
    one = Accepted(fingerprint.id, fingerprint, "1.0", "wrong value", (), "looked into", DAY, 20, 6000, drawn_by(HEADER), (CASE,))
    return msgspec.structs.replace(one, **changes)


def of_two_rules(out: Path, *more: object) -> Done:
    """Run a campaign over two of the wrong rules."""
    return conformance("run", "--backends", ENGINE, "--ops", "tanh,sin,mul,sum", "--cases", 60, "--jobs", 1, "--out", out, *more)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a baseline that has all findings of a run."""
    out = tmp_path_factory.mktemp("first")
    of_two_rules(out)
    baseline = out / "baseline.json"
    conformance("accept", "--baseline", baseline, "--record", out / "run.ndjson", "--reason", "looked into")
    return baseline


@pytest.mark.parametrize(
    ("backend", "named"),
    [
        ("torch", "torch-"),
        ("tests.wrong_engines:correct", "correct-"),
        ("my_package.adapter:open_backend", "adapter-"),
        ("examples.engines.hips", "hips-"),
    ],
)
def test_a_finding_is_named_after_what_tells_its_backend_from_others(backend: str, named: str) -> None:
    assert TANH._replace(backend=backend).id.startswith(named)


def without(baseline: Path, op: str, path: Path) -> Path:
    """Write the baseline without what begins at an op."""
    write_baseline(path, [one for one in read_baseline(baseline) if one.fingerprint.op != op])
    return path


@pytest.fixture(scope="module")
def accepting_all(everything: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path]:
    """Run the same campaign with that baseline; return what it printed, and where it wrote."""
    out = tmp_path_factory.mktemp("second")
    return of_two_rules(out, "--baseline", everything), out


def test_a_run_that_finds_what_is_accepted_conforms(everything: Path, accepting_all: tuple[Done, Path]) -> None:
    done, _ = accepting_all
    assert (0, len(read_baseline(everything))) == (done.returncode, done.stdout.count("accepted (looked into)"))


def test_beside_what_is_accepted_another_wrong_rule_is_red_and_it_alone(everything: Path, tmp_path: Path) -> None:
    done = of_two_rules(tmp_path, "--baseline", without(everything, "sin", tmp_path / "fewer.json"))
    fewer = len(read_baseline(tmp_path / "fewer.json"))
    assert (1, fewer, 1) == (done.returncode, done.stdout.count("accepted (looked into)"), done.stdout.count("op:sin"))


def test_the_page_shows_what_is_accepted_apart(accepting_all: tuple[Done, Path]) -> None:
    _, out = accepting_all
    assert "Accepted for the time being" in (out / "report.html").read_text()


def test_what_the_case_of_an_accepted_finding_no_longer_shows_is_stale(everything: Path, tmp_path: Path) -> None:
    (one, *_) = read_baseline(everything)
    harmless = msgspec.structs.replace(one, cases=(CASE,))
    write_baseline(tmp_path / "stale.json", [harmless])
    done = of_two_rules(tmp_path, "--ops", "mul,sum", "--cases", 5, "--baseline", tmp_path / "stale.json")
    assert (1, True) == (done.returncode, f"{one.id}: no longer shows" in done.stdout)


def test_what_another_release_no_longer_shows_is_no_fault(everything: Path, tmp_path: Path) -> None:
    (one, *_) = read_baseline(everything)
    write_baseline(tmp_path / "older.json", [msgspec.structs.replace(one, cases=(CASE,), version="0.9")])
    done = of_two_rules(tmp_path, "--ops", "mul,sum", "--cases", 5, "--baseline", tmp_path / "older.json")
    assert (0, True) == (done.returncode, "baseline 0/1 still show" in done.stdout)


def test_what_was_accepted_until_yesterday_is_red(everything: Path, tmp_path: Path) -> None:
    (one, *_) = read_baseline(everything)
    write_baseline(tmp_path / "old.json", [msgspec.structs.replace(one, until=date(2020, 2, 29))])
    done = of_two_rules(tmp_path, "--ops", "mul,sum", "--cases", 5, "--baseline", tmp_path / "old.json")
    assert (1, True) == (done.returncode, f"{one.id}: was accepted until 2020-02-29" in done.stdout)


@pytest.mark.parametrize(
    ("fingerprint", "same"),
    [
        (TANH, True),
        (TANH._replace(at="backward", where="grad"), True),
        (TANH._replace(op="sin"), False),
        (TANH._replace(op=""), False),
        (TANH._replace(backend="torch"), False),
    ],
    ids=["itself", "elsewhere", "another op", "nobody knows where", "another engine"],
)
def test_what_begins_at_the_same_op_is_what_was_accepted(fingerprint: Fingerprint, same: bool) -> None:
    assert same is (accepting([accepted()], fingerprint, DAY) is not None)


@pytest.mark.parametrize(("changed", "same"), [({}, True), ({"expected": "False"}, False), ({"at": "backward"}, False)])
def test_what_begins_nowhere_has_the_same_fingerprint(changed: dict[str, str], same: bool) -> None:
    assert same is (accepting([accepted(FLAG)], FLAG._replace(**changed), DAY) is not None)


@pytest.mark.parametrize(
    ("until", "day", "holds"), [(DAY, DAY, True), (DAY, date(2026, 11, 24), False), (None, date(2099, 1, 1), True)]
)
def test_what_is_accepted_until_a_day_is_accepted_on_that_day(until: date | None, day: date, holds: bool) -> None:
    assert holds is (accepting([accepted(until=until)], TANH, day) is not None)


@pytest.mark.parametrize(("count", "red"), [(0, False), (20, False), (60, False), (600, True)])
def test_what_shows_far_more_often_than_when_it_was_accepted_is_red(count: int, red: bool) -> None:
    met = AcceptedRecord(TANH.id, "torch", "wrong value", "looked into", count)
    footer = msgspec.structs.replace(FOOTER, accepted=(met,), ledger={"torch": {Bucket.AGREED: 6000 - count, Bucket.DIVERGED: count}})
    assert red is bool([*too_often([accepted()], HEADER, footer)])


def test_how_often_it_shows_says_nothing_over_other_cases() -> None:
    met = AcceptedRecord(TANH.id, "torch", "wrong value", "looked into", 6000)
    footer = msgspec.structs.replace(FOOTER, accepted=(met,), ledger={"torch": {Bucket.DIVERGED: 6000}})
    assert [] == [*too_often([accepted()], msgspec.structs.replace(HEADER, ops=("tanh",)), footer)]


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"blame": Blame("reference", (), "")}, "fault of the suite"), ({"again": Again.NEVER}, "did not fail again")],
    ids=["the reference is wrong", "not again"],
)
def test_what_is_no_difference_of_the_engine_cannot_be_accepted(changes: dict[str, object], why: str) -> None:
    with pytest.raises(RecordError, match=why):
        acceptance(finding(**changes), (HEADER, FOOTER), ("wrong value",), "looked into", None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Input data was truncated"),
        ('{"accepted": [{"id": "torch-1"}]}', "missing required field"),
        (lambda one: {"accepted": [{**one, "id": "torch-1"}]}, "its fingerprint is that of"),
        (lambda one: {"accepted": [one, one]}, "is there twice"),
        (lambda one: {"accepted": [{**one, "cases": []}]}, "has no case"),
        (lambda one: {"accepted": [], "more": one}, "unknown field"),
    ],
)
def test_a_broken_baseline_is_one_line_and_a_code(text: object, why: str, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_bytes(text.encode() if isinstance(text, str) else msgspec.json.encode(text(msgspec.to_builtins(accepted()))))  # type: ignore[operator]
    done = of_two_rules(tmp_path, "--baseline", path)
    assert (2, 1, True) == (done.returncode, len(done.stderr.splitlines()), why in done.stderr)


@pytest.mark.parametrize(("file", "out"), [("broken.json", "results"), ("none.json", "broken.json/results")])
def test_a_gate_refuses_its_files_before_it_checks_anything(file: str, out: str, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    write_baseline(tmp_path / "none.json", ())
    options = "--backends", "reference", "--no-grid", "--mutant-cases", "0", "--cases", "1", "--jobs", "1"
    done = conformance("gate", *options, "--baseline", tmp_path / file, "--out", tmp_path / out)
    assert (2, 1) == (done.returncode, len(done.stderr.splitlines())), done.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("torch-12345678", "--reason", "why"), "'torch-12345678' is not in"),
        ((), "--reason is missing"),
        (("--drop",), "no finding of"),
        (("--drop", "torch-12345678"), "allowed are five_wrong_rules-"),
        (("--reason", "why", "--until", "tomorrow"), "does not match the format"),
    ],
)
def test_what_cannot_be_accepted_or_dropped_is_said_in_one_line(arguments: tuple[str, ...], why: str, everything: Path) -> None:
    done = conformance("accept", "--baseline", everything, "--record", everything.with_name("run.ndjson"), *arguments)
    assert (2, 1, True) == (done.returncode, len(done.stderr.splitlines()), why in done.stderr)


def test_what_is_dropped_is_no_longer_there(everything: Path, tmp_path: Path) -> None:
    path = without(everything, "", tmp_path / "baseline.json")
    one, *others = read_baseline(path)
    conformance("accept", "--drop", one.id, "--baseline", path)
    assert tuple(others) == read_baseline(path)


def test_a_baseline_that_cannot_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, [accepted()])
    (tmp_path / "baseline.json.part").mkdir()  # as a full disk would, it keeps the new text from being written
    with pytest.raises(OSError, match="directory"):
        write_baseline(path, [])
    assert (accepted(),) == read_baseline(path)


def failure(count: int, *ops: str) -> Failure:
    """Return a failure of so many cases that have these ops in common."""
    return Failure(CASE, 7, None, count, ops=frozenset(ops))


def test_suspects_are_the_ops_that_would_hardly_be_in_all_cases_by_chance() -> None:
    assert {"prod": 0.1, "sum": 0.3} == suspects(failure(6, "sum", "prod", "mul"), {"mul": 0.6, "sum": 0.3, "prod": 0.1})


@pytest.mark.parametrize(("count", "suspected"), [(1, set()), (3, {"op7"})])
def test_of_hundreds_of_rare_ops_one_is_in_any_case_and_hardly_in_three(count: int, suspected: set[str]) -> None:
    assert suspected == suspects(failure(count, "op7"), {f"op{number}": 0.01 for number in range(400)}).keys()


def test_an_op_of_the_case_that_is_shown_which_other_cases_do_without_is_named() -> None:
    assert ("maximum",) == in_some(failure(159, "sum"), ("maximum", "sum"))


def test_what_two_failures_have_in_common_is_suspected() -> None:
    both = failure(2, "sum", "prod").joined(failure(1, "prod", "mul"))
    assert (3, {"prod"}) == (both.count, set(both.ops))


def test_a_usual_share_is_that_of_the_cases_of_the_run() -> None:
    assert {"tanh": 1.0} == usual_shares(lambda _: CASE, 1000)


def test_a_case_that_cannot_be_drawn_has_no_usual_ops_and_ends_no_run() -> None:
    drawn = iter([CASE])
    assert {"tanh": 0.5} == usual_shares(lambda _: next(drawn), 2)


def test_our_own_baseline_is_short_and_ends() -> None:
    ours = read_baseline(ROOT / "reports" / "baseline.json")
    assert len(ours) <= 20
    assert all(one.until for one in ours)

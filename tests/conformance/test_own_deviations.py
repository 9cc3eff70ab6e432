"""Known deviations of somebody's own: a folder of findings in the form of ours, which lies anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, cast

import pytest

from conformance.campaign.records import CaseRecord
from conformance.campaign.records.verdicts import VerdictRecord
from conformance.campaign.workers.warm_up import VARIABLE as WARM_UP
from conformance.case.case import Case, Input
from conformance.case.files import encode
from conformance.case.steps import Grad, Op
from conformance.cli.baseline import ASKED_AGAIN
from conformance.cli.gate import ELSEWHERE_ASKED_AGAIN, Ending, enter_gone, stale
from conformance.deviations.entries import DeviationError, known
from conformance.deviations.findings import VARIABLE
from conformance.judge.verdict import Bucket
from conformance.report.terminal import Checked
from tests.conformance.door import conformance
from tests.conformance.engines import ROOT, TOTAL
from tests.conformance.runs import PATIENCE, start

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.campaign.workers.pool import Workers

ENGINE = "tests.wrong_engines:five_wrong_rules"
CASE = Case(
    (Input("x", (2,), (0.5, 1.5)),), (Op("sin", ("x",), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",)))
)
ENTRY = f"""
[[deviation]]
id = "sine-upside-down"
backend = "{ENGINE}"
versions = ">=1"
steps = ["grad"]
kinds = ["value"]
above = ["sin"]
reason = "the gradient of sin has the wrong sign"
unpredictable = "the test does not care"
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Write a folder with one finding."""
    folder = tmp_path / "own" / "sine-upside-down"
    folder.mkdir(parents=True)
    (folder / "case.json").write_text(encode(CASE))
    (folder / "deviation.toml").write_text(ENTRY)
    return folder.parent


@pytest.mark.parametrize(("named", "bucket"), [(False, "diverged"), (True, "known_deviation (sine-upside-down)")])
def test_an_entry_of_ones_own_explains_what_ours_do_not(named: bool, bucket: str, own: Path) -> None:
    environment = {**os.environ, VARIABLE: str(own)} if named else os.environ
    said, _ = start("replay", own / "sine-upside-down" / "case.json", "--backend", ENGINE, env=environment).communicate(PATIENCE)
    assert f"verdict: {bucket}" in said


def test_ones_own_entries_are_listed_beside_ours(own: Path) -> None:
    said = conformance("deviations", "--deviations", own).stdout
    assert "sine-upside-down" in said
    assert "torch-seed-mutated" in said


def test_a_gate_asks_whether_ones_own_entries_still_show(own: Path, tmp_path: Path) -> None:
    (own / "sine-upside-down" / "case.json").write_text(encode(Case(CASE.inputs, CASE.steps[:1])))
    options = ("--backends", ENGINE, "--cases", 1, "--mutant-cases", 0, "--no-grid", "--no-points", "--jobs", 1)
    # A process of its own, which starts a server of its own: workers of the server that all tests share know of no such folder. It has
    # nothing to do with the engines that tests before this one have opened, and that this process would warm up.
    command = [sys.executable, "-m", "conformance", "gate", *map(str, options), "--deviations", own, "--out", tmp_path / "out"]
    alone = {name: value for name, value in os.environ.items() if name != WARM_UP}
    done = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (1, True) == (done.returncode, "sine-upside-down: stale" in done.stdout), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("version", "bucket", "broken", "noted"),
    [
        ("1.2.0", Bucket.AGREED, ["sine-upside-down: stale: its case now ends as agreed"], []),
        ("0.9.0", Bucket.AGREED, [], ["known deviations that do not show in this release: sine-upside-down"]),
        (
            "0.9.0",
            Bucket.CRASHED,
            [],
            ["known deviations whose cases fail in this release, and in another way: sine-upside-down (crashed)"],
        ),
    ],
)
def test_what_does_not_show_is_missed_where_it_was_seen_and_named_in_another_release(
    version: str, bucket: Bucket, broken: list[str], noted: list[str], own: Path
) -> None:
    (entry,) = (one for one in known(own) if one.id == "sine-upside-down")
    checked = Checked()
    enter_gone({entry: Ending("its case", (VerdictRecord(bucket, {}),))}, {ENGINE: version}, checked)
    assert (broken, noted) == (checked.broken, checked.notes)


class Counting:
    """Workers of an engine that agrees, which count the cases that they are asked."""

    def __init__(self, version: str) -> None:
        self.version, self.asked = version, 0

    def describe(self, _: str) -> Counting:
        return self

    def judged(self, cases: Sequence[Case], name: str, *_: object, **__: object) -> list[CaseRecord]:
        self.asked += len(cases)
        return [CaseRecord(0, "a", "exact", 1, False, {name: VerdictRecord(Bucket.AGREED, {})}, {}, False, ())] * len(cases)


@pytest.mark.parametrize(("version", "again"), [("1.2.0", ASKED_AGAIN), ("0.9.0", ELSEWHERE_ASKED_AGAIN)])
def test_what_does_not_show_is_asked_again_and_less_often_where_nobody_saw_it(
    version: str, again: int, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(own))
    entries = known(own)
    workers = Counting(version)
    assert entries == tuple(stale(entries, cast("Workers", workers)))
    assert 2 + again == workers.asked  # its case, and that beside a dead branch, of which the first is enough


def test_a_folder_that_is_not_there_is_one_line_and_a_code(tmp_path: Path) -> None:
    done = conformance("run", "--deviations", tmp_path / "nowhere")
    assert (2, "", 1, True) == (done.returncode, done.stdout, len(done.stderr.splitlines()), "does not exist" in done.stderr)


def test_an_entry_of_ones_own_is_read_as_strictly_as_ours(own: Path) -> None:
    (own / "sine-upside-down" / "deviation.toml").write_text(ENTRY.replace('steps = ["grad"]', 'steps = ["gard"]'))
    with pytest.raises(DeviationError, match="step 'gard' is unknown"):
        known(own)


def test_two_folders_may_not_have_one_entry_twice(own: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "sine-upside-down").mkdir(parents=True)
    for file in ("case.json", "deviation.toml"):
        (other / "sine-upside-down" / file).write_text((own / "sine-upside-down" / file).read_text())
    with pytest.raises(DeviationError, match="another entry has this id"):
        known(own, other)

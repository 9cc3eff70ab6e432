"""Known deviations: the file holds what it must, and an entry explains no more than it says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.backends import BUILT_IN, BackendInfo
from conformance.case import Case, Input, read
from conformance.conditions import CONDITIONS
from conformance.deviations import Deviation, DeviationError, known, label
from conformance.judge.compare import Mismatch
from conformance.judge.known import explain
from conformance.ops import catalogue
from conformance.steps import Backward, Op
from reference_impl import TORCH
from tests.conformance.engines import EXACT, ROOT

if TYPE_CHECKING:
    from pathlib import Path

FINDINGS = ROOT / "reports" / "findings"
KINDS = {"value", "absence", "shape", "dtype", "flag", "error", "mutation", "crash", "poison", "events", "unreadable", "law"}
CALLS = {"append_backward", "backward", "grad", "clear_grad", "custom", "detach", "in_place", "hook", "retain_grad", "end"}

ENTRY = Deviation("a", "torch", "==2.13.*", ("backward",), ("value",), "because", "a", where="grad")
FOUND = Mismatch(3, "value", "grad", "right", "wrong", "x.grad: 1 of 3 elements differ")
INFO = BackendInfo("torch", "2.13.0+cpu", TORCH)


def by_id(entry: Deviation) -> str:
    return entry.id


def test_no_two_entries_have_the_same_id() -> None:
    ids = [entry.id for entry in known()]
    assert sorted(set(ids)) == sorted(ids)


@pytest.mark.parametrize("entry", known(), ids=by_id)
def test_an_entry_has_a_finding_that_proves_it(entry: Deviation) -> None:
    folder = FINDINGS / entry.finding
    assert (True, True) == ((folder / "README.md").is_file(), (folder / "case.json").is_file())


@pytest.mark.parametrize("entry", known(), ids=by_id)
def test_the_case_of_a_finding_can_be_read(entry: Deviation) -> None:
    assert read(FINDINGS / entry.finding / "case.json").steps


@pytest.mark.parametrize("entry", known(), ids=by_id)
def test_an_entry_names_what_exists(entry: Deviation) -> None:
    steps = CALLS | {f"op:{name}" for name in catalogue()}
    unknown = {*entry.steps} - steps, {*entry.kinds} - KINDS, {*entry.above} - {*catalogue()}, {entry.backend} - {*BUILT_IN}
    assert (set(), set(), set(), set()) == unknown


@pytest.mark.parametrize("entry", known(), ids=by_id)
def test_an_entry_is_narrow_and_says_why(entry: Deviation) -> None:
    assert entry.versions
    assert entry.kinds
    assert entry.reason


def test_every_condition_is_used() -> None:
    assert set(CONDITIONS) == {name for entry in known() for name in entry.when}


def test_every_finding_is_a_known_deviation() -> None:
    assert {entry.finding for entry in known()} == {path.parent.name for path in FINDINGS.glob("*/case.json")}


WRITTEN = """
[[deviation]]
id = "mine"
finding = "mine"
backend = "torch"
versions = "==2.13.*"
steps = ["grad"]
kinds = ["value"]
reason = "because"
signature = ["zeros"]
"""


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(WRITTEN)
    assert (Deviation("mine", "torch", "==2.13.*", ("grad",), ("value",), "because", "mine", signature=("zeros",)),) == known(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('reason = "because"', 'reason = "because"\nwhen = ["full_moon"]', "mine: condition 'full_moon' is unknown; allowed are "),
        ("==2.13.*", "two", "mine: Invalid specifier: 'two'"),
        ('reason = "because"', 'reason = "because"\nmessage = "("', "mine: missing ), unterminated subpattern"),
        ('reason = "because"', "", "missing required field `reason`"),
        ('reason = "because"', 'reason = "because"\nwhere_is = "grad"', "unknown field `where_is`"),
        ('steps = ["grad"]', 'steps = "grad"', "Expected `array`"),
        ("[[deviation]]", "[[deviation", "broken.toml: "),
        ('signature = ["zeros"]', "", "mine: wrong values need either a signature or, where nobody can say what they are, the reason"),
        ('signature = ["zeros"]', 'signature = ["zeros"]\nunpredictable = "memory"', "mine: wrong values need either a signature or"),
        ('signature = ["zeros"]', 'signature = ["ones"]', "mine: signature 'ones' is unknown; allowed are zeros, nan, "),
        ('kinds = ["value"]', 'kinds = ["flag"]', "mine: a signature belongs to wrong values, which are not among the kinds"),
        (
            'signature = ["zeros"]',
            'signature = ["zeros"]\nlink = "somewhere"',
            "mine: the link 'somewhere' does not begin with https://",
        ),
    ],
)
def test_a_broken_file_is_refused_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(WRITTEN.replace(old, new))
    with pytest.raises(DeviationError) as refused:
        known(path)
    assert (True, 1) == (message in str(refused.value), len(str(refused.value).splitlines()))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeviationError, match=r"absent\.toml: "):
        known(tmp_path / "absent.toml")


def test_an_entry_explains_what_it_describes() -> None:
    assert ENTRY.matches(INFO, EXACT, FOUND)


@pytest.mark.parametrize(
    "found",
    [
        replace(FOUND, kind="absence"),
        replace(FOUND, where="result"),
        replace(FOUND, step=2),
        replace(FOUND, step=-1),
    ],
    ids=["kind", "where", "call", "end"],
)
def test_an_entry_explains_nothing_else(found: Mismatch) -> None:
    assert not ENTRY.matches(INFO, EXACT, found)


@pytest.mark.parametrize("info", [replace(INFO, version="2.12.1"), replace(INFO, version="2.14.0"), replace(INFO, name="paddle")])
def test_an_entry_does_not_hold_for_another_version_or_backend(info: BackendInfo) -> None:
    assert not ENTRY.matches(info, EXACT, FOUND)


@pytest.mark.parametrize("version", ["2.13.0", "2.13.1", "2.13.0+cpu", "2.13.0.dev20261101"])
def test_an_entry_holds_for_every_build_of_its_version(version: str) -> None:
    assert ENTRY.matches(replace(INFO, version=version), EXACT, FOUND)


NO_GRAD = Case((Input("x", (2,), (1.0, 2.0)),), (Op("reshape", ("x",), ("y",), {"shape": [2, 1]}, no_grad=True),))
FLAG = Mismatch(0, "flag", "result", "constant", "requires_grad", "y")


def test_a_known_deviation_is_explained_by_its_entry() -> None:
    entry = explain(INFO, NO_GRAD, FLAG)
    assert entry is not None
    assert entry.id == "torch-view-in-no-grad"


def test_a_known_deviation_is_not_explained_where_its_condition_does_not_hold() -> None:
    recorded = Case(NO_GRAD.inputs, (Op("reshape", ("x",), ("y",), {"shape": [2, 1]}),))
    assert explain(INFO, recorded, FLAG) is None


def test_a_known_deviation_is_not_explained_outside_its_versions() -> None:
    assert explain(replace(INFO, version="3.0.0"), NO_GRAD, FLAG) is None


@pytest.mark.parametrize(("step", "expected"), [(0, "op:mul"), (2, "grad"), (3, "backward"), (-1, "end")])
def test_a_step_is_called_by_its_op_or_call(step: int, expected: str) -> None:
    assert expected == label(EXACT, step)


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_answers_for_every_step_and_for_the_whole_case(name: str) -> None:
    answers = {type(CONDITIONS[name](EXACT, step)) for step in range(-1, len(EXACT.steps))}
    assert {bool} == answers


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_does_not_hold_for_an_ordinary_case(name: str) -> None:
    ordinary = Case((Input("x", (), (1.0,)),), (Op("square", ("x",), ("y",)), Backward(("y",))), "exact")
    assert [False, False, False] == [CONDITIONS[name](ordinary, step) for step in (-1, 0, 1)]

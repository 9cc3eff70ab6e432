"""The suite finds every engine that is wrong on purpose, says where, and finds nothing wrong with one that is right."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pytest

from conformance.campaign.records import CaseRecord, FindingRecord
from conformance.campaign.records.files import read
from conformance.campaign.workers.trial import run_case
from conformance.case.steps import Op, kind
from conformance.generate.scripts import DrawOptions, case_of
from conformance.mutants.registry import mutant
from tests.conformance.door import conformance
from tests.conformance.engines import unseen
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.campaign.records.verdicts import VerdictRecord
    from conformance.case.case import Case

DRAWN = {
    "any": (300, DrawOptions()),
    "with sin": (50, DrawOptions(("numeric",), ("sin", "mul", "add"))),
    "changing": (300, DrawOptions(changing=1.0)),
}

FAULTS = {
    "sin-x-sign": ("with sin", {("grad", "value", "right", "wrong"), ("backward", "value", "right", "wrong")}),
    "dropped_accumulation": ("any", {("backward", "value", "right", "wrong")}),
    "dropped_fan_out": ("any", {("grad", "value", "right", "wrong"), ("backward", "value", "right", "wrong")}),
    "freed_graph_unnoticed": ("any", {("grad", "error", "graph_freed", "computed"), ("backward", "error", "graph_freed", "computed")}),
    "none_for_zeros": ("any", {("grad", "absence", "present", "absent")}),
    "zeros_for_none": ("any", {("grad", "absence", "absent", "present")}),
    "writes_unnoticed": ("changing", {("grad", "convention", "refused", "computed")}),
    "view_writes_stay": ("changing", {("in_place", "events", "as promised", "fewer")}),
    "saves_after_the_write": ("changing", {("grad", "value", "right", "wrong"), ("backward", "value", "right", "wrong")}),
    "breaks_after_a_refusal": ("any", {("grad", "poison", "intact", "broken"), ("backward", "poison", "intact", "broken")}),
}
GATE = ("--mutant-cases", "0", "--no-points", "--no-grid")
GATED = {"sin-x-sign": 240, "freed_graph_unnoticed": 8}
"""A wrong number and a missing refusal, with the cases that it takes; what the judge makes of the others stands above."""

pytestmark = pytest.mark.usefixtures("workers")  # the frameworks vote on every finding, and are imported once for all runs


@functools.cache
def drawn(what: str) -> list[Case]:
    """Draw what is asked, once, and not before a test asks."""
    count, options = DRAWN[what]
    return [case_of(1, i, options) for i in range(count)]


def verdicts(name: str, cases: list[Case]) -> Iterator[VerdictRecord]:
    engine = correct() if name == "correct" else mutant(name).open()
    return (run_case(case, [engine]).verdicts[name] for case in cases)


def differences(name: str, cases: list[Case]) -> Iterator[tuple[str, ...]]:
    found = (v.mismatch for v in verdicts(name, cases) if v.bucket == "diverged")
    return ((m.at, m.kind, m.expected, m.actual) for m in found)


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_engine_is_found_out_at_the_call_that_is_wrong(name: str) -> None:
    what, expected = FAULTS[name]
    assert not unseen(expected, differences(name, drawn(what)))


@pytest.mark.parametrize("what", DRAWN)
def test_a_right_engine_agrees_on_every_case(what: str) -> None:
    assert {"agreed", "same_error", "not_offered"} >= {v.bucket for v in verdicts("correct", drawn(what))}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_gone_when_the_wrong_engine_has_run(name: str) -> None:
    list(verdicts(name, drawn(FAULTS[name][0])[:20]))
    assert not list(differences("correct", drawn("any")[:40]))


@pytest.mark.parametrize("name", GATED)
def test_the_gate_is_red_on_a_wrong_engine_and_names_the_call(name: str, tmp_path: Path) -> None:
    cases = ("--cases", GATED[name])
    done = conformance("gate", "--backends", f"conformance.mutants.engines:{name}", *GATE, *cases, "--out", str(tmp_path))
    named = any(f"diverged at {call}" in done.stdout for call in ("grad", "backward"))
    assert (1, True) == (done.returncode, named), done.stdout + done.stderr


def test_the_gate_is_green_on_a_right_engine(tmp_path: Path) -> None:
    done = conformance("gate", "--backends", "tests.wrong_engines:correct", *GATE, "--cases", 300, "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


SINES = ("--ops", "sin,cos,mul,add,sum", "--cases", "150")


@pytest.fixture(scope="module")
def flipped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """Run a campaign on the engine whose rule of sin has the wrong sign."""
    out = tmp_path_factory.mktemp("flipped")
    return conformance("run", "--backends", "conformance.mutants.engines:sin-x-sign", *SINES, "--out", str(out)), out


def test_a_campaign_on_a_wrong_engine_diverges(flipped: tuple[Any, Path]) -> None:
    _, out = flipped
    assert list(read(out / "run.ndjson"))[-1].verdict == "diverges"


def test_every_finding_has_the_op_that_is_wrong(flipped: tuple[Any, Path]) -> None:
    _, out = flipped
    shrunk = [r.case for r in read(out / "run.ndjson") if isinstance(r, FindingRecord)]
    ops = [[step.op for step in case.steps if isinstance(step, Op)] for case in shrunk]
    assert ops
    assert all({"sin", "cos"} & set(names) for names in ops), ops  # the derivative of cos is made with sin


def test_a_finding_is_reduced_to_the_op_that_is_wrong_alone(flipped: tuple[Any, Path]) -> None:
    _, out = flipped
    shrunk = [r.case.steps for r in read(out / "run.ndjson") if isinstance(r, FindingRecord)]
    assert [step.op if isinstance(step, Op) else kind(step) for step in min(shrunk, key=len)] in (["sin", "grad"], ["sin", "backward"])


def test_a_finding_shows_again_when_its_case_is_replayed(flipped: tuple[Any, Path]) -> None:
    _, out = flipped
    path = next((out / "cases").glob("*.json"))
    done = conformance("replay", str(path), "--backend", "conformance.mutants.engines:sin-x-sign")
    assert (1, True) == (done.returncode, "verdict: diverged" in done.stdout), done.stdout + done.stderr


def test_the_record_of_a_finding_can_be_replayed_as_it_says(flipped: tuple[Any, Path]) -> None:
    _, out = flipped
    replay = next(r.replay for r in read(out / "run.ndjson") if isinstance(r, FindingRecord))
    done = conformance(*replay.split()[1:])
    assert done.returncode == 1, done.stdout + done.stderr


def test_a_case_record_keeps_the_case_where_it_fails(flipped: tuple[Any, Path]) -> None:
    _, out = flipped
    records = [r for r in read(out / "run.ndjson") if isinstance(r, CaseRecord)]
    failing = [any(v.bucket == "diverged" for v in r.verdicts.values()) for r in records]
    assert failing == [r.case is not None for r in records]

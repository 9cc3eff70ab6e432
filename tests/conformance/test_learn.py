"""What an engine does at its open choices is learned: op by op, in random scripts, and so that a change shows."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from conformance.backends import BackendInfo, open_backend
from conformance.backends.reference import reference
from conformance.campaign.chunk import Chunk
from conformance.campaign.learn import Learned, learn
from conformance.campaign.learn import _measured as measured_before
from conformance.campaign.lock_file import choice_of, text_of
from conformance.campaign.records import BackendRecord
from conformance.campaign.worker import run_case
from conformance.case.files import check
from conformance.case.outcome import plainly
from conformance.cli.measuring import conventions_page
from conformance.generate.call_probes import call_probes
from conformance.generate.probes import probes
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.verdict import CONVENTION
from conformance.laws.judging import Judging
from conformance.ops import catalogue
from reference_impl import PADDLE, TORCH
from reference_impl.dialects.conventions import OPTIONS, Conventions, Kind, Lock, OpenChoice, conventions, release_file
from tests.conformance.door import conformance

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.campaign.records import CaseRecord
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from reference_impl import Dialect

AROUND = tuple(case for op in ("clone", "sum") for case in probes(op))
"""Of what every probe is made, beside its op."""
PROBES = (*AROUND, *(case for op in ("mul", "sin", "cos", "exp", "abs", "mul_scalar") for case in probes(op)))
VERSION = "4.2"


class Deciding:
    """The reference, which decides some choices otherwise; if that is said, every so many times that it runs a case as by itself."""

    def __init__(self, options: dict[OpenChoice, str], start: Dialect, flips: int = 0) -> None:
        self.info = BackendInfo("deciding", VERSION, start, start.not_offered)
        self.flips, self.runs = flips, Counter[str]()
        self.usual = reference(TORCH, TORCH.not_offered)
        self.other = reference(replace(TORCH, conventions=TORCH.conventions.but(options)), TORCH.not_offered)

    def run(self, case: Case) -> Outcome:
        self.runs[case.id] += 1
        return (self.usual if self.flips and self.runs[case.id] % self.flips == 0 else self.other).run(case)


def observed(engine: Any, cases: tuple[Case, ...]) -> tuple[Learned, list[CaseRecord]]:
    records = [run_case(case, [engine], Judging(observing=True), index=index) for index, case in enumerate(cases)]
    learned = Learned(BackendRecord("deciding", VERSION, "torch", {}))
    for record in records:
        learned.add(Chunk(("deciding",), "", "given", 0, len(cases), cases=cases), record)
    return learned, records


def learned_twice(options: dict[OpenChoice, str], cases: tuple[Case, ...] = PROBES, **how: Any) -> Learned:
    """Learn from nothing, and again from what was learned."""
    start = replace(TORCH, conventions=Conventions())
    for _ in range(2):
        learned, _ = observed(Deciding(options, start, **how), cases)
        start = replace(TORCH, conventions=conventions(learned.lock))
    return learned


CHOICES = {
    OpenChoice(Kind.OFFERED, "sin", "order 2"): "refused",
    OpenChoice(Kind.OFFERED, "cos", "order 3"): "refused",
    OpenChoice(Kind.CONNECTED, "mul_scalar", "x alone"): "linked",
    OpenChoice(Kind.CONNECTED, "abs", "x alone"): "cut",
    OpenChoice(Kind.KEPT, "mul", "x x"): "refused",
    OpenChoice(Kind.FREED, "exp", "x"): "computed",
}


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_choice_is_learned_from_nothing(choice: OpenChoice) -> None:
    learned = learned_twice({choice: CHOICES[choice]}, (*AROUND, *probes(choice.op)))
    assert [CHOICES[choice]] == list(learned.seen[choice])


OF_CALLS = {
    OpenChoice(Kind.ALLOWED, "flag", "that is no bool"): "refused",
    OpenChoice(Kind.ALLOWED, "input", "that requires no gradient"): "refused",
    OpenChoice(Kind.ALLOWED, "root", "that requires no gradient"): "refused",
    OpenChoice(Kind.ALLOWED, "seed", "of another kind"): "refused",
    OpenChoice(Kind.ALLOWED, "seed", "of another precision"): "refused",
}


@pytest.mark.parametrize("option", ["computed", "refused"])
@pytest.mark.parametrize("choice", OF_CALLS, ids=str)
def test_what_calls_go_along_with_is_learned_from_their_probes(choice: OpenChoice, option: str) -> None:
    learned = learned_twice({choice: option}, call_probes())
    assert [option] == list(learned.seen[choice])


def test_many_choices_are_learned_together() -> None:
    learned = learned_twice(CHOICES)
    assert CHOICES.items() <= {choice: next(iter(options)) for choice, options in learned.seen.items()}.items()


def test_an_engine_that_decides_both_ways_is_told_with_a_case_of_each() -> None:
    choice = OpenChoice(Kind.OFFERED, "sin", "order 2")
    learned = learned_twice({choice: "refused"}, 6 * (*AROUND, *probes("sin")), flips=5)
    assert {"refused", "computed"} == set(learned.varying[choice])
    assert {"refused", "computed"} == {option for of, option in learned.cases if of == choice}


def drawn(rng: Any) -> dict[OpenChoice, str]:
    """Conventions that nobody has: of some choices of these ops any option; but nothing is cut, see below, and the calls are no ops."""
    known = [choice for choice in learned_twice({}).seen if choice.kind is not Kind.ALLOWED]
    options = {**OPTIONS, Kind.CONNECTED: ("formula", "linked")}
    return {choice: str(rng.choice(options[choice.kind])) for choice in known if rng.random() < 0.3}


@pytest.mark.parametrize("seed", [3, 4])
def test_an_engine_with_any_conventions_agrees_after_they_were_learned(seed: int) -> None:
    options = drawn(np.random.default_rng(seed))
    start = replace(TORCH, conventions=conventions(learned_twice(options).lock))
    _, records = observed(Deciding(options, start), PROBES)
    assert {"agreed", "same_error", "not_offered"} >= {record.verdicts["deciding"].bucket for record in records}
    assert not [record for record in records if record.verdicts["deciding"].followed]


def test_a_derivative_that_is_cut_although_it_does_not_vanish_is_no_convention_and_is_red_after_all_was_learned() -> None:
    options, cases = {OpenChoice(Kind.CONNECTED, "exp", "x alone"): "cut"}, (*AROUND, *probes("exp"))
    start = replace(TORCH, conventions=conventions(learned_twice(options, cases).lock))
    _, records = observed(Deciding(options, start), cases)
    assert "diverged" in {record.verdicts["deciding"].bucket for record in records}


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_one_flip_in_a_hundred_cases_is_red_as_a_convention_that_changed(choice: OpenChoice) -> None:
    options, cases = {choice: CHOICES[choice]}, (*AROUND, *probes(choice.op))
    start = replace(TORCH, conventions=conventions(learned_twice(options, cases).lock))
    engine = Deciding(options, start, flips=100)
    telling = next(case for case in probes(choice.op) if plainly(engine.usual.run(case)) != plainly(engine.other.run(case)))
    verdicts = [run_case(telling, [engine]).verdicts["deciding"] for _ in range(100)]
    found = [verdict.mismatch.kind for verdict in verdicts if verdict.mismatch is not None]
    assert [CONVENTION] == found


@pytest.mark.parametrize("op", catalogue())
def test_probes_are_scripts_that_can_be_run(op: str) -> None:
    for case in probes(op):
        check(case)


def test_what_was_learned_of_paddle_says_where_derivatives_end() -> None:
    assert (1, 3) == (PADDLE.conventions.highest_order("amax"), PADDLE.conventions.highest_order("sin"))


def test_a_case_that_shows_nothing_of_a_choice_is_no_observation() -> None:
    case = case_of(1, 0, DrawOptions(ops=("add",), changing=0.0))
    learned, _ = observed(Deciding({}, TORCH), (case,))
    assert not [choice for choice in learned.seen if choice.kind is Kind.OFFERED]


# Files, and what is printed of them.

ONE = {"sin": "computed", "cos": "computed", "exp": "computed"}
OTHER = {"sin": "refused", "cos": "computed", "log": "refused"}


def test_runs_start_from_what_was_measured_in_the_folder_where_they_are_started(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    version = open_backend("reference").info.version
    choice = OpenChoice(Kind.FREED, "mul", "x")
    path = release_file("reference", version, tmp_path / "conventions")
    path.parent.mkdir()
    path.write_text(text_of(Lock("reference", version, {choice: {"computed": 3}})))
    assert {choice: "computed"} == open_backend("reference").info.dialect.conventions.options


def test_two_adapters_do_not_share_the_file_of_what_was_measured(tmp_path: Path) -> None:
    files = [release_file(f"my_package.{name}:open_backend", "1.0", tmp_path) for name in ("abacus", "slide_rule")]
    assert [tmp_path / "abacus-1.0.toml", tmp_path / "slide_rule-1.0.toml"] == files


def test_an_earlier_measurement_stays_where_nothing_is_met(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    backend, choice = BackendRecord("deciding", VERSION, "torch", {}), OpenChoice(Kind.FREED, "mul", "x")
    path = release_file("deciding", VERSION, tmp_path / "conventions")
    path.parent.mkdir()
    path.write_text(text_of(Lock("deciding", VERSION, {choice: {"computed": 3}})))
    assert ({choice: {"computed": 3}}, {}) == (
        measured_before(backend),
        measured_before(msgspec.structs.replace(backend, version="4.2.1")),
    )


def test_learning_one_op_leaves_what_is_known_of_others(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    backend = BackendRecord("deciding", VERSION, "torch", {})
    mine, other = OpenChoice(Kind.FREED, "mul", "x"), OpenChoice(Kind.FREED, "sum", "x")
    path = release_file("deciding", VERSION, tmp_path / "conventions")
    path.parent.mkdir()
    path.write_text(text_of(Lock("deciding", VERSION, {mine: {"computed": 3}, other: {"computed": 100}})))
    met = Learned(backend, {mine: {"computed": 7}, other: {"computed": 1}})
    monkeypatch.setattr("conformance.campaign.learn._pass", lambda *_: met)
    learned = learn("deciding", 0, 1, 1, lambda _: path, lambda *_: None, ["mul"])
    assert ({mine: {"computed": 7}, other: {"computed": 100}}, {}) == (learned.seen, learned.varying)


def test_a_settled_choice_is_not_tried_the_other_way() -> None:
    def seen(settled: frozenset[str]) -> set[str]:
        records = [run_case(case, [engine], Judging(observing=True), settled=frozenset(map(choice_of, settled))) for case in AROUND]
        return {choice for record in records for choice in record.verdicts["deciding"].observed}

    engine = Deciding({}, TORCH)
    every = seen(frozenset())
    some = frozenset(sorted(every)[::2])
    assert every - some == seen(some) != set()


def test_what_is_settled_was_known_before_the_first_pass(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    backend = BackendRecord("deciding", VERSION, "torch", {})
    mine, other, new = (OpenChoice(Kind.FREED, op, "x") for op in ("mul", "sum", "exp"))
    path = release_file("deciding", VERSION, tmp_path / "conventions")
    path.parent.mkdir()
    path.write_text(text_of(Lock("deciding", VERSION, {mine: {"computed": 3}, other: {"computed": 100}})))
    given = []

    def made(*args: Any) -> Learned:
        given.append(args[-1] if args[-1] is None else set(args[-1]))
        return Learned(backend, {new: {"computed": 1}})

    monkeypatch.setattr("conformance.campaign.learn._pass", made)
    learn("deciding", 0, 1, 1, lambda _: path, lambda *_: None, ["mul"])
    assert [None, {mine, other}] == given


def test_two_engines_are_compared_where_both_were_measured(tmp_path: Path) -> None:
    files = []
    for name, ops in (("one", ONE), ("other", OTHER)):
        seen = {OpenChoice(Kind.OFFERED, op, "order 2"): {option: 1} for op, option in ops.items()}
        files.append(str(tmp_path / f"{name}.toml"))
        (tmp_path / f"{name}.toml").write_text(text_of(Lock(name, "1.0", seen)))
    rows = json.loads(conventions_page(tuple(files), comparing=True, as_json=True))
    assert [{"op": "sin", "one 1.0": "at least 2", "other 1.0": "1 at most"}] == rows["How many derivatives are offered"]


@pytest.mark.parametrize("more", ["computed", "refused"])
def test_an_order_that_was_met_on_one_engine_alone_is_no_difference(tmp_path: Path, more: str) -> None:
    files = []
    for name, orders in (("one", {2: "computed"}), ("other", {2: "computed", 3: more})):
        seen = {OpenChoice(Kind.OFFERED, "sin", f"order {order}"): {option: 1} for order, option in orders.items()}
        files.append(str(tmp_path / f"{name}.toml"))
        (tmp_path / f"{name}.toml").write_text(text_of(Lock(name, "1.0", seen)))
    assert conventions_page(tuple(files), comparing=True, as_json=False) == (
        "nothing differs in what was measured of all of them, 1 choice\n"
    )


def test_the_command_prints_where_the_frameworks_differ() -> None:
    done = conformance("conventions", "torch", "paddle", "--compare")
    assert (0, True, True) == (done.returncode, "torch 2.13.0" in done.stdout, "2 at most" in done.stdout)


def test_what_was_never_measured_is_refused_in_one_line() -> None:
    done = conformance("conventions", "nobody")
    assert (2, 1, True) == (done.returncode, done.stderr.count("\n"), "nothing was measured of 'nobody'; there is " in done.stderr)

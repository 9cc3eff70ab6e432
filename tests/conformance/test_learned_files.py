"""What was learned is written to files, which later runs start from, and pages and commands print it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from conformance.backends import open_backend
from conformance.campaign.learn import _chunks
from conformance.campaign.learn import _measured as measured_before
from conformance.campaign.records import BackendRecord
from conformance.campaign.records.choices import choice_of, text_of
from conformance.campaign.workers.trial import run_case
from conformance.case.steps import Grad
from conformance.cli.measuring import conventions_page
from conformance.generate.call_probes import call_probes
from conformance.generate.probes import probes
from conformance.ops import catalogue
from reference_impl import PADDLE, TORCH
from reference_impl.dialects.conventions import HANDED, Kind, Lock, OpenChoice, release_file
from tests.conformance.door import conformance
from tests.conformance.learning import (
    AROUND,
    OBSERVING,
    OF_CALLS,
    PROBES,
    VERSION,
    Deciding,
    Passes,
    given,
    judged,
    known_of_reference,
    learned_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.campaign.workers.chunk import Chunk


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


def learned_alone(op: str, before: dict[OpenChoice, Any], met: dict[OpenChoice, Any], folder: Path, monkeypatch: Any) -> Any:
    """Return what a lock says after this one op was learned, of which the cases show that."""
    monkeypatch.chdir(folder)
    path = release_file("deciding", VERSION, folder / "conventions")
    path.parent.mkdir()
    path.write_text(text_of(Lock("deciding", VERSION, before)))
    records = [
        judged(observed={str(choice): (option,)}) for choice, options in met.items() for option, n in options.items() for _ in range(n)
    ]
    return Passes(lambda _: records).learn(folder / "conventions", [given("one", PROBES[:1])], [op]).seen


def test_learning_one_op_leaves_what_is_known_of_others(tmp_path: Path, monkeypatch: Any) -> None:
    mine, other = OpenChoice(Kind.FREED, "mul", "x"), OpenChoice(Kind.FREED, "sum", "x")
    before, met = {mine: {"computed": 3}, other: {"computed": 100}}, {mine: {"computed": 7}, other: {"computed": 1}}
    assert {mine: {"computed": 7}, other: {"computed": 100}} == learned_alone("mul", before, met, tmp_path, monkeypatch)


def test_learning_a_form_of_an_op_measures_what_a_framework_makes_of_it_anew(tmp_path: Path, monkeypatch: Any) -> None:
    form = OpenChoice(Kind.OFFERED, PADDLE.spelled["gru_stacked"], "order 2")
    assert {form: {"refused": 7}} == learned_alone(
        "gru_stacked", {form: {"computed": 3}}, {form: {"refused": 7}}, tmp_path, monkeypatch
    )


def test_what_calls_are_handed_is_learned_alone_where_it_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    flag, seed = (OpenChoice(Kind.ALLOWED, *about) for about in (("flag", "that is no bool"), ("seed", "of another kind")))
    before, met = {flag: {"computed": 3}, seed: {"computed": 100}}, {flag: {"refused": 7}, seed: {"refused": 1}}
    assert {flag: {"refused": 7}, seed: {"computed": 100}} == learned_alone("flag", before, met, tmp_path, monkeypatch)


def test_every_choice_about_calls_can_be_named_to_learn() -> None:
    asked = {choice.op for choice in known_of_reference() if choice.kind is Kind.ALLOWED}
    assert asked == set(HANDED)


def test_the_command_learns_what_calls_are_handed_without_any_op(tmp_path: Path) -> None:
    done = conformance("learn", "--backend", "reference", "--ops", "flag", "--jobs", "1", "--out", str(tmp_path))
    assert (0, True) == (done.returncode, f": {len(OF_CALLS)} choices, {len(call_probes())} observations" in done.stdout)


def test_random_cases_are_drawn_of_ops_alone() -> None:
    named = ("flag", "mul")
    draws = [chunk.draw.ops for chunk in _chunks(BackendRecord("reference", VERSION, "torch", {}), 10, 1, named, frozenset())]
    assert ("mul",) == draws[-1]


def test_an_op_of_many_operands_has_no_more_than_some_dozens_of_probes() -> None:
    assert 100 > max(len(list(probes(op))) for op in catalogue())


def test_probes_show_the_second_derivative_of_a_kernel_that_has_all_first_ones_or_none() -> None:
    asked = [[set(step.inputs) for step in case.steps if isinstance(step, Grad)] for case in probes("gru_stacked")]
    assert any(calls == [every] * 2 for calls in asked for every in calls if len(every) > 1)


def test_a_settled_choice_is_not_tried_the_other_way() -> None:
    def seen(settled: frozenset[str]) -> set[str]:
        records = [run_case(case, [engine], OBSERVING, settled=frozenset(map(choice_of, settled))) for case in AROUND]
        return {choice for record in records for choice in record.verdicts["deciding"].observed}

    engine = Deciding({}, TORCH)
    every = seen(frozenset())
    some = frozenset(sorted(every)[::2])
    assert every - some == seen(some) != set()


def test_what_is_settled_was_known_before_the_first_pass(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    mine, other, new = (OpenChoice(Kind.FREED, op, "x") for op in ("mul", "sum", "exp"))
    path = release_file("deciding", VERSION, tmp_path / "conventions")
    path.parent.mkdir()
    path.write_text(text_of(Lock("deciding", VERSION, {mine: {"computed": 3}, other: {"computed": 100}})))
    workers, given_to_chunks = Passes(lambda _: [judged(followed={str(new): "computed"})]), []

    def chunks(*args: Any) -> list[Chunk]:
        given_to_chunks.append(set(args[-1]))
        return [given("one", PROBES[:1])]

    monkeypatch.setattr("conformance.campaign.learn._chunks", chunks)
    workers.learn(tmp_path, ops=["mul"])
    assert (True, [{other}]) == (len(workers.made) > 1, given_to_chunks)


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


def test_a_refusal_is_put_down_to_the_node_that_refuses_wherever_it_is_met() -> None:
    choice = OpenChoice(Kind.FREED, "ihfft2", "order 2 completed x")  # beside a factor, which is there where nothing is completed, too
    learned = learned_of({choice: "refused"}, (*AROUND, *probes(choice.op)))
    assert {} == learned.varying
    assert ["refused"] == list(learned.seen[choice])

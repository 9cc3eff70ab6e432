"""The hunt finds out what is wrong and nothing else, and the score counts what it found."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Any

import pytest

from conformance.generate.grid import grid
from conformance.judge.verdict import Bucket
from conformance.mutants.hunt import Hunt, Kill, run_hunt
from conformance.mutants.hunts import Hunts
from conformance.mutants.measure import Power, PowerError, chosen, measure
from conformance.mutants.mutant import Kind, Mutant, patch
from conformance.mutants.registry import engines, mutants
from reference_impl.reverse import walk

if TYPE_CHECKING:
    from pathlib import Path


def hunt(folder: Path, *ids: str, start: int = 0, stop: int = 60, **options: Any) -> Hunt:
    return Hunt(1, start, stop, ids, str(folder), 30.0, **options)


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Enter a mutant into the registry for the length of a test."""

    def enter(name: str, fault: Any) -> str:
        monkeypatch.setitem(engines(), name, Mutant(name, Kind.ENGINE, "a test", "something", fault))
        return name

    return enter


@pytest.mark.parametrize(
    "name", ["dropped_fan_out", "mul-x-wrong_operand", "first_order_only", "dropped_fan_in", "torch_freed_refuses"]
)
def test_a_mutant_is_found_out(name: str, tmp_path: Path) -> None:
    assert run_hunt(hunt(tmp_path, name)).get(name)


def test_a_mutant_of_an_op_that_is_not_drawn_unasked_is_found_out_where_its_op_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = run_hunt(hunt(tmp_path, "asin-x-sign", stop=200))
    monkeypatch.setattr("conformance.mutants.hunt.about", lambda _: None)
    assert (True, {}) == ("asin-x-sign" in named, run_hunt(hunt(tmp_path, "asin-x-sign", stop=200)))


def test_a_fault_of_order_two_in_an_op_of_the_numeric_lane_is_found_out_in_a_few_scripts_about_it(tmp_path: Path) -> None:
    assert "ormqr-tau-half_linked" in run_hunt(hunt(tmp_path, "ormqr-tau-half_linked", stop=100))


def test_a_wrong_rule_is_hunted_through_the_grid_of_its_op_first(tmp_path: Path) -> None:
    hunts = Hunts(("sin-x-sign", "dropped_fan_out"), {}, 400, 1, str(tmp_path), grid=True)
    first, *drawn = hunts
    assert {"sin"} == {point.op for point in first.points.values()}
    assert ("sin-x-sign",) == first.alive
    assert 400 == sum(one.stop - one.start for one in drawn)


def test_what_the_grid_finds_out_is_hunted_no_further() -> None:
    kills = measure(("sin-x-sign", "dropped_fan_out"), cases=25, grid=True).kills
    assert kills["sin-x-sign"].cases < 9
    assert kills["dropped_fan_out"].case >= len(list(grid(["sin"])))


def test_cases_to_detection_are_the_points_of_its_op_and_what_was_drawn_behind(tmp_path: Path) -> None:
    hunts = Hunts(("cos-x-sign", "sin-x-sign"), {}, 400, 1, str(tmp_path), grid=True)
    list(hunts)
    behind = sum(map(len, hunts.points.values()))
    counted = [hunts.tries("sin-x-sign", Kill(case, "diverged", "g")) for case in (hunts.points["sin"].start, behind + 4)]
    assert [1, len(hunts.points["sin"]) + 5] == counted


def test_an_engine_without_a_fault_survives(tmp_path: Path, entered: Any) -> None:
    assert {} == run_hunt(hunt(tmp_path, entered("null", patch()), stop=150))


def test_what_is_found_does_not_depend_on_where_ranges_of_cases_end(tmp_path: Path) -> None:
    ids = tuple(m.id for m in mutants().values() if m.conditional is None)[::50]
    whole = run_hunt(hunt(tmp_path, *ids, stop=25))
    first = run_hunt(hunt(tmp_path, *ids, stop=10))
    rest = run_hunt(hunt(tmp_path, *(i for i in ids if i not in first), start=10, stop=25))
    assert whole == {**first, **rest}


def test_skipping_cases_in_which_the_rule_is_not_called_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = tuple(m.id for kind in (Kind.RULE, Kind.SECOND) for m in mutants().values() if m.kind is kind)[::40]
    fast = run_hunt(hunt(tmp_path, *ids, stop=25))
    monkeypatch.setattr("conformance.mutants.hunt.can_show", lambda *_: True)
    assert fast == run_hunt(hunt(tmp_path, *ids, stop=25))


def test_an_endless_recursion_is_found_out_as_a_divergence(tmp_path: Path, entered: Any) -> None:
    def recurse(self: Any) -> None:
        recurse(self)

    name = entered("recursion", patch((walk.ReversePass, "run", recurse)))
    assert run_hunt(hunt(tmp_path, name, stop=5))[name].bucket == Bucket.DIVERGED


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the mutant is known to a forked process only")
def test_a_mutant_that_never_comes_back_is_found_out_as_timed_out(tmp_path: Path, entered: Any) -> None:
    name = entered("hangs", patch((walk.ReversePass, "run", lambda _: all(iter(lambda: True, False)))))
    endless = Hunt(1, 0, 20, (name,), str(tmp_path), 0.5)
    process = multiprocessing.get_context("fork").Process(target=run_hunt, args=(endless,))
    process.start()
    process.join()
    again = endless.after_death()
    assert Bucket.TIMED_OUT == again.lost[name][1] == run_hunt(again)[name].bucket


def test_a_worker_that_dies_without_a_mutant_is_a_fault_of_the_suite(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no mutant did it"):
        hunt(tmp_path, "dropped_fan_out").after_death()


def test_worker_processes_find_what_one_process_finds(tmp_path: Path) -> None:
    ids = ("dropped_fan_out", "first_order_only", "none_for_zeros", "sin-x-sign")
    assert run_hunt(hunt(tmp_path, *ids, stop=120)) == measure(ids, cases=120, jobs=2).kills


# The score.

KILLS = {
    "sin-x-sign": Kill(9, "diverged", "grad"),
    "cos-x-sign": Kill(29, "crashed", ""),
    "dropped_fan_out": Kill(0, "diverged", "grad"),
}
POWER = Power(KILLS, ("sin-x-sign", "cos-x-sign", "exp-x-operand_for_result", "dropped_fan_out"), 100, 1, 1.0)


def test_the_score_counts_cases_to_detection_of_each_kind() -> None:
    seen = [(s.kind, s.killed, s.total, s.median, s.worst) for s in POWER.scores()]
    assert [(Kind.RULE, 2, 3, 20.0, 30), (Kind.ENGINE, 1, 1, 1, 1)] == seen


def test_a_missed_target_is_named() -> None:
    assert ["rule: 2 of 3 mutants were found out within 100 cases; the target is 100%"] == POWER.missed()


def test_a_mutant_that_is_argued_to_be_equivalent_is_no_part_of_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    same = Mutant("same", Kind.ENGINE, "", "", equivalent="nothing reads it")
    monkeypatch.setitem(engines(), "same", same)
    power = Power({}, ("same",), 100, 1, 1.0)
    assert ([], [(0, 0, 1)]) == (power.missed()[1:], [(s.killed, s.total, s.equivalent) for s in power.scores()])


@pytest.mark.parametrize(("pattern", "found"), [("sin-x-sign", 1), ("sin-x", 5), ("sin-x-*", 5)])
def test_mutants_are_chosen_by_a_pattern_or_a_part_of_the_id(pattern: str, found: int) -> None:
    assert found == len([i for i in chosen(pattern) if i.startswith("sin")])


def test_all_mutants_are_chosen_where_no_pattern_is_given() -> None:
    assert tuple(mutants()) == chosen(None)


def test_a_pattern_that_fits_nothing_is_refused() -> None:
    with pytest.raises(PowerError, match="no mutant is called like 'no-such'"):
        chosen("no-such")

"""What an engine does at its open choices is learned: op by op, in random scripts, and so that a change shows."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from conformance.campaign.learn import PASSES, Learned
from conformance.campaign.workers.trial import run_case
from conformance.case.files import check
from conformance.case.outcome import plainly
from conformance.cli.measuring import conventions_page
from conformance.compare.promise import promised
from conformance.generate.call_probes import call_probes
from conformance.generate.probes import probes
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.verdict import CONVENTION
from conformance.ops import catalogue
from reference_impl import PADDLE, PADDLE_STATIC, TORCH
from reference_impl.dialects.conventions import OPTIONS, Kind, OpenChoice, conventions
from tests.conformance.learning import (
    AROUND,
    OF_CALLS,
    PLAIN,
    PROBES,
    SEEDS,
    Deciding,
    Passes,
    after_learning,
    asking,
    given,
    judged,
    known_of_reference,
    learned_from,
    learned_of,
    observed,
)

if TYPE_CHECKING:
    from pathlib import Path


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
    learned = learned_of({choice: CHOICES[choice]}, (*AROUND, *probes(choice.op)))
    assert [CHOICES[choice]] == list(learned.seen[choice])


def test_a_choice_that_an_op_asks_at_a_corner_alone_is_learned() -> None:
    choice = OpenChoice(Kind.FREED, "rfftn", "order 2 completed x")  # of two elements the half is the whole, and nothing completes it
    learned = learned_of({choice: "refused"}, (*AROUND, *probes(choice.op)))
    assert ["refused"] == list(learned.seen[choice])


@pytest.mark.parametrize("option", ["computed", "refused"])
@pytest.mark.parametrize("choice", OF_CALLS, ids=str)
def test_what_calls_go_along_with_is_learned_from_their_probes(choice: OpenChoice, option: str) -> None:
    learned = learned_of({choice: option}, call_probes())
    assert [option] == list(learned.seen[choice])


def test_many_choices_are_learned_together() -> None:
    learned = learned_of(CHOICES)
    assert CHOICES.items() <= {choice: next(iter(options)) for choice, options in learned.seen.items()}.items()


def test_an_engine_that_decides_both_ways_is_told_with_a_case_of_each() -> None:
    choice = OpenChoice(Kind.OFFERED, "sin", "order 2")
    learned = learned_of({choice: "refused"}, 6 * (*AROUND, *probes("sin")), flips=5)
    assert {"refused", "computed"} == set(learned.varying[choice])
    assert {"refused", "computed"} == {option for of, option in learned.cases if of == choice}


def drawn(seed: int) -> dict[OpenChoice, str]:
    """Conventions that nobody has: of some choices of these ops and of the calls any option; but nothing is cut, see below."""
    rng = np.random.default_rng(seed)
    options = {**OPTIONS, Kind.CONNECTED: ("formula", "linked")}
    return {choice: str(rng.choice(options[choice.kind])) for choice in known_of_reference() if rng.random() < 0.3}


@cache
def learned_of_random_conventions(seed: int) -> Learned:
    return learned_of(drawn(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_an_engine_with_random_conventions_agrees_after_they_were_learned(seed: int) -> None:
    start = replace(TORCH, conventions=conventions(learned_of_random_conventions(seed).lock))
    _, records = observed(Deciding(drawn(seed), start), PROBES)
    assert {"agreed", "same_error", "not_offered"} >= {record.verdicts["deciding"].bucket for record in records}
    assert not [record for record in records if record.verdicts["deciding"].followed]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_engine_with_random_conventions_is_not_taken_for_one_that_decides_both_ways(seed: int) -> None:
    assert {} == learned_of_random_conventions(seed).varying


@pytest.mark.parametrize("seed", SEEDS)
def test_one_flip_in_a_hundred_cases_is_red_whatever_the_conventions_are(seed: int) -> None:
    options, start = drawn(seed), replace(TORCH, conventions=conventions(learned_of_random_conventions(seed).lock))
    flips = [{**options, choice: other} for choice, option in options.items() for other in OPTIONS[choice.kind][:2] if other != option]
    engines = (Deciding(options, start, flips=100, flipped=flipped) for flipped in np.random.default_rng(seed).permutation(flips))
    engine, telling = next((engine, case) for engine in engines for case in PROBES if engine.shows(case))
    verdicts = [run_case(telling, [engine], PLAIN).verdicts["deciding"] for _ in range(100)]
    assert [CONVENTION] == [verdict.mismatch.kind for verdict in verdicts if verdict.mismatch is not None]


def test_a_derivative_that_is_cut_although_it_does_not_vanish_is_no_convention_and_is_red_after_all_was_learned() -> None:
    options, cases = {OpenChoice(Kind.CONNECTED, "exp", "x alone"): "cut"}, (*AROUND, *probes("exp"))
    start = after_learning(options, cases)
    _, records = observed(Deciding(options, start), cases)
    assert "diverged" in {record.verdicts["deciding"].bucket for record in records}


@pytest.mark.parametrize("about", ["x alone", "x tracked", "x asked"])
def test_a_probe_with_a_cut_tells_what_a_derivative_depends_on_by_the_result_alone(about: str) -> None:
    asked = OpenChoice(Kind.CONNECTED, "div_by_quotient", about)
    by_result, in_any_case = (
        replace(PADDLE_STATIC, conventions=PADDLE_STATIC.conventions.but({asked: option})) for option in ("formula", "linked")
    )
    seen = ((case, *(plainly(promised(case, dialect)) for dialect in (by_result, in_any_case))) for case in probes("div"))
    assert any(one != other for case, one, other in seen if getattr(case.steps[-1], "no_grad_vars", None))


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_one_flip_in_a_hundred_cases_is_red_as_a_convention_that_changed(choice: OpenChoice) -> None:
    options, cases = {choice: CHOICES[choice]}, (*AROUND, *probes(choice.op))
    start = after_learning(options, cases)
    engine = Deciding(options, start, flips=100)
    telling = next(case for case in probes(choice.op) if engine.shows(case))
    verdicts = [run_case(telling, [engine], PLAIN).verdicts["deciding"] for _ in range(100)]
    found = [verdict.mismatch.kind for verdict in verdicts if verdict.mismatch is not None]
    assert [CONVENTION] == found


@pytest.mark.parametrize("order", [1, -1])
def test_a_case_that_shows_an_option_outweighs_all_that_leave_it_open(order: int) -> None:
    choice = OpenChoice(Kind.CONNECTED, "exp", "x alone")
    open_to, told = judged(observed={str(choice): ("formula", "linked")}), judged(followed={str(choice): "linked"})
    learned = learned_from(*[open_to, open_to, told][::order])
    assert ({choice: {"linked": 1}}, {}) == (learned.seen, learned.varying)


def test_what_every_case_leaves_open_is_learned_as_expected() -> None:
    choice = OpenChoice(Kind.CONNECTED, "exp", "x alone")
    assert {choice: {"formula": 1}} == learned_from(judged(observed={str(choice): ("formula", "linked")})).seen


@pytest.mark.parametrize(("followed", "passes"), [(0, 2), (1, 2), (2, 3), (99, PASSES)])
def test_passes_are_made_until_one_ends_with_what_it_started_from(followed: int, passes: int, tmp_path: Path) -> None:
    shown = {str(OpenChoice(Kind.FREED, "mul", "x")): "computed"}
    workers = Passes(lambda _: [judged(followed=shown) if len(workers.made) <= followed else judged()])
    workers.learn(tmp_path, [given("one", PROBES[:1])])
    assert passes == len(workers.made)


def test_the_page_of_conventions_cuts_no_name_of_an_op() -> None:
    assert "\u2026" not in conventions_page(("torch", "paddle"), comparing=False, as_json=False)


def test_a_folder_that_cannot_be_made_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    workers = Passes(lambda _: [judged()])
    with pytest.raises(OSError, match="file"):
        workers.learn(tmp_path / "file", [given("one", PROBES[:1])])
    assert [] == workers.made


SINE_IS_REFUSED = {OpenChoice(Kind.OFFERED, "sin", "order 2"): "refused"}
OF_TWO_OPS = [given("of sin", (*AROUND, *probes("sin"))), given("of exp", (*AROUND, *probes("exp")))]


def test_a_later_pass_runs_what_asks_for_a_choice_that_turned_out_otherwise(tmp_path: Path) -> None:
    workers = asking(SINE_IS_REFUSED, TORCH)
    workers.learn(tmp_path, OF_TWO_OPS)
    assert [["of sin", "of exp"], ["of sin"]] == [[chunk.name for chunk in chunks] for chunks in workers.made]


def test_what_is_not_run_again_counts_as_it_did(tmp_path: Path) -> None:
    alone, beside = (asking(SINE_IS_REFUSED, TORCH).learn(tmp_path, chunks).seen for chunks in (OF_TWO_OPS[1:], OF_TWO_OPS))
    of_exp = {choice: options for choice, options in alone.items() if choice.op == "exp"}
    assert of_exp == {choice: options for choice, options in beside.items() if choice.op == "exp"} != {}


def test_a_later_pass_starts_from_what_the_one_before_said_wherever_that_is_written(tmp_path: Path) -> None:
    workers = asking(SINE_IS_REFUSED, TORCH)
    workers.learn(tmp_path / "elsewhere", OF_TWO_OPS[:1])
    ((first,), (second,)) = workers.made
    assert (None, True) == (first.expected, second.expected is not None and SINE_IS_REFUSED.items() <= second.expected.options.items())


@pytest.mark.parametrize("op", catalogue())
def test_probes_are_scripts_that_can_be_run(op: str) -> None:
    for case in probes(op):
        check(case)


def test_what_was_learned_of_paddle_says_where_derivatives_end() -> None:
    assert (1, 3) == (PADDLE.conventions.highest_order("amax"), PADDLE.conventions.highest_order("sin"))


@pytest.mark.parametrize("op", [form for form in PADDLE.spelled.values() if form.endswith("_as_one")])
def test_whether_a_kernel_of_paddle_has_a_second_derivative_was_measured(op: str) -> None:
    assert OpenChoice(Kind.OFFERED, op, "order 2") in PADDLE.conventions.options


def test_a_case_that_shows_nothing_of_a_choice_is_no_observation() -> None:
    case = case_of(1, 0, DrawOptions(ops=("add",), changing=0.0))
    learned, _ = observed(Deciding({}, TORCH), (case,))
    assert not [choice for choice in learned.seen if choice.kind is Kind.OFFERED]

"""Excess: an engine that does more than a known deviation says is a divergence, and an entry that excuses it is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends.reference import reference
from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Op
from conformance.cli.gate import unanswered
from conformance.deviations import explain as explaining
from conformance.deviations.entries import Deviation
from conformance.mutants import exceeding
from conformance.mutants.exceeding import Exceeded, exceed, excuses, overreaches, unexceeded
from reference_impl import TORCH
from tests.conformance.engines import INFO, TOTAL, answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.case.outcome import Outcome

CASE = Case(
    (Input("x", (3,), (1.0, 2.0, 3.0)),),
    (
        Op("square", ("x",), ("y",)),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",)),
        Grad(("z",), ("x",), ("h",)),
    ),
    "exact",
)
DERIVED = Case(CASE.inputs, (*CASE.steps[:2], Grad(("z",), ("x",), ("g",), create_graph=True)), "exact")


def entry(*kinds: str, **says: Any) -> Deviation:
    """Make an entry for the engine of these tests."""
    return Deviation("known", "other", "==1.*", ("grad", "end"), kinds, "because", "known", **says)


class Engine:
    """The reference, but for what is changed in its answers."""

    info = INFO

    def __init__(self, change: Callable[[Any], None]) -> None:
        self.change = change

    def run(self, case: Case) -> Outcome:
        """Run a case and change the answer."""
        outcome = answer(case)
        self.change(outcome)
        return outcome


def one_zero(outcome: Any) -> None:
    """Have one element of the first gradient be wrong: 0."""
    outcome.observations[2].values[0].array[1] = 0.0


def never_freed(outcome: Any) -> None:
    """Have the second call not be refused, and give what the first did."""
    kept = reference(TORCH, TORCH.not_offered).run(Case(CASE.inputs, (*CASE.steps[:2], Grad(("z",), ("x",), ("h",))), "exact"))
    outcome.observations[3] = kept.observations[2]


@pytest.fixture
def exceeded(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Exceeded]:
    """Exceed an entry, which is the only one that is known, on an engine."""

    def run(known: Deviation, change: Callable[[Any], None], case: Case = CASE) -> Exceeded:
        monkeypatch.setattr(explaining, "about", lambda *_: (known,))
        monkeypatch.setattr(exceeding, "known", lambda: (known,))
        monkeypatch.setattr(exceeding, "backend", lambda _: Engine(change))
        return exceed([case], "other", "known")

    return run


def test_an_entry_that_says_what_the_wrong_numbers_are_excuses_nothing_else(exceeded: Any) -> None:
    found = exceeded(entry("value", signature=("zeros",)), one_zero)
    elsewhere = ("a right element", "a right element is lost", "a right element is infinite")
    numbers = ("in a call about other tensors", "a little beside", "another factor", *elsewhere, "absent instead")
    assert (tuple(f"value: {words}" for words in numbers), {}) == (found.tried, found.excused)


def test_an_entry_of_any_number_excuses_every_number(exceeded: Any) -> None:
    found = exceeded(entry("value", unpredictable="memory"), one_zero)
    beside = ["value: a little beside", "value: another factor"]
    elsewhere = ["value: a right element", "value: a right element is lost", "value: a right element is infinite"]
    numbers = ["value: in a call about other tensors", *beside, *elsewhere]
    assert (numbers, []) == ([*found.excused], overreaches(found))


def test_an_entry_that_excuses_its_excess_without_a_reason_is_named(exceeded: Any) -> None:
    found = exceeded(entry("error"), never_freed)
    said = "known: an engine that does more (error: other numbers) is excused by known"
    assert said in overreaches(found)


@pytest.mark.parametrize(
    ("words", "bold"), [("value: another factor", False), ("value: a right element", True), ("value: absent instead", True)]
)
def test_what_lies_behind_the_end_of_a_memory_is_no_reason_to_excuse_more(words: str, bold: bool) -> None:
    name = "paddle-static-legacy-loss-filled-in-part"
    assert bold == bool(overreaches(Exceeded(name, True, (words,), {words: (name,)})))


def test_an_entry_that_says_of_which_script_the_answer_is_excuses_no_other(exceeded: Any) -> None:
    found = exceeded(entry("error", instead=("as if nothing were freed",)), never_freed)
    assert (("error: another category", "error: other numbers"), {}) == (found.tried, found.excused)


def test_an_entry_that_is_told_as_unpredictable_is_listed_with_its_reason(exceeded: Any) -> None:
    found = exceeded(entry("value", unpredictable="memory that nobody initialised"), one_zero)
    assert "known: value: another factor: excused by known (memory that nobody initialised)" in excuses(found)


@pytest.mark.parametrize(("frame", "hidden"), [("", 2), ("GradNode", 0)])
def test_a_crash_elsewhere_is_hidden_only_where_no_frame_is_told(exceeded: Any, frame: str, hidden: int) -> None:
    assert hidden == len(exceeded(entry("crash", frame=frame, unpredictable="memory"), one_zero).excused)


def test_a_deviation_where_its_condition_does_not_hold_is_caught(exceeded: Any) -> None:
    found = exceeded(entry("value", signature=("zeros",), when=("at: create_graph",)), one_zero, DERIVED)
    assert (True, {}) == ("value: where its condition does not hold" in found.tried, found.excused)


def test_a_deviation_whose_condition_says_nothing_is_not_displaced(exceeded: Any) -> None:
    found = exceeded(entry("value", signature=("zeros",)), one_zero, DERIVED)
    assert "value: where its condition does not hold" not in found.tried


def test_what_makes_no_difference_is_no_excess(exceeded: Any) -> None:
    found = exceeded(entry("value", signature=("zeros",)), right)
    assert found.tried == ()
    assert unexceeded(found).startswith("known: no difference that the comparison of its case goes on after")


def one_zero_and_a_change(outcome: Any) -> None:
    """Have the leaf be changed as well."""
    one_zero(outcome)
    outcome.mutated = ("x",)


def right(_: Any) -> None:
    """Change nothing."""


@pytest.mark.parametrize(
    ("change", "shown"),
    [(one_zero, True), (right, False), (one_zero_and_a_change, False)],
    ids=["it alone", "nothing", "it beside what nobody knows"],
)
def test_an_entry_shows_where_it_alone_tells_what_differs(change: Any, shown: bool, exceeded: Any) -> None:
    assert shown is exceeded(entry("value", signature=("zeros",)), change).shown


def test_an_entry_of_damage_says_that_there_is_nothing_to_change(exceeded: Any) -> None:
    said = "known: what it damages shows in later cases, so its answer has nothing to change"
    assert said == unexceeded(exceeded(entry("poison"), one_zero))


def test_an_entry_whose_process_gave_no_answer_is_told(exceeded: Any) -> None:
    known = entry("value", signature=("zeros",))
    found = exceeded(known, one_zero)
    assert (["known"], []) == (unanswered([known], []), unanswered([known], [found]))


def test_wrong_numbers_are_other_ones() -> None:
    from conformance.mutants.excess import LITTLE, _little, _much

    given = np.array([0.0, 1.0, -3e38, np.inf, np.nan, 1e-40], np.float32)
    for changed in (_little(given), _much(given)):
        assert np.isfinite(changed).all()
        assert (np.abs(changed - np.nan_to_num(given, posinf=0.0)) >= LITTLE / 2).all()

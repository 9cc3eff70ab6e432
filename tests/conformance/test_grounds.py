"""Grounds: that a tensor is changed, or a call refused, breaks a promise that no number decides, and the script says which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Raised
from conformance.case.steps import Backward, Edge, Grad, Hook, InPlace, Op, RetainGrad, SetRequiresGrad
from conformance.judge.blame import blame
from conformance.judge.dispute import Opinion
from reference_impl import Category
from tests.conformance.blamed import Answering

if TYPE_CHECKING:
    from conformance.case.steps import Step

X, S = Input("x", (2,), (1.0, 2.0)), Input("s", (2,), (1.0, -1.0), differentiable=False)
TWICE = (Op("exp", ("x",), ("y",)), Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("s",)))
WRITTEN = InPlace("mul_scalar", "s", (), {"other": 2.0}, no_grad=True)
GIVEN = Grad(("x",), ("x",), ("g",), ("s",))


def said(change: Any, *steps: Step) -> tuple[str, tuple[Opinion, Opinion], str]:
    """Return who is blamed where an engine answers otherwise, and what the graph of the script says of it."""
    found = blame(Case((X, S), steps), Answering(change))
    assert found is not None
    vote = next(vote for vote in found.votes if vote.voter == "the graph of the script")
    return found.who, (vote.accused, vote.reference), vote.reason


def change_the_seed(outcome: Any) -> None:
    outcome.mutated = ("s",)


def refuse_the_last(outcome: Any) -> None:
    outcome.observations[-1] = Raised(Category.IN_PLACE_VERSION, "was modified")


def refuse_as_leaf(outcome: Any) -> None:
    outcome.observations[-1] = Raised(Category.IN_PLACE_LEAF, "a leaf that requires grad is written")


def run_the_last(outcome: Any) -> None:
    outcome.observations[-1] = Computed(())


ENGINE = ("accused", (Opinion.WRONG, Opinion.RIGHT))
NOBODY = ("unclear", (Opinion.SILENT, Opinion.SILENT))


def test_a_script_that_writes_to_no_tensor_changes_none() -> None:
    assert (*ENGINE, "no step of the script writes to any tensor, so none may change s") == said(change_the_seed, *TWICE)


def test_a_script_that_writes_to_a_tensor_may_change_another() -> None:
    assert NOBODY == said(change_the_seed, *TWICE, InPlace("exp", "y", no_grad=True))[:2]


def test_what_no_step_wrote_to_has_not_changed_since_it_was_saved() -> None:
    assert (*ENGINE, "no step before writes to any tensor, so none that was saved has changed") == said(refuse_the_last, *TWICE)


def test_what_a_step_wrote_to_may_have_changed_since_it_was_saved() -> None:
    assert NOBODY == said(refuse_the_last, *TWICE[:2], WRITTEN, TWICE[2])[:2]


@pytest.mark.parametrize("step", [Edge("g", ("e",)), Hook("g", ("h",), "nothing"), RetainGrad("g")])
def test_what_requires_no_gradient_by_the_engines_own_word_has_no_edge_and_no_hook(step: Step) -> None:
    reason = "g requires no gradient, as the engine itself showed it, and no step has set its flag"
    assert (*ENGINE, reason) == said(run_the_last, GIVEN, SetRequiresGrad("s", requires_grad=True), step)


def test_what_requires_no_gradient_by_the_engines_own_word_is_no_leaf_that_must_not_be_written() -> None:
    reason = "g requires no gradient, as the engine itself showed it, and no step has set its flag"
    write = InPlace("mul_scalar", "g", (), {"other": 2.0})
    assert (*ENGINE, reason) == said(refuse_as_leaf, GIVEN, SetRequiresGrad("s", requires_grad=True), write)


def test_a_view_may_be_refused_for_what_it_is_a_view_of() -> None:
    viewed = Op("reshape", ("x",), ("v",), {"shape": [2]}, no_grad=True)
    assert NOBODY == said(refuse_as_leaf, viewed, InPlace("mul_scalar", "v", (), {"other": 2.0}))[:2]


def test_a_flag_that_a_step_has_set_is_not_known_from_what_was_shown_before() -> None:
    assert NOBODY == said(run_the_last, SetRequiresGrad("s", requires_grad=False), Edge("s", ("e",)))[:2]


def test_a_gradient_that_grad_leaves_where_it_was_not_asked_for_is_no_matter_of_the_graph() -> None:
    def lose_what_is_retained(outcome: Any) -> None:
        last = outcome.observations[-1]
        last.state = (*last.state[:-1], None)

    backward = Backward(("y",), ("s",), retain_graph=True)
    reason = "y.grad is nothing that grad is asked for: whether it is there is no matter of the graph"
    found = said(lose_what_is_retained, Op("exp", ("x",), ("y",)), RetainGrad("y"), backward, Grad(("y",), ("x",), ("g",), ("s",)))
    assert (NOBODY[1], reason) == found[1:]

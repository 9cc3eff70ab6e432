"""Blame: who is wrong is found out by votes, the first wrong node by the cotangents, and the suite accuses itself where it must."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from conformance.campaign.findings.explain import blame_case
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Event, Outcome, Raised, Value
from conformance.case.rewrite import each_step
from conformance.case.steps import Backward, Grad, Hook, Op
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.judge.blame import ORACLES, blame
from conformance.judge.dispute import Blame, Dispute, Opinion, Vote
from conformance.judge.written_out import written_out
from conformance.mutants.registry import mutant
from conformance.report.words import blame_text
from examples.engines.functional import FUNCTIONAL
from reference_impl import PADDLE, TORCH, Category
from reference_impl.dialects.conventions import REFUSED, OpenChoice
from reference_impl.dialects.conventions import Kind as Open
from tests.conformance.engines import INFO, TOTAL
from tests.wrong_engines import WrongEngine, correct

if TYPE_CHECKING:
    from collections.abc import Callable

from tests.conformance.blamed import LOST, ORACLE, RIGHT, SILENT, SIN, SINE, TWICE, WRONG, X, accused, blamed, reasons


def test_a_right_engine_is_not_blamed() -> None:
    assert blame(SIN, correct()) is None


@pytest.mark.parametrize("case", [SIN, TWICE], ids=["first order", "second order"])
def test_an_engine_with_a_wrong_rule_is_to_blame(case: Case) -> None:
    assert accused("sin-x-sign", case).who == "accused"


def test_the_numerical_oracle_votes_against_a_wrong_rule_and_for_the_reference() -> None:
    votes = [(v.accused, v.reference) for v in accused("sin-x-sign", SIN).votes if v.voter.startswith("numerical")]
    assert [(Opinion.WRONG, Opinion.RIGHT)] * 2 == votes


def test_another_backend_that_promises_the_same_votes() -> None:
    votes = {v.voter: v.accused for v in accused("sin-x-sign", SIN, others=[correct()]).votes}
    assert votes["correct"] is Opinion.WRONG


def test_another_backend_that_is_wrong_in_the_same_way_does_not_outweigh_the_oracle() -> None:
    twin = mutant("sin-x-sign").open()
    twin.info = replace(twin.info, name="twin")
    found = accused("sin-x-sign", SIN, others=[twin])
    assert ("accused", (RIGHT, WRONG)) == (found.who, reasons(found)["twin"][:2])


def test_a_law_that_is_broken_is_a_vote() -> None:
    def law(_: Dispute) -> Vote:
        return Vote("linearity in the seed", Opinion.WRONG, Opinion.SILENT, "twice the seed is not twice the gradient")

    assert accused("none_for_zeros", NO_GRADIENT, voters=[law]).who == "accused"


NO_GRADIENT = Case(
    (X,),
    (
        Op("mul_scalar", ("x",), ("y",), {"other": 0.0}),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",)),
    ),
)


def test_an_absent_gradient_is_wrong_where_the_graph_leads_to_it_and_zeros_are_no_derivative_of_it() -> None:
    found = accused("none_for_zeros", NO_GRADIENT)
    way = "x is reached (z <- step 1 (op:sum) <- step 0 (op:mul_scalar) <- x): its gradient may be zero, and is there"
    assert ("accused", (WRONG, RIGHT, way)) == (found.who, reasons(found)["the graph of the script"])
    assert {SILENT} == {opinion for name in ORACLES for opinion in reasons(found)[name][:2]}


FREED = Case((X,), (Op("sin", ("x",), ("s",)), Backward(("s",), ("x",)), Backward(("s",), ("x",))))
ASKED = Case((X, Input("w", (3,), (1.0, 2.0, 3.0))), (Op("mul", ("x", "w"), ("y",)), Backward(("y",), ("x",), inputs=("x",))))


def lose_the_gradient(outcome: Any) -> None:
    last = outcome.observations[-1]
    if isinstance(last, Computed):
        last.values = (None,) * len(last.values)


def test_an_absent_gradient_is_wrong_where_the_numerical_derivative_is_not_zero() -> None:
    said = reasons(blamed(LOST, lose_the_gradient))[ORACLE]
    assert (WRONG, RIGHT, True) == (*said[:2], said[2].endswith("something depends on x, so its gradient is there"))


def fill_the_other(number: float) -> Callable[[Any], None]:
    def change(outcome: Any) -> None:
        for seen in outcome.observations:
            if isinstance(seen, Computed) and seen.state is not None:
                seen.state = tuple(v or Value(np.full(3, number, np.float32), False) for v in seen.state)
        outcome.final = tuple(v or Value(np.full(3, number, np.float32), False) for v in outcome.final)

    return change


@pytest.mark.parametrize("number", [0.0, 2.0])
def test_a_gradient_that_nobody_asked_for_is_wrong_by_the_call(number: float) -> None:
    found = blamed(ASKED, fill_the_other(number))
    assert (WRONG, RIGHT, "the call asks for x, and not for w") == reasons(found)["the graph of the script"]
    assert "accused" == found.who


class AsksForAll(WrongEngine):
    """Adds to every ``.grad``, whatever `backward` is asked for."""

    def run(self, case: Case) -> Outcome:
        """Run the script in which nothing is asked for by name."""
        return super().run(
            each_step(case, lambda step: msgspec.structs.replace(step, inputs=None) if isinstance(step, Backward) else step)
        )


def test_what_a_call_adds_to_a_gradient_that_it_does_not_ask_for_is_not_the_fault_of_the_reference() -> None:
    first, again = Backward(("y",), ("x",), retain_graph=True), Backward(("y",), ("x",), inputs=("x",))
    found = blame(Case(ASKED.inputs, (ASKED.steps[0], first, again)), AsksForAll("asks_for_all"))
    assert found is not None
    assert ("accused", SILENT) == (found.who, reasons(found)[ORACLE][1])


def test_what_a_refused_call_adds_to_a_gradient_is_not_the_fault_of_the_reference() -> None:
    def add_before_the_refusal(outcome: Any) -> None:
        refused = outcome.observations[-1]
        refused.state = tuple(replace(held, array=held.array + 1.0) for held in refused.state)

    case = Case((X,), (Backward(("x",), ("x",)), Op("sum", ("x",), ("z",), TOTAL), Backward(("z", "x"))))
    found = blamed(case, add_before_the_refusal)
    assert ("accused", SILENT) == (found.who, reasons(found)[ORACLE][1])


UNUSED = Case(
    (X, Input("w", (3,), (1.0, 2.0, 3.0))), (Op("sin", ("x",), ("s",)), Grad(("s",), ("x", "w"), ("g", "h"), ("x",), allow_unused=True))
)


def fill_the_unused(number: float) -> Callable[[Any], None]:
    def change(outcome: Any) -> None:
        last = outcome.observations[-1]
        if isinstance(last, Computed):
            last.values = tuple(v or Value(np.full(3, number, np.float32), False) for v in last.values)

    return change


def test_a_gradient_that_is_there_where_nothing_depends_is_wrong_by_the_graph_and_if_it_is_not_zero_by_its_derivative() -> None:
    zeros, twos = (reasons(blamed(UNUSED, fill_the_unused(number))) for number in (0.0, 2.0))
    assert (WRONG, RIGHT, "nothing leads from s to w") == zeros["the graph of the script"]
    assert [(SILENT, SILENT), (WRONG, RIGHT)] == [said[ORACLE][:2] for said in (zeros, twos)]


def test_a_flag_that_contradicts_the_engines_own_flags_is_wrong() -> None:
    def drop_the_flag(outcome: Any) -> None:
        outcome.observations[0].values[0].requires_grad = False

    found = blamed(LOST, drop_the_flag)
    said = (WRONG, RIGHT, "its operand x requires a gradient, by the engine's own flags")
    assert ("accused", said) == (found.who, reasons(found)["the graph of the script"])
    assert "step 0 (op:sin): its flag" == found.node


@pytest.mark.parametrize(
    ("create_graph", "why"),
    [
        (True, "with create_graph it is linear in the seed v, which requires a gradient"),
        (False, "the call is without create_graph, so no gradient of it has a graph"),
    ],
)
def test_the_flag_of_a_gradient_is_held_against_create_graph_and_the_seeds(create_graph: bool, why: str) -> None:
    case = Case((X, Input("v", (3,), (1.0, 2.0, 3.0))), (SINE, Grad(("s",), ("x",), ("g",), ("v",), create_graph=create_graph)))

    def flip_the_flag(outcome: Any) -> None:
        outcome.observations[-1].values[0].requires_grad = not create_graph

    found = blamed(case, flip_the_flag)
    assert ("accused", (WRONG, RIGHT, why)) == (found.who, reasons(found)["the graph of the script"])


@pytest.mark.parametrize(
    ("tensor", "why"),
    [
        ("x", "the pass goes through x (s <- step 1 (op:sin) <- x), so h is called once; it was called 0 times"),
        ("w", "nothing leads from s to w, so h is not called"),
    ],
)
def test_a_hook_that_is_called_too_seldom_or_too_often_is_held_against_the_way_of_the_pass(tensor: str, why: str) -> None:
    inputs = (X, Input("w", (3,), (1.0, 2.0, 3.0)))
    case = Case(inputs, (Hook(tensor, ("h",), "nothing"), SINE, Backward(("s",), ("x",))))

    def call_otherwise(outcome: Any) -> None:
        last = outcome.observations[-1]
        last.events = () if last.events else (Event("h", Value(np.ones(3, np.float32), False), recording=False),)

    found = blamed(case, call_otherwise)
    assert ("accused", (WRONG, RIGHT, why)) == (found.who, reasons(found)["the graph of the script"])


def test_a_refusal_that_does_not_come_is_held_against_the_clause_that_demands_it() -> None:
    found = accused("freed_graph_unnoticed", FREED)
    said = (WRONG, SILENT)
    clause = "TB-06: retain_graph takes the value of create_graph unless it is given; False frees the graph"
    assert ("accused", said, True) == (found.who, reasons(found)["documents"][:2], reasons(found)["documents"][2].startswith(clause))


def test_the_switch_is_named_by_which_an_engine_would_be_right_in_another_dialect() -> None:
    case = Case((X,), (Op("sin", ("x",), ("s",)), Backward(("s",))))
    engine = WrongEngine("paddle_like", dialect=TORCH, behaves=PADDLE)
    found = blame(case, engine)
    assert found is not None
    voted = reasons(found)["conventions of its dialect"]
    assert ("accused", WRONG, SILENT) == (found.who, *voted[:2])
    assert voted[2].startswith("What seeds a root that is given no seed? ones if it has one element, a real one; others are refused (")
    assert "switch implicit_seed; it would be right here by the answer of paddle" in voted[2].replace(")", "")


def test_a_difference_that_nobody_can_decide_is_unclear_and_everybody_says_why() -> None:
    def refuse(outcome: Any) -> None:
        outcome.observations[-1] = Raised(Category.BAD_ARGUMENT, "no", outcome.observations[-1].state)

    found = blamed(LOST, refuse)
    assert ("unclear", {(SILENT, SILENT)}) == (found.who, {said[:2] for said in reasons(found).values()})
    assert all(said[2] for said in reasons(found).values())


UNWRITTEN = Case((X,), (Op("exp", ("x",), ("y",)), Grad(("y",), ("x",), ("g",)), Grad(("g",), ("x",), ("h",))))


def test_an_engine_of_another_dialect_is_asked_what_the_script_leaves_to_the_dialect() -> None:
    found = blame(UNWRITTEN, WrongEngine("flipped", mutant("exp-x-sign").fault, FUNCTIONAL), [correct()])
    assert found is not None
    (vote,) = [vote for vote in found.votes if vote.voter == "correct"]
    assert (WRONG, RIGHT, "promises the same, and keeps it") == (vote.accused, vote.reference, vote.reason)


def test_a_script_that_is_written_out_promises_the_same_numbers_in_both_dialects() -> None:
    promise = Promise(UNWRITTEN, replace(INFO, dialect=FUNCTIONAL))
    there = Promise(written_out(promise), INFO)
    assert not list(Comparer(promise).differences(there.outcome))


def test_a_call_that_is_refused_for_its_number_of_seeds_is_written_out_as_it_is() -> None:
    call = Grad(("y", "y"), ("x",), ("g",), ("s",))
    case = Case((X, Input("s", (2,), (1.0, 1.0), differentiable=False)), (Op("exp", ("x",), ("y",)), call))
    assert call == written_out(Promise(case, INFO)).steps[1]


def test_a_blame_is_written_in_words() -> None:
    text = blame_text(Blame("accused", (Vote("v", Opinion.WRONG, Opinion.RIGHT, "r"),), "n"))
    assert ["blame: the engine is wrong", "place: n", "vote of v: engine wrong, reference right (r)"] == text


REFUSING = replace(TORCH, conventions=TORCH.conventions.but({OpenChoice(Open.OFFERED, "sin", "order 2"): REFUSED}))


def refusing(version: str, name: str = "exp-x-sign") -> WrongEngine:
    """Return an engine that has no second derivative of `sin`, which nobody promises, and a wrong rule."""
    engine = WrongEngine("refusing", mutant(name).fault, behaves=REFUSING)
    engine.info = replace(engine.info, version=version)
    return engine


def test_who_is_wrong_is_asked_of_what_differs_behind_a_choice_that_was_followed() -> None:
    wrong = Op("exp", ("x",), ("e",)), Op("sum", ("e",), ("t",), TOTAL), Grad(("t",), ("x",), ("k",))
    found = blame(Case((X,), (*TWICE.steps, *wrong)), refusing("another"))
    assert found is not None
    assert ("accused", (WRONG, RIGHT)) == (found.who, reasons(found)[ORACLES[0]][:2])
    assert "step 6 (op:exp): what arrives at e is right, what leaves for x is not" == found.node


def test_nobody_is_blamed_for_what_nobody_promises() -> None:
    assert blame(TWICE, refusing("another")) is None


def test_what_the_same_release_does_otherwise_than_was_measured_is_disputed() -> None:
    found = blame(TWICE, refusing(TORCH.conventions.release[1]))
    assert found is not None
    assert "step 5 (grad): whether it is refused, and how" == found.node


def test_a_vote_that_fails_is_said_and_costs_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.campaign.findings.explain.blame", lambda *_: 1 / 0)
    found = blame_case((SIN,), "reference", ())
    assert found is not None
    assert ("unclear", True) == (found.who, "the vote failed: ZeroDivisionError" in found.node)

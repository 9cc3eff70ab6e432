"""Blame: who is wrong is found out by votes, the first wrong node by the cotangents, and the suite accuses itself where it must."""

from __future__ import annotations

import copy
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from conformance.backends.dumped import DOT
from conformance.campaign.explain import blame_case
from conformance.campaign.tally import Tally
from conformance.campaign.worker import run_case
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Event, Outcome, Raised, Value
from conformance.case.rewrite import each_op, each_step
from conformance.case.steps import Backward, Custom, Detach, Grad, Hook, InPlace, Op, RetainGrad, SetRequiresGrad
from conformance.compare.compare import Comparer
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.judge.audit import audit
from conformance.judge.blame import LAW_ITSELF, ORACLES, _gradient, _numerically, blame, who
from conformance.judge.cuts import MOST, NOT_THE_FIRST, TOO_MANY
from conformance.judge.dispute import Blame, Dispute, Opinion, Vote
from conformance.judge.hooked import but_for_zeros
from conformance.judge.localise import first_node
from conformance.judge.oracle import SilentError, slope
from conformance.judge.unroll import UnrolledError, copying, unrolled
from conformance.judge.written_out import written_out
from conformance.mutants.mutant import Kind
from conformance.mutants.registry import mutant, mutants_of
from conformance.mutants.wrong_rule import rule_fault
from conformance.report.words import blame_text
from examples.engines.functional import FUNCTIONAL
from reference_impl import OPS, PADDLE, TORCH, Category
from reference_impl.dialects.conventions import REFUSED, OpenChoice
from reference_impl.dialects.conventions import Kind as Open
from reference_impl.primitives.promotion import cast
from reference_impl.tape.primitive import Primitive
from reference_impl.tape.rules import replaced_rule
from tests.conformance.engines import INFO, TOTAL
from tests.wrong_engines import WrongEngine, correct

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.mutants.mutant import Mutant

X = Input("x", (3,), (0.1, 0.7, -1.3))
WRONG, RIGHT, SILENT = Opinion.WRONG, Opinion.RIGHT, Opinion.SILENT
SIN = Case(
    (X,),
    (
        Op("exp", ("x",), ("e",)),
        Op("sin", ("e",), ("s",)),
        Op("square", ("s",), ("q",)),
        Op("sum", ("q",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",)),
    ),
)
TWICE = Case(
    (X,),
    (
        Op("sin", ("x",), ("s",)),
        Op("sum", ("s",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",), create_graph=True),
        Op("square", ("g",), ("q",)),
        Op("sum", ("q",), ("y",), TOTAL),
        Grad(("y",), ("x",), ("h",)),
    ),
)
SUMMED = Case((X,), (Op("sum", ("x",), ("z",), TOTAL), Backward(("z",), retain_graph=True), Backward(("z",))))


def accused(name: str, case: Case, **options: Any) -> Blame:
    """Have a wrong engine blamed."""
    found = blame(case, mutant(name).open(), **options)
    assert found is not None
    return found


class Elsewhere(WrongEngine):
    """Computes another function: ``cos`` where a script says ``exp``."""

    def run(self, case: Case) -> Outcome:
        """Run the other script."""
        return super().run(each_op(case, lambda op: Op("cos", op.operands, op.results) if op.op == "exp" else op))


@pytest.mark.parametrize(("forward", "said"), [(None, RIGHT), (correct(), RIGHT), (Elsewhere("elsewhere"), SILENT)])
def test_the_derivative_of_another_function_is_no_vote_against_the_reference(forward: Any, said: Opinion) -> None:
    engine = mutant("sin-x-sign").open()
    promise, actual = Promise(SIN, engine.info), engine.run(SIN)
    found = Comparer(promise).run(actual).mismatch
    assert found is not None
    vote = _numerically(Dispute(promise, engine, actual, found, ()), ORACLES[1], forward)
    assert (WRONG, said) == (vote.accused, vote.reference)


FANNED_OUT = Case(
    (X,),
    (
        Op("tanh", ("x",), ("w",)),
        Op("mul", ("x", "x"), ("v",)),
        Op("add", ("w", "v"), ("s",)),
        Op("sum", ("s",), ("z",), TOTAL),
        Backward(("z",)),
    ),
)


COPIED = copying(INFO)
assert COPIED is not None

USES = [
    ("tanh-x-sign", "step 0 (op:tanh): what arrives at w is right, what leaves for x is not"),
    ("mul-x-sign", "step 1 (op:mul): what arrives at v is right, what leaves for x is not"),
    ("dropped_fan_out", "the sum of what the 3 uses of x contribute: each is right"),
]


@pytest.mark.parametrize(("name", "node"), USES)
def test_the_use_that_contributes_a_wrong_number_is_named(name: str, node: str) -> None:
    assert node == accused(name, FANNED_OUT).node


def by_engine_without(lacking: tuple[str, ...], name: str, case: Case) -> Blame:
    """Have a wrong engine blamed that does not offer everything."""
    not_offered = {**TORCH.not_offered, **dict.fromkeys(lacking, "it is small")}
    found = blame(case, WrongEngine(name, mutant(name).fault, replace(TORCH, not_offered=not_offered)))
    assert found is not None
    return found


def by_backward_alone(name: str, case: Case) -> Blame:
    """Have a wrong engine blamed that has neither hooks nor `grad`."""
    return by_engine_without(("step:hook", "step:grad", "step:retain_grad"), name, case)


@pytest.mark.parametrize(("name", "node"), USES)
def test_an_engine_that_cannot_clone_has_its_wrong_use_named_too(name: str, node: str) -> None:
    assert node == by_engine_without(("op:clone",), name, FANNED_OUT).node


def test_no_use_is_named_where_the_engine_can_give_none_of_them_a_copy_of_the_value() -> None:
    found = by_engine_without(("op:clone", "op:mul_scalar"), "tanh-x-sign", FANNED_OUT)
    assert found.node == "not named: x has 3 uses, and the engine has no op that gives each a copy of it"


@pytest.mark.parametrize(("name", "node"), USES)
def test_an_engine_without_hooks_has_its_wrong_use_named_too(name: str, node: str) -> None:
    assert node == by_backward_alone(name, FANNED_OUT).node


def test_a_wrong_rule_behind_a_right_one_is_named_without_hooks() -> None:
    backward = Case(SIN.inputs, (*SIN.steps[:-1], Backward(("z",), inputs=("x",))))
    assert "step 1 (op:sin): what arrives at s is right, what leaves for e is not" == by_backward_alone("sin-x-sign", backward).node


def test_without_hooks_a_pass_through_very_many_values_is_not_taken_apart() -> None:
    chain = tuple(Op("tanh", (f"v{i}",), (f"v{i + 1}",)) for i in range(MOST + 1))
    case = Case((msgspec.structs.replace(X, name="v0"),), (*chain, Backward((f"v{MOST + 1}",), ("v0",))))
    assert TOO_MANY == by_backward_alone("tanh-x-sign", case).node


def test_without_hooks_nothing_is_said_of_what_arrived_in_a_second_call() -> None:
    assert NOT_THE_FIRST == by_backward_alone("dropped_accumulation", SUMMED).node


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


def reasons(found: Blame) -> dict[str, tuple[Opinion, Opinion, str]]:
    return {vote.voter: (vote.accused, vote.reference, vote.reason) for vote in found.votes}


def test_an_absent_gradient_is_wrong_where_the_graph_leads_to_it_and_zeros_are_no_derivative_of_it() -> None:
    found = accused("none_for_zeros", NO_GRADIENT)
    way = "x is reached (z <- step 1 (op:sum) <- step 0 (op:mul_scalar) <- x): its gradient may be zero, and is there"
    assert ("accused", (WRONG, RIGHT, way)) == (found.who, reasons(found)["the graph of the script"])
    assert {SILENT} == {opinion for name in ORACLES for opinion in reasons(found)[name][:2]}


class Answering(WrongEngine):
    """Right, but for what is done to its answers."""

    def __init__(self, change: Callable[[Outcome], None], dialect: Any = TORCH) -> None:
        super().__init__("answering", dialect=dialect)
        self.change = change

    def run(self, case: Case) -> Outcome:
        outcome = copy.deepcopy(super().run(case))
        self.change(outcome)
        return outcome


def blamed(case: Case, change: Callable[[Any], None], dialect: Any = TORCH) -> Blame:
    found = blame(case, Answering(change, dialect))
    assert found is not None
    return found


SINE = Op("sin", ("x",), ("s",))
LOST = Case((X,), (SINE, Op("sum", ("s",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",), allow_unused=True)))
FREED = Case((X,), (Op("sin", ("x",), ("s",)), Backward(("s",), ("x",)), Backward(("s",), ("x",))))
ASKED = Case((X, Input("w", (3,), (1.0, 2.0, 3.0))), (Op("mul", ("x", "w"), ("y",)), Backward(("y",), ("x",), inputs=("x",))))


def add_a_few_roundings(outcome: Any) -> None:
    last = outcome.observations[-1]
    if isinstance(last, Computed):
        last.values = tuple(replace(value, array=value.array * (1 + 64 * np.finfo(value.array.dtype).eps)) for value in last.values)


def test_an_oracle_that_is_too_coarse_for_a_difference_votes_for_neither_side() -> None:
    found = blamed(Case((Input("x", (3,), (0.1, 0.7, -1.3), "float64"),), LOST.steps), add_a_few_roundings)
    said = reasons(found)
    assert [(SILENT, SILENT, True)] * 2 == [(*said[name][:2], "not sharp enough" in said[name][2]) for name in ORACLES]
    assert ("accused", WRONG) == (found.who, said["reference in float64"][0])


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


def test_the_first_wrong_node_is_named() -> None:
    assert accused("sin-x-sign", SIN).node == "step 1 (op:sin): what arrives at s is right, what leaves for e is not"


NEGATED = Case(
    (X,), (Op("neg", ("x",), ("w",)), Op("tanh", ("w",), ("s",)), Op("sum", ("s",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",)))
)


def a_column(right: Any, *given: Any) -> Any:
    return OPS["unsqueeze"](right(*given), axis=-1)


def test_the_rule_from_which_on_a_gradient_has_the_wrong_shape_is_named() -> None:
    found = blame(NEGATED, WrongEngine("columns", rule_fault("neg", 0, a_column)))
    assert found is not None
    assert found.node == "step 0 (op:neg): what arrives at w is right, what leaves for x is not"


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


CURVED = ("mul", "div", "sin", "tanh", "sigmoid")
ORDER_2 = [m for op in map(OPS.get, CURVED) if isinstance(op, Primitive) for m in mutants_of(op) if m.kind is Kind.SECOND]
SEEN = [m for m in ORDER_2 if m.id != "sin-x-constant_cotangent"]  # of which nothing shows in this case


def second_of(op: str) -> Case:
    """Return a second derivative through an op of one operand, or of two."""
    operands = ("e", "x") if op in ("mul", "div") else ("e",)
    return Case(
        (X,),
        (
            Op("exp", ("x",), ("e",)),
            Op(op, operands, ("s",)),
            Op("sum", ("s",), ("z",), TOTAL),
            Grad(("z",), ("x",), ("g",), create_graph=True),
            Op("square", ("g",), ("q",)),
            Op("sum", ("q",), ("y",), TOTAL),
            Grad(("y",), ("x",), ("h",)),
        ),
    )


@pytest.mark.parametrize("mutant", SEEN, ids=lambda mutant: mutant.id)
def test_the_rule_whose_derivative_is_wrong_is_named_at_order_2(mutant: Mutant) -> None:
    _, operand, _ = mutant.id.split("-")
    assert f"the rule of {mutant.part} (step 1) for its operand {operand}" in accused(mutant.id, second_of(mutant.part)).node


def test_of_one_step_no_use_need_be_told_from_another() -> None:
    squared = Case((X,), (Op("mul", ("x", "x"), ("v",)), Op("sum", ("v",), ("z",), TOTAL), Backward(("z",))))
    found = by_engine_without(("op:clone", "op:mul_scalar"), "mul-x-sign", squared)
    assert found.node == "step 0 (op:mul): what arrives at v is right, what leaves for x is not"


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        (("op:clone",), "the rule of mul (step 1) for its operand x"),
        (("op:clone", "op:mul_scalar"), "it needs copies, for which the engine has no op"),
    ],
)
def test_an_engine_that_cannot_clone_has_its_rule_named_at_order_2_if_it_can_copy(lacking: tuple[str, ...], said: str) -> None:
    assert said in by_engine_without(lacking, "mul-x-half_linked", second_of("mul")).node


@pytest.mark.parametrize(
    ("name", "case", "op"),
    [
        ("sin-x-sign", SIN, "sin"),
        ("tanh-x-sign", FANNED_OUT, "tanh"),
        ("mul-x-half_linked", second_of("mul"), "mul"),
        ("dropped_fan_out", FANNED_OUT, ""),
        ("dropped_accumulation", SUMMED, ""),
    ],
)
def test_a_node_has_an_op_where_it_is_the_rule_of_one(name: str, case: Case, op: str) -> None:
    engine = mutant(name).open()
    promise = Promise(case, engine.info)
    found = Comparer(promise).run(engine.run(case)).mismatch
    assert found is not None
    assert op == first_node(promise, engine, found).op


class TwiceWrong(WrongEngine):
    """Wrong in its numbers at ``exp`` and, farther from the root, in a shape or a dtype at ``tanh``; or in one of these."""

    def __init__(self, *wrong: str) -> None:
        super().__init__("twice wrong")
        self.wrong = wrong

    def run(self, case: Case) -> Outcome:
        """Run the case by wrong rules."""
        with ExitStack() as stack:
            if "numbers" in self.wrong:
                stack.enter_context(replaced_rule(OPS["exp"], 0, lambda rule: lambda *given: -rule(*given)))
            if "shape" in self.wrong:
                stack.enter_context(replaced_rule(OPS["tanh"], 0, lambda rule: lambda *given: rule(*given)[np.newaxis]))
            if "dtype" in self.wrong:
                stack.enter_context(replaced_rule(OPS["tanh"], 0, lambda rule: lambda *given: cast(rule(*given), dtype="float64")))
            return super().run(case)


@pytest.mark.parametrize(
    ("wrong", "op"),
    [(("numbers", "shape"), "tanh"), (("numbers",), "exp"), (("shape",), "tanh"), (("numbers", "dtype"), "tanh")],
    ids=["both", "numbers", "shape", "numbers and dtype"],
)
def test_a_node_is_named_by_a_difference_of_the_kind_that_is_looked_into(wrong: tuple[str, ...], op: str) -> None:
    chain = Op("tanh", ("x",), ("y",)), Op("exp", ("y",), ("e",)), Op("sum", ("e",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))
    engine, case = TwiceWrong(*wrong), Case((X,), chain)
    promise = Promise(case, engine.info)
    found = Comparer(promise).run(engine.run(case)).mismatch
    assert found is not None
    assert op == first_node(promise, engine, found).op


def test_it_is_named_with_respect_to_what_it_is_wrong() -> None:
    assert accused("mul-x-half_linked", second_of("mul")).node == (
        "step 3 (grad): the derivative of the rule of mul (step 1) for its operand x, with respect to the operand y"
    )


IN_CUSTOM = Case(
    (X,),
    (
        Custom(
            ("x", "x"),
            ("u", "v"),
            (Op("square", ("x",), ("f",)),),
            ("f", "x"),
            ("c", "d"),
            ("t", None),
            (Op("mul", ("c", "x"), ("b",)), Op("add", ("b", "d"), ("a",)), Op("mul", ("a", "f"), ("m",)), Op("tanh", ("m",), ("t",))),
            ("x", "f"),
        ),
        Op("square", ("u",), ("s",)),
        Grad(("s",), ("x",), ("g",), ("x",), create_graph=True),
        Grad(("g",), ("x",), ("h",), ("x",)),
    ),
)
"""A custom function of two results, of which one is used; its rule has what is saved, a result and a cotangent of zeros."""


def test_an_op_in_the_rule_of_a_custom_function_is_named_at_order_2() -> None:
    assert accused("tanh-x-sign", IN_CUSTOM).node == (
        "step 2 (grad): the derivative of tanh in the rule of the custom function (step 0), with respect to its operand m"
    )


def test_a_derivative_through_a_custom_function_is_written_out_with_the_same_value() -> None:
    written = unrolled(IN_CUSTOM, 2, frozenset("xuvsg"), COPIED)
    was, now = (Promise(c, INFO).outcome.observations[n].values[0].array for c, n in ((IN_CUSTOM, 3), (written.case, written.moved[3])))  # type: ignore[union-attr]
    assert was == pytest.approx(now, rel=1e-6)


ASKED_ON_THE_WAY = Case(
    (X,),
    (
        Custom(("x",), ("u",), (Op("clone", ("x",), ("f",)),), ("f",), ("c",), ("t",), (Op("tanh", ("c",), ("t",)),)),
        Op("square", ("u",), ("v",)),
        Grad(("v",), ("x", "u"), ("g", "k"), ("x",), create_graph=True),
        Op("mul", ("g", "k"), ("w",)),
        Grad(("w",), ("x",), ("h",), ("x",)),
    ),
)
"""The gradient in a value that was made is what the rest of its pass begins with: of what arrives at it, a part comes from there."""


def test_what_a_gradient_that_was_asked_for_on_the_way_contributes_is_not_blamed_on_another_use() -> None:
    assert accused("tanh-x-sign", ASKED_ON_THE_WAY).node == (
        "step 2 (grad): the derivative of tanh in the rule of the custom function (step 0), with respect to its operand c"
    )


def test_a_cotangent_that_vanishes_may_be_absent_while_another_one_is_found_to_be_wrong() -> None:
    zeros, one = (Value(np.full(2, number), False) for number in (0.0, 1.0))
    promised = (Event("watch_a", zeros, False), Event("watch_b", one, False))
    seen = (Event("watch_b", one, False), Event("watch_c", None, False), Event("watch_d", one, False))
    aligned = but_for_zeros(*(Outcome([Computed((), events=events)], ()) for events in (seen, promised)), 0)
    assert [event.name for event in aligned.observations[0].events] == ["watch_a", "watch_b", "watch_d"]  # type: ignore[union-attr]


MADE_LEAF = Case(
    (msgspec.structs.replace(X, differentiable=False),),
    (
        Op("getitem_reversed", ("x",), ("l",), {"axis": 0}),
        SetRequiresGrad("l", True),
        Op("mul", ("l", "l"), ("y",)),
        Backward(("y",), ("x",)),
    ),
)


def test_the_rule_that_a_leaf_gets_a_wrong_gradient_from_is_named_if_the_leaf_was_made() -> None:
    assert accused("mul-x-sign", MADE_LEAF).node == "step 2 (op:mul): what arrives at y is right, what leaves for l is not"


def test_an_update_in_place_of_what_a_call_does_not_go_through_hides_no_node() -> None:
    beside = (Op("clone", ("x",), ("c",)), InPlace("mul_scalar", "c", (), {"other": 2.0}))
    assert accused("sin-x-sign", msgspec.structs.replace(SIN, steps=(*beside, *SIN.steps))).node.startswith("step 3 (op:sin)")


THIRD = Case(
    (X,),
    (
        Op("tanh", ("x",), ("s",)),
        Grad(("s",), ("x",), ("g",), ("x",), create_graph=True),
        Grad(("g",), ("x",), ("h",), ("x",), create_graph=True),
        Op("square", ("h",), ("q",)),
        Grad(("q",), ("x",), ("i",), ("x",)),
    ),
)


def test_a_pass_that_is_not_taken_apart_says_why() -> None:
    with pytest.raises(UnrolledError, match="it is a derivative of a derivative"):
        unrolled(THIRD, 2, frozenset("xsg"), COPIED)


@pytest.mark.parametrize(("fault", "case", "came"), [("dropped_accumulation", SUMMED, "; added 0"), ("sin-x-sign", SIN, "; got ")])
def test_the_oracle_says_of_a_grad_that_accumulates_what_the_call_added(fault: str, case: Case, came: str) -> None:
    assert [True] == [came in vote.reason for vote in accused(fault, case).votes if vote.voter == ORACLES[0]]


def test_a_derivative_written_out_has_the_same_value() -> None:
    case = second_of("mul")
    written = unrolled(case, 3, frozenset("xeszg"), COPIED)
    was, now = (Promise(c, INFO).outcome.observations[n].values[0].array for c, n in ((case, 6), (written.case, written.moved[6])))  # type: ignore[union-attr]
    assert was == pytest.approx(now, rel=1e-5)


def test_a_wrong_accumulation_is_named_and_no_op() -> None:
    assert accused("dropped_accumulation", SUMMED).node == "the accumulation into x.grad: the cotangent that arrives is right"


def test_the_place_of_a_refusal_is_the_step_itself() -> None:
    case = Case((X,), (Op("sin", ("x",), ("s",)), Op("sum", ("s",), ("z",), TOTAL), Backward(("z",)), Backward(("z",))))
    assert accused("freed_graph_unnoticed", case).node == "step 3 (backward): whether it is refused, and how"


def test_a_blame_is_written_in_words() -> None:
    text = blame_text(Blame("accused", (Vote("v", Opinion.WRONG, Opinion.RIGHT, "r"),), "n"))
    assert ["blame: the engine is wrong", "place: n", "vote of v: engine wrong, reference right (r)"] == text


ORACLE = "numerical derivative of the reference's forward"


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([("a", WRONG, RIGHT), (ORACLE, WRONG, RIGHT)], "accused"),
        ([("a", WRONG, RIGHT), ("b", RIGHT, WRONG)], "unclear"),
        ([("a", SILENT, SILENT)], "unclear"),
        ([("a", WRONG, RIGHT), (ORACLE, RIGHT, WRONG)], "reference"),
        ([("a", WRONG, RIGHT), (ORACLE, WRONG, WRONG)], "reference"),
        ([("a", RIGHT, WRONG), (ORACLE, WRONG, RIGHT)], "accused"),
        ([("a", RIGHT, WRONG), (ORACLE, WRONG, SILENT)], "unclear"),
        ([(LAW_ITSELF, WRONG, RIGHT)], "accused"),
        ([(LAW_ITSELF, WRONG, WRONG)], "reference"),
    ],
)
def test_the_oracle_outweighs_all_others(votes: list[tuple[str, Opinion, Opinion]], expected: str) -> None:
    assert expected == who([Vote(*vote, "") for vote in votes])


@pytest.fixture
def wrong_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the reference, and with it every engine made of it, a wrong rule of sin."""
    monkeypatch.setattr(OPS["sin"], "rules", [lambda g, _out, _x: OPS["neg"](g)])


@pytest.mark.usefixtures("wrong_reference")
def test_a_wrong_reference_that_agrees_with_a_wrong_engine_is_seen_by_the_audit() -> None:
    said = audit(Promise(SIN, INFO))
    assert said is not None
    assert said.startswith("step 4: the reference gives the gradient of x the slope ")


@pytest.mark.usefixtures("wrong_reference")
def test_a_wrong_reference_that_agrees_with_a_wrong_engine_makes_the_run_a_fault_of_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.campaign.worker.is_due", lambda _: True)
    tally = Tally(["correct"])
    tally.add(run_case(SIN, [correct()]))
    assert tally.verdict()[0] == "suite_error"


def test_a_finding_that_blames_the_reference_makes_the_run_a_fault_of_the_suite() -> None:
    tally = Tally([], wrong_references=["torch-1"])
    assert ("suite_error", ["torch-1: the numerical oracle contradicts the reference"]) == tally.verdict()


def test_the_audit_says_nothing_of_a_root_that_is_held_constant() -> None:
    call = Grad(("s", "z"), ("x",), ("g",), no_grad_vars=("z",))  # z brings its own seed all the same
    case = Case((Input("x", (), (0.5,)),), (Op("sin", ("x",), ("s",)), Op("exp", ("s",), ("z",)), call))
    assert audit(Promise(case, replace(INFO, dialect=PADDLE, not_offered=PADDLE.not_offered))) is None


@pytest.mark.parametrize("case", [SIN, TWICE, SUMMED], ids=["first order", "second order", "accumulated"])
def test_the_audit_finds_nothing_wrong_with_a_right_reference(case: Case) -> None:
    assert audit(Promise(case, INFO)) is None


def derived(case: Case, number: int, name: str) -> float:
    return slope(Promise(case, INFO), number, name, np.array([1.0, 0.0, 0.0])).value


def test_the_oracle_knows_a_gradient_from_forwards() -> None:
    case = Case((X,), (Op("square", ("x",), ("q",)), Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))))
    assert derived(case, 2, "x") == pytest.approx(0.2, abs=1e-8)


def test_the_oracle_holds_a_detached_value_constant() -> None:
    steps = (Detach("x", ("d",)), Op("mul", ("x", "d"), ("q",)), Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",)))
    assert derived(Case((X,), steps), 3, "x") == pytest.approx(0.1, abs=1e-8)


def test_the_oracle_is_silent_where_a_formula_decides_what_a_derivative_depends_on() -> None:
    case = Case(
        (X,), (Op("exp", ("x",), ("e",)), Grad(("e",), ("x",), ("g",), ("x",), create_graph=True), Grad(("g",), ("e",), ("h",), ("x",)))
    )
    with pytest.raises(SilentError, match="how its formula is written"):
        slope(Promise(case, INFO), 2, "e", np.ones(3))


def test_the_oracle_is_silent_about_a_leaf_that_the_call_holds_constant() -> None:
    case = Case((X,), (Op("square", ("x",), ("q",)), Grad(("q",), ("x",), ("g",), no_grad_vars=("x",), allow_unused=True)))
    with pytest.raises(SilentError, match="autograd holds x constant"):
        slope(Promise(case, INFO), 1, "x", np.ones(3))


def test_the_oracle_is_silent_about_an_input_that_needs_no_gradient() -> None:
    inputs = (X, Input("s", (3,), (1.0, 2.0, 3.0), differentiable=False))
    again = Grad(("g",), ("s",), ("h",), ("x",), allow_unused=True)
    case = Case(inputs, (Op("square", ("x",), ("q",)), Grad(("q",), ("x",), ("g",), ("s",), create_graph=True), again))
    with pytest.raises(SilentError, match="autograd holds s constant"):
        slope(Promise(case, INFO), 2, "s", np.ones(3))


def test_the_oracle_is_silent_where_a_variance_is_less_than_a_bound_that_its_derivative_ignores() -> None:
    steps = (Op("gaussian_nll_loss", ("x", "x", "x"), ("y",), {"eps": 0.5, "reduction": "none"}), Grad(("y",), ("x",), ("g",), ("x",)))
    with pytest.raises(SilentError, match="its derivative ignores"):
        slope(Promise(Case((X,), steps), INFO), 1, "x", np.ones(3))


def test_the_oracle_is_not_sharp_at_a_kink() -> None:
    case = Case((Input("x", (1,), (0.0,)),), (Op("abs", ("x",), ("a",)), Grad(("a",), ("x",), ("g",))))
    assert slope(Promise(case, INFO), 1, "x", np.ones(1)).error == np.inf


@pytest.mark.parametrize(
    "step",
    [Hook("x", ("k",), "scaled", factor=2.0), InPlace("mul_scalar", "q", (), {"other": 2.0})],
    ids=["a hook that answers", "an in-place update"],
)
def test_the_oracle_is_silent_where_a_gradient_is_no_matter_of_forwards(step: Any) -> None:
    case = Case((X,), (Op("square", ("x",), ("q",)), step, Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))))
    with pytest.raises(SilentError, match="no matter of forwards"):
        slope(Promise(case, INFO), 3, "x", np.ones(3))


def test_a_dump_has_no_cotangent_and_says_so() -> None:
    dumped = Mismatch(1, "value", "event", "right", "wrong", DOT, DOT, 0, np.array([1, 1]), np.array([1, 2]))
    case = Case((X,), (Op("square", ("x",), ("q",)), Backward(("q",), dump_backward_graph=True)))
    engine = WrongEngine("correct", dialect=PADDLE)
    assert "not named: what is dumped are no cotangents" == first_node(Promise(case, engine.info), engine, dumped).words


def test_the_oracle_is_silent_where_a_replaced_gradient_does_not_show_whether_a_call_reached_it() -> None:
    case = Case(
        (X,), (Op("square", ("x",), ("q",)), RetainGrad("q"), Op("sum", ("q",), ("z",), TOTAL), Backward(("z",)), Backward(("x",)))
    )
    ones, twos = np.ones(3, np.float32), np.full(3, 2, np.float32)
    aliased = Mismatch(4, "value", "grad", "right", "wrong", "q.grad", "q", case.watched.index("q"), ones, twos)
    engine = WrongEngine("correct", dialect=PADDLE)
    outcome = engine.run(case)
    with pytest.raises(SilentError, match="replaced"):
        _gradient(Dispute(Promise(case, engine.info, outcome), engine, outcome, aliased))


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
    monkeypatch.setattr("conformance.campaign.explain.blame", lambda *_: 1 / 0)
    found = blame_case((SIN,), "reference", ())
    assert found is not None
    assert ("unclear", True) == (found.who, "the vote failed: ZeroDivisionError" in found.node)


def test_what_a_refused_call_leaves_behind_comes_of_no_node() -> None:
    hooked = (Op("square", ("x",), ("y",)), RetainGrad("y"), Hook("x", ("h",), returns="error"), Backward(("y",), ("s",)))
    case = Case((X, Input("s", (3,), (1.0, 2.0, 3.0), differentiable=False)), hooked)
    engine = correct()
    lost = Mismatch(3, "absence", "grad", "absent", "present", "y.grad", "y")
    assert "step 3 (backward): what a refused call leaves behind" == first_node(Promise(case, engine.info), engine, lost).words

"""The blame of a wrong number names the rule, the operand and the order that it begins at."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Event, Outcome, Value
from conformance.case.steps import Backward, Custom, Grad, Hook, InPlace, Op, RetainGrad, SetRequiresGrad
from conformance.compare.compare import Comparer
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.judge.blame import blame
from conformance.judge.hook_probes import but_for_zeros
from conformance.judge.leaf_probes import MOST, NOT_THE_FIRST, TOO_MANY
from conformance.judge.localisation import first_node
from conformance.judge.unrolling import UnrolledError, copying, unrolled
from conformance.mutants.conditional.carried import carried
from conformance.mutants.conditional.fault import ConditionalFault
from conformance.mutants.mutant import Kind
from conformance.mutants.registry import mutant, mutants_of
from conformance.mutants.wrong_rule import rule_fault
from reference_impl import OPS, TORCH
from reference_impl.primitives.promotion import cast
from reference_impl.tape.primitive import Primitive
from reference_impl.tape.rules import replaced_rule
from tests.conformance.engines import INFO, TOTAL
from tests.wrong_engines import WrongEngine, correct

if TYPE_CHECKING:
    from conformance.judge.dispute import Blame
    from conformance.mutants.mutant import Mutant
from tests.conformance.blamed import SIN, SUMMED, X, accused

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


def test_the_rule_that_is_wrong_in_a_batch_is_named_where_hooks_show_nothing_of_one() -> None:
    engine = carried("torch", "torch", ConditionalFault("sum", "float32", "its gradients have the wrong sign"))
    inputs = (Input("x", (2,), (0.5, 2.0)), Input("s", (1,), (1.0,), differentiable=False))
    steps = (
        Op("mul_scalar", ("x",), ("y",), {"other": 2.0}),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",), ("s",), is_grads_batched=True),
    )
    found = blame(Case(inputs, steps), engine)
    assert found is not None
    assert "step 1 (op:sum): what arrives at z is right, what leaves for y is not" == found.node


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


def test_what_a_refused_call_leaves_behind_comes_of_no_node() -> None:
    hooked = (Op("square", ("x",), ("y",)), RetainGrad("y"), Hook("x", ("h",), returns="error"), Backward(("y",), ("s",)))
    case = Case((X, Input("s", (3,), (1.0, 2.0, 3.0), differentiable=False)), hooked)
    engine = correct()
    lost = Mismatch(3, "absence", "grad", "absent", "present", "y.grad", "y")
    assert "step 3 (backward): what a refused call leaves behind" == first_node(Promise(case, engine.info), engine, lost).words

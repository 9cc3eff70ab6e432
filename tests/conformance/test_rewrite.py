"""Edits of scripts, and what they must not forget."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.case.case import Case, Input
from conformance.case.files import check
from conformance.case.rewrite import (
    bypass,
    bypass_inside,
    cut,
    dead_branch,
    detach_uses,
    in_dtypes,
    interpose,
    out_of_place,
    pass_by,
    prune,
    rename,
    replace_step,
    shorten,
    with_single_numbers,
    without_asked,
    without_constant,
    without_constants,
    without_root,
    without_seed,
    without_seeds,
)
from conformance.case.steps import AppendBackward, Backward, Custom, Detach, Edge, Grad, Hook, InPlace, Op
from conformance.ops.dtypes import DOUBLE, SINGLE

X = Input("x", (2,), (1.5, 2.5))
SQUARE = Op("square", ("x",), ("y",))
PRODUCT = Op("mul", ("y", "x"), ("z",))
TOTAL = Op("sum", ("z",), ("s",), {"axis": None, "keepdims": False})
CASE = Case((X,), (SQUARE, PRODUCT, TOTAL, Backward(("s",))))
CUSTOM = Custom(
    ("y", "x"),
    ("z",),
    forward=(Op("neg", ("y",), ("f0",)), Op("mul", ("f0", "x"), ("f1",))),
    outputs=("f1",),
    cotangents=("c0",),
    gradients=("b0", "y"),
    backward=(Op("mul", ("c0", "f0"), ("b0",)),),
    saved=("f0", "y"),
)


def test_renaming_reaches_what_a_step_uses_and_what_it_makes() -> None:
    assert Op("mul", ("a", "x"), ("b",)) == rename(PRODUCT, {"y": "a", "z": "b"})


def test_renaming_leaves_what_is_not_passed_and_what_is_absent() -> None:
    call = Grad(("z", "s"), ("x",), ("g",), (None, "y"))
    assert Grad(("z", "s"), ("x",), ("g",), (None, "a")) == rename(call, {"y": "a"})


def test_renaming_reaches_a_name_that_stands_alone() -> None:
    assert Hook("a", ("h",), "tensor", tensor_returned="b") == rename(
        Hook("y", ("h",), "tensor", tensor_returned="z"), {"y": "a", "z": "b"}
    )


def test_renaming_enters_custom_functions() -> None:
    renamed = rename(CUSTOM, {"y": "a"})
    check(Case((X, Input("a", (2,), (1.0, 2.0))), (renamed,)))
    assert (("a", "x"), ("a",), ("f0", "a"), ("b0", "a")) == (
        renamed.operands,
        renamed.forward[0].operands,
        renamed.saved,
        renamed.gradients,
    )


def test_two_values_of_one_name_are_saved_once() -> None:
    both = rename(CUSTOM, {"y": "f0"})
    assert both.saved == ("f0",)


def test_pruning_takes_what_lost_an_operand_and_the_inputs_that_nobody_uses() -> None:
    lonely = Input("w", (2,), (0.0, 0.0))
    assert Case((X,), (SQUARE,)) == prune(Case((X, lonely), (SQUARE, TOTAL, Backward(("s",)))))


def test_a_step_that_is_taken_out_leaves_the_others_in_their_order() -> None:
    assert (SQUARE, TOTAL, Backward(("s",))) == replace_step(CASE, 1).steps


def test_a_cut_value_is_an_input() -> None:
    value = Input("y", (2,), (2.25, 6.25))
    case = cut(CASE, [0], [value])
    check(case)
    assert ((X, value), CASE.steps[1:]) == (case.inputs, case.steps)


def test_ops_in_a_row_are_left_out_together() -> None:
    chain = Case((X,), (SQUARE, Op("neg", ("y",), ("z",)), TOTAL))
    assert (Op("sum", ("x",), ("s",), TOTAL.attrs),) == bypass(chain, [0, 1]).steps


def test_an_op_that_is_left_out_before_a_custom_function_leaves_a_valid_script() -> None:
    case = bypass(Case((X,), (SQUARE, CUSTOM)), [0])
    check(case)
    assert ("x", "x") == case.steps[0].operands  # type: ignore[union-attr]


def test_any_operand_may_stand_for_the_result_of_a_step() -> None:
    assert (SQUARE, Op("sum", ("x",), ("s",), TOTAL.attrs), Backward(("s",))) == pass_by(CASE, 1, "x").steps


def test_a_tensor_stands_for_its_edge_in_the_calls() -> None:
    case = Case((X,), (SQUARE, Edge("y", ("e",)), Backward(("e",), inputs=("x",))))
    assert (SQUARE, Backward(("y",), inputs=("x",))) == pass_by(case, 1, "y").steps


def test_what_is_computed_out_of_place_takes_the_place_of_the_tensor_from_there_on() -> None:
    written = InPlace("mul", "y", ("x",), no_grad=True)
    case = Case((X,), (SQUARE, Op("neg", ("y",), ("n",)), written, Backward(("y",))))
    other = out_of_place(case, 2, written)
    check(other)
    assert (*case.steps[:2], Op("mul", ("y", "x"), ("y_2",), no_grad=True), Backward(("y_2",))) == other.steps


WIDE = Case(
    (Input("a", (2, 3), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)), Input("b", (3,), (7.0, 8.0, 9.0))),
    (Op("expand", ("b",), ("c",), {"shape": [2, 3]}), Op("add", ("a", "c"), ("y",))),
)


@pytest.mark.parametrize(
    ("length", "shapes", "named"),
    [(2, [(2, 2), (2,)], [2, 2]), (1, [(2, 1), (1,)], [2, 1]), (None, [(2,), ()], [2])],
)
def test_an_axis_is_shortened_or_taken_away_in_all_inputs_and_where_an_op_names_it(
    length: int | None, shapes: list[tuple[int, ...]], named: list[int]
) -> None:
    shorter = shorten(WIDE, lambda shape: [len(shape) - 1], length)
    check(shorter)
    assert (shapes, {"shape": named}) == ([i.shape for i in shorter.inputs], shorter.steps[0].attrs)  # type: ignore[union-attr]


def test_of_an_axis_that_is_shortened_the_first_elements_stay() -> None:
    assert (1.0, 2.0, 4.0, 5.0) == shorten(WIDE, lambda shape: [len(shape) - 1], 2).inputs[0].data


def test_an_axis_that_is_shorter_already_stays() -> None:
    assert WIDE == shorten(WIDE, lambda shape: range(len(shape)), 4)


def test_an_op_inside_a_custom_function_is_left_out() -> None:
    less = bypass_inside(CUSTOM, CUSTOM.forward[0])
    check(Case((X,), (SQUARE, less)))
    assert (Op("mul", ("y", "x"), ("f1",)),) == less.forward


def test_a_detached_use_leaves_the_other_uses() -> None:
    case = detach_uses(Case((X,), (Op("mul", ("x", "x"), ("y",)),)), [(0, "operands", 1)])
    check(case)
    fresh = case.steps[0].results[0]  # type: ignore[union-attr]
    assert (Detach("x", (fresh,)), Op("mul", ("x", fresh), ("y",))) == case.steps


def test_uses_at_one_position_of_two_fields_are_both_detached() -> None:
    case = Case((X,), (Grad(("x",), ("x",), ("g",), ("x",)),))
    check(detach_uses(case, [(0, "outputs", 0), (0, "grad_outputs", 0)]))


@pytest.mark.parametrize(("name", "place"), [("x", 0), ("y", 1), ("z", 2)])
def test_an_interposed_step_stands_behind_the_value_and_before_all_its_uses(name: str, place: int) -> None:
    steps = interpose(CASE.steps, name, Detach(name, ("d",)))
    check(Case((X,), steps))
    assert (Detach(name, ("d",)), False) == (steps[place], any(name in s.operands for s in steps[place + 1 :] if isinstance(s, Op)))


def test_nobody_uses_a_dead_branch() -> None:
    case = replace_step(CASE, 0, SQUARE, dead_branch("y", "dead"))
    check(case)
    assert CASE == prune(replace_step(case, 1))


def test_a_wider_input_has_the_elements_that_it_had() -> None:
    case = Case((Input("x", (1,), (0.1,)),), ())
    (wide,) = in_dtypes(case, DOUBLE).inputs
    assert ("float64", float(np.float32(0.1))) == (wide.dtype, wide.array()[0])


def test_an_input_whose_dtype_has_no_other_stays() -> None:
    assert CASE == in_dtypes(CASE, SINGLE)


@pytest.mark.parametrize(
    "step",
    [
        Op("mul_scalar", ("x",), ("y",), {"other": 0.1}),
        InPlace("mul_scalar", "x", (), {"other": 0.1}),
        Custom(("x",), ("y",), (Op("mul_scalar", ("x",), ("f",), {"other": 0.1}),), ("f",), ("c",), (None,)),
    ],
)
def test_single_numbers_are_rounded_wherever_an_op_stands(step: Op | InPlace | Custom) -> None:
    (rounded,) = with_single_numbers(Case((X,), (step,))).steps
    op = rounded.forward[0] if isinstance(rounded, Custom) else rounded
    assert float(np.float32(0.1)) == op.attrs["other"]  # type: ignore[union-attr]


def test_the_numbers_of_some_ops_alone_can_be_rounded() -> None:
    steps = (Op("mul_scalar", ("x",), ("y",), {"other": 0.1}), Op("add_scalar", ("y",), ("z",), {"other": 0.1}))
    rounded = with_single_numbers(Case((X,), steps), ("add_scalar",))
    assert [0.1, float(np.float32(0.1))] == [step.attrs["other"] for step in rounded.steps if isinstance(step, Op)]


@pytest.mark.parametrize(
    ("call", "fewer"),
    [
        (Grad(("y", "z"), ("x",), ("g",), ("s", "t")), Grad(("y",), ("x",), ("g",), ("s",))),
        (Backward(("y", "z"), ("s", "t")), Backward(("y",), ("s",))),
        (Backward(("y", "z"), grad_variables=("s", "t")), Backward(("y",), grad_variables=("s",))),
        (Backward(("y", "z")), Backward(("y",))),
    ],
)
def test_a_root_takes_its_seed_with_it(call: Grad | Backward, fewer: Grad | Backward) -> None:
    assert fewer == without_root(call, 1)


def test_a_seed_is_taken_from_the_field_in_which_it_stands() -> None:
    call = Backward(("y", "z"), grad_variables=("s", "t"))
    assert Backward(("y", "z"), grad_variables=("t",)) == without_seed(call, 0)


def test_seeds_are_taken_from_every_field() -> None:
    assert Backward(("y",)) == without_seeds(Backward(("y",), grad_variables=("s",)))


@pytest.mark.parametrize(
    ("call", "fewer"),
    [
        (Grad(("z",), ("x", "y"), ("g", "h")), Grad(("z",), ("y",), ("h",))),
        (Backward(("z",), inputs=("x", "y")), Backward(("z",), inputs=("y",))),
        (AppendBackward("z", ("g", "h"), ("x", "y")), AppendBackward("z", ("h",), ("y",))),
    ],
)
def test_what_is_asked_for_takes_its_result_with_it(
    call: Grad | Backward | AppendBackward, fewer: Grad | Backward | AppendBackward
) -> None:
    assert fewer == without_asked(call, 0)


def test_a_constant_of_a_call_is_let_go() -> None:
    assert Grad(("z",), ("x",), ("g",), no_grad_vars=("y",)) == without_constant(
        Grad(("z",), ("x",), ("g",), no_grad_vars=("x", "y")), 0
    )


def test_all_constants_of_a_call_are_let_go() -> None:
    assert AppendBackward("z", ("g",)) == without_constants(AppendBackward("z", ("g",), no_grad_set=("y",)))

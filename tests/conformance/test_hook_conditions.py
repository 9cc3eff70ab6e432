"""What conditions on hooks say where one tensor has several names."""

from __future__ import annotations

import pytest

from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Hook, Op
from conformance.deviations.conditions import CONDITIONS
from tests.conformance.engines import TOTAL


@pytest.mark.parametrize(("op", "is_the_leaf"), [("positive", True), ("neg", False)])
def test_a_hook_on_what_an_op_gives_back_is_on_the_leaf_itself(op: str, is_the_leaf: bool) -> None:
    steps = (Op(op, ("x",), ("v",)), Hook("v", ("h",), "nothing"), Op("sum", ("v",), ("t",), TOTAL), Grad(("t",), ("x",), ("g",)))
    case = Case((Input("x", (2,), (1.0, 2.0)),), steps)
    assert CONDITIONS["leaf_hook_asked"].holds(case, len(steps) - 1) is is_the_leaf


@pytest.mark.parametrize(("output", "is_hooked"), [("x", True), ("p", False)])
def test_a_hook_on_a_seed_is_on_the_gradient_that_is_this_seed(output: str, is_hooked: bool) -> None:
    made = Op("mul", ("x", "y"), ("p",)), Op("exp", ("y",), ("v",)), Hook("v", ("h",), "nothing")
    gradient = Grad((output,), ("x",), ("g",), ("v",), create_graph=True)
    case = Case((Input("x", (2,), (1.0, 2.0)), Input("y", (2,), (1.0, 2.0))), (*made, gradient, Grad(("g",), ("y", "g"), ("a", "b"))))
    assert CONDITIONS["hook_on_asked"].holds(case, len(case.steps) - 1) is is_hooked


@pytest.mark.parametrize(
    ("returned", "output", "comes_by"),
    [("s", "t", True), ("r", "t", False), ("s", "u", False)],
    ids=["another shape", "the same shape", "another graph"],
)
def test_a_call_comes_by_a_hook_of_another_shape_in_its_own_graph_alone(returned: str, output: str, comes_by: bool) -> None:
    given = (
        Input("x", (2,), (1.0, 2.0)),
        Input("y", (2,), (1.0, 2.0)),
        Input("r", (2,), (1.0, 1.0)),
        Input("s", (3,), (1.0, 1.0, 1.0)),
    )
    hooked = Op("exp", ("x",), ("v",)), Hook("v", ("h",), "tensor", tensor_returned=returned), Op("sum", ("v",), ("t",), TOTAL)
    case = Case(given, (*hooked, Op("sum", ("y",), ("u",), TOTAL), Grad((output,), ("x",), ("g",), allow_unused=True)))
    assert CONDITIONS["comes_by_hook_of_another_shape"].holds(case, len(case.steps) - 1) is comes_by

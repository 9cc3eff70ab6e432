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

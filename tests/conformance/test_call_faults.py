"""Faults of a call: where each rule hands on what is right, no op is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Grad, Hook, Op
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.judge.localisation import Node, first_node
from conformance.mutants.mutant import WrongEngine, patch
from conformance.mutants.registry import mutant
from reference_impl.reverse.walk import ReversePass
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from conformance.backends import Backend

X, Y = Input("x", (2,), (0.5, 1.5)), Input("y", (2,), (2.0, 3.0))
SUM = Op("sin", ("x",), ("s",)), Op("sum", ("s",), ("z",), TOTAL)
PRODUCT = Op("mul", ("x", "y"), ("p",)), Op("sum", ("p",), ("z",), TOTAL)

_called = ReversePass._called


def _doubled(self: ReversePass, function: Any, cotangent: Any, *, arrived: bool) -> Any:
    return _called(self, function, cotangent * 2.0, arrived=arrived)


def shows_hooks_twice_as_much() -> WrongEngine:
    return WrongEngine("shows_hooks_twice_as_much", patch((ReversePass, "_called", _doubled)))


def begins(engine: Backend, *steps: Any) -> Node:
    """Return where the first difference of a script begins."""
    case = Case((X, Y), steps)
    promise = Promise(case, engine.info)
    found = Comparer(promise).run(engine.run(case)).mismatch
    assert found is not None
    return first_node(promise, engine, found)


@pytest.mark.parametrize("call", [Grad(("z",), ("x",), ("g",)), Backward(("z",))], ids=["grad", "backward"])
def test_where_a_hook_is_shown_something_else_it_is_named_and_no_op(call: Grad | Backward) -> None:
    node = begins(shows_hooks_twice_as_much(), *SUM, Hook("s", ("h",), "nothing"), call)
    assert ("", True) == (node.op, node.words.endswith("what the hook h is given; asked for s, grad answers what is right"))


def test_a_wrong_rule_that_a_hook_shows_is_named() -> None:
    assert "sin" == begins(mutant("sin-x-sign").open(), *SUM, Hook("x", ("h",), "nothing"), Grad(("z",), ("x",), ("g",))).op


def test_where_zeros_are_answered_for_what_nothing_reaches_the_call_is_named_and_no_op() -> None:
    node = begins(mutant("zeros_for_none").open(), *SUM, Grad(("z",), ("x", "y"), ("g", "h"), allow_unused=True))
    assert Node("step 2 (grad): what it answers for y, at which no cotangent arrives, as is promised") == node


def test_where_what_is_no_input_is_accumulated_into_the_call_is_named_and_no_op() -> None:
    node = begins(mutant("inputs_ignored").open(), *PRODUCT, Backward(("z",), inputs=("x",)))
    assert Node("step 2 (backward): it accumulates into y, which is not among its inputs") == node

"""Where a pass ends in an exception that nobody expected: the op whose rule raises it, or hands on a shape that fits no other rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends.calls import Calls, Spelling
from conformance.campaign.findings.triage import is_open
from conformance.campaign.records.fingerprint import Fingerprint
from conformance.case.case import Case, Input
from conformance.case.needs import BETWEEN
from conformance.case.steps import Backward, Grad, Op
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.judge.leaf_probes import MOST, TOO_MANY, refused_for
from conformance.judge.localisation import Node, first_node
from conformance.judge.unlocalised import NotAskedError
from conformance.judge.verdict import Bucket
from examples.engines.numpy_ops import NUMPY
from reference_impl import OPS, TORCH
from reference_impl.tape.rules import replaced_rule
from tests.conformance.by_differences import numbers
from tests.conformance.engines import TOTAL
from tests.wrong_engines import WrongEngine

if TYPE_CHECKING:
    from conformance.backends import Backend
    from conformance.case.outcome import Outcome

X = Input("x", (3,), (0.5, 1.5, 2.5), "float64")
FANNED_OUT = (
    Op("sin", ("x",), ("a",)),
    Op("tanh", ("x",), ("b",)),
    Op("mul", ("a", "b"), ("c",)),
    Op("exp", ("c",), ("e",)),
    Op("sum", ("e",), ("z",), TOTAL),
)
CALLS = [Backward(("z",)), Grad(("z",), ("x",), ("g",))]


def raising(*given: Any) -> Any:
    raise ValueError("operands could not be broadcast together")


def shorter(rule: Any) -> Any:
    return lambda *given: rule(*given)[:2]


class Refusing(WrongEngine):
    """An engine of which one op has another rule: one that raises what has no category, say."""

    def __init__(self, op: str, wrong: Any = lambda rule: raising, *, without: tuple[str, ...] = ()) -> None:
        super().__init__("refusing", dialect=replace(TORCH, not_offered={**TORCH.not_offered, **dict.fromkeys(without, "it is small")}))
        self.op, self.wrong = op, wrong

    def run(self, case: Case) -> Outcome:
        """Run the case by the wrong rule."""
        with replaced_rule(OPS[self.op], 0, self.wrong):
            return super().run(case)


def named(engine: Backend, *steps: Any) -> Node:
    """Return where what an engine refuses begins."""
    promise = Promise(Case((X,), steps), engine.info)
    found = Comparer(promise).run(engine.run(promise.case)).mismatch
    assert found is not None
    assert ("error", "unmapped") == (found.kind, found.actual)
    return first_node(promise, engine, found)


@pytest.mark.parametrize("op", ["sin", "tanh", "mul", "exp", "sum"])
@pytest.mark.parametrize("call", CALLS, ids=["backward", "grad"])
@pytest.mark.parametrize("without", [(), ("step:hook",)], ids=["hooks", "no hooks"])
def test_the_op_whose_rule_raises_is_named(op: str, call: Any, without: tuple[str, ...]) -> None:
    assert op == named(Refusing(op, without=without), *FANNED_OUT, call).op


@pytest.mark.parametrize("call", CALLS, ids=["backward", "grad"])
def test_the_op_that_hands_on_another_shape_is_named_and_not_the_one_whose_rule_this_does_not_fit(call: Any) -> None:
    assert "exp" == named(Refusing("exp", shorter), *FANNED_OUT, call).op


def test_an_op_whose_forward_raises_is_named() -> None:
    engine = numbers()
    engine.engine.calls = Calls(Spelling("np", NUMPY), np, {"exp": raising})  # type: ignore[attr-defined]
    assert "exp" == named(engine, *FANNED_OUT).op


def told(engine: Backend, *steps: Any) -> set[str]:
    """Return for which values alone the last of some steps is refused, or why that cannot be told."""
    promise = Promise(Case((X,), steps), engine.info)
    return refused_for(promise, len(steps) - 1, steps[-1], engine, ["e"])


def test_where_a_value_cannot_be_asked_for_alone_nothing_is_named() -> None:
    engine = Refusing("exp", without=(BETWEEN,))
    first = Grad(("z",), ("x",), ("g",), create_graph=True)
    with pytest.raises(NotAskedError):
        told(engine, *FANNED_OUT, first, Op("sum", ("g",), ("s",), TOTAL), Grad(("s",), ("x",), ("h",)))


def test_where_too_many_values_lie_on_the_way_nothing_is_named() -> None:
    chain = [Op("neg", (f"v{i}" if i else "x",), (f"v{i + 1}",)) for i in range(MOST)]
    last = Op("exp", (f"v{MOST}",), ("e",)), Op("sum", ("e",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))
    assert TOO_MANY == named(Refusing("exp"), *chain, *last).words


@pytest.mark.parametrize(("actual", "asked"), [("unmapped", True), ("not_implemented", False)])
def test_only_a_refusal_that_nobody_expected_is_asked_again_where_it_begins(actual: str, asked: bool) -> None:
    assert asked == is_open(Fingerprint("refusing", Bucket.DIVERGED, "grad", "error", "step", "computed", actual))

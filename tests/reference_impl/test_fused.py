"""Fused ops: one node each, with the derivatives and the roundings of the formula."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.case.outcome import Outcome
from conformance.compare.branches import observing
from conformance.compare.history import History, Notes
from conformance.compare.shadow_values import ShadowValues
from reference_impl import OPS, PADDLE, Program, Tensor, grad, gradients, run
from reference_impl.primitives import fused as module
from reference_impl.primitives.fused import fused
from tests.reference_impl.rule_check import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reference_impl.tape.primitive import Primitive

mul, exp, split, add, sub = (OPS[name] for name in ("mul", "exp", "split", "add", "sub"))

X = np.array([0.5, -1.25, 2.0, 0.75])


@contextmanager
def defined(formula: Callable[..., Any]) -> Iterator[Primitive]:
    """Have a fused op for the length of a block."""
    try:
        yield fused()(formula)
    finally:
        del OPS[formula.__name__]


def of_two_uses(x: Any) -> Any:
    return mul(x, exp(x))


def of_halves(x: Any) -> Any:
    a, b = split(x, sections=[2, 2], axis=0)
    return mul(exp(a), b)


def of_one_half(x: Any) -> Any:
    return exp(split(x, sections=[2, 2], axis=0)[1])


FORMULAS = (of_two_uses, of_halves, of_one_half)


def first_wrong_order(op: Any) -> int | None:
    question = ask(op, [X], [0], np.random.default_rng(0), move_seed=True)
    assert question.is_sharp
    return question.compare().first_wrong_order


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_fused_op_has_the_derivatives_of_its_formula(formula: Any) -> None:
    with defined(formula) as op:
        assert first_wrong_order(op) is None


def test_a_reverse_pass_that_keeps_the_last_of_two_contributions_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "add", lambda _, contribution: contribution)
    with defined(of_two_uses) as op:
        assert first_wrong_order(op) == 1


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_fused_op_is_one_node(formula: Any) -> None:
    with defined(formula) as op:
        x = Tensor(X, requires_grad=True)
        node = op(x).node
        assert (formula.__name__, (x,)) == (node.primitive.name, node.operands)


def test_what_a_rule_of_a_fused_op_makes_belongs_to_the_derivative_of_that_op() -> None:
    with defined(of_two_uses) as op:
        x = Tensor(X, requires_grad=True)
        (first,) = grad([op(x)], [x], [Tensor(X)], create_graph=True, dialect=PADDLE)
        assert first.node.derivative_of == ("of_two_uses", 1)


def test_a_rule_of_a_fused_op_can_be_written_into_a_program() -> None:
    def scaled(x: Any, weight: Any) -> Any:
        return mul(weight, exp(x))  # what is followed stands behind a variable that is not

    with defined(scaled) as op:
        program = Program()
        x, weight = (program.data(name, (4,), "float64", stop_gradient=False) for name in ("x", "weight"))
        (found,) = gradients(op(x, weight), x)
        (value,) = run(program, {"x": X, "weight": 2 * X}, [found])
    assert np.allclose(2 * X * np.exp(X), value)


def shadows_of(function: Callable[..., Any]) -> list[Any]:
    notes = Notes()
    with observing(notes.observe):
        made = function(X.astype(np.float32))
    return list(ShadowValues(History(Outcome([], ()), notes.applied), 4, seed=0).of(made))


def test_a_fused_op_rounds_as_its_formula_does() -> None:
    with defined(of_two_uses) as op:
        assert all(map(np.array_equal, shadows_of(of_two_uses), shadows_of(op)))


def test_a_formula_that_cancels_has_the_room_that_its_parts_need() -> None:
    def cancelling(x: Any) -> Any:
        return sub(add(x, np.float32(1000.0) * np.ones_like(x)), np.float32(1000.0) * np.ones_like(x))

    with defined(cancelling) as op:
        centre, *replicas = shadows_of(op)
    assert float(np.max(np.abs(np.stack(replicas) - centre))) > 1000 * float(np.finfo(np.float32).eps) / 8

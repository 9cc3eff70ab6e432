"""Points of the grid in which an op is met after something else: a pass, a refusal, a hook, a region of ``no_grad``, itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from conformance.backends.reference import reference
from conformance.case.outcome import Computed, Raised
from conformance.case.steps import Grad, Op
from conformance.compare.promise import Promise
from conformance.generate.grid import Point
from conformance.generate.grid.alone import LATER, OF_DERIVATIVES, alone
from conformance.judge.judgement import judged
from conformance.judge.verdict import Bucket
from conformance.mutants.conditional.carried import host_of
from conformance.mutants.conditional.chase import Pack
from conformance.mutants.conditional.fault import ConditionalFault
from conformance.ops import catalogue
from reference_impl import PADDLE, TORCH, Category

if TYPE_CHECKING:
    from conformance.case.case import Case
    from reference_impl import Dialect

DOUBLED = "its gradients are doubled"
BEFORE = (
    "the second time in a script",
    "an operand that was used before",
    "a computed operand",
    "a pass before it",
    "a refusal before it",
    "a hook before it",
    "a derivative with a graph before it",
)
"""Conditions of which no other point of the grid meets one."""


def of_call(op: str, call: str, order: str = "") -> Case:
    """Return the case of an op that is met so, of the highest order or of another one."""
    return next(Point(op, row).case() for row in alone(op) if row["call"] == call and order in ("", row["order"]))


def killed(op: str, condition: str, call: str, effect: str = DOUBLED, *, order: str = "", carrier: str = "reference") -> bool:
    """Whether the case of an op finds out an engine that is wrong there under a condition."""
    fault = ConditionalFault(op, condition, effect)
    host = host_of(carrier, fault)
    assert host is not None
    pack, case = Pack(host, [fault]), of_call(op, call, order)
    pack.run(case)
    return pack.held() == [fault.id] and judged(Promise(case, host.info), pack.run_with(fault.id, case)).bucket is Bucket.DIVERGED


@pytest.mark.parametrize(("call", "count"), [(LATER, 2), (OF_DERIVATIVES, 1)])
def test_every_op_is_met_so(call: str, count: int) -> None:
    assert dict.fromkeys(catalogue(), count) == {op: sum(row["call"] == call for row in alone(op)) for op in catalogue()}


@pytest.mark.parametrize("condition", BEFORE)
@pytest.mark.parametrize("op", ["exp", "mul", "einsum", "layer_norm"])
def test_a_fault_that_waits_for_what_came_before_is_found_out(op: str, condition: str) -> None:
    assert killed(op, condition, LATER)


@pytest.mark.parametrize("op", ["asinh", "fft", "einsum"])
def test_such_a_fault_is_found_out_where_there_is_no_second_derivative(op: str) -> None:
    assert killed(op, "a computed operand", LATER, order="1", carrier="paddle")


@pytest.mark.parametrize("op", ["log", "mul", "asinh", "conv1d"])
def test_a_fault_at_operands_that_are_derivatives_is_found_out(op: str) -> None:
    assert killed(op, "a derivative as its operand", OF_DERIVATIVES)


def test_a_second_derivative_that_is_wrong_at_computed_operands_is_found_out() -> None:
    assert killed("sigmoid", "a computed operand", LATER, "its second derivatives are wrong")


@pytest.mark.parametrize("op", ["log", "acosh", "cholesky", "mul"])
def test_operands_that_are_derivatives_have_the_numbers_that_were_drawn(op: str) -> None:
    case = of_call(op, OF_DERIVATIVES)
    halves = {entry.name.removesuffix("_half"): entry.array() for entry in case.inputs if entry.name.endswith("_half")}
    seen = reference(TORCH, TORCH.not_offered).run(case).observations
    applied = next(n for n, step in enumerate(case.steps) if isinstance(step, Op) and step.op == op)
    made = {
        step.results[0]: o.values[0].array
        for step, o in zip(case.steps[:applied], seen, strict=False)
        if isinstance(step, Grad) and isinstance(o, Computed) and o.values[0] is not None
    }
    assert {*case.steps[applied].operands} == {*made}  # type: ignore[union-attr]
    assert all(np.array_equal(2 * halves[name], array) for name, array in made.items())


@pytest.mark.parametrize("dialect", [TORCH, PADDLE], ids=lambda dialect: dialect.name)
def test_what_is_refused_is_refused_because_it_is_unused(dialect: Dialect) -> None:
    case = of_call("mul", LATER)
    refused = [o.category for o in reference(dialect, dialect.not_offered).run(case).observations if isinstance(o, Raised)]
    assert [Category.UNREACHABLE_INPUT] == refused

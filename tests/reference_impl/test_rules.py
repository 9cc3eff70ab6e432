"""Every rule of every op, to third order, against an oracle that knows no rule."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from conformance.ops import catalogue
from reference_impl import OPS
from reference_impl.tape.primitive import Primitive
from tests.reference_impl.rule_arguments import CONSTANT, operands_for
from tests.reference_impl.rule_check import HIGHEST, agrees, ask
from tests.reference_impl.rule_problems import CHECKED, DRAWN, DRAWS, NOT_DRAWN, WRITTEN, drawn_problems, random_of, written_problems

CONSTANTS = {op for op, *_ in CONSTANT}
OF_ITS_RESULT = {
    "turn_by_quotient": "copysign_by_quotient",
    "running_shares": "logcumsumexp",
    "shares_of_exponentials": "logsumexp",
    "in_units": "layer_norm_noaffine",
    "silu_pulled": "silu_by_result",
}
"""Ops that are not computed of an operand, which is a function of another one: checked in the op that makes it."""


@pytest.mark.parametrize("op", CHECKED)
def test_rules_agree_with_the_oracle_to_third_order(op: str) -> None:
    random = random_of(op)
    written = [agrees(problem, random) for problem in written_problems(op)]
    assert all(written), f"{op}: a written row lies too close to a kink"
    sharp = 0
    for problem in drawn_problems(op):
        sharp += agrees(problem, random)
        if sharp == DRAWS:
            break
    assert sharp == (DRAWS if op in DRAWN else 0)


@pytest.mark.parametrize(("op", "shapes", "attrs"), CONSTANT, ids=[op for op, *_ in CONSTANT])
def test_derivative_of_a_piecewise_constant_op_is_zero(op: str, shapes: Any, attrs: dict[str, Any]) -> None:
    random = random_of(op)
    function = functools.partial(OPS[op], **attrs)
    operands = operands_for(op, shapes, random)
    question = ask(function, operands, range(len(operands)), random, move_seed=False)
    assert question.is_sharp
    comparison = question.compare()
    assert comparison.rules == (0.0,) * HIGHEST
    assert comparison.first_wrong_order is None


def test_every_op_is_checked() -> None:
    assert set() == set(OPS) - set(CHECKED) - CONSTANTS - set(OF_ITS_RESULT), "give the op a row in rule_arguments.py"


def test_an_op_of_a_result_is_checked_where_that_is_made() -> None:
    assert set(OF_ITS_RESULT.values()) <= set(CHECKED)


def test_every_piecewise_constant_primitive_is_checked_as_one() -> None:
    selecting = {name for name, op in OPS.items() if isinstance(op, Primitive) and op.branch_sides}
    assert selecting == CONSTANTS | {"reached", "turn_by_quotient"}


def test_every_op_of_the_catalogue_is_drawn_or_excused() -> None:
    assert set(catalogue()) == DRAWN | (set(NOT_DRAWN) & WRITTEN)

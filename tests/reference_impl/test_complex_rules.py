"""The rules of every op that takes complex numbers, to third order, against an oracle that knows no rule."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from conformance.ops import catalogue
from reference_impl import OPS
from tests.reference_impl.rule_arguments import operands_for
from tests.reference_impl.rule_check import agrees
from tests.reference_impl.rule_problems import DRAWS, NOT_DRAWN, drawn_problems, random_of

BOTH = [name for name, row in catalogue().items() if row.numbers.taken == "both" and name not in NOT_DRAWN]
MIXED = [name for name, row in catalogue().items() if row.numbers.mixed]


@pytest.mark.parametrize("op", BOTH)
def test_rules_of_complex_operands_agree_with_the_oracle_to_third_order(op: str) -> None:
    random = random_of(op)
    sharp = 0
    for problem in drawn_problems(op, "complex128"):
        if any(np.iscomplexobj(operand) for operand in problem[1]):
            sharp += agrees(problem, random)
        if sharp == DRAWS:
            break
    assert sharp == DRAWS


@pytest.mark.parametrize("op", MIXED)
@pytest.mark.parametrize("real", [0, 1])
def test_rules_of_a_real_operand_beside_a_complex_one_agree_with_the_oracle(op: str, real: int) -> None:
    random = random_of(op)
    operands = operands_for("mul", ((2, 3), (3,)), random)
    operands[1 - real] = operands[1 - real] + 1j * random.uniform(0.5, 1.5, operands[1 - real].shape)
    attrs = {"mask": [True, False, True]} if op == "where" else {}
    assert agrees((functools.partial(OPS[op], **attrs), operands), random)

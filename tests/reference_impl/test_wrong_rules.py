"""Wrong rules of the mutants: the check of `test_rules` catches each, at the order at which it goes wrong."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from conformance.mutants.operators import CURVED, FIRST, LINEAR, Operator
from conformance.mutants.registry import mutant
from reference_impl import OPS
from tests.reference_impl.rule_arguments import operands_for
from tests.reference_impl.rule_check import ask, slopes_by_rules


@dataclass(frozen=True)
class Wrong:
    """A mutant with a wrong rule, the op that it is seen through, and the first order at which that op is wrong."""

    mutant: str
    order: int
    shapes: tuple[tuple[int, ...], ...] = ((2, 3),)
    attrs: dict[str, Any] = field(default_factory=dict)
    through: str | None = None
    complex: tuple[int, ...] = ()
    """The positions of the operands that are complex."""

    def operands(self) -> list[Any]:
        random = np.random.default_rng(1)
        drawn = operands_for(self.op, self.shapes, random)
        return [x + 1j * random.uniform(0.5, 1.5, x.shape) if i in self.complex else x for i, x in enumerate(drawn)]

    @property
    def op(self) -> str:
        return self.through or mutant(self.mutant).part

    def fault(self) -> Any:
        return mutant(self.mutant).fault()

    def first_wrong_order(self) -> int | None:
        """Ask for all operands together."""
        function = functools.partial(OPS[self.op], **self.attrs)
        question = ask(function, self.operands(), range(len(self.shapes)), np.random.default_rng(2), move_seed=True)
        return question.compare().first_wrong_order


WRONG = [
    # Written by hand.
    Wrong("div-x-multiplied", 1, ((2, 3), (2, 3))),
    Wrong("softmax-x-independent", 1, attrs={"axis": 1}),
    Wrong("cat-xs-starts_at_zero", 1, ((2, 3), (2, 3)), {"axis": 1}),
    Wrong("softmax-x-constant_mean", 2, attrs={"axis": 1}),
    Wrong("complex_for_real", 1, ((2, 3), (2, 3)), through="mul", complex=(1,)),
    # Each operator, at a rule that it makes wrong.
    Wrong("sin-x-sign", 1),
    Wrong("imag-x-sign", 1, complex=(0,)),
    Wrong("embedding-weight-last_wins", 1, ((3, 2),), {"index": [0, 2, 2]}),
    Wrong("tile-x-last_wins", 1, ((2, 3),), {"repeats": [2, 1]}),
    Wrong("split-x-last_part_lost", 1, ((4,),), {"sections": [2, 2], "axis": 0}),
    Wrong("stack-xs-of_the_first_operand", 1, ((2, 3), (2, 3)), {"axis": 1}),
    Wrong("permute-x-not_inverted", 1, ((3, 3, 3),), {"axes": [1, 2, 0]}),
    Wrong("cumsum-x-not_inverted", 1, ((2, 3),), {"axis": 1}),
    Wrong("mul-x-not_conjugated", 1, ((2, 3), (2, 3)), complex=(0, 1)),
    Wrong("exp-x-not_conjugated", 1, complex=(0,)),
    Wrong("matmul-x-factors_transposed", 1, ((2, 3), (3, 3))),
    Wrong("mul-y-not_summed", 1, ((2, 3), (3,))),
    Wrong("mul-x-wrong_operand", 1, ((2, 3), (2, 3))),
    Wrong("exp-x-operand_for_result", 1),
    Wrong("log-x-result_for_operand", 1),
    Wrong("sum-x-transposed", 1, ((3, 3),), {"axis": [0], "keepdims": False}),
    Wrong("flip-x-off_by_one", 1, attrs={"axis": 1}),
    Wrong("tril-x-passed_on", 1, ((3, 3),), {"diagonal": 0}),
    Wrong("transpose-x-passed_on", 1, attrs={"axis0": 0, "axis1": 1}),
    Wrong("add-x-averaged", 1, ((2, 3), (2, 3))),
    Wrong("square-x-factor", 1),
    Wrong("cos-x-half_linked", 2),
    Wrong("abs-x-half_linked", 2, complex=(0,)),
    Wrong("exp-x-constant_result", 2),
    Wrong("div-y-constant_others", 2, ((2, 3), (2, 3))),
    Wrong("mul-x-constant_operands", 2, ((2, 3), (2, 3))),
    Wrong("sin-x-constant_cotangent", 2),
    Wrong("flip-x-half_of_the_cotangent", 2, attrs={"axis": 1}),
    # What shows at an order above, through an op whose rule applies the one that is wrong.
    Wrong("cos-x-half_linked", 3, through="sin"),
    Wrong("div-y-half_linked", 3, through="log"),
]
CASES = pytest.mark.parametrize("wrong", WRONG, ids=[f"{w.mutant}-through-{w.op}" for w in WRONG])


@pytest.mark.parametrize("operator", [*FIRST, *CURVED, *LINEAR], ids=lambda operator: operator.name)
def test_every_operator_is_tried_on_a_rule(operator: Operator) -> None:
    assert [w for w in WRONG if w.mutant.endswith(f"-{operator.name}") and w.order == (1 if operator in FIRST else 2)]


@CASES
def test_wrong_rule_is_caught_at_the_order_at_which_it_goes_wrong(wrong: Wrong) -> None:
    with wrong.fault():
        assert wrong.order == wrong.first_wrong_order()


@CASES
def test_right_rule_passes_at_the_same_operands(wrong: Wrong) -> None:
    assert wrong.first_wrong_order() is None


@pytest.mark.parametrize(
    "wrong",
    [Wrong("sin-x-sign", 1), Wrong("exp-x-constant_result", 2), Wrong("cos-x-half_linked", 3, through="sin")],
    ids=lambda wrong: wrong.mutant,
)
def test_taylor_slope_falls_to_the_wrong_order(wrong: Wrong) -> None:
    with wrong.fault():
        slopes = slopes_by_rules(OPS[wrong.op], wrong.operands(), np.random.default_rng(3))
    assert slopes[wrong.order - 1] == pytest.approx(wrong.order, abs=0.3)

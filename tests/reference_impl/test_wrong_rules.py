"""Wrong rules of the mutants: the check of `test_rules` catches each, at the order at which it goes wrong."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from conformance.mutants.registry import mutants
from reference_impl import OPS
from tests.reference_impl.rule_arguments import operands_for
from tests.reference_impl.rule_check import ask, slope_by_rules


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
        return self.through or mutants()[self.mutant].part

    def fault(self) -> Any:
        return mutants()[self.mutant].fault()

    def first_wrong_order(self) -> int | None:
        """Ask for all operands together."""
        function = functools.partial(OPS[self.op], **self.attrs)
        question = ask(function, self.operands(), range(len(self.shapes)), np.random.default_rng(2), move_seed=True)
        return question.compare().first_wrong_order


WRONG = [
    Wrong("sin-x-sign", 1),
    Wrong("square-x-factor", 1),
    Wrong("mul-y-product_not_summed", 1, ((2, 3), (3,))),
    Wrong("div-x-multiplied", 1, ((2, 3), (2, 3))),
    Wrong("permute-x-not_inverted", 1, ((3, 3, 3),), {"axes": [1, 2, 0]}),
    Wrong("embedding-weight-last_row_wins", 1, ((3, 2),), {"index": [0, 2, 2]}),
    Wrong("softmax-x-independent", 1, attrs={"axis": 1}),
    Wrong("cat-xs-starts_at_zero", 1, ((2, 3), (2, 3)), {"axis": 1}),
    Wrong("split-x-last_part_lost", 1, ((4,),), {"sections": [2, 2], "axis": 0}),
    Wrong("exp-x-constant_result", 2),
    Wrong("sin-x-constant_cotangent", 2),
    Wrong("cos-x-half_linked", 2),
    Wrong("mul-x-constant_operands", 2, ((2, 3), (2, 3))),
    Wrong("softmax-x-constant_mean", 2, attrs={"axis": 1}),
    Wrong("flip-x-half_of_the_cotangent", 2, attrs={"axis": 1}),
    Wrong("cos-x-half_linked", 3, through="sin"),
    Wrong("div-y-half_linked", 3, through="log"),
    Wrong("mul-x-not_conjugated", 1, ((2, 3), (2, 3)), complex=(0, 1)),
    Wrong("exp-x-not_conjugated", 1, complex=(0,)),
    Wrong("imag-x-other_sign", 1, complex=(0,)),
    Wrong("abs-x-constant_direction", 2, complex=(0,)),
    Wrong("complex_for_real", 1, ((2, 3), (2, 3)), through="mul", complex=(1,)),
]
CASES = pytest.mark.parametrize("wrong", WRONG, ids=[f"{w.mutant}-through-{w.op}" for w in WRONG])


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
        slope = slope_by_rules(OPS[wrong.op], wrong.operands(), np.random.default_rng(3), order=wrong.order)
    assert slope == pytest.approx(wrong.order, abs=0.3)

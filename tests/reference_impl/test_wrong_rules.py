"""Rules that are wrong on purpose: the check of `test_rules` catches each, at the order at which it goes wrong."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reference_impl import OPS
from reference_impl.primitive import Primitive, array_of, shape_of
from tests.reference_impl.rule_arguments import operands_for
from tests.reference_impl.rule_check import ask, slope_by_rules

if TYPE_CHECKING:
    from collections.abc import Callable

mul, neg, cos, sin, div = (OPS[name] for name in ("mul", "neg", "cos", "sin", "div"))


def _sin_with_its_sign_flipped(g: Any, out: Any, x: Any) -> Any:
    return mul(g, neg(cos(x)))


def _square_without_its_factor(g: Any, out: Any, x: Any) -> Any:
    return mul(g, x)


def _mul_that_is_not_summed_back(g: Any, out: Any, x: Any, y: Any) -> Any:
    return mul(g, x)


def _div_by_the_wrong_operand(g: Any, out: Any, x: Any, y: Any) -> Any:
    return div(g, x)


def _permute_by_the_axes_themselves(g: Any, out: Any, x: Any, *, axes: Any) -> Any:
    return OPS["permute"](g, axes=axes)


def _embedding_that_overwrites(g: Any, out: Any, weight: Any, *, index: Any) -> Any:
    made = np.zeros(shape_of(weight))
    made[np.asarray(index)] = array_of(g)
    return made


def _softmax_of_independent_elements(g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return mul(g, mul(out, OPS["rsub_scalar"](out, other=1.0)))


def _cat_that_starts_at_zero(g: Any, out: Any, *xs: Any, axis: int, position: int) -> Any:
    return OPS["narrow"](g, axis=axis, start=0, length=shape_of(xs[position])[axis])


def _split_that_forgets_a_part(g: Any, out: Any, x: Any, *, sections: Any, axis: int) -> Any:
    return OPS["cat"](g[0], mul(g[1], np.zeros(())), axis=axis)


def _exp_with_a_constant_output(g: Any, out: Any, x: Any) -> Any:
    return mul(g, array_of(out))


def _sin_with_a_constant_cotangent(g: Any, out: Any, x: Any) -> Any:
    return mul(array_of(g), cos(x))


def _cos_with_a_constant_slope(g: Any, out: Any, x: Any) -> Any:
    return mul(g, array_of(neg(sin(x))))


def _mul_with_a_constant_factor(g: Any, out: Any, x: Any, y: Any) -> Any:
    return mul(g, array_of(y))


def _log_with_a_constant_derivative_of_its_slope(g: Any, out: Any, x: Any, y: Any) -> Any:
    return neg(mul(g, array_of(div(div(x, y), y))))


@dataclass(frozen=True)
class Wrong:
    """A wrong rule: of which primitive's operand, seen through which op, and the first order at which that op is wrong."""

    rule: Callable[..., Any]
    primitive: str
    order: int
    shapes: tuple[tuple[int, ...], ...] = ((2, 3),)
    attrs: dict[str, Any] = field(default_factory=dict)
    operand: int = 0
    through: str | None = None

    def operands(self) -> list[Any]:
        return operands_for(self.op, self.shapes, np.random.default_rng(1))

    @property
    def op(self) -> str:
        return self.through or self.primitive

    def first_wrong_order(self) -> int | None:
        """Ask for all operands together."""
        function = functools.partial(OPS[self.op], **self.attrs)
        question = ask(function, self.operands(), range(len(self.shapes)), np.random.default_rng(2), move_seed=True)
        return question.compare().first_wrong_order


WRONG = [
    Wrong(_sin_with_its_sign_flipped, "sin", 1),
    Wrong(_square_without_its_factor, "square", 1),
    Wrong(_mul_that_is_not_summed_back, "mul", 1, ((2, 3), (3,)), operand=1),
    Wrong(_div_by_the_wrong_operand, "div", 1, ((2, 3), (2, 3))),
    Wrong(_permute_by_the_axes_themselves, "permute", 1, ((3, 3, 3),), {"axes": [1, 2, 0]}),
    Wrong(_embedding_that_overwrites, "embedding", 1, ((3, 2),), {"index": [0, 2, 2]}),
    Wrong(_softmax_of_independent_elements, "softmax", 1, attrs={"axis": 1}),
    Wrong(_cat_that_starts_at_zero, "cat", 1, ((2, 3), (2, 3)), {"axis": 1}),
    Wrong(_split_that_forgets_a_part, "split", 1, ((4,),), {"sections": [2, 2], "axis": 0}),
    Wrong(_exp_with_a_constant_output, "exp", 2),
    Wrong(_sin_with_a_constant_cotangent, "sin", 2),
    Wrong(_cos_with_a_constant_slope, "cos", 2),
    Wrong(_mul_with_a_constant_factor, "mul", 2, ((2, 3), (2, 3))),
    Wrong(_cos_with_a_constant_slope, "cos", 3, through="sin"),
    Wrong(_log_with_a_constant_derivative_of_its_slope, "div", 3, operand=1, through="log"),
]


def _mul_that_does_not_conjugate(g: Any, out: Any, x: Any, y: Any) -> Any:
    return mul(g, y)


def _exp_that_does_not_conjugate(g: Any, out: Any, x: Any) -> Any:
    return mul(g, out)


def _imag_of_the_other_convention(g: Any, out: Any, x: Any) -> Any:
    return neg(OPS["from_imag"](g))


def _abs_with_a_constant_direction(g: Any, out: Any, x: Any) -> Any:
    return mul(g, array_of(OPS["sgn"](x)))


@pytest.mark.parametrize(
    ("op", "rule", "order"),
    [
        ("mul", _mul_that_does_not_conjugate, 1),
        ("exp", _exp_that_does_not_conjugate, 1),
        ("imag", _imag_of_the_other_convention, 1),
        ("abs", _abs_with_a_constant_direction, 2),
    ],
)
def test_wrong_rule_for_complex_operands_is_caught(
    op: str, rule: Callable[..., Any], order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    operands = [np.array([1.5 + 0.75j, 0.5 - 1.25j]), np.array([0.75 + 1.5j, -1.0 + 0.5j])][: len(OPS[op].operands)]  # type: ignore[attr-defined]
    question = ask(OPS[op], operands, range(len(operands)), np.random.default_rng(2), move_seed=True)
    assert question.compare().first_wrong_order is None
    monkeypatch.setattr(OPS[op], "rules", [rule, *OPS[op].rules[1:]])  # type: ignore[attr-defined]
    assert question.compare().first_wrong_order == order


def test_complex_cotangent_of_a_real_operand_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    operands = [np.array([1.5, 0.5]), np.array([0.75 + 1.5j, -1.0 + 0.5j])]
    question = ask(mul, operands, [0], np.random.default_rng(2), move_seed=True)
    monkeypatch.setattr(mul, "rules", [lambda g, out, x, y: mul(g, OPS["conj"](y)), None])
    assert question.compare().first_wrong_order == 1


CASES = pytest.mark.parametrize("wrong", WRONG, ids=[f"{w.rule.__name__.strip('_')}-through-{w.op}" for w in WRONG])


def _break(monkeypatch: pytest.MonkeyPatch, wrong: Wrong) -> None:
    primitive = OPS[wrong.primitive]
    assert isinstance(primitive, Primitive)
    rules = list(primitive.rules)
    rules[wrong.operand] = wrong.rule
    monkeypatch.setattr(primitive, "rules", rules)


@CASES
def test_wrong_rule_is_caught_at_the_order_at_which_it_goes_wrong(wrong: Wrong, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, wrong)
    assert wrong.order == wrong.first_wrong_order()


@CASES
def test_right_rule_passes_at_the_same_operands(wrong: Wrong) -> None:
    assert wrong.first_wrong_order() is None


@pytest.mark.parametrize(
    "wrong",
    [
        Wrong(_sin_with_its_sign_flipped, "sin", 1),
        Wrong(_exp_with_a_constant_output, "exp", 2),
        Wrong(_cos_with_a_constant_slope, "cos", 3, through="sin"),
    ],
    ids=lambda wrong: wrong.rule.__name__.strip("_"),
)
def test_taylor_slope_falls_to_the_wrong_order(wrong: Wrong, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, wrong)
    slope = slope_by_rules(OPS[wrong.op], wrong.operands(), np.random.default_rng(3), order=wrong.order)
    assert slope == pytest.approx(wrong.order, abs=0.3)

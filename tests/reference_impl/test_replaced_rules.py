"""Rules are replaced and looked at from outside for the length of a block, and for no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reference_impl import OPS, Tensor, grad, tensor
from reference_impl.tape.primitive import Primitive
from reference_impl.tape.rules import intercepted_rules, replaced_forward, replaced_rule
from reference_impl.tape.tensor import Mode

if TYPE_CHECKING:
    from collections.abc import Callable

sin, mul, neg, add = (OPS[name] for name in ("sin", "mul", "neg", "add"))


def slope(function: Callable[[Tensor], Tensor], at: float = 1.0) -> float:
    x = tensor(at, requires_grad=True)
    (gradient,) = grad([function(x)], [x])
    assert gradient is not None
    return float(gradient.array)


def negated(right: Any) -> Any:
    return lambda *given, **attrs: neg(right(*given, **attrs))


def test_a_replaced_rule_answers_inside_and_the_right_one_after() -> None:
    right = slope(sin)
    with replaced_rule(sin, 0, negated):  # type: ignore[arg-type]
        assert -right == slope(sin)
    assert right == slope(sin)


def test_a_replaced_forward_computes_inside_and_the_right_one_after() -> None:
    x = tensor(2.0)
    with replaced_forward(neg, lambda right: lambda x: right(x) - 1.0):  # type: ignore[arg-type]
        assert float(neg(x).array) == -3.0
    assert float(neg(x).array) == -2.0


def test_what_is_right_inside_a_block_is_what_the_block_around_it_says() -> None:
    right = slope(sin)
    with replaced_rule(sin, 0, negated), replaced_rule(sin, 0, negated):  # type: ignore[arg-type]
        assert right == slope(sin)


def test_an_op_that_shares_its_rules_keeps_the_right_ones() -> None:
    x = tensor([[1.0, 2.0]], requires_grad=True)
    reshape, view = OPS["reshape"], OPS["view"]
    with replaced_rule(reshape, 0, negated):  # type: ignore[arg-type]
        (gradient,) = grad([view(x, shape=(2,))], [x], [tensor([1.0, 1.0])])
    assert gradient is not None
    assert [[1.0, 1.0]] == gradient.array.tolist()


def test_a_rule_that_is_not_there_cannot_be_replaced() -> None:
    position = next(i for i, rule in enumerate(OPS["reached"].rules) if rule is None)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="has no vjp rule to replace"), replaced_rule(OPS["reached"], position, negated):  # type: ignore[arg-type]
        pass


def test_an_interceptor_sees_every_rule_that_is_asked_for() -> None:
    seen = []

    def noting(right: Any, primitive: Primitive, node: Any, asked: Any, *given: Any) -> Any:
        seen.append((primitive.name, *asked))
        return right(node, asked, *given)

    with intercepted_rules(noting):
        right = slope(lambda x: sin(mul(x, x)))
    assert [("sin", 0), ("mul", 0, 1)] == seen
    assert right == slope(lambda x: sin(mul(x, x)))


def test_an_interceptor_may_answer_itself() -> None:
    with intercepted_rules(lambda right, _, node, asked, *given: [(p, neg(c)) for p, c in right(node, asked, *given)]):
        wrong = slope(sin)
    assert wrong == -slope(sin)


def test_an_engine_that_nobody_asks_has_no_switch_to_look_at() -> None:
    before = Primitive.cotangents
    with intercepted_rules(lambda right, _, *given: right(*given)):
        assert Primitive.cotangents is not before
    assert Primitive.cotangents is before


@pytest.mark.parametrize("field", type(Mode).__slots__)
def test_the_mode_is_restored_whatever_an_engine_leaves_there(field: str) -> None:
    before = getattr(Mode, field)

    def fails() -> None:
        with Mode.restored():
            setattr(Mode, field, "anything")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert getattr(Mode, field) is before

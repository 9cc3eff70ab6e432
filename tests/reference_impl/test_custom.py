"""Custom functions: what the backward is given, what is differentiated again, and what is freed."""

from __future__ import annotations

from typing import Any

import pytest

from reference_impl import (
    PADDLE,
    TORCH,
    Category,
    Dialect,
    Tensor,
    apply_custom,
    backward,
    grad,
    no_grad,
    recording,
    register_hook,
    tensor,
)
from tests.reference_impl.custom_functions import add, doubled, exponential, mul, product, scaled, square, two
from tests.reference_impl.vocabulary import both, elements, leaf, refusal

# The forward.


@both
def test_the_forward_is_not_recorded(dialect: Dialect) -> None:
    seen = []
    apply_custom(lambda xs: (seen.append(recording()), (list(xs), []))[1], lambda _, cs: cs, [leaf(1.0)], dialect=dialect)
    assert seen == [False]


@both
def test_an_output_requires_a_gradient_if_an_operand_does(dialect: Dialect) -> None:
    assert product(lambda _, g: [g, g], leaf(1.0), tensor(2.0), dialect).requires_grad


@both
def test_of_constants_nothing_is_recorded(dialect: Dialect) -> None:
    assert square(tensor(1.0), dialect).node is None


@both
def test_in_a_no_grad_region_nothing_is_recorded(dialect: Dialect) -> None:
    with no_grad():
        y = square(leaf(1.0), dialect)
    assert (y.node, y.requires_grad) == (None, False)


@both
def test_an_output_that_is_an_operand_is_a_new_tensor(dialect: Dialect) -> None:
    x = leaf(3.0)
    (y,) = apply_custom(lambda xs: (xs, []), lambda _, cs: [scaled(cs[0], other=7.0)], [x], dialect=dialect)
    assert y is not x
    assert elements(grad([y], [x], dialect=dialect)[0]) == 7.0


# What the backward is given.


@both
def test_the_backward_decides_the_gradient_whatever_the_forward_computes(dialect: Dialect) -> None:
    x = leaf(3.0)
    assert elements(grad([doubled(lambda g: [scaled(g, other=-5.0)], x, dialect)], [x], dialect=dialect)[0]) == -5.0


@both
def test_an_output_that_nothing_arrived_at_counts_as_zeros(dialect: Dialect) -> None:
    x = leaf(1.0)
    assert elements(grad([two(x, dialect)[1]], [x], dialect=dialect)[0]) == 1.0


@both
def test_the_cotangents_of_all_outputs_arrive_together(dialect: Dialect) -> None:
    x = leaf(1.0)
    assert elements(grad(list(two(x, dialect)), [x], [tensor(2.0), tensor(3.0)], dialect=dialect)[0]) == 23.0


@both
def test_an_output_that_is_used_twice_has_one_cotangent(dialect: Dialect) -> None:
    x, seen = leaf(1.0), []
    y = doubled(lambda g: seen.append(elements(g)) or [g], x, dialect)
    backward([add(y, y)], dialect=dialect)
    assert seen == [2.0]


@both
def test_the_backward_runs_once_for_all_operands(dialect: Dialect) -> None:
    x, y, calls = leaf(1.0), leaf(2.0), []
    backward([product(lambda _, g: calls.append(1) or [g, g], x, y, dialect)], dialect=dialect)
    assert calls == [1]


@both
def test_the_same_tensor_as_two_operands_gets_both_gradients(dialect: Dialect) -> None:
    x = leaf(3.0)
    (dx,) = grad([product(lambda _, g: [scaled(g, other=10.0), g], x, x, dialect)], [x], dialect=dialect)
    assert elements(dx) == 11.0


@pytest.mark.parametrize("create_graph", [False, True])
@both
def test_the_backward_is_recorded_under_create_graph_alone(dialect: Dialect, create_graph: bool) -> None:
    x, modes = leaf(3.0), []
    grad([doubled(lambda g: modes.append(recording()) or [g], x, dialect)], [x], create_graph=create_graph, dialect=dialect)
    assert modes == [create_graph]


@both
def test_a_hook_on_an_output_replaces_what_the_backward_is_given(dialect: Dialect) -> None:
    x = leaf(3.0)
    y = square(x, dialect)
    register_hook(y, lambda g: scaled(g, other=10.0))
    assert elements(grad([y], [x], dialect=dialect)[0]) == 60.0


# Higher orders.


@both
def test_a_saved_operand_is_differentiated_again_and_again(dialect: Dialect) -> None:
    x = leaf(3.0)
    y = mul(square(x, dialect), x)
    (first,) = grad([y], [x], create_graph=True, dialect=dialect)
    (second,) = grad([first], [x], create_graph=True, dialect=dialect)
    (third,) = grad([second], [x], dialect=dialect)
    assert (elements(first), elements(second), elements(third)) == (27.0, 18.0, 6.0)


@both
def test_a_saved_output_is_differentiated_through_the_function_itself(dialect: Dialect) -> None:
    x = leaf(0.0)
    orders = [exponential(x, dialect)]
    for _ in range(3):
        orders.append(grad([orders[-1]], [x], create_graph=True, dialect=dialect)[0])
    assert [elements(order) for order in orders] == [1.0, 1.0, 1.0, 1.0]


@both
def test_a_saved_intermediate_is_a_constant(dialect: Dialect) -> None:
    def forward(operands: list[Tensor]) -> Any:
        middle = mul(operands[0], operands[0])
        return [mul(middle, operands[0])], [middle]

    x = leaf(3.0)
    (y,) = apply_custom(forward, lambda saved, cs: [mul(cs[0], scaled(saved[0], other=3.0))], [x], dialect=dialect)
    (first,) = grad([mul(y, x)], [x], create_graph=True, dialect=dialect)  # x^4; 4 x^3 = 3 x^2 x + x^3
    (second,) = grad([first], [x], dialect=dialect)  # 3 x^2 as a constant: 3 x^2 + 3 x^2, instead of 12 x^2
    assert (elements(first), elements(second)) == (108.0, 54.0)


@both
def test_the_formula_that_is_written_is_what_is_differentiated(dialect: Dialect) -> None:
    x = leaf(3.0)
    y = product(lambda saved, g: [mul(g, mul(saved[0], mul(saved[0], saved[0]))), None], x, tensor(1.0), dialect)
    (first,) = grad([y], [x], create_graph=True, dialect=dialect)
    assert elements(grad([first], [x], dialect=dialect)[0]) == 27.0


# Freeing.


@both
def test_what_was_saved_is_gone_with_the_graph(dialect: Dialect) -> None:
    y = square(leaf(3.0), dialect)
    backward([y], dialect=dialect)
    assert refusal(lambda: backward([y], dialect=dialect)) is Category.GRAPH_FREED


@both
def test_a_retained_graph_can_be_walked_again(dialect: Dialect) -> None:
    x = leaf(3.0)
    y = square(x, dialect)
    backward([y], retain_graph=True, dialect=dialect)
    backward([y], dialect=dialect)
    assert elements(x.grad) == 12.0


def test_a_function_that_saved_nothing_can_be_walked_again_in_torch() -> None:
    x = leaf(3.0)
    y = doubled(lambda g: [g], x, TORCH)
    backward([y])
    backward([y])
    assert elements(x.grad) == 2.0


def test_a_function_that_ran_cannot_be_walked_again_in_paddle() -> None:
    y = doubled(lambda g: [g], leaf(3.0), PADDLE)
    backward([y], dialect=PADDLE)
    assert refusal(lambda: backward([y], dialect=PADDLE)) is Category.GRAPH_FREED


def test_a_pass_that_its_backward_ends_frees_nothing() -> None:
    x = leaf(3.0)
    answers = iter([[], [tensor(4.0), tensor(5.0)]])
    y = product(lambda *_: next(answers), x, leaf(2.0), TORCH)
    assert refusal(lambda: backward([y])) is Category.CALLBACK_RESULT
    backward([y])
    assert elements(x.grad) == 4.0


# Which functions run.


@both
def test_a_function_that_no_input_depends_on_is_not_called(dialect: Dialect) -> None:
    x, other, calls = leaf(3.0), leaf(2.0), []
    y = mul(doubled(lambda g: calls.append(1) or [g], other, dialect), x)
    grad([y], [x], dialect=dialect)
    assert calls == []


@both
def test_a_function_below_which_another_output_of_the_inputs_function_lies_is_called(dialect: Dialect) -> None:
    first, second = two(leaf(1.0), dialect)
    calls = []
    y = doubled(lambda g: calls.append(1) or [g], second, dialect)
    grad([y], [first], allow_unused=True, dialect=dialect)
    assert calls == [1]

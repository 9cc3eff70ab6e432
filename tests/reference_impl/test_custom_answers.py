"""Custom functions: what is made of the answer of a backward, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from reference_impl import OPS, PADDLE, TORCH, Category, Dialect, Tensor, backward, grad, tensor
from tests.reference_impl.custom_functions import add, doubled, mul, product, scaled
from tests.reference_impl.vocabulary import both, elements, leaf, refusal

# None.


@both
def test_none_leaves_an_operand_without_a_gradient(dialect: Dialect) -> None:
    x, y = leaf(3.0), leaf(2.0)
    backward([product(lambda _, g: [g, None], x, y, dialect)], dialect=dialect)
    assert (elements(x.grad), y.grad) == (1.0, None)


@both
def test_none_for_an_input_makes_it_unreachable(dialect: Dialect) -> None:
    x = leaf(3.0)
    y = doubled(lambda _: [None], x, dialect)
    assert list(grad([y], [x], retain_graph=True, allow_unused=True, dialect=dialect)) == [None]
    assert refusal(lambda: grad([y], [x], dialect=dialect)) is Category.UNREACHABLE_INPUT


@both
def test_none_goes_through_the_ops_below(dialect: Dialect) -> None:
    x = leaf(3.0)
    backward([doubled(lambda _: [None], mul(x, x), dialect)], dialect=dialect)
    assert x.grad is None


@both
def test_none_is_zeros_for_a_custom_function_below(dialect: Dialect) -> None:
    x = leaf(3.0)
    middle = doubled(lambda g: [OPS["add_scalar"](g, other=5.0)], x, dialect)
    backward([doubled(lambda _: [None], middle, dialect)], dialect=dialect)
    assert elements(x.grad) == 5.0


@both
def test_none_beside_another_contribution_adds_nothing(dialect: Dialect) -> None:
    x = leaf(3.0)
    middle = mul(x, x)
    backward([add(doubled(lambda _: [None], middle, dialect), scaled(middle, other=5.0))], dialect=dialect)
    assert elements(x.grad) == 30.0


# Wrong answers.


@both
def test_too_few_gradients_are_refused(dialect: Dialect) -> None:
    y = product(lambda _, g: [g], leaf(3.0), leaf(2.0), dialect)
    assert refusal(lambda: backward([y], dialect=dialect)) is Category.CALLBACK_RESULT


@both
def test_too_many_gradients_are_refused(dialect: Dialect) -> None:
    y = doubled(lambda g: [g, g], leaf(3.0), dialect)
    assert refusal(lambda: backward([y], dialect=dialect)) is Category.CALLBACK_RESULT


def test_surplus_nones_are_taken_in_torch() -> None:
    x = leaf(3.0)
    backward([doubled(lambda g: [g, None], x, TORCH)])
    assert elements(x.grad) == 1.0


def test_surplus_nones_are_refused_in_paddle() -> None:
    y = doubled(lambda g: [g, None], leaf(3.0), PADDLE)
    assert refusal(lambda: backward([y], dialect=PADDLE)) is Category.CALLBACK_RESULT


def test_the_gradient_of_a_constant_cannot_be_left_out_in_torch() -> None:
    y = product(lambda _, g: [g], leaf(3.0), tensor(2.0), TORCH)
    assert refusal(lambda: backward([y])) is Category.CALLBACK_RESULT


def test_the_gradient_of_a_constant_can_be_left_out_in_paddle() -> None:
    x = leaf(3.0)
    backward([product(lambda _, g: [g], x, tensor(2.0), PADDLE)], dialect=PADDLE)
    assert elements(x.grad) == 1.0


def test_a_gradient_for_a_constant_is_dropped_in_torch() -> None:
    x, constant = leaf(3.0), tensor(2.0)
    backward([product(lambda _, g: [g, g], x, constant, TORCH)])
    assert (elements(x.grad), constant.grad) == (1.0, None)


def test_a_gradient_for_a_constant_is_refused_in_paddle() -> None:
    y = product(lambda _, g: [g, g], leaf(3.0), tensor(2.0), PADDLE)
    assert refusal(lambda: backward([y], dialect=PADDLE)) is Category.CALLBACK_RESULT


@pytest.mark.parametrize("shape", [(3,), (1,), (2, 3)])
@both
def test_a_gradient_of_a_shape_that_does_not_fit_is_refused(dialect: Dialect, shape: tuple[int, ...]) -> None:
    y = doubled(lambda _: [tensor(np.ones(shape))], leaf([1.0, 2.0]), dialect)
    assert refusal(lambda: backward([y], [tensor([1.0, 1.0])], dialect=dialect)) is Category.CALLBACK_RESULT


def test_a_wider_gradient_is_summed_in_torch() -> None:
    x = leaf([1.0, 2.0])
    backward([doubled(lambda _: [tensor(np.ones((5, 2)))], x, TORCH)], [tensor([1.0, 1.0])])
    assert elements(x.grad) == [5.0, 5.0]


def test_a_wider_gradient_is_refused_in_paddle() -> None:
    y = doubled(lambda _: [tensor(np.ones((5, 2)))], leaf([1.0, 2.0]), PADDLE)
    assert refusal(lambda: backward([y], [tensor([1.0, 1.0])], dialect=PADDLE)) is Category.CALLBACK_RESULT


@both
def test_a_gradient_of_another_dtype_is_cast(dialect: Dialect) -> None:
    x = Tensor(np.float32(3.0).reshape(()), requires_grad=True)
    backward([doubled(lambda g: [OPS["cast"](g, dtype="float64")], x, dialect)], dialect=dialect)
    assert x.grad is not None
    assert x.grad.dtype == np.float32


@both
def test_what_the_backward_raises_comes_out_of_the_pass(dialect: Dialect) -> None:
    def broken(_: Tensor) -> list[Tensor]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        backward([doubled(broken, leaf(3.0), dialect)], dialect=dialect)

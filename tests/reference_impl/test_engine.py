"""The engine: what `backward` and `grad` compute, in both dialects. What they refuse is in `test_contract`."""

from __future__ import annotations

import numpy as np
import pytest

from reference_impl import DIALECTS, OPS, PADDLE, TORCH, Dialect, Tensor, backward, grad, no_grad, tensor
from tests.reference_impl.vocabulary import both, elements, leaf

add, mul, add_up, split = (OPS[name] for name in ("add", "mul", "sum", "split"))


def total(x: Tensor) -> Tensor:
    """Sum of all elements, a 0-d root."""
    return add_up(x, axis=None, keepdims=False)  # type: ignore[no-any-return]


# Accumulation inside one call.


@both
def test_fan_out_accumulates(dialect: Dialect) -> None:
    x = leaf(3.0)
    (dx,) = grad([add(mul(x, x), x)], [x], dialect=dialect)
    assert elements(dx) == 7.0


@both
def test_diamond_accumulates_before_it_goes_on(dialect: Dialect) -> None:
    x = leaf(2.0)
    middle = mul(x, x)
    (dx,) = grad([mul(add(middle, x), middle)], [x], dialect=dialect)
    assert elements(dx) == 4 * 2.0**3 + 3 * 2.0**2


@both
def test_several_outputs_add_up(dialect: Dialect) -> None:
    x = leaf(2.0)
    (dx,) = grad([mul(x, x), OPS["mul_scalar"](x, other=5.0)], [x], dialect=dialect)
    assert elements(dx) == 9.0


@both
def test_root_that_another_root_depends_on_gets_both_cotangents(dialect: Dialect) -> None:
    x = leaf(2.0)
    square = mul(x, x)
    (dx,) = grad([square, mul(square, x)], [x], dialect=dialect)
    assert elements(dx) == 4.0 + 12.0


@both
def test_broadcast_operand_gets_the_sum_of_its_copies(dialect: Dialect) -> None:
    x, row = leaf(np.ones((2, 3))), leaf([1.0, 2.0, 3.0])
    (drow,) = grad([mul(x, row)], [row], [tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])], dialect=dialect)
    assert elements(drow) == [11.0, 22.0, 33.0]


@both
def test_unused_output_of_an_op_with_several_counts_as_zero(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0, 3.0])
    _, last = split(x, sections=[1, 2], axis=0)
    (dx,) = grad([total(mul(last, last))], [x], dialect=dialect)
    assert elements(dx) == [0.0, 4.0, 6.0]


@both
def test_dead_branch_changes_nothing(dialect: Dialect) -> None:
    x = leaf(3.0)
    root = mul(x, x)
    OPS["exp"](root)
    (dx,) = grad([root], [x], dialect=dialect)
    assert elements(dx) == 6.0


@both
def test_graph_may_be_deeper_than_the_stack(dialect: Dialect) -> None:
    x = leaf(1.0)
    y = x
    for _ in range(5000):
        y = OPS["neg"](y)
    (dx,) = grad([y], [x], dialect=dialect)
    assert elements(dx) == 1.0


# What `backward` leaves behind.


@both
def test_backward_accumulates_over_calls(dialect: Dialect) -> None:
    x = leaf(3.0)
    for _ in range(2):
        backward([mul(x, x)], dialect=dialect)
    assert elements(x.grad) == 12.0


@both
def test_backward_of_a_leaf_stores_its_seed(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    backward([x], [tensor([5.0, 6.0])], dialect=dialect)
    assert elements(x.grad) == [5.0, 6.0]


@both
def test_backward_gives_no_gradient_to_what_is_not_a_leaf(dialect: Dialect) -> None:
    x = leaf(3.0)
    middle = mul(x, x)
    backward([mul(middle, middle)], dialect=dialect)
    assert middle.grad is None


@both
def test_grad_leaves_an_absent_grad_absent(dialect: Dialect) -> None:
    x = leaf(3.0)
    grad([mul(x, x)], [x], dialect=dialect)
    assert x.grad is None


@both
def test_grad_leaves_an_accumulated_grad_alone(dialect: Dialect) -> None:
    x = leaf(3.0)
    backward([mul(x, x)], dialect=dialect)
    grad([mul(x, x)], [x], dialect=dialect)
    assert elements(x.grad) == 6.0


@both
def test_stored_gradient_shares_no_memory_with_its_seed(dialect: Dialect) -> None:
    x, seed = leaf([1.0, 2.0]), tensor([5.0, 6.0])
    backward([x], [seed], dialect=dialect)
    assert x.grad is not None
    assert not np.shares_memory(x.grad.array, seed.array)


@pytest.mark.parametrize(("dialect", "expected"), [(TORCH, False), (PADDLE, True)], ids=DIALECTS)
def test_accumulated_gradient_itself_requires_a_gradient_in_paddle_only(dialect: Dialect, expected: bool) -> None:
    x = leaf(3.0)
    backward([mul(x, x)], dialect=dialect)
    assert x.grad is not None
    assert expected == x.grad.requires_grad


def test_backward_into_inputs_leaves_other_leaves_alone() -> None:
    x, y = leaf(3.0), leaf(5.0)
    backward([mul(x, y)], inputs=[x])
    assert (elements(x.grad), y.grad) == (5.0, None)


def test_backward_into_a_non_leaf_input_stores_its_gradient() -> None:
    x = leaf(3.0)
    middle = mul(x, x)
    backward([mul(middle, middle)], inputs=[middle])
    assert elements(middle.grad) == 18.0


# Cutting.


def test_no_gradient_flows_through_no_grad_vars() -> None:
    x = leaf(3.0)
    square = mul(x, x)
    (dx,) = grad([mul(square, x)], [x], no_grad_vars=[square], dialect=PADDLE)
    assert elements(dx) == 9.0


def test_no_gradient_flows_to_no_grad_vars() -> None:
    x, y = leaf(3.0), leaf(5.0)
    (dy,) = grad([mul(x, y)], [y], no_grad_vars=[y], allow_unused=True, dialect=PADDLE)
    assert dy is None


def test_no_gradient_flows_through_one_output_of_an_op_whose_other_output_is_used() -> None:
    x = leaf([1.0, 2.0])
    first, last = split(x, sections=[1, 1], axis=0)
    (dx,) = grad([mul(first, last)], [x], no_grad_vars=[first], dialect=PADDLE)
    assert elements(dx) == [0.0, 1.0]


@both
def test_detached_factor_is_a_constant(dialect: Dialect) -> None:
    x = leaf(3.0)
    (dx,) = grad([mul(x, x.detach())], [x], dialect=dialect)
    assert elements(dx) == 3.0


def test_nothing_is_recorded_in_a_no_grad_region() -> None:
    x = leaf(3.0)
    with no_grad():
        y = mul(x, x)
    assert (y.requires_grad, y.is_leaf) == (False, True)


# Higher order.


@both
def test_third_derivative_of_a_cube_is_six(dialect: Dialect) -> None:
    x = leaf(5.0)
    y = mul(mul(x, x), x)
    for _ in range(3):
        (y,) = grad([y], [x], create_graph=True, dialect=dialect)
    assert elements(y) == 6.0


@both
def test_gradient_without_create_graph_is_a_constant(dialect: Dialect) -> None:
    x = leaf(3.0)
    (dx,) = grad([mul(x, x)], [x], dialect=dialect)
    assert dx is not None
    assert (dx.requires_grad, dx.is_leaf) == (False, True)


@pytest.mark.parametrize(("dialect", "expected"), [(TORCH, False), (PADDLE, True)], ids=DIALECTS)
def test_constant_derivative_requires_a_gradient_in_paddle_only(dialect: Dialect, expected: bool) -> None:
    x = leaf(3.0)
    (dx,) = grad([add(x, x)], [x], create_graph=True, dialect=dialect)
    assert dx is not None
    assert expected == dx.requires_grad


@both
def test_derivative_in_the_seed_is_the_slope(dialect: Dialect) -> None:
    x, seed = leaf(3.0), leaf(2.0)
    (dx,) = grad([mul(x, x)], [x], [seed], create_graph=True, dialect=dialect)
    assert dx is not None
    (dseed,) = grad([dx], [seed], dialect=dialect)
    assert elements(dseed) == 6.0


def test_backward_with_create_graph_accumulates_a_differentiable_gradient() -> None:
    x = leaf(3.0)
    backward([mul(x, x)], create_graph=True)
    assert x.grad is not None
    (second,) = grad([x.grad], [x])
    assert elements(second) == 2.0


@pytest.mark.parametrize(("dialect", "expected"), [(TORCH, None), (PADDLE, 0.0)], ids=DIALECTS)
def test_vanishing_second_derivative_of_a_product_is_absent_or_zero(dialect: Dialect, expected: float | None) -> None:
    x, y = leaf(3.0), leaf(5.0)
    (dx,) = grad([mul(x, y)], [x], create_graph=True, dialect=dialect)
    assert dx is not None
    (second,) = grad([dx], [x], allow_unused=True, dialect=dialect)
    assert expected == elements(second)


@pytest.mark.parametrize("position", [0, 1])
def test_a_leaf_that_is_answered_twice_is_itself_both_times(position: int) -> None:
    x, seed = leaf(3.0), leaf(5.0)
    found = grad([x], [x, x], [seed], create_graph=True)
    backward([mul(found[position], found[position])])
    assert seed.grad is not None
    assert elements(seed.grad) == 10.0


@pytest.mark.parametrize("position", [0, 1])
def test_the_gradient_of_a_factor_beside_a_constant_counts_as_depending_on_it_in_paddle(position: int) -> None:
    x, factors = leaf(3.0), [tensor(5.0), tensor(5.0)]
    factors[position] = x
    (dx,) = grad([mul(*factors)], [x], create_graph=True, dialect=PADDLE)
    assert dx is not None
    (second,) = grad([dx], [x], allow_unused=True, dialect=PADDLE)
    assert elements(second) == 0.0

"""The engine: what `backward` and `grad` compute, in both dialects. What they refuse is in `test_contract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reference_impl import DIALECTS, OPS, PADDLE, TORCH, Dialect, Tensor, backward, grad, no_grad, tensor
from tests.reference_impl.handy import both, elements, leaf

if TYPE_CHECKING:
    from collections.abc import Callable

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
def test_seeds_are_not_written_to_by_accumulation(dialect: Dialect) -> None:
    x, seed = leaf([1.0, 2.0]), tensor([5.0, 6.0])
    for _ in range(2):
        backward([x], [seed], dialect=dialect)
    assert elements(seed) == [5.0, 6.0]


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
    assert [None] == grad([mul(x, y)], [y], no_grad_vars=[y], allow_unused=True, dialect=PADDLE)


@both
def test_detached_factor_is_a_constant(dialect: Dialect) -> None:
    x = leaf(3.0)
    (dx,) = grad([mul(x, x.detach())], [x], dialect=dialect)
    assert elements(dx) == 3.0


def test_nothing_is_recorded_in_a_no_grad_region() -> None:
    x = leaf(3.0)
    with no_grad():
        y = mul(x, x)
    assert (False, True) == (y.requires_grad, y.is_leaf)


# Higher order.


@both
def test_third_derivative_of_a_cube_is_six(dialect: Dialect) -> None:
    x = leaf(5.0)
    y = mul(mul(x, x), x)
    for _ in range(3):
        (y,) = grad([y], [x], create_graph=True, dialect=dialect)  # type: ignore[assignment]
    assert elements(y) == 6.0


@both
def test_gradient_without_create_graph_is_a_constant(dialect: Dialect) -> None:
    x = leaf(3.0)
    (dx,) = grad([mul(x, x)], [x], dialect=dialect)
    assert dx is not None
    assert (False, True) == (dx.requires_grad, dx.is_leaf)


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


# Ties.


@pytest.mark.parametrize(("dialect", "expected"), [(TORCH, [1.0, 0.0]), (PADDLE, [0.5, 0.5])], ids=DIALECTS)
def test_tied_maximum_follows_the_dialect(dialect: Dialect, expected: list[float]) -> None:
    x = leaf([2.0, 2.0])
    (dx,) = grad([OPS["max"](x, axis=0, keepdims=False)], [x], dialect=dialect)
    assert expected == elements(dx)


# The worked examples of the documents, PB-12, PG-13, PG-14 and BL-01.


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        ([[[1, 2], [2, 3]], [[1, 1], [1, 1]]], [[12.0, 18.0], [17.0, 25.0]]),
        ([[[1, 2], [2, 3]], None], [[12.0, 18.0], [17.0, 25.0]]),
        (None, [[10.0, 14.0], [10.0, 14.0]]),
    ],
    ids=["two seeds", "one seed and None", "no seeds"],
)
def test_two_matrix_products_of_pb_12(seeds: Any, expected: list[list[float]]) -> None:
    x, y = leaf([[1, 2], [3, 4]], "float32"), tensor([[3, 2], [3, 4]], dtype="float32")
    given = seeds and [None if seed is None else tensor(seed, dtype="float32") for seed in seeds]
    backward([OPS["matmul"](x, y), OPS["matmul"](x, y)], given, dialect=PADDLE)
    assert expected == elements(x.grad)


@pytest.mark.parametrize(("create_graph", "expected"), [(False, [2.0]), (True, [4.0])])
def test_sum_of_a_square_and_its_gradient_of_pg_13(create_graph: bool, expected: list[float]) -> None:
    x = leaf([1.0], "float32")
    y = mul(x, x)
    (dx,) = grad([y], [x], create_graph=create_graph, retain_graph=True, dialect=PADDLE)
    backward([add(y, dx)], dialect=PADDLE)
    assert expected == elements(x.grad)


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [(None, 7.0), ([None, 4.0], 16.0), ([4.0, None], 19.0), ([3.0, 4.0], 24.0)],
    ids=str,
)
def test_two_outputs_of_pg_14(seeds: Any, expected: float) -> None:
    x = leaf(2.0, "float32")
    outputs = [mul(x, x), OPS["mul_scalar"](x, other=3.0)]
    given = seeds and [None if seed is None else tensor(seed, dtype="float32") for seed in seeds]
    (dx,) = grad(outputs, [x], given, dialect=PADDLE)
    assert expected == elements(dx)


SQUARES: dict[str, Callable[[Tensor], Tensor]] = {
    "x**2": lambda x: OPS["pow_scalar"](x, exponent=2.0),
    "x*x": lambda x: mul(x, x),
}


@both
@pytest.mark.parametrize("square", SQUARES)
def test_sum_of_two_squares_of_bl_01(dialect: Dialect, square: str) -> None:
    x = leaf([1.0, 2.0], "float32")
    backward([total(SQUARES[square](x))], None, True, dialect=dialect)
    assert elements(x.grad) == [2.0, 4.0]

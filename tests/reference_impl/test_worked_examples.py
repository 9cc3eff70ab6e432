"""The numbers that the frameworks' documents print: examples PB-12, PG-13, PG-14 and BL-01 of the clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reference_impl import OPS, PADDLE, Dialect, Tensor, backward, grad, tensor
from tests.reference_impl.vocabulary import both, elements, leaf

if TYPE_CHECKING:
    from collections.abc import Callable

add, mul = OPS["add"], OPS["mul"]


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
    root = OPS["sum"](SQUARES[square](x), axis=None, keepdims=False)
    backward([root], None, True, dialect=dialect)
    assert elements(x.grad) == [2.0, 4.0]

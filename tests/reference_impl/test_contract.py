"""The calling contract: what is refused, with which category, when, and what a refused call leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reference_impl import DIALECTS, OPS, PADDLE, TORCH, Category, Dialect, Tensor, backward, grad, tensor
from tests.reference_impl.vocabulary import both, elements, leaf, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

add, mul, exp = (OPS[name] for name in ("add", "mul", "exp"))

Answer = Category | float | list[float] | None


def per_dialect(torch: Answer, paddle: Answer) -> pytest.MarkDecorator:
    """Run a test in both dialects, each with what it answers."""
    return pytest.mark.parametrize(("dialect", "expected"), [(TORCH, torch), (PADDLE, paddle)], ids=DIALECTS)


# Seeds.


@per_dialect(Category.SEED_REQUIRED, None)
def test_missing_seed_of_several_elements(dialect: Dialect, expected: Answer) -> None:
    assert expected == refusal(lambda: backward([exp(leaf([1.0, 2.0]))], dialect=dialect))


@both
def test_missing_seed_of_one_element_is_one_whatever_its_axes(dialect: Dialect) -> None:
    x = leaf([[3.0]])
    backward([mul(x, x)], dialect=dialect)
    assert elements(x.grad) == [[6.0]]


def test_missing_seed_is_ones_of_the_shape_of_the_root_in_paddle() -> None:
    x = leaf([1.0, 2.0])
    backward([mul(x, x)], [None], dialect=PADDLE)
    assert elements(x.grad) == [2.0, 4.0]


@both
@pytest.mark.parametrize("shape", [(2, 1), (1,), (), (3,)], ids=str)
def test_seed_of_another_shape_is_refused(dialect: Dialect, shape: tuple[int, ...]) -> None:
    seed = Tensor(np.ones(shape))
    assert refusal(lambda: backward([exp(leaf([1.0, 2.0]))], [seed], dialect=dialect)) is Category.SEED_SHAPE


@both
@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_seeds_than_of_roots_is_refused(dialect: Dialect, count: int) -> None:
    roots = [exp(leaf(1.0)), exp(leaf(2.0))]
    assert refusal(lambda: backward(roots, [tensor(1.0)] * count, dialect=dialect)) is Category.SEED_LENGTH


@per_dialect(Category.SEED_SHAPE, Category.SEED_LENGTH)
def test_of_a_wrong_number_and_a_wrong_shape_of_seeds_one_is_noticed_first(dialect: Dialect, expected: Answer) -> None:
    roots = [exp(leaf(1.0)), exp(leaf(2.0))]
    assert expected == refusal(lambda: backward(roots, [tensor([1.0, 1.0])], dialect=dialect))


@both
def test_seed_is_cast_to_the_dtype_of_its_root(dialect: Dialect) -> None:
    x = leaf(3.0, "float32")
    (dx,) = grad([mul(x, x)], [x], [tensor(2.0, dtype="float64")], dialect=dialect)
    assert dx is not None
    assert dx.dtype == "float32"


# Roots and inputs.


@per_dialect(Category.ROOT_WITHOUT_GRAPH, None)
def test_root_that_requires_no_gradient(dialect: Dialect, expected: Answer) -> None:
    assert expected == refusal(lambda: backward([tensor(1.0)], dialect=dialect))


@per_dialect(12.0, Category.DUPLICATE_TENSOR)
def test_same_root_twice(dialect: Dialect, expected: Answer) -> None:
    x = leaf(3.0)
    root = mul(x, x)
    assert expected == (refusal(lambda: backward([root, root], dialect=dialect)) or elements(x.grad))


@per_dialect(None, Category.DUPLICATE_TENSOR)
def test_same_input_twice(dialect: Dialect, expected: Answer) -> None:
    x = leaf(3.0)
    assert expected == refusal(lambda: grad([mul(x, x)], [x, x], dialect=dialect))


def test_input_asked_for_twice_is_answered_twice_in_torch() -> None:
    x = leaf(3.0)
    assert [elements(dx) for dx in grad([mul(x, x)], [x, x])] == [6.0, 6.0]


@per_dialect(Category.NOT_DIFFERENTIABLE, Category.UNREACHABLE_INPUT)
def test_input_that_requires_no_gradient(dialect: Dialect, expected: Answer) -> None:
    x, constant = leaf(3.0), tensor(2.0)
    assert expected == refusal(lambda: grad([mul(x, constant)], [constant], dialect=dialect))


def test_backward_into_an_input_that_requires_no_gradient_is_refused() -> None:
    x, constant = leaf(3.0), tensor(2.0)
    assert refusal(lambda: backward([mul(x, constant)], inputs=[constant])) is Category.NOT_DIFFERENTIABLE


@both
def test_unused_input_is_refused(dialect: Dialect) -> None:
    assert refusal(lambda: grad([exp(leaf(1.0))], [leaf(2.0)], dialect=dialect)) is Category.UNREACHABLE_INPUT


@both
def test_unused_input_is_absent_where_that_is_allowed(dialect: Dialect) -> None:
    x = leaf(3.0)
    found = grad([mul(x, x)], [leaf(2.0), x], allow_unused=True, dialect=dialect)
    assert [elements(dx) for dx in found] == [None, 6.0]


def test_unused_input_is_zeros_where_gradients_are_materialized() -> None:
    found = grad([exp(leaf(1.0))], [leaf([2.0, 3.0])], materialize_grads=True)
    assert [elements(dx) for dx in found] == [[0.0, 0.0]]


def test_materialize_grads_contradicts_a_refusal_of_unused_inputs() -> None:
    x = leaf(1.0)
    assert refusal(lambda: grad([exp(x)], [x], allow_unused=False, materialize_grads=True)) is Category.BAD_ARGUMENT


@per_dialect(Category.GRAPH_FREED, Category.GRAPH_FREED)
def test_unused_input_is_noticed_after_the_graph_was_freed(dialect: Dialect, expected: Answer) -> None:
    x = leaf(3.0)
    root = mul(x, x)
    refusal(lambda: grad([root], [x, leaf(2.0)], dialect=dialect))
    assert expected == refusal(lambda: backward([root], dialect=dialect))


@per_dialect(None, Category.BAD_ARGUMENT)
def test_only_inputs_false(dialect: Dialect, expected: Answer) -> None:
    x = leaf(3.0)
    assert expected == refusal(lambda: grad([mul(x, x)], [x], only_inputs=False, dialect=dialect))


# Freed graphs.


@both
def test_second_backward_through_saved_data_is_refused(dialect: Dialect) -> None:
    x = leaf(3.0)
    root = mul(x, x)
    backward([root], dialect=dialect)
    assert refusal(lambda: backward([root], dialect=dialect)) is Category.GRAPH_FREED


LINEAR: dict[str, Callable[[Tensor], Any]] = {
    "add": lambda x: add(x, x),
    "neg": OPS["neg"],
    "sum": lambda x: OPS["sum"](x, axis=None, keepdims=True),
    "reshape": lambda x: OPS["reshape"](x, shape=[1, 1]),
}


@pytest.mark.parametrize("op", LINEAR)
@per_dialect(None, Category.GRAPH_FREED)
def test_second_backward_through_an_op_that_saves_nothing(dialect: Dialect, expected: Answer, op: str) -> None:
    root = LINEAR[op](leaf([3.0]))
    backward([root], dialect=dialect)
    assert expected == refusal(lambda: backward([root], dialect=dialect))


@per_dialect(None, Category.GRAPH_FREED)
def test_operand_whose_gradient_needs_no_saved_data_keeps_its_node_alive_in_torch(dialect: Dialect, expected: Answer) -> None:
    weight, bias = tensor([[1.0, 2.0]]), leaf([3.0])
    root = OPS["linear"](tensor([[1.0, 1.0]]), weight, bias)
    backward([root], dialect=dialect)
    assert expected == refusal(lambda: backward([root], dialect=dialect))


@both
def test_retained_graph_can_be_differentiated_again(dialect: Dialect) -> None:
    x = leaf(3.0)
    root = mul(x, x)
    backward([root], retain_graph=True, dialect=dialect)
    backward([root], dialect=dialect)
    assert elements(x.grad) == 12.0


@both
def test_create_graph_retains_unless_told_otherwise(dialect: Dialect) -> None:
    x = leaf(3.0)
    root = mul(x, x)
    grad([root], [x], create_graph=True, dialect=dialect)
    assert refusal(lambda: grad([root], [x], dialect=dialect)) is None


@both
def test_create_graph_without_retaining_frees(dialect: Dialect) -> None:
    x = leaf(3.0)
    root = mul(x, x)
    grad([root], [x], create_graph=True, retain_graph=False, dialect=dialect)
    assert refusal(lambda: grad([root], [x], dialect=dialect)) is Category.GRAPH_FREED


@both
def test_only_the_nodes_that_ran_are_freed(dialect: Dialect) -> None:
    x, y = leaf(3.0), leaf(5.0)
    square, root = mul(x, x), mul(y, y)
    backward([root], dialect=dialect)
    assert refusal(lambda: backward([square], dialect=dialect)) is None


# What a call that refuses midway leaves behind.


def _refused_midway(dialect: Dialect) -> tuple[Tensor, Tensor]:
    """Differentiate ``(x x) + x + w`` where the node of ``x x`` was freed; ``x`` and ``w``, with 6 in ``x.grad`` from before."""
    x, w = leaf(3.0), leaf(7.0)
    freed = mul(x, x)
    backward([freed], dialect=dialect)
    root = add(add(freed, x), w)
    assert refusal(lambda: backward([root], dialect=dialect)) is Category.GRAPH_FREED
    return x, w


@both
def test_leaf_reached_before_a_refusing_node_accumulates(dialect: Dialect) -> None:
    assert elements(_refused_midway(dialect)[1].grad) == 1.0


@both
def test_leaf_that_still_waits_for_a_refusing_node_accumulates_nothing(dialect: Dialect) -> None:
    assert elements(_refused_midway(dialect)[0].grad) == 6.0


@both
def test_refused_call_leaves_recording_on(dialect: Dialect) -> None:
    x, _ = _refused_midway(dialect)
    assert mul(x, x).requires_grad


@both
def test_refused_seed_leaves_the_graph_intact(dialect: Dialect) -> None:
    x = leaf(3.0)
    root = mul(x, x)
    refusal(lambda: backward([root], [tensor([1.0, 2.0])], dialect=dialect))
    assert refusal(lambda: backward([root], dialect=dialect)) is None


# The highest order.


@per_dialect(None, Category.NOT_IMPLEMENTED)
def test_graph_of_an_op_without_second_derivative(dialect: Dialect, expected: Answer) -> None:
    x = leaf([1.0, 2.0])
    root = OPS["softmax"](x, axis=0)
    assert expected == refusal(lambda: grad([root], [x], [tensor([1.0, 2.0])], create_graph=True, dialect=dialect))


@per_dialect(None, Category.NOT_IMPLEMENTED)
def test_third_derivative_of_an_op_that_has_two_in_paddle(dialect: Dialect, expected: Answer) -> None:
    x = leaf(3.0)
    (first,) = grad([OPS["sqrt"](x)], [x], create_graph=True, dialect=dialect)
    assert first is not None
    assert expected == refusal(lambda: grad([first], [x], create_graph=True, dialect=dialect))

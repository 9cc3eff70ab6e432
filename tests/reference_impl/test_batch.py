"""``is_grads_batched``: one call for each entry of the seeds, and the results stacked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reference_impl import OPS, Category, Dialect, Tensor, grad, register_hook, tensor
from tests.reference_impl.vocabulary import both, elements, leaf, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

mul, matmul, softmax = (OPS[name] for name in ("mul", "matmul", "softmax"))

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "square": lambda x: mul(x, x),
    "matmul": lambda x: matmul(x, OPS["t"](x)),
    "flip": lambda x: OPS["flip"](x, axis=[1]),
    "exp of sum": lambda x: OPS["exp"](OPS["sum"](x, axis=[0], keepdims=False)),
}


def batched(*arguments: Any, **options: Any) -> Any:
    return grad(*arguments, is_grads_batched=True, **options)


@both
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("create_graph", [False, True])
def test_batch_is_the_stack_of_single_calls(dialect: Dialect, name: str, create_graph: bool) -> None:
    random = np.random.default_rng(0)
    x = leaf(random.normal(size=(2, 3)))
    y = FUNCTIONS[name](x)
    seeds = random.normal(size=(4, *y.shape))
    singles = [grad([y], [x], [tensor(seed)], retain_graph=True, dialect=dialect)[0].array for seed in seeds]
    (rows,) = batched([y], [x], [tensor(seeds)], create_graph=create_graph, dialect=dialect)
    assert np.stack(singles).tolist() == elements(rows)


def test_batch_of_unit_seeds_is_the_jacobian_and_once_more_the_hessian() -> None:
    x = leaf([2.0, 3.0])
    cubes = mul(mul(x, x), x)
    (jacobian,) = batched(cubes, x, tensor(np.eye(2)), create_graph=True)
    (hessian,) = batched(OPS["sum"](jacobian, axis=[0], keepdims=False), x, tensor(np.eye(2)))
    assert ([[12.0, 0.0], [0.0, 27.0]], [[12.0, 0.0], [0.0, 18.0]]) == (elements(jacobian), elements(hessian))


def test_batch_depends_on_its_seeds() -> None:
    x, seeds = leaf([2.0, 3.0]), leaf([[1.0, 0.0], [0.0, 1.0]])
    (rows,) = batched(mul(x, x), x, seeds, create_graph=True)
    assert elements(grad(rows, seeds, tensor(np.ones((2, 2))))[0]) == [[4.0, 6.0], [4.0, 6.0]]


def test_empty_batch_has_empty_results() -> None:
    x = leaf([2.0, 3.0])
    (rows,) = batched(mul(x, x), x, tensor(np.zeros((0, 2))))
    assert rows.shape == (0, 2)


def test_empty_batch_refuses_what_a_batch_refuses() -> None:
    x = leaf([2.0, 3.0])
    assert refusal(lambda: batched(mul(x, x), leaf(1.0), tensor(np.zeros((0, 2))))) is Category.UNREACHABLE_INPUT


def test_batch_that_a_callback_ends_has_freed_what_ran_before() -> None:
    def failing(_: Tensor) -> None:
        raise ZeroDivisionError

    x = leaf([2.0, 3.0])
    y = OPS["exp"](x)
    z = mul(y, y)
    register_hook(y, failing)
    with pytest.raises(ZeroDivisionError):
        batched(z, x, tensor(np.eye(2)))
    assert refusal(lambda: grad(z, y, tensor(np.ones(2)))) is Category.GRAPH_FREED


def test_batch_of_which_nothing_reaches_an_input_runs_once_and_has_freed_what_ran() -> None:
    seen: list[Tensor] = []
    x, w = leaf([2.0, 3.0]), leaf([1.0, 1.0])
    y = mul(x, x)
    register_hook(y, seen.append)
    assert refusal(lambda: batched(y, [x, w], tensor(np.eye(2)))) is Category.UNREACHABLE_INPUT
    assert len(seen) == 1
    assert refusal(lambda: grad(y, x, tensor(np.ones(2)))) is Category.GRAPH_FREED


def test_materialized_zeros_have_the_batch_axis() -> None:
    x, unused = leaf([2.0, 3.0]), leaf([[1.0]])
    assert batched(mul(x, x), unused, tensor(np.eye(2)), materialize_grads=True)[0].shape == (2, 1, 1)


@pytest.mark.parametrize("shape", [(2,), (2, 3), (), (2, 2, 1)], ids=str)
def test_batch_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    x = leaf([2.0, 3.0])
    assert refusal(lambda: batched(mul(x, x), x, tensor(np.ones(shape)))) is Category.SEED_SHAPE


def test_root_of_one_element_needs_a_batch_of_seeds_too() -> None:
    x = leaf(2.0)
    assert refusal(lambda: batched(mul(x, x), x)) is Category.SEED_SHAPE


def test_batch_of_fewer_seeds_than_roots_is_refused() -> None:
    x = leaf([2.0, 3.0])
    assert refusal(lambda: batched([mul(x, x), x], x, [tensor(np.eye(2))])) is Category.SEED_LENGTH


def test_a_leaf_that_a_batch_is_asked_for_twice_has_one_gradient() -> None:
    x = leaf([2.0, 3.0])
    first, second = batched(mul(x, x), [x, x], tensor(np.eye(2)), create_graph=True)
    (found,) = grad(OPS["mul_scalar"](second, other=3.0), first, tensor(np.ones((2, 2))))
    assert np.full((2, 2), 3.0).tolist() == elements(found)


def test_batch_frees_the_graph_when_its_last_entry_is_done() -> None:
    x = leaf([2.0, 3.0])
    y = mul(x, x)
    assert refusal(lambda: batched(y, x, tensor(np.ones((3, 2))))) is None
    assert refusal(lambda: batched(y, x, tensor(np.ones((3, 2))))) is Category.GRAPH_FREED

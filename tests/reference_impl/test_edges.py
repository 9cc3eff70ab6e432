"""Gradient edges: a place keeps its name, and stands for its tensor in every position of the calls."""

from __future__ import annotations

from reference_impl import OPS, PADDLE, Category, Tensor, backward, grad, gradient_edge, tensor
from tests.reference_impl.vocabulary import elements, leaf, refusal

mul, split = OPS["mul"], OPS["split"]


def test_edge_answers_as_its_tensor() -> None:
    x = leaf(3.0)
    h = mul(x, x)
    assert [elements(g) for g in grad(mul(h, x), [gradient_edge(h), h, gradient_edge(x)])] == [3.0, 3.0, 27.0]


def test_edge_outlives_its_tensor() -> None:
    x = leaf(3.0)
    edge = gradient_edge(mul(x, x))
    assert elements(grad(edge, x)[0]) == 6.0


def test_edge_names_the_place_and_not_the_tensor_that_was_there() -> None:
    x = leaf(3.0)
    h = mul(x, x)
    same_place = Tensor(h.array, requires_grad=True, node=h.node, slot=h.slot)
    edge, y = gradient_edge(h), mul(same_place, same_place)
    h.node = mul(x, x).node  # what an in-place op does
    assert elements(grad(y, edge)[0]) == 18.0


def test_edge_of_one_slot_is_not_that_of_another() -> None:
    x = leaf([1.0, 2.0, 3.0])
    first, last = split(x, sections=[1, 2], axis=0)
    seeds = [tensor([5.0]), tensor([6.0, 7.0])]
    assert [elements(g) for g in grad([first, last], [gradient_edge(last), gradient_edge(first)], seeds)] == [[6.0, 7.0], [5.0]]


def test_constant_has_no_edge() -> None:
    assert refusal(lambda: gradient_edge(tensor(1.0))) is Category.NOT_DIFFERENTIABLE


def test_edge_is_no_tensor_to_paddle() -> None:
    x = leaf(3.0)
    edge = gradient_edge(mul(x, x))
    assert refusal(lambda: backward(edge, dialect=PADDLE)) is Category.BAD_ARGUMENT


def test_edge_is_no_seed() -> None:
    x = leaf(3.0)
    assert refusal(lambda: backward(mul(x, x), gradient_edge(x))) is Category.BAD_ARGUMENT


def test_backward_into_the_edge_of_a_computed_tensor_fills_its_grad() -> None:
    x = leaf(3.0)
    h = mul(x, x)
    backward(mul(h, h), inputs=[gradient_edge(h)])
    assert (elements(h.grad), x.grad) == (18.0, None)


def test_unused_edge_has_no_shape_to_make_zeros_of() -> None:
    x, unused = leaf(3.0), leaf(4.0)
    call = lambda: grad(mul(x, x), [gradient_edge(unused)], materialize_grads=True)  # noqa: E731
    assert refusal(call) is Category.BAD_ARGUMENT


def test_derivative_by_an_edge_is_differentiated_again() -> None:
    x = leaf(3.0)
    (first,) = grad(mul(mul(x, x), x), gradient_edge(x), create_graph=True)
    assert isinstance(first, Tensor)
    assert elements(grad(first, gradient_edge(x))[0]) == 18.0

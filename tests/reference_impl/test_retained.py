"""What a hook sees of a cotangent that never arrived, and what a pass adds to a tensor that both retains and is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference_impl import OPS, PADDLE, TORCH, Dialect, Tensor, backward, grad, register_hook, retain_grad, tensor
from reference_impl.tape.hooks import hooks_of

mul, total, split = OPS["mul"], OPS["sum"], OPS["split"]


@pytest.mark.parametrize("retained", [False, True])
def test_a_computed_input_accumulates_once_whether_it_retains_or_not(retained: bool) -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    y = mul(x, x)
    if retained:
        retain_grad(y, dialect=TORCH)
    backward([total(y, axis=None, keepdims=False)], inputs=[y], dialect=TORCH)
    assert y.grad is not None
    assert np.array_equal([1.0, 1.0], y.grad.array)


def test_zeros_for_what_never_arrived_are_a_constant() -> None:
    seen: list[Any] = []
    first, second = split(tensor([1.0, 2.0], requires_grad=True), sections=[1, 1], axis=0)
    register_hook(first, seen.append)
    register_hook(second, seen.append)
    backward([second], dialect=PADDLE)
    assert [([0.0], False), ([1.0], True)] == [(t.array.tolist(), t.requires_grad) for t in seen if isinstance(t, Tensor)]


def _calls(dialect: Dialect, *attached: str) -> list[str]:
    """Attach hooks and retained gradients to two halves, run a pass, and say which hooks were called in which order."""
    called: list[str] = []
    handles = {}
    halves = dict(zip("ab", split(tensor([1.0, 2.0], requires_grad=True), sections=[1, 1], axis=0), strict=True))
    for word in attached:
        if word.startswith("retain"):
            retain_grad(halves[word[-1]], dialect=dialect)
        elif word.startswith("remove"):
            handles[word[-1]].remove()
        else:
            handles[word[-1]] = register_hook(halves[word[0]], lambda _, name=word[-1]: called.append(name))  # type: ignore[misc]
    backward([mul(*halves.values())], dialect=dialect)
    return called


def test_torch_calls_the_hooks_of_a_nodes_outputs_tensor_by_tensor() -> None:
    assert ["1", "3", "2"] == _calls(TORCH, "a1", "b2", "a3")


def test_paddle_calls_the_hooks_of_a_nodes_outputs_as_they_were_registered() -> None:
    assert ["1", "2", "3"] == _calls(PADDLE, "a1", "b2", "a3")


@pytest.mark.parametrize("dialect", [TORCH, PADDLE])
def test_a_retained_gradient_gives_the_hooks_of_its_tensor_no_precedence(dialect: Dialect) -> None:
    assert ["1", "2"] == _calls(dialect, "retain b", "a1", "b2")


def test_a_tensor_whose_hooks_were_removed_keeps_its_turn_in_torch() -> None:
    assert ["3", "2"] == _calls(TORCH, "a1", "b2", "remove 1", "a3")


def test_the_gradient_of_an_expanded_scalar_has_hooks_of_its_own() -> None:
    seen: list[str] = []
    x = tensor(2.0, requires_grad=True)
    y = OPS["expand"](x, shape=[])
    below, above = grad([OPS["square"](y)], [x, y], create_graph=True)
    assert below is not None
    assert above is not None
    register_hook(below, lambda _: seen.append("below"))  # type: ignore[func-returns-value]
    backward([total(above, axis=None, keepdims=False)], dialect=TORCH)
    assert [] == seen


def test_hooks_that_come_and_go_do_not_pile_up() -> None:
    x = tensor(1.0, requires_grad=True)
    for _ in range(9):
        handle = register_hook(x, lambda g: g)
        handle.remove()
        handle.remove()
    assert 1 == len(hooks_of(x))


def test_torch_is_done_with_what_it_need_not_expand_before_what_it_expands() -> None:
    called: list[str] = []
    number, whole = tensor(1.0, requires_grad=True), tensor([1.0], requires_grad=True)
    register_hook(number, lambda _: called.append("number"))
    register_hook(whole, lambda _: called.append("whole"))
    stacked = OPS[TORCH.spelled["broadcast_tensors"]](number, whole)
    backward([total(stacked, axis=None, keepdims=False)], dialect=TORCH)
    assert ["whole", "number"] == called

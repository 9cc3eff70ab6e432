"""What a hook sees of a cotangent that never arrived, and what a pass adds to a tensor that both retains and is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference_impl import OPS, PADDLE, TORCH, Tensor, backward, register_hook, retain_grad, tensor

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

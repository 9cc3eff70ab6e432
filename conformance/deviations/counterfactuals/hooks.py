"""Counterfactual rules of callbacks: what comes of a pass that looks too late, or not at all, at the dtype of what they return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from reference_impl.errors import AutogradError, Category
from reference_impl.reverse import custom, walk
from reference_impl.tape.primitive import array_of
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager


def dtypes_checked_after_all_hooks(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have a hook return what dtype it likes, which the next one is given; it is checked of what they make of it together."""
    hooked = walk.ReversePass._hooked  # noqa: SLF001 - it is changed here, and nobody else needs it

    def checked_late(self: walk.ReversePass, hooks: list[Any], arrived: list[Any], primals: Sequence[Any]) -> list[Any]:
        with patch.object(walk, "fits", lambda returned, primal: returned.shape == primal.shape):
            slots = hooked(self, hooks, arrived, primals)
        made = ((array_of(slot), primal) for slot, primal in zip(slots, primals, strict=True) if slot is not None)
        if any(array.dtype != primal.dtype for array, primal in made):
            raise AutogradError(Category.CALLBACK_RESULT, "hooks returned another dtype than they were given")
        return slots

    yield patch.object(walk.ReversePass, "_hooked", checked_late)


def casts_of_custom_gradients_unrecorded(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have a gradient that a custom function returns in another dtype than its operand's be a constant."""
    yield patch.object(custom, "cast", lambda gradient, dtype: Tensor(array_of(gradient).astype(dtype)))

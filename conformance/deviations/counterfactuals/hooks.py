"""Counterfactual rules of callbacks: what comes of a pass that does not look at the dtype of what hooks and custom functions return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from reference_impl.reverse import custom, walk
from reference_impl.tape.primitive import array_of
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager


def dtypes_between_hooks_free(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have a hook return what dtype it likes, which the next one is given."""
    yield patch.object(walk, "fits", lambda returned, primal: returned.shape == primal.shape)


def casts_of_custom_gradients_unrecorded(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have a gradient that a custom function returns in another dtype than its operand's be a constant."""
    yield patch.object(custom, "cast", lambda gradient, dtype: Tensor(array_of(gradient).astype(dtype)))

"""Gradients of the reference that lie in the memory of nodes, and are added to there, as those of an engine may."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from conformance.backends.reference.engine import ReferenceEngine
from conformance.case.outcome import Value
from reference_impl.reverse.summed import same, summed_in_place
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@contextmanager
def gradients_in_memories(memories: Sequence[Any]) -> Iterator[None]:
    """Have what is handed on in these memories be used as ``.grad`` there, and added to."""
    with (
        gradients_summed(everywhere=True, kept_by_nodes=memories),
        patch.object(ReferenceEngine, "clear_grad", _cleared),
    ):
        yield


@contextmanager
def gradients_summed(**how: Any) -> Iterator[None]:
    """Have gradients be added to in place, as `summed_in_place` is told, and what was seen of them not change with later passes."""
    with summed_in_place(**how), patch.object(ReferenceEngine, "look", _looked):
        yield


def _looked(_: ReferenceEngine, tensor: Tensor) -> Value:
    return Value(same(np.array(tensor.array), tensor.array), tensor.requires_grad)


def _cleared(_: ReferenceEngine, tensor: Tensor, to: str) -> None:
    if to == "none":
        tensor.grad = None
    elif tensor.grad is not None:
        tensor.grad.array[...] = 0
        tensor.grad = Tensor(np.zeros_like(tensor.grad.array))

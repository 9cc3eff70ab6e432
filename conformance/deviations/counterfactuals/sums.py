"""Counterfactual rules of sums: a pass adds up gradients in memory which other tensors have, too, or reads it in another dtype."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from conformance.deviations.shared_gradients import gradients_summed
from reference_impl.primitives.arithmetic import add
from reference_impl.reverse import contract, engine, walk
from reference_impl.tape.primitive import array_of
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.primitive import Primitive
    from reference_impl.tape.rules import Pull, Pulled


def read_as(array: Any, dtype: Any) -> Any:
    """Return what lies in the memory of an array in another dtype; NaN where it has not enough for all elements.

    That NaN has all bits set, which addition keeps, so that each part of it is NaN in a narrower dtype, too.
    """
    if array.dtype.itemsize < dtype.itemsize:
        return np.full(array.size * dtype.itemsize, 0xFF, np.uint8).view(dtype).reshape(array.shape)
    return np.ascontiguousarray(array).reshape(-1).view(dtype)[: array.size].reshape(array.shape)


def sums_formed_in_place(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have sums of gradients be formed in the tensors that custom functions returned, which others may have, too."""
    yield gradients_summed()
    yield gradients_summed(last_root_first=True)


def gradients_formed_in_place(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have all sums of gradients be formed in what arrived first, and gradients of activations in what arrives as a view."""
    yield gradients_summed(everywhere=True)
    yield gradients_summed(everywhere=True, last_root_first=True)


def sums_formed_in_their_seeds(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have sums hand what arrives on to both operands, where it is added to itself."""
    yield gradients_summed(everywhere=True, both=True)


@contextmanager
def _casts_of_seeds_forgotten(*, last_first: bool) -> Iterator[None]:
    brought = contract._seed  # noqa: SLF001 - it is changed here, and nobody else needs it
    casts: list[Any] = []

    def noted(root: Tensor, seed: Tensor | None) -> Tensor:
        cast = brought(root, seed)
        casts.extend([cast.node] if cast is not seed and cast.node is not None else [])
        return cast

    def kept(right: Pull, _: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
        return [(0, g)] if any(node is one for one in casts) else right(node, asked, g, *given)

    with intercepted_rules(kept), patch.object(contract, "_seed", noted), read_in_the_dtype_of_the_last(last_first=last_first):
        yield


@contextmanager
def read_in_the_dtype_of_the_last(
    *, last_first: bool = False, became: Callable[[Any, Any], object] = lambda _, __: None
) -> Iterator[None]:
    """Have what arrived before be read in the dtype of what is added to it, in a pass and in ``.grad``, inside a ``with`` block.

    ``last_first``: in a pass, what is added is read in the dtype of what arrived before. ``became`` is told what was read, and the sum.
    """

    def added(one: Any, last: Any) -> Any:
        if one.dtype == last.dtype:
            return add(one, last)
        total = read_as(array_of(one), last.dtype) + array_of(last)
        became(array_of(one), total)
        return Tensor(total) if isinstance(last, Tensor) else total

    in_a_pass = (lambda before, cotangent: added(cotangent, before)) if last_first else added
    with patch.object(walk, "add", in_a_pass), patch.object(engine, "add", added):
        yield


def sums_read_in_the_dtype_of_the_last(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a seed that was cast come in the dtype of its root, and be added to what is read in that dtype."""
    yield _casts_of_seeds_forgotten(last_first=False)
    yield _casts_of_seeds_forgotten(last_first=True)


OF_SUMS: dict[str, Callable[[Sequence[str]], Iterator[AbstractContextManager[None]]]] = {
    "as if gradients were summed in place": sums_formed_in_place,
    "as if gradients were formed in place": gradients_formed_in_place,
    "as if gradients of sums were formed in what arrives": sums_formed_in_their_seeds,
    "as if sums were read in the dtype of what comes last": sums_read_in_the_dtype_of_the_last,
}
"""The rules of this kind by the words that an entry uses."""

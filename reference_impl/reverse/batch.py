"""A batch of seeds in one call: ``is_grads_batched``.

The first axis of every seed counts the calls: the result is that of one call for each entry, stacked along a new first axis.
Source: ``torch.autograd.grad``. A root without a seed of its own has nothing to count, so every root that requires a gradient
needs one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.errors import AutogradError, Category
from reference_impl.primitives.indexing import getitem_int, getitem_slice
from reference_impl.primitives.shape import stack
from reference_impl.reverse.contract import check_seed_kind
from reference_impl.reverse.walk import ReversePass
from reference_impl.tape.primitive import alias
from reference_impl.tape.storage import copy_of
from reference_impl.tape.tensor import Tensor, recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reference_impl.dialects.dialect import Dialect
    from reference_impl.tape.tensor import Node

    Seeds = Sequence[Tensor | None]

# The parts of a batch have names of their own: whether a node of a batched call runs again is a matter of how the engine batches what
# it ran, and no measurement of the op that does the same in a script tells it.
batch_entry, batch_stack = (alias(f"batch_{op.name}", op) for op in (getitem_int, stack))


class EarlierPass(ReversePass):
    """The pass for an entry that is not the last one of its batch: what it would free it frees only if it is refused."""

    def __init__(self, *given: Any, **options: Any) -> None:
        """Prepare a pass, as `ReversePass` does."""
        super().__init__(*given, **options)
        self.ran: list[Node] = []

    def _free(self, node: Node) -> None:
        self.ran.append(node)

    def free_what_ran(self) -> None:
        """Free what would have been freed so far."""
        for node in self.ran:
            super()._free(node)


def in_batches(
    one: Callable[[Seeds, bool, type[ReversePass]], list[Tensor | None]],
    outputs: Sequence[Tensor],
    seeds: Seeds | None,
    dialect: Dialect,
    *,
    retain_graph: bool,
    create_graph: bool,
) -> list[Tensor | None]:
    """Call ``one(seeds, retain_graph, kind)`` for each entry of the seeds (``[batch, *shape of the root]``) and stack what it returns.

    ``kind``: of the passes. They are one call, so the last one frees the graph, and one that is refused is the last one.
    An empty batch is run once with zeros, so that what is refused and what is absent do not depend on its size.

    Raises:
        AutogradError: ``seed_shape``, ``dtype``, ``seed_required``, of the first seed that is wrong; and what ``one`` refuses.
    """
    given: Seeds = [None] * len(outputs) if seeds is None else seeds
    size = _size(outputs, given, dialect)
    number = max(size, 1)
    kinds: list[type[ReversePass]] = [EarlierPass] * (number - 1)
    kinds.append(ReversePass)
    calls = [one([_entry(seed, i, size, create_graph) for seed in given], retain_graph, kind) for i, kind in enumerate(kinds)]
    stacked: dict[Any, Tensor | None] = {}
    results: list[Tensor | None] = []
    for column in zip(*calls, strict=True):  # an input may be asked for twice, and two may have one gradient: that is one place
        place = tuple(None if c is None else (c.node or c, c.slot) for c in column)
        if place not in stacked:
            stacked[place] = _stacked(list(column), size, create_graph)
        made = stacked[place]
        results.append(None if made is None else copy_of(made))
    return results


def _size(outputs: Sequence[Tensor], seeds: Seeds, dialect: Dialect) -> int:
    sizes = set()
    for root, seed in zip(outputs, seeds, strict=False):
        if seed is not None and (not seed.shape or seed.shape[1:] != root.shape):
            raise AutogradError(Category.SEED_SHAPE, f"a root of shape {root.shape} has a batch of seeds of shape {seed.shape}")
        if seed is not None:
            check_seed_kind(root, seed, dialect)
        if seed is None and root.requires_grad and root.array.size != 1:
            raise AutogradError(Category.SEED_REQUIRED, f"a root of shape {root.shape} needs a batch of seeds")
        if seed is not None or root.requires_grad:
            sizes.add(None if seed is None else seed.shape[0])
    if None in sizes or len(sizes) > 1:
        raise AutogradError(Category.SEED_SHAPE, "the seeds of a batch are not all given, or differ in their first axis")
    return sizes.pop() or 0 if sizes else 0


def _entry(seed: Tensor | None, i: int, size: int, create_graph: bool) -> Tensor | None:
    if seed is None or size == 0:
        return None if seed is None else Tensor(np.zeros(seed.shape[1:], seed.dtype))
    if create_graph:
        return recorded(lambda batch: batch_entry(batch, index=i), seed)  # type: ignore[no-any-return]
    return Tensor(np.asarray(getitem_int(seed.array, index=i)))


def _stacked(column: list[Tensor | None], size: int, create_graph: bool) -> Tensor | None:
    results: list[Any] = [result for result in column if result is not None]
    if not results:
        return None
    if create_graph:
        joined = recorded(lambda *entries: batch_stack(*entries, axis=0), *results)
        return joined if size else recorded(lambda batch: getitem_slice(batch, key=[[0, 0, 1]]), joined)  # type: ignore[no-any-return]
    return Tensor(getitem_slice(stack(*(r.array for r in results), axis=0), key=[[0, size, 1]]))

"""Counterfactual rules of seeds and the results of an op with several: what lies in the place of another one, or of all.

A seed that is a later result has its history taken for that of the first result. Paddle copies the node of a seed, and not the number
that it has among the results of that node. So what flows back to it arrives at the first result, in the shape of the seed, and the
gradient that the op makes of its results may have another shape than its operand. The node below reads its numbers one after another,
as many as it takes; behind their end may be any numbers, and NaN stands for these. Where something has arrived at the first result
already, the two are added in place, number by number, and a pair of gradients with different numbers of elements is refused.

The seed of a part that `unbind` made may be taken for what arrives at all parts, so that its gradient is a stack of one. Paddle takes
it where there are as many inputs as outputs, and the input at the place of the part lies in its memory and has as many elements.
Whatever comes to the first part is added to it, and what comes to a later one is refused.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from reference_impl import PADDLE
from reference_impl.errors import AutogradError, Category
from reference_impl.reverse import contract, engine, walk
from reference_impl.tape.primitive import shape_of
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.storage import link_of
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.primitive import Primitive
    from reference_impl.tape.rules import Pull, Pulled
    from reference_impl.tape.tensor import Node


def seeds_taken_for_first_results(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the derivatives of a seed that is a later result of its node be those of the first one; what does not fit is refused."""
    yield _moved()


def seeds_taken_for_all_parts(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the seed of a part be all that arrives at the parts, where the input at its place lies in the memory of the part.

    Kernels below it read the stack of one as if it had the shape of what it belongs to, or make a gradient of its own shape.
    """
    yield _alone(_of_any_shape())
    yield _alone(nullcontext())


@contextmanager
def _moved() -> Iterator[None]:
    # It is changed here, and nobody else needs it.
    brought = contract._seed  # noqa: SLF001

    def moved(root: Tensor, seed: Tensor | None) -> Tensor:
        given = brought(root, seed)
        origin = _itself(given)
        later = origin.node is not None and origin.node.primitive.multi_output and origin.slot > 0
        return Tensor(given.array, requires_grad=True, node=origin.node, slot=0) if later else given

    with patch.object(contract, "_seed", moved), _of_any_shape():
        yield


@contextmanager
def _alone(below: AbstractContextManager[None]) -> Iterator[None]:
    # They are changed here, and nobody else needs them.
    gradients, arrive, filled = engine._gradients, walk.ReversePass._arrive, walk._filled  # noqa: SLF001
    lent: list[Tensor] = []

    def called(outputs: Any, seeds: Any, inputs: Any, *given: Any) -> Any:
        places = zip(outputs, seeds or (), inputs, strict=False) if len(outputs) == len(inputs) else ()
        lent[:] = [root for root, seed, asked in places if seed is not None and _is_lent(root, seed, asked)]
        return gradients(outputs, seeds, inputs, *given)

    def arrived(self: walk.ReversePass, tensor: Tensor, cotangent: Any) -> None:
        node = tensor.node
        if node is not None and tensor in lent:  # its seed is what comes first
            lent.remove(tensor)
            self.slots[node] = [cotangent]
            return
        if node is not None and node.primitive.multi_output and tensor.slot >= len(self.slots.get(node, node.out)):
            raise AutogradError(Category.UNMAPPED, f"what arrives at part {tensor.slot} exceeds the size of the buffer, which is 1")
        arrive(self, tensor, cotangent)

    def only(node: Node, slots: list[Any], zeros: Callable[[Any], Any]) -> tuple[Any, ...]:
        return tuple(slots) if len(slots) < len(node.out) else filled(node, slots, zeros)

    with (
        patch.object(engine, "_gradients", called),
        patch.object(walk.ReversePass, "_arrive", arrived),
        patch.object(walk, "_filled", only),
        below,
    ):
        yield


def _is_lent(root: Tensor, seed: Tensor, asked: Tensor) -> bool:
    unbound = root.node is not None and root.node.primitive.name == "unbind"
    return unbound and seed.array.size == asked.array.size and _owner(root) is _owner(asked)


def _owner(tensor: Tensor) -> Tensor:
    """Return the tensor in whose memory one lies in Paddle."""
    while (link := link_of(tensor, PADDLE.copies)) is not None:
        tensor = link[0]
    return tensor


@contextmanager
def _of_any_shape() -> Iterator[None]:
    """Have gradients of another shape than that of their tensor be added and read, as far as they fit."""
    # They are changed here, and nobody else needs them.
    run, right_total = walk.ReversePass.run, walk._total  # noqa: SLF001

    def total(before: Any, cotangent: Any) -> Any:
        if type(before) is np.ndarray and type(cotangent) is np.ndarray and before.shape != cotangent.shape:
            if before.size != cotangent.size:
                message = f"a gradient of shape {cotangent.shape} cannot be added to one of shape {before.shape}"
                raise AutogradError(Category.UNMAPPED, message)
            cotangent = cotangent.reshape(before.shape)
        return right_total(before, cotangent)

    def refusing(self: walk.ReversePass) -> None:
        try:
            run(self)
        except AutogradError:
            raise
        except (ValueError, IndexError) as error:
            raise AutogradError(Category.UNMAPPED, f"a gradient of another shape does not fit: {error}") from error

    with (
        patch.object(walk, "_total", total),
        patch.object(walk.ReversePass, "run", refusing),
        intercepted_rules(_read_in_a_row),
    ):
        yield


def _read_in_a_row(
    right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]
) -> Pulled:
    if type(g) is np.ndarray and not primitive.multi_output and g.shape != shape_of(out):
        row = np.full(int(np.prod(shape_of(out))), np.nan, g.dtype)
        there = min(row.size, g.size)
        row[:there] = g.reshape(-1)[:there]
        g = row.reshape(shape_of(out))
    return right(node, asked, g, out, operands)


def _itself(tensor: Tensor) -> Tensor:
    """Return the tensor that one is in Paddle: what a shape op that moves nothing gives back is its operand."""
    while (node := tensor.node) is not None and not node.primitive.multi_output:
        below: Any = node.operands[0] if node.operands else None
        if type(below) is not Tensor or below.shape != tensor.shape or not np.may_share_memory(below.array, tensor.array):
            break
        tensor = below
    return tensor


OF_SLOTS: dict[str, Callable[[Sequence[str]], Iterator[AbstractContextManager[Any]]]] = {
    "as if seeds were the first results of their nodes": seeds_taken_for_first_results,
    "as if the seed of a part were those of all parts": seeds_taken_for_all_parts,
}
"""The rules of this kind by the words that an entry uses."""

"""Counterfactual rules of seeds that are a later result of an op with several: their history is taken for that of the first result.

Paddle copies the node of a seed, and not the number that it has among the results of that node. So what flows back to it arrives at the
first result, in the shape of the seed, and the gradient that the op makes of its results may have another shape than its operand. The
node below reads its numbers one after another, as many as it takes; behind their end may be any numbers, and NaN stands for these.
Where something has arrived at the first result already, the two are added in place, number by number, and a pair of gradients with
different numbers of elements is refused.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from reference_impl.errors import AutogradError, Category
from reference_impl.reverse import contract, walk
from reference_impl.tape.primitive import shape_of
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.primitive import Primitive
    from reference_impl.tape.rules import Pull, Pulled


def seeds_taken_for_first_results(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the derivatives of a seed that is a later result of its node be those of the first one; what does not fit is refused."""
    yield _moved()


@contextmanager
def _moved() -> Iterator[None]:
    # They are changed here, and nobody else needs them.
    brought, run, right_total = contract._seed, walk.ReversePass.run, walk._total  # noqa: SLF001

    def moved(root: Tensor, seed: Tensor | None) -> Tensor:
        given = brought(root, seed)
        origin = _itself(given)
        later = origin.node is not None and origin.node.primitive.multi_output and origin.slot > 0
        return Tensor(given.array, requires_grad=True, node=origin.node, slot=0) if later else given

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
        patch.object(contract, "_seed", moved),
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
}
"""The rules of this kind by the words that an entry uses."""

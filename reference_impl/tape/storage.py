"""Memory that several tensors share: which tensors see a write, and which nodes kept what the write destroyed.

Two things can go wrong when memory is written in place. A tensor that shares the memory may miss the new elements; and a node that
saved the old ones for its gradient may compute with the new ones, silently.

The second cannot happen here: arrays are never changed. A write gives new arrays to the written tensor and to all tensors that share
its memory (`in_place` says how), so what a node saved stays what it was. The frameworks, which do overwrite, refuse such a pass
instead. That promise is kept with sequence numbers: writes and nodes share one counter, and a node refuses if something that it kept
was written after it was made. Sources: PyTorch's notes on in-place correctness checks, its list of view ops, and Paddle's inplace
version check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.tape.choices import keeps
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from reference_impl.dialects.dialect import Dialect
    from reference_impl.tape.tensor import Link, Node


def link_of(tensor: Tensor, copies: Collection[str]) -> Link | None:
    """Return the link that makes a tensor a view; ``None`` if it has memory of its own, because its op ``copies`` in this dialect.

    Reshaping what is not contiguous copies, too; NumPy's arrays show where.
    """
    link = tensor.link
    if link is None or (link[1] is not None and link[1].name in copies):
        return None
    single = tensor.array.size <= 1 or isinstance(link[0].array, np.generic)
    return link if single or np.may_share_memory(link[0].array, tensor.array) else None


def views_of(tensor: Tensor, copies: Collection[str]) -> Iterator[tuple[Tensor, Link]]:
    """Yield the living views of a tensor, each with its link."""
    if tensor.memory is None:
        return
    for view in filter(None, [reference() for reference in tensor.memory.views]):
        link = link_of(view, copies)
        if link is not None:
            yield view, link


def differentiable_base(tensor: Tensor, copies: Collection[str]) -> Tensor:
    """Return the tensor at the end of the views: the one that owns the history (a detached tensor has its own)."""
    link = link_of(tensor, copies)
    while link is not None and link[1] is not None:
        tensor = link[0]
        link = link_of(tensor, copies)
    return tensor


def copy_of(tensor: Tensor) -> Tensor:
    """Return another tensor at the same place of the graph with the same elements."""
    return Tensor(tensor.array, requires_grad=tensor.requires_grad, node=tensor.node, slot=tensor.slot)


def output_of(node: Node) -> Any:
    """Return the output of a node as a tensor (a tuple where it has several): that of the view which it updated, if there is one."""
    if node.primitive.multi_output:
        return tuple(Tensor(o, True, node, i) for i, o in enumerate(node.out))
    shown = node.shown() if node.shown is not None and not node.overwritten else None
    return Tensor(node.out, True, node) if shown is None else copy_of(shown)


def settle(node: Node) -> None:
    """Replace the operands of a node by what they were when it was made."""
    if any(type(o) is Tensor and o.memory is not None and o.memory.past for o in node.operands):
        node.operands = tuple(_at(o, node.number) if type(o) is Tensor else o for o in node.operands)


def _at(tensor: Tensor, number: int) -> Tensor:
    past = () if tensor.memory is None else tensor.memory.past
    return next((before for written, before in past if written > number), tensor)


def overwritten(node: Node, dialect: Dialect) -> bool:
    """Whether something that a node kept for its rules was written after the node was made.

    What it kept is an open choice. By its formula a node keeps all its operands if its rules need any of them. Of an operand with gaps
    between its elements it may have kept a copy.
    """
    names = node.primitive.operands
    if node.primitive.name == "overwrite" and type(node.operands[1]) is Tensor and node.operands[1].node is not None:
        update = node.operands[1].node  # for a framework, the update of a view and its place in the base are one op
        return (update.shown is not None or update.primitive is node.primitive) and overwritten(update, dialect)
    given = node.derivative_of[1] > 0 or not names  # its operands may be the places of results, not the user's tensors
    written = {("out", False): None} if node.overwritten else {}  # in an order: the choices are asked in it, and noted
    for position, operand in enumerate(node.operands):
        if _written_after(operand, node.number) or (given and _place_written_after(operand, node.number)):
            written[names[min(position, len(names) - 1)] if names else "operand", has_gaps(operand, dialect.copies)] = None
    return True in {keeps(node, thing, dialect.conventions, strided=strided) for thing, strided in written}


def has_gaps(tensor: object, copies: Collection[str]) -> bool:
    """Whether the elements of a tensor lie in the memory of another one, and not one behind the other.

    An axis of length 1 may have any stride, but for one that was made without a copy.
    """
    if type(tensor) is not Tensor:
        return False
    if link_of(tensor, copies) is None:
        return tensor.memory is not None and tensor.memory.strided
    array, step = tensor.array, tensor.array.itemsize
    for n, stride in zip(array.shape[::-1], array.strides[::-1], strict=True):
        if stride not in (step, 0 if n == 1 else step):
            return True
        step *= n
    return False


def _written_after(tensor: object, number: int) -> bool:
    return type(tensor) is Tensor and tensor.memory is not None and tensor.memory.written > number


def _place_written_after(tensor: object, number: int) -> bool:
    """Whether the result that a rule was given as its ``out`` was written: that tensor is not the user's, but at the same place."""
    if type(tensor) is not Tensor or tensor.node is None or tensor.node.overwritten is None:
        return False
    return tensor.node.overwritten.get(tensor.slot, 0) > number

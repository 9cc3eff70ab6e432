"""Gradient edges: a name for the place where the cotangent of a tensor is collected.

The place is the leaf itself, or one output slot of the node that made the tensor. An edge keeps naming that place, whatever becomes
of the tensor. Source: ``torch.autograd.graph.GradientEdge`` and ``get_gradient_edge``; Paddle has nothing like it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference_impl.errors import AutogradError, Category
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from reference_impl.tape.tensor import Node


@dataclass(frozen=True, slots=True, eq=False)
class GradientEdge:
    """A place in a graph; `backward` and `grad` take it where they take the tensor.

    ``node`` is ``None`` for a leaf; ``tensor`` is the tensor that had its place here when the edge was asked for.
    """

    node: Node | None
    slot: int
    tensor: Tensor

    def end(self) -> Tensor:
        """Return a tensor at this place: the one that it was asked for, unless that has moved since."""
        if self.node is None or (self.tensor.node is self.node and self.tensor.slot == self.slot):
            return self.tensor
        out = self.node.out[self.slot] if self.node.primitive.multi_output else self.node.out
        return Tensor(out, requires_grad=True, node=self.node, slot=self.slot)


def gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge of a tensor.

    Raises:
        AutogradError: ``not_differentiable``, if the tensor requires no gradient.
    """
    if not tensor.requires_grad:
        raise AutogradError(Category.NOT_DIFFERENTIABLE, "a tensor that requires no gradient has no gradient edge")
    return GradientEdge(tensor.node, tensor.slot, tensor)

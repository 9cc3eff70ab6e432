"""Derivatives that are one node: the gradients of all operands of an op together.

PyTorch has one function for the gradients of a convolution, so with ``create_graph`` they are results of one node: they are freed
together, and each requires a gradient where one of the op's operands does. To the walk that node is one more op with several results,
whose rules are the reverse pass through the rules of the first. Where nothing arrived at a result, nothing leaves on its behalf; the
nodes behind take their turn all the same, and are freed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.fused import pulled_through
from reference_impl.tape.primitive import array_of
from reference_impl.tape.tensor import Mode, Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference_impl.tape.primitive import Primitive


class Joined:
    """The gradients of the operands of an op that were ``asked`` for: a function of what arrived at its result, and of its operands."""

    __slots__ = ("asked", "attrs", "derivative_of", "op")

    name = "joined"
    multi_output = True
    operands: tuple[str, ...] = ()
    handing: tuple[int, ...] = ()
    runs_on_nothing = False
    takes_nothing = True

    def __init__(self, op: Primitive, attrs: dict[str, Any], asked: Sequence[int], derivative_of: tuple[str, int]) -> None:
        self.op = op
        self.attrs = attrs
        self.asked = asked
        self.derivative_of = derivative_of

    def saves(self, tracked: Sequence[int]) -> bool:  # noqa: ARG002 - one function serves all operands
        """Whether something was saved: what arrived, and the operands."""
        return True

    def cotangents(self, node: Node, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]) -> list[tuple[int, Any]]:  # noqa: ARG002 - a `Function`
        """Return the cotangents of the operands that are asked for, ``None`` where nothing leaves."""
        return [(position, pulled_through(self.gradients, position, g, operands)) for position in asked]

    def gradients(self, g: Any, *operands: Any) -> list[Any]:
        """Return the gradients of the op's operands."""
        return [cotangent for _, cotangent in self.op.cotangents(self, self.asked, g, None, operands)]


def joined_gradients(node: Node, asked: Sequence[int], g: Any) -> list[tuple[int, Tensor]]:
    """Return the gradients of the operands of an op that are asked for, each with its position, as results of one node."""
    primitive: Any = node.primitive
    function = Joined(primitive, node.attrs, asked, Mode.derivative_of or primitive.derivative_of)
    operands = (g, *node.operands)
    arrays = [array_of(operand) for operand in operands]
    made = tuple(np.asarray(gradient) for gradient in function.gradients(*arrays))
    needed = {0, *(1 + position for position in primitive.saving)}
    tracked = [at for at, operand in enumerate(operands) if at in needed and type(operand) is Tensor and operand.requires_grad]
    above = Node(function, operands, {}, arrays, tracked, made) if tracked else None
    boxed = [Tensor(part, requires_grad=above is not None, node=above, slot=slot) for slot, part in enumerate(made)]
    return [*zip(asked, boxed, strict=True)]

"""Gradients that are made of results which an op keeps to itself.

PyTorch's node of `group_norm` has the means and deviations as results, too, and nobody else ever sees them. With ``create_graph`` the
gradients of the operands are made of these, so each depends on that node: it requires a gradient where the node does, and a pass
through it runs the node again, which refuses if it was freed. What such a pass brings through the statistics is a matter of the
formula, which has them of the operands; so here nothing goes that way, and the nodes behind take their turn all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl.tape.tensor import Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence


class Hidden:
    """Returns a gradient as it is; the other operand is the result of the node of which it uses more than that."""

    __slots__ = ("derivative_of",)

    name = "hidden"
    multi_output = False
    operands: tuple[str, ...] = ()
    handing: tuple[int, ...] = ()
    runs_on_nothing = False
    takes_nothing = True

    def __init__(self, derivative_of: tuple[str, int]) -> None:
        self.derivative_of = derivative_of

    def saves(self, tracked: Sequence[int]) -> bool:
        """Whether something was saved: what a framework makes the gradient of the statistics with, which the way to these needs."""
        return 1 in tracked

    def cotangents(self, node: Node, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]) -> list[tuple[int, Any]]:  # noqa: ARG002 - a `Function`
        """Return what arrived for the gradient, and nothing for the result of the node."""
        return [(position, None if position else g) for position in asked]


def made_of_hidden(gradient: Any, result: Tensor, derivative_of: tuple[str, int]) -> Tensor:
    """Return the gradient of an operand as one that depends on the node of a ``result``, whatever else it depends on."""
    boxed = gradient if type(gradient) is Tensor else Tensor(gradient)
    operands = (boxed, result)
    tracked = [position for position, operand in enumerate(operands) if operand.requires_grad]
    node = Node(Hidden(derivative_of), operands, {}, [boxed.array, result.array], tracked, boxed.array)
    return Tensor(boxed.array, True, node)

"""Custom functions: a forward and a backward that a user wrote.

The forward runs without being recorded, and its outputs become the outputs of one node. When a pass reaches the node, the backward is
called once, with what the forward saved and a cotangent for every output, and answers with the gradients of all operands together. To
the walk this is a primitive whose rules happen to come from one call.

Higher orders are right if the backward is given the right tensors. Under ``create_graph`` a saved operand is the operand itself and a
saved output is the node's output, both with their history; any other saved tensor is a constant. So the backward can be differentiated
again where it computes from operands and outputs, and what it computes from intermediates counts as independent of them.

Sources: the documentation of ``torch.autograd.Function`` and of ``paddle.autograd.PyLayer``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl.errors import AutogradError, Category
from reference_impl.primitives.promotion import cast, name_of
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.tensor import Mode, Node, Tensor, no_grad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reference_impl.dialects.dialect import Dialect


class Custom:
    """One application of a custom function, in the place where an op's node has its primitive.

    ``kept``: what was saved, each as a function of the node's outputs and operands, so that a tape has no reference cycle.
    """

    __slots__ = ("backward", "dialect", "kept")

    name = "custom"
    derivative_of = (name, 0)
    multi_output = True
    operands: tuple[str, ...] = ()
    handing: tuple[int, ...] = ()
    runs_on_nothing = True
    takes_nothing = False

    def __init__(
        self,
        backward: Callable[[list[Tensor], list[Tensor]], Sequence[Tensor | None]],
        kept: list[Callable[[Sequence[Any], Sequence[Any]], Any]],
        dialect: Dialect,
    ) -> None:
        self.backward = backward
        self.kept = kept
        self.dialect = dialect

    def saves(self, tracked: Sequence[int]) -> bool:  # noqa: ARG002 - one backward serves all operands
        """Whether something was saved: it is gone when the graph was freed."""
        return bool(self.kept)

    def cotangents(self, node: Node, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Call the backward and yield what it answers for the operands that are asked for, in their shape and dtype.

        Raises:
            AutogradError: ``callback_result``, for a wrong number of gradients, or one that does not fit its operand.
        """
        Mode.derivative_of = Mode.family = None  # the ops of a backward are ops of their own, not derivatives of one op
        saved = [_boxed(keep(out, operands)) for keep in self.kept]
        gradients = list(self.backward(saved, [_boxed(c) for c in g]))
        self._check_count(gradients, node)
        for position, gradient in enumerate(gradients[: len(node.operands)]):
            if position not in node.tracked:
                if gradient is not None and self.dialect.gradient_of_constant == "refused":
                    raise AutogradError(Category.CALLBACK_RESULT, f"operand {position} requires no gradient and was given one")
            elif gradient is not None:
                gradients[position] = self._fitted(gradient, node.arrays[position], position)
        yield from ((position, gradients[position]) for position in asked)

    def _check_count(self, gradients: list[Tensor | None], node: Node) -> None:
        wanted, surplus = len(node.operands), gradients[len(node.operands) :]
        refused = bool(surplus) and self.dialect.surplus_gradients == "refused"
        refused |= any(gradient is not None for gradient in surplus)
        left_out = range(len(gradients), wanted)
        refused |= bool(left_out) and self.dialect.left_out_gradients == "refused"
        refused |= any(position in node.tracked for position in left_out)
        if refused:
            raise AutogradError(Category.CALLBACK_RESULT, f"the backward returned {len(gradients)} gradients for {wanted} operands")

    def _fitted(self, gradient: Tensor, primal: Any, position: int) -> Tensor:
        """Give a gradient the shape and dtype of its primal, as far as the dialect goes along."""
        if gradient.shape != primal.shape:
            if self.dialect.wider_gradient == "refused" or not _broadcasts_to(primal.shape, gradient.shape):
                msg = f"operand {position} has shape {primal.shape}, its gradient {gradient.shape}"
                raise AutogradError(Category.CALLBACK_RESULT, msg)
            gradient = sum_to(gradient, primal.shape)
        return gradient if gradient.dtype == primal.dtype else cast(gradient, dtype=name_of(primal.dtype))


def apply_custom(
    forward: Callable[[list[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]],
    backward: Callable[[list[Tensor], list[Tensor]], Sequence[Tensor | None]],
    operands: Sequence[Tensor],
    *,
    dialect: Dialect,
) -> tuple[Tensor, ...]:
    """Apply a custom function.

    ``forward(operands)`` returns the outputs and what is saved, ``backward(saved, cotangents)`` a gradient or ``None`` for each
    operand. A cotangent has the shape and dtype of its output, zeros if nothing arrived there; a gradient has those of its operand
    (`Dialect` says what else is taken); ``None`` says that nothing flows. An output that is an operand is a new tensor all the same.
    What goes wrong in the backward is raised by the pass that calls it.
    """
    with no_grad():
        outputs, saved = forward(list(operands))
    arrays = tuple(output.array for output in outputs)
    tracked = [position for position, operand in enumerate(operands) if operand.requires_grad]
    if not (tracked and Mode.recording):
        return tuple(Tensor(array) for array in arrays)
    function = Custom(backward, [_kept(tensor, outputs, operands) for tensor in saved], dialect)
    node = Node(function, tuple(operands), {}, [operand.array for operand in operands], tracked, arrays)
    return tuple(Tensor(array, requires_grad=True, node=node, slot=slot) for slot, array in enumerate(arrays))


def _kept(tensor: Tensor, outputs: Sequence[Tensor], operands: Sequence[Tensor]) -> Callable[[Sequence[Any], Sequence[Any]], Any]:
    """Say how to find a saved tensor again among a node's outputs and operands; a tensor that is neither is kept as it is."""
    for position, operand in enumerate(operands):
        if tensor is operand:
            return lambda _, again: again[position]
    for slot, output in enumerate(outputs):
        if tensor is output:
            return lambda again, _: again[slot]
    return lambda *_: tensor


def _boxed(x: Any) -> Tensor:
    return x if type(x) is Tensor else Tensor(x)


def _broadcasts_to(shape: tuple[int, ...], wider: tuple[int, ...]) -> bool:
    return len(shape) <= len(wider) and all(m in (1, n) for m, n in zip(reversed(shape), reversed(wider), strict=False))

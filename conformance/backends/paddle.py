"""Paddle, eager mode."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # paddle warns of a missing compiler cache on import
    import paddle

from conformance.backends import BackendInfo
from conformance.backends.interpreter import Interpreter, pick
from conformance.backends.messages import Rule, categorise
from conformance.ops.calls import Calls
from conformance.outcome import Value
from reference_impl import PADDLE, Category

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from conformance.backends.interpreter import Forward, Pullback
    from conformance.case import Input
    from conformance.steps import Backward, Grad, InPlace, Op

RULES: tuple[Rule, ...] = (
    (OSError, "CallbackError", Category.CALLBACK),
    (ValueError, "backward function should", Category.CALLBACK_RESULT),
    (ValueError, "The number of outputs of `PyLayer.backward` should be", Category.CALLBACK_RESULT),
    (SystemError, "do not exist. This may be because", Category.GRAPH_FREED),
    (RuntimeError, "Cannot register hook on a tensor that stop gradient", Category.NOT_DIFFERENTIABLE),
    (RuntimeError, "hook are not consistent", Category.CALLBACK_RESULT),
    (ValueError, "does not appear in the backward graph", Category.UNREACHABLE_INPUT),
    (SystemError, "There is no grad op for", Category.NOT_DIFFERENTIABLE),
    (SystemError, "input buffer has already been initialized", Category.DUPLICATE_TENSOR),
    (AssertionError, "contains duplicate paddle.Tensor", Category.DUPLICATE_TENSOR),
    (RuntimeError, "contain duplicate tensor", Category.DUPLICATE_TENSOR),
    (AssertionError, "must be equal to", Category.SEED_LENGTH),
    (AssertionError, "only_inputs=False is not supported yet", Category.BAD_ARGUMENT),
    (AssertionError, "cannot be empty", Category.BAD_ARGUMENT),
    (AssertionError, "must be True or False", Category.BAD_ARGUMENT),
    (AssertionError, "must be Tensor or list of Tensor", Category.BAD_ARGUMENT),
    (RuntimeError, "doesn't have any grad op", Category.NOT_IMPLEMENTED),
    (RuntimeError, "is not registered. Selected wrong DataType", Category.NOT_IMPLEMENTED),
    (RuntimeError, "has been modified by an inplace operation", Category.IN_PLACE_VERSION),
    (ValueError, "doesn't stop gradient can't use inplace strategy", Category.IN_PLACE_LEAF),
    (ValueError, "is different from that of inplace tensor", Category.OP_SHAPE),
)


def open_backend() -> Interpreter:
    """Open Paddle on the CPU, in eager mode."""
    paddle.set_device("cpu")
    return Interpreter(BackendInfo("paddle", paddle.__version__, PADDLE, PADDLE.not_offered), PaddleEngine())


CALLS = Calls("paddle", paddle)


class PaddleEngine:
    """`Engine` over eager Paddle tensors."""

    def leaf(self, entry: Input) -> Any:
        return paddle.to_tensor(entry.array(), stop_gradient=not entry.differentiable)

    def apply(self, step: Op, operands: list[Any]) -> tuple[Any, ...]:
        return CALLS.apply(step.op, operands, step.attrs)

    def in_place(self, step: InPlace, tensor: Any, operands: list[Any]) -> None:
        CALLS.change(step.op, tensor, operands, step.attrs)

    def custom(self, forward: Forward, backward: Pullback, operands: list[Any]) -> tuple[Any, ...]:
        class Function(paddle.autograd.PyLayer):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, *tensors: Any) -> Any:
                outputs, saved = forward(list(tensors))
                ctx.save_for_backward(*saved)
                # Without the mark an operand that is returned counts as changed in place: the name outside would change its meaning.
                ctx.mark_not_inplace(*(t for t in tensors if any(t is output for output in outputs)))
                return tuple(outputs) if len(outputs) > 1 else outputs[0]

            @staticmethod
            def backward(ctx: Any, *cotangents: Any) -> Any:
                gradients = backward(list(ctx.saved_tensor()), list(cotangents))
                return tuple(gradients) if len(gradients) != 1 else gradients[0]

        made = Function.apply(*operands)
        return tuple(made) if isinstance(made, list | tuple) else (made,)

    def backward(self, step: Backward, values: dict[str, Any], dump: str | None) -> Any:
        retain = {} if step.retain_graph is None else {"retain_graph": step.retain_graph}
        tensors, seeds = pick(values, step.tensors, step.form), pick(values, step.grad_tensors, step.form)
        return paddle.autograd.backward(tensors, seeds, **retain, dump_backward_graph_path=dump)

    def grad(self, step: Grad, values: dict[str, Any]) -> list[Any]:
        form = None if step.form == "set" else step.form
        return paddle.grad(  # type: ignore[no-any-return]
            pick(values, step.outputs, form),
            pick(values, step.inputs, form),
            pick(values, step.grad_outputs, form),
            step.retain_graph,
            step.create_graph,
            step.only_inputs,
            bool(step.allow_unused),
            pick(values, step.no_grad_vars, step.form),
        )

    def retain_grad(self, tensor: Any) -> None:
        tensor.retain_grads()

    def toggle(self, tensor: Any, requires_grad: bool) -> None:
        tensor.stop_gradient = not requires_grad

    def hook(self, tensor: Any, function: Callable[[Any], Any]) -> Any:
        return tensor.register_hook(function)

    def remove_hook(self, handle: Any) -> None:
        handle.remove()

    def edge(self, tensor: Any) -> Any:
        raise NotImplementedError(PADDLE.not_offered["gradient_edge"])  # so the interpreter never asks

    def recording(self) -> bool:
        return bool(paddle.is_grad_enabled())

    def clear_grad(self, tensor: Any, to: str) -> None:
        tensor.clear_gradient(to == "zero")

    def detach(self, tensor: Any) -> Any:
        return tensor.detach()

    def grad_of(self, tensor: Any) -> Any:
        return tensor.grad

    def look(self, tensor: Any) -> Value:
        return Value(tensor.numpy(), not tensor.stop_gradient)

    def no_grad(self) -> AbstractContextManager[Any]:
        return paddle.no_grad()  # type: ignore[no-any-return]

    def category(self, error: Exception) -> Category:
        return categorise(error, RULES)

"""Paddle, eager mode."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # paddle warns of a missing compiler cache on import
    import paddle

from conformance.backends import BackendInfo
from conformance.backends.interpreter import Interpreter, pick
from conformance.backends.messages import Rule, categorise
from conformance.ops import catalogue
from conformance.outcome import Value
from reference_impl import PADDLE, Category

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from conformance.case import Backward, Grad, Input, Op

RULES: tuple[Rule, ...] = (
    (SystemError, "do not exist. This may be because", Category.GRAPH_FREED),
    (ValueError, "does not appear in the backward graph", Category.UNREACHABLE_INPUT),
    (SystemError, "There is no grad op for", Category.NOT_DIFFERENTIABLE),
    (AssertionError, "contains duplicate paddle.Tensor", Category.DUPLICATE_TENSOR),
    (RuntimeError, "contain duplicate tensor", Category.DUPLICATE_TENSOR),
    (AssertionError, "must be equal to", Category.SEED_LENGTH),
    (AssertionError, "only_inputs=False is not supported yet", Category.BAD_ARGUMENT),
    (RuntimeError, "doesn't have any grad op", Category.NOT_IMPLEMENTED),
)


def open_backend() -> Interpreter:
    """Open Paddle on the CPU, in eager mode."""
    paddle.set_device("cpu")
    return Interpreter(BackendInfo("paddle", paddle.__version__, PADDLE, PADDLE.not_offered), PaddleEngine())


@functools.cache
def _lowered(name: str) -> Callable[..., Any]:
    return catalogue()[name].lower("paddle", paddle)


class PaddleEngine:
    """`Engine` over eager Paddle tensors."""

    def leaf(self, entry: Input) -> Any:
        return paddle.to_tensor(entry.array(), stop_gradient=not entry.differentiable)

    def apply(self, step: Op, operands: list[Any]) -> tuple[Any, ...]:
        call = _lowered(step.op)
        made = call(operands, **step.attrs) if catalogue()[step.op].variadic else call(*operands, **step.attrs)
        return tuple(made) if isinstance(made, list | tuple) else (made,)

    def backward(self, step: Backward, values: dict[str, Any]) -> None:
        retain = {} if step.retain_graph is None else {"retain_graph": step.retain_graph}
        paddle.autograd.backward([values[n] for n in step.tensors], pick(values, step.grad_tensors), **retain)

    def grad(self, step: Grad, values: dict[str, Any]) -> list[Any]:
        return paddle.grad(  # type: ignore[no-any-return]
            [values[n] for n in step.outputs],
            [values[n] for n in step.inputs],
            pick(values, step.grad_outputs),
            step.retain_graph,
            step.create_graph,
            step.only_inputs,
            bool(step.allow_unused),
            pick(values, step.no_grad_vars),
        )

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

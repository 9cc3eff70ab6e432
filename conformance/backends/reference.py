"""The reference engine as a backend; it speaks whichever dialect it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import conformance
import reference_impl
from conformance.backends import BackendInfo
from conformance.backends.interpreter import CallbackError, Interpreter, pick
from conformance.outcome import Value
from reference_impl import OPS, TORCH, AutogradError, Category, Dialect, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from conformance.backends.interpreter import Forward, Pullback
    from conformance.case import Input
    from conformance.steps import Backward, Grad, InPlace, Op


def open_backend() -> Interpreter:
    """Open the reference in PyTorch's dialect."""
    return reference(TORCH, TORCH.not_offered)


def reference(dialect: Dialect, not_offered: Mapping[str, str], *, widen: bool = False) -> Interpreter:
    """Open the reference in a dialect.

    ``not_offered``: what the backend it stands beside does not offer; steps that need it are left out here too.
    ``widen``: compute in float64, whatever the case says; for judging how far rounding can carry.
    """
    info = BackendInfo("reference", conformance.__version__, dialect, not_offered)
    return Interpreter(info, ReferenceEngine(dialect, widen=widen))


class ReferenceEngine:
    """`Engine` over `reference_impl`."""

    def __init__(self, dialect: Dialect, *, widen: bool) -> None:
        self.dialect = dialect
        self.widen = widen

    def leaf(self, entry: Input) -> Tensor:
        array = entry.array()
        return Tensor(array.astype(np.float64) if self.widen else array, requires_grad=entry.differentiable)

    def apply(self, step: Op, operands: list[Tensor]) -> tuple[Tensor, ...]:
        attrs = {**step.attrs, "dtype": "float64"} if self.widen and step.op == "cast" else step.attrs
        made = OPS[self.dialect.spelled.get(step.op, step.op)](*operands, **attrs)
        return made if isinstance(made, tuple) else (made,)

    def in_place(self, step: InPlace, tensor: Tensor, operands: list[Tensor]) -> None:
        op = OPS[self.dialect.spelled.get(step.op, step.op)]
        reference_impl.update_in_place(op, tensor, *operands, dialect=self.dialect, **step.attrs)

    def custom(self, forward: Forward, backward: Pullback, operands: list[Tensor]) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def backward(self, step: Backward, values: dict[str, Any], dump: str | None) -> None:
        reference_impl.backward(
            pick(values, step.tensors),
            pick(values, step.grad_tensors),
            step.retain_graph,
            step.create_graph,
            pick(values, step.inputs),
            dialect=self.dialect,
        )

    def grad(self, step: Grad, values: dict[str, Any]) -> list[Tensor | None]:
        return reference_impl.grad(
            pick(values, step.outputs),
            pick(values, step.inputs),
            pick(values, step.grad_outputs),
            step.retain_graph,
            step.create_graph,
            step.only_inputs,
            step.allow_unused,
            pick(values, step.no_grad_vars),
            step.materialize_grads,
            dialect=self.dialect,
        )

    def retain_grad(self, tensor: Tensor) -> None:
        reference_impl.retain_grad(tensor, dialect=self.dialect)

    def toggle(self, tensor: Tensor, requires_grad: bool) -> None:
        reference_impl.set_requires_grad(tensor, requires_grad, dialect=self.dialect)

    def hook(self, tensor: Tensor, function: Callable[[Any], Any]) -> Any:
        return reference_impl.register_hook(tensor, function)

    def remove_hook(self, handle: Any) -> None:
        handle.remove()

    def edge(self, tensor: Tensor) -> Any:
        raise NotImplementedError

    def recording(self) -> bool:
        return reference_impl.recording()

    def clear_grad(self, tensor: Tensor, to: str) -> None:
        if tensor.grad is not None:
            flag = tensor.grad.requires_grad and self.dialect.grad_requires_grad
            tensor.grad = None if to == "none" else Tensor(np.zeros_like(tensor.grad.array), requires_grad=flag)

    def detach(self, tensor: Tensor) -> Tensor:
        return tensor.detach()

    def grad_of(self, tensor: Tensor) -> Tensor | None:
        return tensor.grad

    def look(self, tensor: Tensor) -> Value:
        return Value(np.asarray(tensor.array), tensor.requires_grad)

    def no_grad(self) -> AbstractContextManager[None]:
        return reference_impl.no_grad()

    def category(self, error: Exception) -> Category:
        if isinstance(error, CallbackError):
            return Category.CALLBACK
        return error.category if isinstance(error, AutogradError) else Category.UNMAPPED

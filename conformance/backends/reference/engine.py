"""The tape of `reference_impl` as an `Engine`, in whichever dialect it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import reference_impl
from conformance.backends.interpreter import CallbackError, pick
from conformance.case.outcome import Value
from conformance.ops import catalogue
from conformance.ops.dtypes import WIDE
from reference_impl import OPS, AutogradError, Category, Dialect, Tensor
from reference_impl.primitives.promotion import of_one_dtype
from reference_impl.tape.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from conformance.backends.interpreter import Forward, Pullback, Values
    from conformance.case.case import Input
    from conformance.case.steps import Backward, Grad, InPlace, Op


class ReferenceEngine:
    """`Engine` over `reference_impl`."""

    def __init__(self, dialect: Dialect, *, widen: bool) -> None:
        self.dialect = dialect
        self.widen = widen

    def leaf(self, entry: Input) -> Tensor:
        array = entry.array()
        return Tensor(array.astype(WIDE[array.dtype.kind]) if self.widen else array, requires_grad=entry.differentiable)

    def apply(self, step: Op, operands: list[Tensor]) -> tuple[Tensor, ...]:
        widened = self.widen and step.op == "cast" and step.results  # a hook's cast (no results) is there to be of another dtype
        attrs = {**step.attrs, "dtype": WIDE[np.dtype(step.attrs["dtype"]).kind]} if widened else step.attrs
        op, given = OPS[self.dialect.spelled.get(step.op, step.op)], operands
        if self.dialect.promotion != "inside":
            row = catalogue()[step.op]
            widest = self.dialect.promotion == "cast_to_widest"
            if row.variadic and not widest and len({o.array.dtype for o in operands}) > 1:
                raise AutogradError(Category.DTYPE, f"{step.op} takes tensors of one dtype")
            if row.numbers.mixed and isinstance(op, Primitive):
                given = list(of_one_dtype(*operands, widest=widest))  # an op of parts casts where its parts do
        made = op(*given, **attrs)
        results = made if isinstance(made, tuple) else (made,)
        reference_impl.applied(results, operands, dialect=self.dialect)
        return results

    def in_place(self, step: InPlace, tensor: Tensor, operands: list[Tensor]) -> None:
        op = OPS[self.dialect.spelled.get(step.op, step.op)]
        reference_impl.update_in_place(op, tensor, *operands, dialect=self.dialect, **step.attrs)

    def custom(self, forward: Forward, backward: Pullback, operands: list[Tensor]) -> tuple[Tensor, ...]:
        return reference_impl.apply_custom(forward, backward, operands, dialect=self.dialect)

    def backward(self, step: Backward, values: Values, dump: str | None) -> None:
        retain = {} if step.retain_graph is None else {"retain_graph": step.retain_graph}
        reference_impl.backward(
            pick(values, step.tensors, step.form),
            pick(values, step.grad_tensors, step.form),
            create_graph=step.create_graph,
            grad_variables=pick(values, step.grad_variables, step.form),
            inputs=pick(values, step.inputs, step.form),
            dump_backward_graph_path=dump,
            dialect=self.dialect,
            **retain,
        )

    def grad(self, step: Grad, values: Values) -> list[Tensor | None]:
        form = None if step.form == "set" else step.form
        unused = {} if step.allow_unused is None else {"allow_unused": step.allow_unused}
        return list(
            reference_impl.grad(
                pick(values, step.outputs, form),
                pick(values, step.inputs, form),
                pick(values, step.grad_outputs, form),
                step.retain_graph,
                step.create_graph,
                step.only_inputs,
                no_grad_vars=pick(values, step.no_grad_vars, step.form),
                materialize_grads=step.materialize_grads,
                is_grads_batched=step.is_grads_batched,
                dialect=self.dialect,
                **unused,
            )
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
        return reference_impl.gradient_edge(tensor)

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

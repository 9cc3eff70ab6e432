"""The reference's static half as an engine of programs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import reference_impl
from conformance.backends.interpreter import pick
from conformance.ops import catalogue
from reference_impl import OPS, AutogradError, Category, Dialect, Program, Variable
from reference_impl.primitives.promotion import of_one_dtype
from reference_impl.static.transform import CURRENT_OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    import numpy as np

    from conformance.backends.interpreter import Values
    from conformance.backends.program_interpreter import Called, Regression
    from conformance.case.case import Input
    from conformance.case.steps import AppendBackward, Grad, Op
    from reference_impl.static.transform import GradientOperator


class ReferencePrograms:
    """`ProgramEngine` over `reference_impl.static.program`; ``widen``: everything in float64."""

    def __init__(self, dialect: Dialect, *, widen: bool) -> None:
        self.dialect = dialect
        self.widen = widen
        self.current = Program()

    def program(self) -> AbstractContextManager[None]:
        self.current = Program()
        return nullcontext()

    def leaf(self, entry: Input, *, parameter: bool) -> Variable:
        dtype = "float64" if self.widen else entry.dtype
        if parameter:
            return self.current.parameter(entry.name, entry.array().astype(dtype))
        return self.current.data(entry.name, entry.shape, dtype, stop_gradient=not entry.differentiable)

    def apply(self, step: Op, operands: list[Variable]) -> tuple[Variable, ...]:
        attrs = {**step.attrs, "dtype": "float64"} if self.widen and step.op == "cast" else step.attrs
        if self.dialect.promotion == "cast_to_widest" and catalogue()[step.op].numbers.mixed:
            operands = list(of_one_dtype(*operands, widest=True))
        made = OPS[self.dialect.spelled.get(step.op, step.op)](*operands, **attrs)
        return made if isinstance(made, tuple) else (made,)

    def gradients(self, step: Grad, values: Values) -> list[Variable | None]:
        form = None if step.form == "set" else step.form
        return reference_impl.gradients(
            pick(values, step.outputs, form),
            pick(values, step.inputs, form),
            pick(values, step.grad_outputs, form),
            pick(values, step.no_grad_vars),
            dialect=self.dialect,
        )

    def append_backward(self, step: AppendBackward, values: Values) -> tuple[list[tuple[Any, Any]], Called]:
        calls: Called = []

        def called(_: Any, context: dict[str, Any]) -> None:
            calls.append(list(_cotangents(context.pop(CURRENT_OPERATOR), context)))

        parameters, ignored = pick(values, step.parameter_list), pick(values, step.no_grad_set)
        if step.by_name:
            parameters, ignored = (None if given is None else [v.name for v in given] for given in (parameters, ignored))
        callbacks = [called] if step.callbacks else None
        pairs = reference_impl.append_backward(values[step.loss], parameters, ignored, callbacks, dialect=self.dialect)
        return list(pairs), calls

    def minimize(self, task: Regression) -> Variable:
        x = self.current.data("x", task.x.shape)
        y = self.current.data("y", task.y.shape)
        weight, bias = self.current.parameter("weight", task.weight), self.current.parameter("bias", task.bias)
        predicted = OPS["add"](OPS["matmul"](x, weight), bias)
        loss: Variable = OPS["mean"](OPS["square"](OPS["sub"](predicted, y)), axis=None, keepdims=False)
        reference_impl.SGD(task.learning_rate).minimize(loss)
        return loss

    def append_backward_to(self, loss: object) -> None:
        reference_impl.append_backward(loss, dialect=self.dialect)  # type: ignore[arg-type]  # what it says to that is the question

    def start(self) -> None:
        pass

    def detach(self, variable: Variable) -> Variable:
        copy: Variable = OPS["clone"](variable)
        copy.stop_gradient = True
        return copy

    def set_flow(self, variable: Variable, *, flows: bool) -> None:
        variable.stop_gradient = not flows

    def no_grad(self) -> AbstractContextManager[None]:
        return self.current.no_grad()

    def name(self, variable: Variable) -> str:
        return variable.name

    def flows(self, variable: Variable) -> bool:
        return not variable.stop_gradient

    def run(self, feed: dict[str, np.ndarray[Any, Any]], fetch: list[Variable]) -> list[np.ndarray[Any, Any]]:
        return [OPS["clone"](a) for a in reference_impl.run(self.current, feed, fetch) if a is not None]

    def category(self, error: Exception) -> Category:
        return error.category if isinstance(error, AutogradError) else Category.UNMAPPED


def _cotangents(operator: GradientOperator, context: dict[str, Variable]) -> Iterator[str]:
    """Yield the names of the variables whose gradients a gradient operator takes."""
    read = {o.name for inner in operator.operators for o in inner.operands if isinstance(o, Variable)}
    for output in operator.primal.outputs:
        if any(primal is output and name in read for name, primal in context.items()):
            yield output.name

"""Paddle's static programs of today (PIR), as a `ProgramEngine`: the ops of eager mode, recorded in a program and run by an executor.

Eager and static Paddle alternate in one process by ``enable_static`` and ``disable_static``. Programs of old differ in two facts, which
`PaddlePrograms` is given: how ops are called, and by which attribute a variable is known.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # paddle warns of a missing compiler cache on import
    import paddle

import numpy as np

from conformance.backends import BackendInfo
from conformance.backends.calls import Calls, Spelling
from conformance.backends.error_rules import categorise
from conformance.backends.interpreter import pick
from conformance.backends.paddle_static.errors import ERROR_RULES
from conformance.backends.program_interpreter import Programs
from reference_impl import PADDLE_STATIC, Category

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from conformance.backends.interpreter import Values
    from conformance.backends.program_interpreter import Called, Regression
    from conformance.case.case import Input
    from conformance.case.steps import AppendBackward, Grad, Op


def open_backend() -> Programs:
    """Open Paddle on the CPU, with programs in PIR."""
    engine = PaddlePrograms(Spelling("paddle"), known_by="id")
    info = BackendInfo("paddle-static", version_on_cpu(), PADDLE_STATIC, {**PADDLE_STATIC.not_offered, **engine.calls.lacking()})
    return Programs(info, engine)


def version_on_cpu() -> str:
    """Have Paddle compute on the CPU, and return its version."""
    paddle.set_device("cpu")
    return str(paddle.__version__)


class PaddlePrograms:
    """`ProgramEngine` over ``paddle.static``; ``known_by``: the attribute that tells one variable from another."""

    def __init__(self, spelling: Spelling, *, known_by: str) -> None:
        self.calls = Calls(spelling, paddle)
        self.known_by = known_by
        self.executor = paddle.static.Executor(paddle.CPUPlace())

    @contextmanager
    def program(self) -> Iterator[None]:
        """Switch to static mode, with a fresh program and scope, and back."""
        paddle.enable_static()
        try:
            self.main, self.startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.scope_guard(paddle.static.Scope()), paddle.static.program_guard(self.main, self.startup):
                yield
        finally:
            paddle.disable_static()

    def leaf(self, entry: Input, *, parameter: bool) -> Any:
        if parameter:
            value = paddle.nn.initializer.Assign(entry.array())
            return paddle.create_parameter(entry.shape, entry.dtype, entry.name, default_initializer=value)
        made = paddle.static.data(entry.name, entry.shape, entry.dtype)
        made.stop_gradient = not entry.differentiable
        return made

    def apply(self, step: Op, operands: list[Any]) -> tuple[Any, ...]:
        return self.calls.apply(step.op, operands, step.attrs)

    def gradients(self, step: Grad, values: Values) -> list[Any]:
        form = None if step.form == "set" else step.form
        return paddle.static.gradients(  # type: ignore[no-any-return]
            pick(values, step.outputs, form),
            pick(values, step.inputs, form),
            pick(values, step.grad_outputs, form),
            pick(values, step.no_grad_vars, "set"),
        )

    def append_backward(self, step: AppendBackward, values: Values) -> tuple[list[tuple[Any, Any]], Called]:
        calls: Called = []

        def called(block: Any, context: dict[str, Any]) -> None:  # noqa: ARG001 - Paddle passes it by this name
            calls.append(self.cotangents(context))

        parameters, ignored = pick(values, step.parameter_list), pick(values, step.no_grad_set)
        if step.by_name:
            parameters = None if parameters is None else [v.name for v in parameters]
            ignored = None if ignored is None else [v.name for v in ignored]
        ignored = None if ignored is None else set(ignored)
        callbacks = [called] if step.callbacks else None
        return list(paddle.static.append_backward(values[step.loss], parameters, ignored, callbacks)), calls

    def minimize(self, task: Regression) -> Any:
        x = paddle.static.data("x", task.x.shape, "float32")
        y = paddle.static.data("y", task.y.shape, "float32")
        first = {
            f"{name}_attr": paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(array))
            for name, array in (("weight", task.weight), ("bias", task.bias))
        }
        predicted = paddle.static.nn.fc(x, 1, **first)
        loss = paddle.mean(paddle.nn.functional.square_error_cost(predicted, y))
        paddle.optimizer.SGD(task.learning_rate).minimize(loss)
        return loss

    def append_backward_to(self, loss: object) -> None:
        paddle.static.append_backward(loss)

    def cotangents(self, context: dict[str, Any]) -> list[str]:
        """Read off a callback's context the variables whose gradients the new operator takes."""
        taken = context["__current_op_desc__"].input_arg_names()
        return [context[name] for name in taken if name in context]

    def detach(self, variable: Any) -> Any:
        return variable.detach()

    def set_flow(self, variable: Any, *, flows: bool) -> None:
        variable.stop_gradient = not flows

    def no_grad(self) -> AbstractContextManager[Any]:
        return paddle.no_grad()  # type: ignore[no-any-return]

    def name(self, variable: Any) -> str:
        return str(getattr(variable, self.known_by))

    def flows(self, variable: Any) -> bool:
        return not variable.stop_gradient

    def start(self) -> None:
        self.executor.run(self.startup)

    def run(self, feed: dict[str, np.ndarray[Any, Any]], fetch: list[Any]) -> list[np.ndarray[Any, Any]]:
        arrays = self.executor.run(self.main, feed=feed, fetch_list=fetch)
        found = sum(a is not None for a in arrays)
        if found != len(fetch):  # a variable that the program does not have, or never computes, is passed over
            msg = f"{len(fetch)} variables were asked for, the executor returned {found}"
            raise RuntimeError(msg)
        return [np.array(a) for a in arrays]

    def category(self, error: Exception) -> Category:
        return categorise(error, ERROR_RULES)

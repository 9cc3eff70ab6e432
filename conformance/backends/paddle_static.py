"""Paddle, static programs of today (PIR): the ops of the eager adapter, recorded in a program and run by an executor.

Eager and static Paddle alternate in one process by ``enable_static`` and ``disable_static``.
"""

from __future__ import annotations

import operator
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # paddle warns of a missing compiler cache on import
    import paddle

import numpy as np

from conformance.backends import BackendInfo
from conformance.backends.interpreter import pick
from conformance.backends.messages import Rule, categorise
from conformance.backends.programs import Programs
from conformance.ops.calls import Calls
from reference_impl import PADDLE_STATIC, Category
from reference_impl.dialect import PADDLE_STATIC_LEGACY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from conformance.backends.programs import Called, Regression
    from conformance.case import Input
    from conformance.steps import AppendBackward, Grad, Op

RULES: tuple[Rule, ...] = (
    (ValueError, "should have the same length of as outputs", Category.SEED_LENGTH),
    (ValueError, "The shape of grad_output", Category.SEED_SHAPE),
    (ValueError, "The shapes of target and grad are different", Category.SEED_SHAPE),
    (ValueError, "Should have the same number of target_gradients as targets", Category.SEED_LENGTH),
    (ValueError, "has no grad op", Category.NOT_IMPLEMENTED),
    (RuntimeError, "has been registered. Please check whether", Category.NOT_IMPLEMENTED),
    (TypeError, "Value Wrapper is only support", Category.BAD_ARGUMENT),
    (TypeError, "must be <class 'paddle.base.libpaddle.pir.Value'>", Category.BAD_ARGUMENT),
)


def open_backend() -> Programs:
    """Open Paddle on the CPU, with programs in PIR."""
    paddle.set_device("cpu")
    info = BackendInfo("paddle-static", paddle.__version__, PADDLE_STATIC, PADDLE_STATIC.not_offered)
    return Programs(info, PaddlePrograms())


def open_legacy() -> Programs:
    """Open Paddle on the CPU, with the programs of old; for a process that was started with ``FLAGS_enable_pir_api=0``."""
    paddle.set_device("cpu")
    info = BackendInfo("paddle-static-legacy", paddle.__version__, PADDLE_STATIC_LEGACY, PADDLE_STATIC_LEGACY.not_offered)
    return Programs(info, LegacyPaddlePrograms())


class PaddlePrograms:
    """`ProgramEngine` over ``paddle.static``."""

    calls = Calls("paddle", paddle)

    def __init__(self) -> None:
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

    def gradients(self, step: Grad, values: dict[str, Any]) -> list[Any]:
        form = None if step.form == "set" else step.form
        return paddle.static.gradients(  # type: ignore[no-any-return]
            pick(values, step.outputs, form),
            pick(values, step.inputs, form),
            pick(values, step.grad_outputs, form),
            pick(values, step.no_grad_vars, "set"),
        )

    def append_backward(self, step: AppendBackward, values: dict[str, Any]) -> tuple[list[tuple[Any, Any]], Called]:
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

    def no_grad(self) -> AbstractContextManager[Any]:
        return paddle.no_grad()  # type: ignore[no-any-return]

    def name(self, variable: Any) -> str:
        return str(variable.id)

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
        return categorise(error, RULES)


class LegacyPaddlePrograms(PaddlePrograms):
    """The same over variables that have names; two ops are spelled as operators, which still take them."""

    calls = Calls("paddle", paddle, {"mul": operator.mul, "matmul": operator.matmul})

    def name(self, variable: Any) -> str:
        return str(variable.name)

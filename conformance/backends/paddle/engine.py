"""Paddle on the CPU in eager mode, as an `Engine`: how the interpreter of scripts makes, differentiates and looks at its tensors.

Paddle says with ``stop_gradient`` what others say with ``requires_grad``, its negation, and its custom functions are ``PyLayer``.
"""

from __future__ import annotations

import warnings
from inspect import signature
from typing import TYPE_CHECKING, Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # paddle warns of a missing compiler cache on import
    import paddle

from conformance.backends import BackendInfo
from conformance.backends.calls import Calls
from conformance.backends.error_rules import categorise
from conformance.backends.interpreter import Interpreter, pick
from conformance.backends.paddle.errors import ERROR_RULES, SEEDS_NOT_CAST
from conformance.case.outcome import Value
from reference_impl import PADDLE, Category

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from conformance.backends.error_rules import Rule
    from conformance.backends.interpreter import EngineTensor, Forward, Pullback, Values
    from conformance.case.case import Input
    from conformance.case.steps import Backward, Grad, InPlace, Op


def open_backend() -> Interpreter:
    """Open Paddle on the CPU, in eager mode."""
    paddle.set_device("cpu")
    CALLS.compile_all()
    info = BackendInfo("paddle", paddle.__version__, PADDLE, {**PADDLE.not_offered, **_lacking()})
    return Interpreter(info, PaddleEngine(ERROR_RULES if _casts_seeds() else (*ERROR_RULES, *SEEDS_NOT_CAST)))


CALLS = Calls("paddle", paddle)
DUMP = "dump_backward_graph_path"


def _lacking() -> dict[str, str]:
    """Return what this release does not have."""
    lacking = CALLS.lacking()
    if DUMP not in signature(paddle.autograd.backward).parameters:
        lacking[DUMP] = f"paddle.autograd.backward has no {DUMP} in this release"
    if not _runs_causal_attention():
        lacking["op:scaled_dot_product_attention_causal"] = "its kernel is for the GPU alone in this release"
    return lacking


def _runs_causal_attention() -> bool:
    """Whether attention behind a causal mask runs on the CPU: no signature says so, and releases before 3.3 refuse it."""
    one = paddle.ones([1, 1, 1, 1])
    try:
        paddle.nn.functional.scaled_dot_product_attention(one, one, one, is_causal=True)
    except NotImplementedError:
        return False
    return True


def _casts_seeds() -> bool:
    """Whether a seed of another precision than its root is cast: releases before 3.3 do not."""
    x = paddle.ones([1])
    x.stop_gradient = False
    try:
        paddle.grad([paddle.sin(x)], [x], [paddle.ones([1], "float64")])
    except ValueError:
        return False
    return True


class PaddleEngine:
    """`Engine` over eager Paddle tensors."""

    def __init__(self, rules: Sequence[Rule] = ERROR_RULES) -> None:
        self.rules = rules

    def leaf(self, entry: Input) -> EngineTensor:
        return paddle.to_tensor(entry.array(), stop_gradient=not entry.differentiable)

    def apply(self, step: Op, operands: list[EngineTensor]) -> tuple[EngineTensor, ...]:
        return CALLS.apply(step.op, operands, step.attrs)

    def in_place(self, step: InPlace, tensor: EngineTensor, operands: list[EngineTensor]) -> None:
        CALLS.change(step.op, tensor, operands, step.attrs)

    def custom(self, forward: Forward, backward: Pullback, operands: list[EngineTensor]) -> tuple[EngineTensor, ...]:
        class Function(paddle.autograd.PyLayer):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, *tensors: EngineTensor) -> Any:
                outputs, saved = forward(list(tensors))
                ctx.save_for_backward(*saved)
                # Without the mark an operand that is returned counts as changed in place: the name outside would change its meaning.
                ctx.mark_not_inplace(*(t for t in tensors if any(t is output for output in outputs)))
                return tuple(outputs) if len(outputs) > 1 else outputs[0]

            @staticmethod
            def backward(ctx: Any, *cotangents: EngineTensor) -> Any:
                gradients = backward(list(ctx.saved_tensor()), list(cotangents))
                return tuple(gradients) if len(gradients) != 1 else gradients[0]

        made = Function.apply(*operands)
        return tuple(made) if isinstance(made, list | tuple) else (made,)

    def backward(self, step: Backward, values: Values, dump: str | None) -> Any:
        retain = {} if step.retain_graph is None else {"retain_graph": step.retain_graph}
        tensors, seeds = pick(values, step.tensors, step.form), pick(values, step.grad_tensors, step.form)
        return paddle.autograd.backward(tensors, seeds, **retain, **({} if dump is None else {DUMP: dump}))

    def grad(self, step: Grad, values: Values) -> list[EngineTensor | None]:
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

    def retain_grad(self, tensor: EngineTensor) -> None:
        tensor.retain_grads()

    def toggle(self, tensor: EngineTensor, requires_grad: bool) -> None:
        tensor.stop_gradient = not requires_grad

    def hook(self, tensor: EngineTensor, function: Callable[[EngineTensor], EngineTensor]) -> Any:
        return tensor.register_hook(function)

    def remove_hook(self, handle: Any) -> None:
        handle.remove()

    def edge(self, tensor: EngineTensor) -> Any:
        raise NotImplementedError(PADDLE.not_offered["gradient_edge"])  # so the interpreter never asks

    def recording(self) -> bool:
        return bool(paddle.is_grad_enabled())

    def clear_grad(self, tensor: EngineTensor, to: str) -> None:
        tensor.clear_gradient(to == "zero")

    def detach(self, tensor: EngineTensor) -> EngineTensor:
        return tensor.detach()

    def grad_of(self, tensor: EngineTensor) -> EngineTensor | None:
        return tensor.grad

    def look(self, tensor: EngineTensor) -> Value:
        return Value(tensor.numpy(), not tensor.stop_gradient)

    def no_grad(self) -> AbstractContextManager[Any]:
        return paddle.no_grad()  # type: ignore[no-any-return]

    def category(self, error: Exception) -> Category:
        return categorise(error, self.rules)

"""tinygrad with its Python device, which needs no compiler: a lazy graph, and ``Tensor.gradient``, which makes more of it."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends import BackendInfo, Registration
from conformance.backends.calls import Calls, Spelling
from conformance.backends.interpreter import Interpreter
from examples.engines.functional import FUNCTIONAL, Functional
from examples.engines.numpy_ops import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends.error_rules import Rule

REGISTRATION = Registration(opens=f"{__name__}:open_backend", title="tinygrad", requires="tinygrad", static=True, slowness=10)
ALIKE = ("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "silu", "relu", "relu6", "erf", "abs", "square")
ALIKE += ("floor", "ceil", "round", "sign", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "trunc", "mish")
OWN = {
    **OPERATORS,
    **{name: f"x.{name}()" for name in ALIKE},
    "clone": "x.contiguous()",
    "cast": "x.cast(getattr(tinygrad.dtypes, dtype))",
    "softplus": "x.softplus(beta)",
    "leaky_relu": "x.leaky_relu(slope)",
    "hardtanh": "x.hardtanh(low, high)",
    "clamp": "x.clamp(low, high)",
    "maximum": "x.maximum(y)",
    "minimum": "x.minimum(y)",
    "sum": "x.sum(None if axis is None else tuple(axis), keepdims)",
    "mean": "x.mean(None if axis is None else tuple(axis), keepdims)",
    "max": "x.max(axis, keepdims)",
    "min": "x.min(axis, keepdims)",
    "amax": "x.max(None if axis is None else tuple(axis), keepdims)",
    "amin": "x.min(None if axis is None else tuple(axis), keepdims)",
    "prod": "x.prod(axis, keepdims)",
    "logsumexp": "x.logsumexp(axis, keepdims)",
    "softmax": "x.softmax(axis)",
    "log_softmax": "x.log_softmax(axis)",
    "cumsum": "x.cumsum(axis)",
    "reshape": "x.reshape(shape)",
    "view": "x.reshape(shape)",
    "flatten": "x.reshape(shape)",
    "permute": "x.permute(axes)",
    "contiguous": "x.permute(axes).contiguous()",
    "transpose": "x.transpose(axis0, axis1)",
    "t": "x.transpose() if x.ndim == 2 else x",
    "unsqueeze": "x.unsqueeze(axis)",
    "squeeze": "x.squeeze(axis)",
    "expand": "x.expand(shape)",
    "cat": "xs[0].cat(*xs[1:], dim=axis)",
    "stack": "xs[0].stack(*xs[1:], dim=axis)",
    "split": "x.split(sections, axis)",
    "chunk": "x.split(sections, axis)",
    "unbind": "[part.squeeze(axis) for part in x.split(1, axis)]",
    "pad_constant": "x.pad(tuple(zip(before, after)), value=value)",
    "tile": "x.repeat(repeats)",
    "repeat": "x.repeat(repeats)",
    "repeat_interleave": "x.repeat_interleave(repeats, axis)",
    "roll": "x.roll(shift, axis)",
    "flip": "x.flip(axis)",
    "tril": "x.tril(diagonal)",
    "triu": "x.triu(diagonal)",
    "where": "tinygrad.Tensor(mask).where(x, y)",
    "masked_fill": "x.masked_fill(tinygrad.Tensor(mask), value)",
    "matmul": "x.matmul(y)",
    "bmm": "x.matmul(y)",
    "linear": "x.linear(weight.transpose(), bias)",
    "conv2d": "x.conv2d(weight, padding=padding)",
}
ERROR_RULES: tuple[Rule, ...] = ()


def open_backend() -> Interpreter:
    """Open tinygrad with the device that is Python."""
    os.environ.setdefault("DEV", "PYTHON")
    os.environ.setdefault("PARALLEL", "0")  # or each process that runs cases starts others, which compile two kernels at once
    import tinygrad

    calls = Calls(Spelling("tinygrad", OWN), tinygrad)
    not_offered = {**FUNCTIONAL.not_offered, **calls.lacking()}
    info = BackendInfo("tinygrad", version("tinygrad"), FUNCTIONAL, not_offered, kinks="any", alike=calls.alike())
    return Interpreter(info, Functional(calls, Tinygrad(tinygrad), ERROR_RULES))


class Tinygrad:
    """Reverse mode by ``Tensor.gradient``."""

    def __init__(self, tinygrad: Any) -> None:
        self.tinygrad = tinygrad

    def array(self, elements: Any) -> Any:
        return self.tinygrad.Tensor(np.array(elements, order="C"))

    def plain(self, array: Any) -> Any:
        return array.clone().realize().numpy().copy()  # zeros have no device, and numpy() would compile them for the CPU

    def ones_like(self, array: Any) -> Any:
        return self.tinygrad.Tensor.ones_like(array)

    def gradient(self, function: Callable[[Any], list[Any]], x: Any, seeded: Callable[[list[Any]], list[Any]]) -> Any:
        # Another node of the graph, since x itself may be in the cotangents, and in what counts as constant. Nodes that say the same
        # are one node, so that x * 1 may be there, too (a softplus begins with it); a one in a buffer of its own is not.
        one = self.tinygrad.Tensor(np.ones(1)).cast(x.dtype).reshape((1,) * x.ndim)
        leaf = x * one
        values = function(leaf)
        found = [value.gradient(leaf, gradient=seed)[0] for value, seed in zip(values, seeded(values), strict=True)]
        return sum(found[1:], found[0])

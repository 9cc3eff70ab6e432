"""What the ops of the catalogue mean in the words of NumPy: expressions over ``np``, which may be any module that speaks like NumPy.

Operands and attributes stand under the names that ``conformance ops --json`` gives them. `Calls.lacking` names what is missing: ops
that are not in the table, and those of which a module lacks a function. Where there are several ways to write an op, the one that
stays accurate is taken, for the numbers of an op are those of its formula: a softmax subtracts the largest element, as all do.
"""

from __future__ import annotations

import re

TOP = "np.max(x, axis=axis, keepdims=True)"
LOGISTIC = "1.0 / (1.0 + np.exp(-{}))"

OPERATORS = {
    "add": "x + y",
    "sub": "x - y",
    "mul": "x * y",
    "div": "x / y",
    "neg": "-x",
    "add_scalar": "x + other",
    "rsub_scalar": "other - x",
    "mul_scalar": "x * other",
    "rdiv_scalar": "other / x",
    "pow": "x ** y",
    "pow_scalar": "x ** exponent",
    "getitem_slice": "x[tuple(slice(*k) for k in key)]",
    "getitem_strided": "x[tuple(slice(*k) for k in key)]",
    "getitem_reversed": "x[tuple(slice(None, None, -1 if i == axis % x.ndim else 1) for i in range(x.ndim))]",
    "getitem_int": "x[index]",
}
"""The ops that every array says with the operators of Python."""

NUMPY = {
    **OPERATORS,
    "square": "np.square(x)",
    "cast": "x.astype(dtype)",
    # elementwise functions
    "exp": "np.exp(x)",
    "log": "np.log(x)",
    "sqrt": "np.sqrt(x)",
    "rsqrt": "1.0 / np.sqrt(x)",
    "sin": "np.sin(x)",
    "cos": "np.cos(x)",
    "tan": "np.tan(x)",
    "tanh": "np.tanh(x)",
    "asin": "np.arcsin(x)",
    "acos": "np.arccos(x)",
    "atan": "np.arctan(x)",
    "sinh": "np.sinh(x)",
    "cosh": "np.cosh(x)",
    "asinh": "np.arcsinh(x)",
    "acosh": "np.arccosh(x)",
    "atanh": "np.arctanh(x)",
    "expm1": "np.expm1(x)",
    "log1p": "np.log1p(x)",
    "log2": "np.log2(x)",
    "log10": "np.log10(x)",
    "sigmoid": LOGISTIC.format("x"),
    "silu": f"x * ({LOGISTIC.format('x')})",
    "softplus": "np.where(x * beta > 20.0, x, np.logaddexp(0.0, x * beta) / beta)",
    "logsigmoid": "-np.logaddexp(0.0, -x)",
    "abs": "np.abs(x)",
    "relu": "np.maximum(x, 0)",
    "leaky_relu": "np.where(x > 0, x, slope * x)",
    "relu6": "np.clip(x, 0, 6)",
    "hardtanh": "np.clip(x, low, high)",
    "hardshrink": "np.where(np.abs(x) > bound, x, 0 * x)",
    "clamp": "np.clip(x, low, high)",
    "floor": "np.floor(x)",
    "ceil": "np.ceil(x)",
    "round": "np.round(x)",
    "sign": "np.sign(x)",
    "maximum": "np.maximum(x, y)",
    "minimum": "np.minimum(x, y)",
    "fmax": "np.fmax(x, y)",
    "fmin": "np.fmin(x, y)",
    # sums and other reductions
    "sum": "np.sum(x, axis=None if axis is None else tuple(axis), keepdims=keepdims)",
    "mean": "np.mean(x, axis=None if axis is None else tuple(axis), keepdims=keepdims)",
    "max": "np.max(x, axis=axis, keepdims=keepdims)",
    "min": "np.min(x, axis=axis, keepdims=keepdims)",
    "amax": "np.max(x, axis=None if axis is None else tuple(axis), keepdims=keepdims)",
    "amin": "np.min(x, axis=None if axis is None else tuple(axis), keepdims=keepdims)",
    "prod": "np.prod(x, axis=axis, keepdims=keepdims)",
    "cumsum": "np.cumsum(x, axis=axis)",
    "logsumexp": (
        "(lambda axis: (lambda top:"
        " np.log(np.sum(np.exp(x - top), axis=axis, keepdims=keepdims)) + (top if keepdims else np.squeeze(top, axis))"
        f")({TOP}))(axis if isinstance(axis, int) else tuple(axis))"
    ),
    "softmax": f"(lambda e: e / np.sum(e, axis=axis, keepdims=True))(np.exp(x - {TOP}))",
    "log_softmax": f"(lambda s: s - np.log(np.sum(np.exp(s), axis=axis, keepdims=True)))(x - {TOP})",
    "mse_loss": "np.mean(np.square(x - y))",
    # shapes
    "reshape": "np.reshape(x, shape)",
    "view": "np.reshape(x, shape)",
    "flatten": "np.reshape(x, shape)",
    "permute": "np.transpose(x, axes)",
    "contiguous": "np.transpose(x, axes)",
    "transpose": "np.swapaxes(x, axis0, axis1)",
    "t": "np.transpose(x)",
    "unsqueeze": "np.expand_dims(x, axis)",
    "squeeze": "np.squeeze(x, axis) if x.shape[axis] == 1 else np.reshape(x, x.shape)",
    "expand": "np.broadcast_to(x, tuple(shape))",
    "cat": "np.concatenate(xs, axis=axis)",
    "stack": "np.stack(xs, axis=axis)",
    "pad_constant": "np.pad(x, tuple(zip(before, after)), mode='constant', constant_values=value)",
    "tile": "np.tile(x, repeats)",
    "repeat": "np.tile(x, repeats)",
    "repeat_interleave": "np.repeat(x, repeats, axis=axis)",
    "roll": "np.roll(x, shift, axis=axis)",
    "flip": "np.flip(x, axis)",
    "tril": "np.tril(x, diagonal)",
    "triu": "np.triu(x, diagonal)",
    "unbind": "[x[(slice(None),) * (axis % x.ndim) + (i,)] for i in range(x.shape[axis])]",
    "split": (
        "[x[(slice(None),) * (axis % x.ndim) + (slice(sum(sections[:i]), sum(sections[:i + 1])),)] for i in range(len(sections))]"
    ),
    "glu": (
        "(lambda a, b: a * (" + LOGISTIC.format("b") + "))("
        "*(x[(slice(None),) * (axis % x.ndim) + (part,)]"
        " for part in (slice(0, x.shape[axis] // 2), slice(x.shape[axis] // 2, None))))"
    ),
    # parts
    "getitem_intarray": "x[tuple(np.array(i) for i in index)]",
    "index_select": "x[(slice(None),) * (axis % x.ndim) + (np.array(index),)]",
    "embedding": "weight[np.array(index)]",
    "where": "np.where(np.array(mask), x, y)",
    "masked_fill": "np.where(np.array(mask), value, x)",
    "masked_fill_tensor": "np.where(np.array(mask), value, x)",
    # products
    "matmul": "np.matmul(x, y)",
    "bmm": "np.matmul(x, y)",
    "linear": "np.matmul(x, np.transpose(weight)) + bias",
    "outer": "np.expand_dims(x, -1) * y",
}
NUMPY["chunk"] = NUMPY["split"]


def spelled(module: str) -> dict[str, str]:
    """Return the table for a module that speaks like NumPy, by the name under which a user reaches it: ``jax.numpy``."""
    return {name: re.sub(r"\bnp\.", f"{module}.", call) for name, call in NUMPY.items()}

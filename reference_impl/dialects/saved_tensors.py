"""What each framework's ops keep for their gradients: `TORCH_SAVES` and `PADDLE_SAVES`.

For an op, and for each operand that needs a gradient, the names of what is kept: operands, or ``out`` for the op's own result. A pass
refuses at a node that kept something whose memory was written afterwards, whether or not the number is needed for what is asked.
An op that keeps nothing has an empty entry. An op that is not here is not used together with in-place updates: what it keeps depends on
the layout of its operands (`matmul`), or its result lies in memory of its own making (`repeat_interleave`).

Source: torch 2.13.0 and paddle 3.3.1, observed op by op by writing to every operand and to the result after the op, for every choice
of operands that need a gradient; both document that such a write is refused in the pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Saves = dict[str, dict[str, tuple[str, ...]]]

SAVES_NOTHING = (
    *("add", "sub", "neg", "add_scalar", "rsub_scalar", "mul_scalar", "clone", "cast", "sum", "mean"),
    *("reshape", "view", "flatten", "permute", "transpose", "t", "contiguous", "unsqueeze", "squeeze", "expand", "cat", "stack"),
    *("split", "chunk", "unbind", "pad_constant", "tile", "repeat", "roll", "flip", "tril", "triu"),
    *("getitem_slice", "getitem_strided", "getitem_int", "getitem_intarray", "index_select"),
    *("masked_fill", "setitem", "fill", "overwrite"),
)
SAVES_OPERAND = ("pow_scalar", "square", "log", "sin", "cos", "abs", "gelu", "softplus", "clamp")
SAVES_RESULT = ("exp", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "softmax", "log_softmax")


def _both(*names: str) -> dict[str, tuple[str, ...]]:
    return {"x": names, "y": names}


_SHARED: Saves = {
    **{op: {} for op in SAVES_NOTHING},
    **{op: {"x": ("x",)} for op in SAVES_OPERAND},
    **{op: {"x": ("out",)} for op in SAVES_RESULT},
    "amax": {"x": ("x", "out")},
    "maximum": _both("x", "y"),
    "minimum": _both("x", "y"),
}

TORCH_SAVES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    **_SHARED,
    **{op: {"x": ("y",), "y": ("x",)} for op in ("mul", "bmm")},
    "div": {"x": ("y",), "y": ("x", "y")},
    "pow": _both("x", "y", "out"),
    "reciprocal": {"x": ("out",)},
    "silu": {"x": ("x",)},
    "cumsum": {},
}

PADDLE_SAVES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    **_SHARED,
    **{op: _both("x", "y") for op in ("mul", "bmm")},
    "div_by_quotient": _both("x", "y", "out"),
    "pow": _both("x", "y"),
    "setitem": {"x": ("value",), "value": ("value",)},
    "silu": {"x": ("x", "out")},
    "cumsum": {"x": ("x",)},
}

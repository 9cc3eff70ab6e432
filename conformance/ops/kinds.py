"""Which ops take complex numbers, and why the others do not.

Random scripts over complex tensors use `BOTH` and the family ``complex``; those over real tensors alone never use that family. Every op
of the catalogue stands in one of the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

DOUBLE = {"float32": "float64", "complex64": "complex128"}
"""Dtypes of single precision, each with that of double precision."""
SINGLE = {double: single for single, double in DOUBLE.items()}
OTHER_PRECISION = {**DOUBLE, **SINGLE}
OTHER_KIND = {"float32": "complex64", "float64": "complex128", "complex64": "float32", "complex128": "float64"}
"""For a dtype, that of the other precision; and that of the other kind, real or complex, in the same precision."""

BOTH = frozenset(
    (
        *("add", "sub", "mul", "div", "neg", "add_scalar", "rsub_scalar", "mul_scalar", "rdiv_scalar", "pow_scalar", "square"),
        *("clone", "cast", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "pow", "abs"),
        *("sum", "mean", "prod", "cumsum", "matmul", "linear", "outer", "where", "masked_fill", "masked_fill_tensor", "setitem"),
        *("reshape", "view", "flatten", "permute", "transpose", "t", "contiguous", "unsqueeze", "squeeze", "expand", "cat", "stack"),
        *("split", "unbind", "pad_constant", "tile", "repeat", "roll", "flip", "tril", "triu"),
        *("getitem_slice", "getitem_strided", "getitem_int", "getitem_intarray", "index_select"),
    )
)
"""Ops that both frameworks offer and differentiate for complex operands."""

MIXING = frozenset(("add", "sub", "mul", "div", "where"))
"""Ops whose two operands may be one real and one complex; the real one is promoted."""

COMPLEX = frozenset(("real", "imag", "conj", "angle", "sgn", "as_real"))
"""Ops of complex operands alone. The rest of their family makes complex tensors of real ones."""

INEXACT = frozenset(("abs", "pow_scalar"))
"""Ops that are exact on small real numbers and not on small complex ones."""

_ORDERED = "complex numbers have no order; both frameworks refuse"
_UNIMPLEMENTED = "PyTorch: not implemented for complex numbers"
_UNREGISTERED = "Paddle: its kernel is not registered for complex numbers"

REAL_ONLY: Mapping[str, str] = {
    **dict.fromkeys(("relu", "max", "min", "amax", "maximum", "minimum", "clamp", "topk"), _ORDERED),
    **dict.fromkeys(("relu6", "hardtanh", "leaky_relu", "hardshrink", "amin", "fmax", "fmin", "floor", "ceil", "round"), _ORDERED),
    **dict.fromkeys(
        ("erf", "gelu", "softplus", "softmax", "log_softmax", "glu", "mse_loss"), "PyTorch: not implemented for complex numbers"
    ),
    "silu": "PyTorch: silu does not support automatic differentiation for outputs with complex dtype",
    "embedding": "PyTorch: embedding does not support automatic differentiation for outputs with complex dtype",
    **dict.fromkeys(("rsqrt", "logsumexp", "chunk", "repeat_interleave", "gather", "bmm", "conv2d", "fill"), _UNREGISTERED),
}
"""Ops that random scripts use on real operands alone, with the reason; observed on torch 2.13.0 and paddle 3.3.1."""

NOT_OFFERED: Mapping[str, str] = {
    "in-place updates of complex tensors": "what each framework keeps of complex operands is not tabulated yet",
    "complex programs": "complex variables of static programs are not drawn yet",
    "complex Python numbers (x * 1j)": "attributes of ops are real numbers in the case language",
    "cat, stack, matmul of a real and a complex tensor": "Paddle refuses cat and stack, PyTorch matmul",
    "fft": "comes with its family",
}
"""What else random scripts do not do with complex tensors, with the reason."""


def takes(op: str) -> Literal["real", "complex", "both"]:
    """Return what the operands of an op may be."""
    return "both" if op in BOTH else "complex" if op in COMPLEX else "real"

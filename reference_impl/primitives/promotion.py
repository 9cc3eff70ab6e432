"""Operands of two dtypes: what an op makes of them, and how a cotangent comes back to each.

A real operand beside a complex one becomes complex, and float32 beside float64 becomes float64, unless an operand without axes is
the wider one: then it takes the dtype of the operand with axes. (Both frameworks do so for sums, products and quotients, measured in
row T006; Paddle documents the table of dtypes and says nothing about axes.) A cotangent comes back in the dtype of its operand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.complex import PARTS, is_complex, real
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import primitive, shape_of


@primitive(saves=())
def cast(x: Any, *, dtype: str) -> Any:
    """Convert to another dtype, complex to real by the real part; the cotangent is converted back."""
    return (x.real if is_complex(x) and dtype not in PARTS else x).astype(dtype)


@cast.vjp("x")
def cast_vjp_x(g: Any, out: Any, x: Any, *, dtype: str) -> Any:
    return cast(g, dtype=str(x.dtype))


def to_operand(g: Any, x: Any) -> Any:
    """Bring a cotangent back to an operand: to its shape if it was broadcast, to its dtype if it was promoted."""
    g = sum_to(g, shape_of(x))
    if g.dtype == x.dtype:
        return g
    if is_complex(g) and not is_complex(x):
        g = real(g)
    return g if g.dtype == x.dtype else cast(g, dtype=str(x.dtype))


def of_one_precision(x: Any, y: Any) -> tuple[Any, Any]:
    """Give an operand without axes the dtype of one with axes, if both are real or both complex; NumPy lets the wider dtype decide."""
    if not (hasattr(x, "dtype") and hasattr(y, "dtype")) or x.dtype == y.dtype:  # a Python number follows the other operand
        return x, y
    if x.dtype.kind != y.dtype.kind or bool(x.shape) is bool(y.shape):
        return x, y
    return (x, y.astype(x.dtype)) if x.shape else (x.astype(y.dtype), y)


def of_one_dtype(x: Any, y: Any) -> tuple[Any, Any]:
    """Cast the operand that has not the dtype of the result; what some dialects do before an op that takes two dtypes."""
    dtypes = (x.dtype, y.dtype)
    if dtypes[0].kind == dtypes[1].kind and bool(shape_of(x)) is not bool(shape_of(y)):
        dtype = str(dtypes[0] if shape_of(x) else dtypes[1])
    else:
        dtype = str(np.result_type(*dtypes))
    return tuple(operand if str(operand.dtype) == dtype else cast(operand, dtype=dtype) for operand in (x, y))

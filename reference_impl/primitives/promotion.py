"""Operands of two dtypes: what an op makes of them, and how a cotangent comes back to each.

A real operand beside a complex one becomes complex, and float32 beside float64 becomes float64, unless an operand without axes is
the wider one: then it takes the dtype of the operand with axes. (Both frameworks do so for sums, products and quotients, measured in
row T006; Paddle documents the table of dtypes and says nothing about axes. In NumPy the wider one decides in any case.) A cotangent
comes back in the dtype of its operand.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from reference_impl.primitives.complex import PARTS, is_complex, real
from reference_impl.primitives.shape import unbroadcast
from reference_impl.tape.primitive import composite, primitive, shape_of


@functools.cache
def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype, which NumPy puts together anew whenever it is asked: that takes longer than most ops."""
    return str(dtype)


@primitive(saves=())
def cast(x: Any, *, dtype: str) -> Any:
    """Convert to another dtype, complex to real by the real part; the cotangent is converted back."""
    return (x.real if is_complex(x) and dtype not in PARTS else x).astype(dtype)


@cast.vjp("x")
def cast_vjp_x(g: Any, out: Any, x: Any, *, dtype: str) -> Any:
    return cast(g, dtype=name_of(x.dtype))


@composite
def cast_to_own_dtype(x: Any) -> Any:
    """Return the operand itself."""
    return x


@composite
def cast_to_own_dtype_by_copy(x: Any) -> Any:
    """Return a copy, by a cast that changes nothing."""
    return cast(x, dtype=name_of(x.dtype))


def to_operand(g: Any, x: Any) -> Any:
    """Bring a cotangent back to an operand: to its shape if it was broadcast, to its dtype if it was promoted."""
    if g.shape != x.shape:
        g = unbroadcast(g, shape=x.shape)
    if g.dtype == x.dtype:
        return g
    if is_complex(g) and not is_complex(x):
        g = real(g)
    return g if g.dtype == x.dtype else cast(g, dtype=name_of(x.dtype))


def of_one_precision(x: Any, y: Any) -> tuple[Any, Any]:
    """Give an operand without axes the dtype of one with axes, if both are real or both complex; NumPy lets the wider dtype decide."""
    try:
        if x.dtype == y.dtype:
            return x, y
    except AttributeError:  # a Python number follows the other operand
        return x, y
    if x.dtype.kind != y.dtype.kind or bool(x.shape) is bool(y.shape):
        return x, y
    return (x, y.astype(x.dtype)) if x.shape else (x.astype(y.dtype), y)


def of_one_dtype(x: Any, y: Any, *, widest: bool = False) -> tuple[Any, Any]:
    """Cast the operand that has not the dtype of the result; what some dialects do before an op that takes two dtypes.

    ``widest``: the wider dtype decides in any case, and not the operand that has axes.
    """
    dtypes = (x.dtype, y.dtype)
    if dtypes[0] == dtypes[1]:
        return x, y
    if not widest and dtypes[0].kind == dtypes[1].kind and bool(shape_of(x)) is not bool(shape_of(y)):
        dtype = dtypes[0] if shape_of(x) else dtypes[1]
    else:
        dtype = np.result_type(*dtypes)
    return tuple([operand if operand.dtype == dtype else cast(operand, dtype=name_of(dtype)) for operand in (x, y)])

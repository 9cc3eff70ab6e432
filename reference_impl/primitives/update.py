"""Tensors with a part replaced: what an in-place update computes, as functions.

Each has an in-place form in the frameworks. One that replaces a part counts as saving data: both frameworks refuse to pass it again
once a graph is freed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.indexing import getitem_slice
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import OPS, primitive, shape_of, zeros_like


@primitive(ulps=0)
def setitem(x: Any, value: Any, *, key: Any) -> Any:
    """Return ``x`` with ``value``, broadcast, at ``[start:stop:step, ...]``; ``key`` as for `getitem_slice`."""
    out = np.array(x, order="C")
    out[tuple(slice(*part) for part in key)] = value
    return out


@setitem.vjp("x")
def setitem_vjp_x(g: Any, out: Any, x: Any, value: Any, *, key: Any) -> Any:
    return setitem(g, np.zeros((), x.dtype), key=key)


@setitem.vjp("value")
def setitem_vjp_value(g: Any, out: Any, x: Any, value: Any, *, key: Any) -> Any:
    return sum_to(getitem_slice(g, key=key), shape_of(value))


@primitive(saves=(), ulps=0)
def fill(x: Any, *, value: float) -> Any:
    """Return ``value`` in the shape of ``x``."""
    return np.full_like(x, value)


@fill.vjp("x")
def fill_vjp_x(g: Any, out: Any, x: Any, *, value: float) -> Any:
    return zeros_like(x)


EXPANDING = frozenset({"broadcast_to", "expand", "expand_as"})
"""View ops of which several elements may be one in memory."""


@primitive(ulps=0)
def overwrite(x: Any, part: Any, *, op: str, attrs: Any, slot: int) -> Any:
    """Return ``x`` with ``part`` where the view ``op(x, **attrs)`` lies (its result ``slot``, if it has several)."""
    if op in EXPANDING:  # a write that is not refused writes the same to all elements that are one
        return np.array(part[(0,) * (part.ndim - x.ndim) + tuple(slice(n) for n in x.shape)], order="C")
    out = np.array(x, order="C")
    view = OPS[op].forward(out, **attrs)  # type: ignore[attr-defined]
    (view[slot] if isinstance(view, tuple) else view)[...] = part
    return out


@overwrite.vjp("x")
def overwrite_vjp_x(g: Any, out: Any, x: Any, part: Any, *, op: str, attrs: Any, slot: int) -> Any:
    return overwrite(g, zeros_like(part), op=op, attrs=attrs, slot=slot)


@overwrite.vjp("part")
def overwrite_vjp_part(g: Any, out: Any, x: Any, part: Any, *, op: str, attrs: Any, slot: int) -> Any:
    view = OPS[op](g, **attrs)
    return view[slot] if isinstance(view, tuple) else view

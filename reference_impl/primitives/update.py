"""Tensors with a part replaced: what an in-place update computes, as functions.

Each has an in-place form in the frameworks. One that replaces a part counts as saving data: both frameworks refuse to pass it again
once a graph is freed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reference_impl.primitives.indexing import getitem_slice
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import OPS, primitive, shape_of, zeros_like

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
"""View ops of which several elements may be one in memory, along whole axes."""
OVERLAPPING = frozenset({"as_strided", "tensor_unfold"})
"""View ops of which any elements may be one in memory."""
View: TypeAlias = tuple[str, Any, int]
"""A view op by its name, with its attributes, and which of its results."""


@primitive(ulps=0)
def overwrite(x: Any, part: Any, *, op: str, attrs: Any, slot: int, further: Sequence[View] = ()) -> Any:
    """Return ``x`` with ``part`` where the view ``op(x, **attrs)`` lies (its result ``slot``, if it has several).

    ``further``: the views of that view, one of another, the last of which is where ``part`` lies.
    """
    if op in EXPANDING:  # a write that is not refused writes the same to all elements that are one
        return np.array(part[(0,) * (part.ndim - x.ndim) + tuple(slice(n) for n in x.shape)], order="C")
    out = np.array(x, order="C")
    _seen(out, ((op, attrs, slot), *further), lambda name: OPS[name].forward)[...] = part  # type: ignore[attr-defined]
    return out


def _seen(x: Any, views: Sequence[View], op_of: Callable[[str], Callable[..., Any]]) -> Any:
    for name, attrs, slot in views:
        view = op_of(name)(x, **attrs)
        x = view[slot] if isinstance(view, tuple) else view
    return x


@overwrite.vjp("x")
def overwrite_vjp_x(g: Any, out: Any, x: Any, part: Any, **view: Any) -> Any:
    return overwrite(g, zeros_like(part), **view)


@overwrite.vjp("part")
def overwrite_vjp_part(g: Any, out: Any, x: Any, part: Any, *, op: str, attrs: Any, slot: int, further: Sequence[View] = ()) -> Any:
    return _seen(g, ((op, attrs, slot), *further), OPS.__getitem__)


@dataclass(slots=True)
class Way:
    """The way from a tensor down to a view that is written: the views, each one of that before."""

    views: list[View] = field(default_factory=list)

    def overwritten(self, x: Any, below: Any, written: Any) -> Any:
        """Return the tensor with what was written, where ``below`` is its first view with that.

        Where several elements of that view are one in memory, those that were not written still have what was there before. So what was
        ``written`` is put where it lies, and nothing else.
        """
        (op, attrs, slot), *further = self.views
        if op in OVERLAPPING and further:
            return overwrite(x, written, op=op, attrs=attrs, slot=slot, further=further)
        return overwrite(x, below, op=op, attrs=attrs, slot=slot)

"""Ops that read the elements of a tensor by other names: axes that are moved, cut or made, and parts that are picked.

Most are what `shape` and `indexing` have already. They have names of their own since a framework offers, keeps and frees what goes by
a name of its own. Sources: the pages of ``torch`` and ``paddle`` on each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.shape import expand, permute, reshape, same_elements_vjp_x, transpose, unbroadcast, widen
from reference_impl.tape.primitive import alias, own_transpose, primitive, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

expand_as = alias("expand_as", expand)
broadcast_to = alias("broadcast_to", expand)
reduce_as = alias("reduce_as", unbroadcast)
view_as = alias("view_as", reshape)
swapaxes = alias("swapaxes", transpose)


@primitive(saves=(), ulps=0, views=True)
def ravel(x: Any, *, shape: Any) -> Any:
    """Return the same elements along one axis; a view only of what lies without gaps, where `flatten` asks for equal steps."""
    return np.ravel(x)


ravel.vjp("x")(same_elements_vjp_x)


@primitive(saves=(), ulps=0, views=True)
def unflatten(x: Any, *, axis: int, sizes: Any) -> Any:
    """Cut one axis into several, of the given lengths."""
    axis %= x.ndim
    return np.reshape(x, (*x.shape[:axis], *sizes, *x.shape[axis + 1 :]))


unflatten.vjp("x")(same_elements_vjp_x)


def _order(count: int, source: Sequence[int], destination: Sequence[int]) -> list[int]:
    """Return which axis each axis of the result is, when some are moved; the others keep their order."""
    moved = {to % count: at % count for at, to in zip(source, destination, strict=True)}
    others = iter(sorted(set(range(count)) - set(moved.values())))
    return [moved[i] if i in moved else next(others) for i in range(count)]


@primitive(saves=(), ulps=0, views=True)
def moveaxis(x: Any, *, source: Any, destination: Any) -> Any:
    """Move axes, two lists of equal lengths; the others keep their order."""
    return np.transpose(x, _order(x.ndim, source, destination))


@moveaxis.vjp("x")
def moveaxis_vjp_x(g: Any, out: Any, x: Any, *, source: Any, destination: Any) -> Any:
    order = _order(len(shape_of(x)), source, destination)
    return permute(g, axes=sorted(range(len(order)), key=order.__getitem__))


@own_transpose
@primitive(saves=(), ulps=0, views=True)
def matrix_transpose(x: Any) -> Any:
    """Swap the last two axes."""
    return np.swapaxes(x, -1, -2)


@primitive(saves=(), ulps=0, views=True)
def narrow_view(x: Any, *, axis: int, start: int, length: int, copied: bool) -> Any:
    """Return a view of ``length`` entries from ``start`` on along one axis; a negative start counts from the end.

    ``copied``: Paddle narrows a copy, since of a view its narrow is wrong.
    """
    start %= x.shape[axis]
    return x[(slice(None),) * (axis % x.ndim) + (slice(start, start + length),)]


@narrow_view.vjp("x")
def narrow_view_vjp_x(g: Any, out: Any, x: Any, *, axis: int, start: int, length: int, copied: bool) -> Any:
    full = shape_of(x)[axis]
    return widen(g, axis=axis, start=start % full, full=full)


@primitive(saves=(), ulps=0, views=True)
def select(x: Any, *, axis: int, index: int) -> Any:
    """Return entry ``index`` of one axis, without that axis."""
    return x[(slice(None),) * (axis % x.ndim) + (index, ...)]


@select.vjp("x")
def select_vjp_x(g: Any, out: Any, x: Any, *, axis: int, index: int) -> Any:
    shape = list(shape_of(x))
    full, shape[axis] = shape[axis], 1
    return widen(reshape(g, shape=tuple(shape)), axis=axis, start=index % full, full=full)


@primitive(saves=(), ulps=0, views=True)
def getitem_newaxis(x: Any, *, index: int) -> Any:
    """Return ``x[..., None, index]``: one entry of the last axis, and an axis of length 1 in its place."""
    return x[..., None, index]


@getitem_newaxis.vjp("x")
def getitem_newaxis_vjp_x(g: Any, out: Any, x: Any, *, index: int) -> Any:
    full = shape_of(x)[-1]
    return widen(g, axis=-1, start=index % full, full=full)


@primitive(saves=(), ulps=0, views=True)
def tensor_split(x: Any, *, sections: Any, axis: int, part: int) -> Any:
    """Return one of the parts, of the given lengths, that an axis is cut into: a slice, of which the others know nothing."""
    start = sum(sections[:part])
    return x[(slice(None),) * (axis % x.ndim) + (slice(start, start + sections[part]),)]


@tensor_split.vjp("x")
def tensor_split_vjp_x(g: Any, out: Any, x: Any, *, sections: Any, axis: int, part: int) -> Any:
    return widen(g, axis=axis, start=sum(sections[:part]), full=shape_of(x)[axis])


hsplit, vsplit, dsplit = (alias(name, tensor_split) for name in ("hsplit", "vsplit", "dsplit"))

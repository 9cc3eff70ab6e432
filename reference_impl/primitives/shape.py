"""Shape and view ops: they move elements, and their rules move cotangents back.

None of them rounds and none of them saves data, so they survive a freed graph wherever only saved data is freed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.tape.primitive import alias, axes_reversed, own_transpose, primitive, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence


@primitive(saves=(), ulps=0, views=True)
def reshape(x: Any, *, shape: Any) -> Any:
    """Return the same elements in row-major order under another shape."""
    return x.reshape(shape)


view = alias("view", reshape)
flatten = alias("flatten", reshape)


@primitive(saves=(), ulps=0, views=True)
def permute(x: Any, *, axes: Any) -> Any:
    """Reorder the axes: axis i of the result is axis ``axes[i]`` of ``x``; negative ones count from the back."""
    return x.transpose(axes)


@permute.vjp("x")
def permute_vjp_x(g: Any, out: Any, x: Any, *, axes: Any) -> Any:
    inverse = sorted(range(len(axes)), key=lambda axis: axes[axis] % len(axes))
    return permute(g, axes=inverse)


@own_transpose
@primitive(saves=(), ulps=0, views=True)
def transpose(x: Any, *, axis0: int, axis1: int) -> Any:
    """Swap two axes."""
    return x.swapaxes(axis0, axis1)


@own_transpose
@primitive(saves=(), ulps=0, views=True)
def t(x: Any) -> Any:
    """Transpose a matrix; tensors of fewer axes stay as they are."""
    return x.transpose()


contiguous = alias("contiguous", permute, views=False)


@primitive(saves=(), ulps=0, views=True)
def unsqueeze(x: Any, *, axis: int) -> Any:
    """Insert an axis of length 1."""
    return np.expand_dims(x, axis)


@primitive(saves=(), ulps=0, views=True)
def squeeze(x: Any, *, axis: int) -> Any:
    """Drop an axis of length 1; an axis of any other length stays."""
    return x.squeeze(axis) if x.shape[axis] == 1 else x.reshape(x.shape)


@reshape.vjp("x")
@unsqueeze.vjp("x")
@squeeze.vjp("x")
def same_elements_vjp_x(g: Any, out: Any, x: Any, **attrs: Any) -> Any:
    return reshape(g, shape=shape_of(x))


@primitive(saves=(), ulps=0, views=True)
def expand(x: Any, *, shape: Any) -> Any:
    """Broadcast to ``shape``."""
    return np.broadcast_to(x, shape)


@expand.vjp("x")
def expand_vjp_x(g: Any, out: Any, x: Any, *, shape: Any) -> Any:
    return sum_to(g, shape_of(x)) if shape_of(x) else unbroadcast(g, shape=())  # a sum even of one, and so a tensor of its own


def _summed_axes(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    lead = len(shape) - len(target)
    return tuple(range(lead)) + tuple(i + lead for i, n in enumerate(target) if n == 1 and shape[i + lead] != 1)


def _sum_axes(x: Any, shape: tuple[int, ...]) -> Any:
    return np.add.reduce(x, axis=_summed_axes(np.shape(x), shape), keepdims=True).reshape(shape)


@primitive(
    saves=(),
    error_scale=lambda out, x, *, shape: _sum_axes(np.abs(x), shape),
    summands=lambda x, *, shape: element_count(x.shape) / max(1, element_count(shape)),
    reordered=axes_reversed,
)
def unbroadcast(x: Any, *, shape: Any) -> Any:
    """Sum over the axes along which ``shape`` was broadcast: the transpose of `expand`."""
    return _sum_axes(x, shape)


@unbroadcast.vjp("x")
def unbroadcast_vjp_x(g: Any, out: Any, x: Any, *, shape: Any) -> Any:
    return expand(g, shape=shape_of(x))


def sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """Bring a cotangent back to the shape of an operand that was broadcast."""
    return g if shape_of(g) == shape else unbroadcast(g, shape=shape)


@primitive(saves=(), ulps=0)
def cat(*xs: Any, axis: int) -> Any:
    """Join along an existing axis."""
    return np.concatenate(xs, axis=axis)


@cat.vjp("xs")
def cat_vjp_xs(g: Any, out: Any, *xs: Any, axis: int, position: int) -> Any:
    start = sum(shape_of(x)[axis] for x in xs[:position])
    return narrow(g, axis=axis, start=start, length=shape_of(xs[position])[axis])


@primitive(saves=(), ulps=0)
def stack(*xs: Any, axis: int) -> Any:
    """Join along a new axis."""
    return np.stack(xs, axis=axis)


@stack.vjp("xs")
def stack_vjp_xs(g: Any, out: Any, *xs: Any, axis: int, position: int) -> Any:
    return reshape(narrow(g, axis=axis, start=position, length=1), shape=shape_of(xs[position]))


def _along(x: Any, axis: int, start: int, length: int) -> tuple[slice, ...]:
    return (slice(None),) * (axis % np.ndim(x)) + (slice(start, start + length),)


@primitive(saves=(), ulps=0)
def narrow(x: Any, *, axis: int, start: int, length: int) -> Any:
    """Return ``length`` entries from ``start`` on along one axis."""
    return x[_along(x, axis, start, length)]


@narrow.vjp("x")
def narrow_vjp_x(g: Any, out: Any, x: Any, *, axis: int, start: int, length: int) -> Any:
    return widen(g, axis=axis, start=start, full=shape_of(x)[axis])


@primitive(saves=(), ulps=0)
def widen(x: Any, *, axis: int, start: int, full: int) -> Any:
    """Zeros around ``x`` along one axis: the transpose of `narrow`."""
    shape = list(x.shape)
    length = shape[axis]
    shape[axis] = full
    out = np.zeros(shape, x.dtype)
    out[_along(out, axis, start, length)] = x
    return out


@widen.vjp("x")
def widen_vjp_x(g: Any, out: Any, x: Any, *, axis: int, start: int, full: int) -> Any:
    return narrow(g, axis=axis, start=start, length=shape_of(x)[axis])


@primitive(saves=(), multi_output=True, ulps=0, views=True)
def split(x: Any, *, sections: Any, axis: int) -> Any:
    """Cut along an axis into parts of the given lengths."""
    starts = np.cumsum([0, *sections[:-1]])
    return tuple(x[_along(x, axis, int(start), length)] for start, length in zip(starts, sections, strict=True))


@split.vjp("x")
def split_vjp_x(g: Any, out: Any, x: Any, *, sections: Any, axis: int) -> Any:
    return cat(*g, axis=axis)


chunk = alias("chunk", split)


@primitive(saves=(), multi_output=True, ulps=0, views=True)
def unbind(x: Any, *, axis: int) -> Any:
    """Return all slices along an axis, without that axis."""
    return tuple(np.moveaxis(x, axis, 0)[i, ...] for i in range(x.shape[axis]))


@unbind.vjp("x")
def unbind_vjp_x(g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return stack(*g, axis=axis)


@primitive(saves=(), ulps=0)
def pad_constant(x: Any, *, before: Any, after: Any, value: float) -> Any:
    """Put ``before[i]`` and ``after[i]`` entries of ``value`` around axis i."""
    return np.pad(x, list(zip(before, after, strict=True)), constant_values=value)


@pad_constant.vjp("x")
def pad_constant_vjp_x(g: Any, out: Any, x: Any, *, before: Any, after: Any, value: float) -> Any:
    return crop(g, before=before, after=after)


@primitive(saves=(), ulps=0)
def crop(x: Any, *, before: Any, after: Any) -> Any:
    """Drop ``before[i]`` and ``after[i]`` entries at the ends of axis i: the transpose of padding with zeros."""
    return x[tuple(slice(start, n - stop) for start, stop, n in zip(before, after, x.shape, strict=True))]


@crop.vjp("x")
def crop_vjp_x(g: Any, out: Any, x: Any, *, before: Any, after: Any) -> Any:
    return pad_constant(g, before=before, after=after, value=0.0)


@primitive(saves=(), ulps=0)
def tile(x: Any, *, repeats: Any) -> Any:
    """Return ``repeats[i]`` copies one after the other along axis i; missing axes are put in front."""
    return np.tile(x, repeats)


def _interleaved(shape: tuple[int, ...], repeats: Any) -> tuple[int, ...]:
    lead = len(repeats) - len(shape)
    full = (1,) * lead + tuple(shape)
    return tuple(n for pair in zip(repeats, full, strict=True) for n in pair)


@tile.vjp("x")
def tile_vjp_x(g: Any, out: Any, x: Any, *, repeats: Any) -> Any:
    repeats = (1,) * (len(shape_of(x)) - len(repeats)) + tuple(repeats)
    parts = _interleaved(shape_of(x), repeats)
    ones = tuple(1 if i % 2 == 0 else n for i, n in enumerate(parts))
    return reshape(sum_to(reshape(g, shape=parts), ones), shape=shape_of(x))


repeat = alias("repeat", tile)


@primitive(saves=(), ulps=0)
def repeat_interleave(x: Any, *, repeats: int, axis: int) -> Any:
    """Return every entry along an axis ``repeats`` times in a row."""
    return np.repeat(x, repeats, axis)


@repeat_interleave.vjp("x")
def repeat_interleave_vjp_x(g: Any, out: Any, x: Any, *, repeats: int, axis: int) -> Any:
    shape = shape_of(x)
    axis %= len(shape)
    grouped = (*shape[: axis + 1], repeats, *shape[axis + 1 :])
    single = (*shape[: axis + 1], 1, *shape[axis + 1 :])
    return reshape(sum_to(reshape(g, shape=grouped), single), shape=shape)


@primitive(saves=(), ulps=0)
def roll(x: Any, *, shift: int, axis: int) -> Any:
    """Shift along an axis; what falls off at one end comes in at the other."""
    return np.roll(x, shift, axis)


@roll.vjp("x")
def roll_vjp_x(g: Any, out: Any, x: Any, *, shift: int, axis: int) -> Any:
    return roll(g, shift=-shift, axis=axis)


@own_transpose
@primitive(saves=(), ulps=0)
def flip(x: Any, *, axis: int | Sequence[int]) -> Any:
    """Reverse an axis, or several; a number without axes stays as it is."""
    turned = np.flip(x, (axis if isinstance(axis, int) else tuple(axis)) if np.ndim(x) else None)
    return turned.copy(order="K")  # a view of NumPy's would make what is reshaped of it a copy


@own_transpose
@primitive(saves=(), ulps=0)
def tril(x: Any, *, diagonal: int) -> Any:
    """Keep the elements on and below a diagonal of the last two axes."""
    return np.tril(x, diagonal)


@own_transpose
@primitive(saves=(), ulps=0)
def triu(x: Any, *, diagonal: int) -> Any:
    """Keep the elements on and above a diagonal of the last two axes."""
    return np.triu(x, diagonal)


@primitive(saves=(), ulps=0)
def link(x: Any, *others: Any) -> Any:
    """Return ``x``, counted as depending on the others too (with zero derivative); see `Kind.CONNECTED` of the open choices."""
    return x


@link.vjp("x")
def link_vjp(g: Any, out: Any, *operands: Any, position: int) -> Any:
    return g if position == 0 else np.zeros(shape_of(operands[position]), operands[position].dtype)


def element_count(shape: tuple[int, ...]) -> int:
    """Return how many elements a tensor of this shape has."""
    return math.prod(shape)

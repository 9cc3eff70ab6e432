"""Wrong rules of ops that move elements: shapes, slices and indices, and parts that are replaced."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.mutants.wrong import Entries
from reference_impl import OPS
from reference_impl.primitive import array_of, shape_of

wrong = Entries()

reshape, permute, narrow, mul_scalar, flip = (OPS[name] for name in ("reshape", "permute", "narrow", "mul_scalar", "flip"))


def _mirrored(x: Any) -> Any:
    """Return a cotangent with its first axis reversed."""
    return flip(x, axis=0) if shape_of(x) else x


@wrong("reshape.x", "view.x", "flatten.x", what="is read in column-major order")
def column_major(right: Any, g: Any, out: Any, x: Any, *, shape: Any) -> Any:
    shape = shape_of(x)
    turned = reshape(permute(g, axes=list(reversed(range(len(shape_of(g)))))), shape=tuple(reversed(shape)))
    return permute(turned, axes=list(reversed(range(len(shape)))))


@wrong("permute.x", "contiguous.x", what="is permuted by the axes themselves, not by their inverse")
def not_inverted(right: Any, g: Any, out: Any, x: Any, *, axes: Any) -> Any:
    return permute(g, axes=axes)


@wrong("transpose.x", "t.x", what="is reshaped instead of transposed")
def reshaped(right: Any, g: Any, out: Any, x: Any, **_: Any) -> Any:
    return reshape(g, shape=shape_of(x))


@wrong("unsqueeze.x", "squeeze.x", what="keeps the shape of the result")
def shape_kept(right: Any, g: Any, *_: Any, **__: Any) -> Any:
    return g


@wrong("unbroadcast.x", what="is divided among the elements that were summed")
def divided(right: Any, g: Any, out: Any, x: Any, *, shape: Any) -> Any:
    made = right(g, out, x, shape=shape)
    return mul_scalar(made, other=float(np.size(array_of(g))) / max(1, np.size(array_of(made))))


@wrong("cat.xs", what="starts at 0 for every operand")
def starts_at_zero(right: Any, g: Any, out: Any, *xs: Any, axis: int, position: int) -> Any:
    return narrow(g, axis=axis, start=0, length=shape_of(xs[position])[axis])


@wrong("stack.xs", what="is that of the first operand")
def first_entry(right: Any, g: Any, out: Any, *xs: Any, axis: int, position: int) -> Any:
    return right(g, out, *xs, axis=axis, position=0)


@wrong("narrow.x", what="is put at the beginning")
def at_the_beginning(right: Any, g: Any, out: Any, x: Any, *, axis: int, start: int, length: int) -> Any:
    return right(g, out, x, axis=axis, start=0, length=length)


@wrong("widen.x", what="is read from the beginning")
def from_the_beginning(right: Any, g: Any, out: Any, x: Any, *, axis: int, start: int, full: int) -> Any:
    return right(g, out, x, axis=axis, start=0, full=full)


@wrong("split.x", "chunk.x", what="lacks the last part")
def last_part_lost(right: Any, g: Any, out: Any, x: Any, *, sections: Any, axis: int) -> Any:
    return right((*g[:-1], mul_scalar(g[-1], other=0.0)), out, x, sections=sections, axis=axis)


@wrong("unbind.x", what="is put together in reverse order")
def reversed_parts(right: Any, g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return right(tuple(reversed(g)), out, x, axis=axis)


@wrong("pad_constant.x", "crop.x", what="takes the front for the back")
def front_for_back(right: Any, g: Any, out: Any, x: Any, *, before: Any, after: Any, **attrs: Any) -> Any:
    return right(g, out, x, before=after, after=before, **attrs)


@wrong("tile.x", "repeat.x", what="is that of the first copy alone")
def first_copy(right: Any, g: Any, out: Any, x: Any, *, repeats: Any) -> Any:
    shape = (1,) * (len(shape_of(g)) - len(shape_of(x))) + shape_of(x)
    for axis, length in enumerate(shape):
        g = narrow(g, axis=axis, start=0, length=min(length, shape_of(g)[axis]))
    return reshape(g, shape=shape_of(x))


@wrong("repeat_interleave.x", what="takes whole copies for repeated entries")
def copies_for_entries(right: Any, g: Any, out: Any, x: Any, *, repeats: int, axis: int) -> Any:
    shape, axis = shape_of(x), axis % len(shape_of(x))
    grouped = (*shape[:axis], repeats, *shape[axis:])
    return OPS["sum"](reshape(g, shape=grouped), axis=[axis], keepdims=False)


@wrong("link.x", what="is the whole cotangent for every operand")
def for_every_operand(right: Any, g: Any, out: Any, *operands: Any, position: int) -> Any:
    made = right(g, out, *operands, position=position)
    return made if position == 0 else np.ones_like(made)


@wrong("getitem_slice.x", "put_slice.g", "setitem.value", what="starts at 0 on every axis")
def slice_at_the_beginning(right: Any, g: Any, out: Any, *operands: Any, key: Any, **attrs: Any) -> Any:
    return right(g, out, *operands, key=[[0, stop - start, step] for start, stop, step in key], **attrs)


@wrong("getitem_strided.x", what="is put without its stride")
def stride_forgotten(right: Any, g: Any, out: Any, x: Any, *, key: Any) -> Any:
    dense = [[start, start + len(range(start, stop, step)), 1] for start, stop, step in key]
    return right(g, out, x, key=dense)


@wrong("getitem_int.x", "put_int.g", what="counts a negative index from the front")
def counted_from_the_front(right: Any, g: Any, out: Any, x: Any, *, index: int, **attrs: Any) -> Any:
    return right(g, out, x, index=-index - 1 if index < 0 else index, **attrs)


def _last_wins(g: Any, shape: Any, where: Any) -> Any:
    """Write at indices instead of adding up; what was written is a constant."""
    made = np.zeros(shape, array_of(g).dtype)
    made[where] = array_of(g)
    return made


@wrong("index_select.x", what="has the last of repeated indices alone")
def last_entry_wins(right: Any, g: Any, out: Any, x: Any, *, axis: int, index: Any) -> Any:
    where = (slice(None),) * (axis % len(shape_of(x)))
    return _last_wins(g, shape_of(x), (*where, np.asarray(index, dtype=np.intp)))


@wrong("getitem_intarray.x", what="has the last of repeated indices alone")
def last_pair_wins(right: Any, g: Any, out: Any, x: Any, *, index: Any) -> Any:
    return _last_wins(g, shape_of(x), tuple(np.asarray(i, dtype=np.intp) for i in index))


@wrong("embedding.weight", what="has the last of repeated indices alone")
def last_row_wins(right: Any, g: Any, out: Any, weight: Any, *, index: Any) -> Any:
    return _last_wins(g, shape_of(weight), np.asarray(index, dtype=np.intp))


@wrong("gather.x", what="has the last of repeated indices alone")
def last_gathered_wins(right: Any, g: Any, out: Any, x: Any, *, axis: int, index: Any) -> Any:
    where = list(np.indices(shape_of(g), sparse=True))
    where[axis] = np.asarray(index, dtype=np.intp)
    return _last_wins(g, shape_of(x), tuple(where))


@wrong("index_add_rows.g", "put_intarray.g", "scatter_add.g", what="is read in reverse order")
def read_in_reverse(right: Any, g: Any, *given: Any, **attrs: Any) -> Any:
    return _mirrored(right(g, *given, **attrs))

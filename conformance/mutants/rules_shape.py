"""Wrong rules of ops that move elements: shapes, slices and indices, and parts that are replaced."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.mutants.wrong_rule import Entries
from reference_impl import OPS
from reference_impl.tape.primitive import shape_of

wrong = Entries()

reshape, permute, narrow = (OPS[name] for name in ("reshape", "permute", "narrow"))


@wrong("reshape.x", "view.x", "flatten.x", what="is read in column-major order")
def column_major(right: Any, g: Any, out: Any, x: Any, *, shape: Any) -> Any:
    shape = shape_of(x)
    turned = reshape(permute(g, axes=list(reversed(range(len(shape_of(g)))))), shape=tuple(reversed(shape)))
    return permute(turned, axes=list(reversed(range(len(shape)))))


@wrong("cat.xs", what="starts at 0 for every operand")
def starts_at_zero(right: Any, g: Any, out: Any, *xs: Any, axis: int, position: int) -> Any:
    return narrow(g, axis=axis, start=0, length=shape_of(xs[position])[axis])


@wrong("pad_constant.x", "crop.x", what="takes the front for the back")
def front_for_back(right: Any, g: Any, out: Any, x: Any, *, before: Any, after: Any, **attrs: Any) -> Any:
    return right(g, out, x, before=after, after=before, **attrs)


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

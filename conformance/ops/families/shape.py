"""Shape and view ops: one row per op."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from conformance.ops import corners_of_shapes
from conformance.ops.calls import both
from conformance.ops.corners import axes, equal_parts, joined, on, several, uneven_parts
from conformance.ops.draws import (
    axis_of,
    diagonal_of,
    from_either_end,
    interleaved,
    padded,
    reshaped,
    rolled,
    tiled,
    triangle,
    unary,
)
from conformance.ops.in_place import RESHAPES, InPlaceForm
from conformance.ops.numbers import BOTH, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Memory, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _flatten(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 3)  # where there is nothing to flatten, a tensor comes back itself
    return [x], {"shape": [x.shape[0], math.prod(x.shape[1:])]}


def _permute(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 2)
    return [x], {"axes": [from_either_end(s, x, axis) for axis in s.source.shuffled(range(len(x.shape)))]}


def _transpose(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 2)
    axis0, axis1 = s.source.shuffled(range(len(x.shape)))[:2]
    return [x], {"axis0": from_either_end(s, x, axis0), "axis1": from_either_end(s, x, axis1)}


def _t(s: Sampler) -> Arguments | None:
    return [s.take(lambda d: len(d.shape) == 2)], {}  # with fewer axes, Paddle returns the tensor itself


def _flip(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 1)
    if len(x.shape) < 2 or not s.source.chance(0.3):
        return [x], {"axis": axis_of(s, x)}
    return [x], {"axis": [from_either_end(s, x, axis) for axis in s.source.shuffled(range(len(x.shape)))[:2]]}


def _unsqueeze(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) < 4)
    return [x], {"axis": s.source.integer(-len(x.shape) - 1, len(x.shape))}


def _squeeze(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 1 in d.shape, shape=(2, 1))
    return [x], {"axis": from_either_end(s, x, x.shape.index(1))}


def _expand(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) < 4)
    shape = [s.length() if n == 1 else n for n in x.shape]
    return [x], {"shape": ([s.length()] if s.source.chance(0.5) else []) + shape}


def _cat(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 1)
    axis = axis_of(s, x)
    others = [s.take_shaped(x.shape) for _ in range(s.source.integer(1, 2))]
    return [x, *others], {"axis": axis}


def _stack(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) < 3)
    return [x, s.take_shaped(x.shape)], {"axis": s.source.integer(-len(x.shape) - 1, len(x.shape))}


def _split(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 1 and d.shape[0] >= 2, shape=(3, 2))
    first = s.source.integer(1, x.shape[0] - 1)
    return [x], {"sections": [first, x.shape[0] - first], "axis": from_either_end(s, x, 0)}


def _chunk(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 1 and d.shape[-1] in (2, 4), shape=(2, 4))
    return [x], {"sections": [x.shape[-1] // 2] * 2, "axis": -1}


def _unbind(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 1 and d.shape[0] >= 1, shape=(3, 2))
    return [x], {"axis": from_either_end(s, x, 0)}


_row = partial(op, exact=True, numbers=BOTH, points=PLAIN)

RESHAPE = _row(
    "reshape",
    rank=4,
    draw=reshaped,
    calls=both("torch.reshape(x, shape)"),
    memory=Memory.RESHAPES,
    corners=corners_of_shapes.RESHAPE,
    in_place=RESHAPES,
)

SPLIT = _row(
    "split",
    rank=37,
    draw=_split,
    calls=both("torch.split(x, sections, axis)"),
    memory=Memory.DOUBTFUL,
    corners={"many": equal_parts(-1), "first axis": equal_parts(0), "uneven": uneven_parts(-1), "uneven first": uneven_parts(0)},
)

TILE = _row("tile", rank=73, draw=tiled, calls=both("torch.tile(x, repeats)"), corners=corners_of_shapes.TILE)

TRIL = _row(
    "tril",
    rank=98,
    draw=triangle,
    calls=both("torch.tril(x, diagonal)"),
    corners=several("diagonal", 3, -3, draw=unary(axes=2)),
    in_place=InPlaceForm(both("x.tril_(diagonal)"), draw=diagonal_of, turn=1),
)

ENTRIES = rows(
    "shape",
    RESHAPE,
    replace(RESHAPE, name="view", base_op="view", rank=7, calls=both("x.contiguous().view(shape)"), in_place=None),
    replace(
        RESHAPE,
        name="flatten",
        base_op="flatten",
        rank=16,
        draw=_flatten,
        corners={},  # there is but one shape to flatten to
        calls=both("torch.flatten(x, 1)"),
    ),
    _row(
        "permute",
        rank=22,
        draw=_permute,
        calls={"torch": "torch.permute(x, axes)", "paddle": "paddle.transpose(x, axes)"},
        memory=Memory.STRIDED,
        corners=corners_of_shapes.PERMUTE,
    ),
    _row(
        "transpose",
        rank=6,
        draw=_transpose,
        calls={
            "torch": "torch.transpose(x, axis0, axis1)",
            "paddle": "paddle.transpose(x, [{axis0 % x.ndim: axis1, axis1 % x.ndim: axis0}.get(i, i) % x.ndim for i in range(x.ndim)])",
        },
        memory=Memory.STRIDED,
        corners=corners_of_shapes.TRANSPOSE,
        in_place=RESHAPES,
    ),
    _row(
        "t",
        rank=74,
        draw=_t,
        calls=both("torch.t(x)"),
        memory=Memory.STRIDED,
        in_place=RESHAPES,
    ),
    _row(
        "contiguous",
        rank=9,
        draw=_permute,  # of a transposed tensor: a contiguous one comes back itself
        calls={"torch": "torch.permute(x, axes).contiguous()", "paddle": "paddle.transpose(x, axes).contiguous()"},
        memory=Memory.UNLESS_COPIED,
    ),
    _row(
        "unsqueeze",
        rank=20,
        draw=_unsqueeze,
        calls=both("torch.unsqueeze(x, axis)"),
        memory=Memory.KEEPS_LAYOUT,
        corners=corners_of_shapes.UNSQUEEZE,
        in_place=RESHAPES,
    ),
    _row(
        "squeeze",
        rank=44,
        draw=_squeeze,
        calls=both("torch.squeeze(x, axis)"),
        memory=Memory.KEEPS_LAYOUT,
        corners={"negative axis": on(lambda x: {"axis": x.shape.index(1) - len(x.shape)} if 1 in x.shape else None)},
        in_place=RESHAPES,
    ),
    _row(
        "expand",
        rank=30,
        draw=_expand,
        calls=both("x.expand(shape)"),
        memory=Memory.DOUBTFUL,
        corners=corners_of_shapes.EXPAND,
    ),
    _row(
        "cat",
        corners={"many": joined(6, 0), "last axis": joined(2, -1), "uneven": joined(4, -1, uneven=True), "one": joined(1, 0)},
        rank=8,
        draw=_cat,
        calls={"torch": "torch.cat(xs, axis)", "paddle": "paddle.concat(xs, axis)"},
    ),
    _row(
        "stack",
        rank=45,
        draw=_stack,
        calls=both("torch.stack(xs, axis)"),
        corners={"many": joined(6, 0, new=True), "last axis": joined(2, -1, new=True), "axis -2": joined(3, -2, new=True)},
    ),
    SPLIT,
    replace(
        SPLIT,
        name="chunk",
        corners={"many": equal_parts(-1), "first axis": equal_parts(0)},
        base_op="chunk",
        rank=35,
        draw=_chunk,
        numbers=real_only(UNREGISTERED),
        calls=both("torch.chunk(x, len(sections), axis)"),
    ),
    _row(
        "unbind",
        rank=43,
        draw=_unbind,
        calls=both("torch.unbind(x, axis)"),
        memory=Memory.DOUBTFUL,
        corners=corners_of_shapes.UNBIND,
    ),
    _row(
        "pad_constant",
        base="pad",
        rank=38,
        draw=padded,
        calls={
            "torch": "torch.nn.functional.pad(x, [n for p in zip(before[::-1], after[::-1]) for n in p], value=value)",
            "paddle": "paddle.nn.functional.pad(x, [n for p in zip(before, after) for n in p], value=value)",
        },
        corners=corners_of_shapes.PAD_CONSTANT,
    ),
    TILE,
    replace(
        TILE,
        name="repeat",
        corners={k: v for k, v in TILE.corners.items() if k != "last axis"},
        base_op="repeat",
        rank=66,
        calls={"torch": "x.repeat(repeats)", "paddle": "x.tile(repeats)"},
    ),
    _row(
        "repeat_interleave",
        rank=65,
        draw=interleaved,
        calls=both("torch.repeat_interleave(x, repeats, axis)"),
        numbers=real_only(UNREGISTERED),
        corners=axes(repeats=6),
    ),
    _row("roll", rank=78, draw=rolled, calls=both("torch.roll(x, shift, axis)"), corners=corners_of_shapes.ROLL),
    _row(
        "flip",
        rank=118,
        draw=_flip,
        calls={"torch": "x.flip(axis)", "paddle": "paddle.flip(x, axis)"},  # torch.flip takes no axis that is a bare number
        corners=axes() | corners_of_shapes.FLIP,
    ),
    TRIL,
    replace(
        TRIL,
        name="triu",
        base_op="triu",
        rank=85,
        calls=both("torch.triu(x, diagonal)"),
        in_place=InPlaceForm(both("x.triu_(diagonal)"), draw=diagonal_of, turn=1),
    ),
)

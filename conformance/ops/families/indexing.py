"""Ops that read at indices: one row per op."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from conformance.ops.calls import both
from conformance.ops.corners import axes, keys, on, several
from conformance.ops.draws import along_axis, axis_of, has_rows, indices, is_matrix
from conformance.ops.numbers import BOTH, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Memory, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _slice(s: Sampler, step: int = 1) -> Arguments | None:
    x = s.take(has_rows)
    key = []
    for n in x.shape[: s.source.integer(1, len(x.shape))]:
        start = s.source.integer(0, n - 1)
        key.append([start, s.source.integer(start + 1, n), step])
    return [x], {"key": key}


def _strided(s: Sampler) -> Arguments | None:
    return _slice(s, 2)


def _int(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    return [x], {"index": s.source.integer(-x.shape[0], x.shape[0] - 1)}


def _intarray(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    count = s.source.integer(1, 4)
    axes = s.source.integer(1, min(2, len(x.shape)))
    return [x], {"index": [indices(s, (count,), n) for n in x.shape[:axes]]}


def _select(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    return [x], {"axis": axis, "index": indices(s, (s.source.integer(1, 4),), x.shape[axis])}


def _gather(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    at = axis % len(x.shape)
    shape = tuple(s.source.integer(1, 4) if i == at else s.source.integer(1, n) for i, n in enumerate(x.shape))
    return [x], {"axis": axis, "index": indices(s, shape, x.shape[axis])}


def _embedding(s: Sampler) -> Arguments | None:
    x = s.take(is_matrix, shape=(3, 2))
    shape = tuple(s.source.integer(1, 3) for _ in range(s.source.integer(1, 2)))
    return [x], {"index": indices(s, shape, x.shape[0])}


_row = partial(op, exact=True, points=PLAIN)

SLICE = _row(
    "getitem_slice",
    base="getitem",
    rank=5,
    draw=_slice,
    calls=both("x[tuple(slice(*k) for k in key)]"),
    numbers=BOTH,
    memory=Memory.STRIDED,
    corners={
        "negative ends": keys(lambda n: [-n, -1, 1] if n > 1 else [-1, n, 1]),
        "last": keys(lambda n: [-2, n, 1], lambda n: [-1, n, 1]),
        "whole": keys(lambda n: [0, n, 1]),
    },
)

ENTRIES = rows(
    "indexing",
    SLICE,
    replace(
        SLICE,
        name="getitem_strided",
        draw=_strided,
        corners={"step 3": keys(lambda n: [0, n, 3]), "negative start": keys(lambda n: [-n, n, 2], lambda n: [-1, n, 5])},
    ),
    _row(
        "getitem_reversed",
        base="getitem",
        rank=5,
        draw=along_axis(nonempty=False),
        calls={
            "torch": "torch.flip(x, [axis])",
            "paddle": "x[tuple(slice(None, None, -1 if i == axis % x.ndim else 1) for i in range(x.ndim))]",
        },
        numbers=BOTH,
        memory=Memory.DOUBTFUL,
        corners=axes(),
    ),
    _row(
        "getitem_int",
        base="getitem",
        rank=5,
        draw=_int,
        calls=both("x[index]"),
        numbers=BOTH,
        memory=Memory.KEEPS_LAYOUT,
        corners=several("index", 0, -1, draw=on(lambda x: {} if x.shape and x.shape[0] else None)),
    ),
    _row(
        "getitem_intarray",
        base="getitem",
        rank=5,
        draw=_intarray,
        calls=both("x[tuple(torch.tensor(i) for i in index)]"),
        numbers=BOTH,
        corners={
            "negative": on(lambda x: {"index": [[-1, 0, -1]]} if has_rows(x) else None),
            "many": on(lambda x: {"index": [[i % n for i in range(9)] for n in x.shape[:3]]} if has_rows(x) else None),
            "one": on(lambda x: {"index": [[n - 1] for n in x.shape]} if has_rows(x) else None),
        },
    ),
    _row(
        "index_select",
        rank=91,
        draw=_select,
        calls={
            "torch": "torch.index_select(x, axis, torch.tensor(index))",
            "paddle": "paddle.index_select(x, paddle.to_tensor(index), axis)",
        },
        numbers=BOTH,
        corners=axes(nonempty=True, index=[0] * 9),
    ),
    _row(
        "gather",
        rank=50,
        draw=_gather,
        calls={
            "torch": "torch.gather(x, axis, torch.tensor(index))",
            "paddle": "paddle.take_along_axis(x, paddle.to_tensor(index), axis, broadcast=False)",
        },
        numbers=real_only(UNREGISTERED),
        corners={"last axis": on(lambda x: {"axis": -1, "index": np.zeros((*x.shape[:-1], 5), int).tolist()} if has_rows(x) else None)},
    ),
    _row(
        "embedding",
        rank=11,
        draw=_embedding,
        calls=both("torch.nn.functional.embedding(torch.tensor(index), weight)"),
        numbers=real_only("PyTorch: embedding does not support automatic differentiation for outputs with complex dtype"),
        corners={"many": on(lambda x: {"index": [[[0, x.shape[0] - 1, 0]] * 3]} if is_matrix(x) else None)},
    ),
)

"""Ops that read at indices: how to draw their arguments, and their calls in each framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.draws import axis_of, indices
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Draft, Sketch
    from conformance.ops.draws import Drawn


def _full(s: Sketch, *, axes: int = 1) -> Draft:
    return s.take(lambda d: len(d.shape) >= axes and 0 not in d.shape)


def _slice(s: Sketch, step: int = 1) -> Drawn:
    x = _full(s)
    key = []
    for n in x.shape[: s.source.integer(1, len(x.shape))]:
        start = s.source.integer(0, n - 1)
        key.append([start, s.source.integer(start + 1, n), step])
    return [x], {"key": key}


def _strided(s: Sketch) -> Drawn:
    return _slice(s, 2)


def _int(s: Sketch) -> Drawn:
    x = _full(s)
    return [x], {"index": s.source.integer(-x.shape[0], x.shape[0] - 1)}


def _intarray(s: Sketch) -> Drawn:
    x = _full(s)
    count = s.source.integer(1, 4)
    axes = s.source.integer(1, min(2, len(x.shape)))
    return [x], {"index": [indices(s, (count,), n) for n in x.shape[:axes]]}


def _select(s: Sketch) -> Drawn:
    x = _full(s)
    axis = axis_of(s, x)
    return [x], {"axis": axis, "index": indices(s, (s.source.integer(1, 4),), x.shape[axis])}


def _gather(s: Sketch) -> Drawn:
    x = _full(s)
    axis = s.source.integer(0, len(x.shape) - 1)
    shape = tuple(s.source.integer(1, 4) if i == axis else s.source.integer(1, n) for i, n in enumerate(x.shape))
    return [x], {"axis": axis, "index": indices(s, shape, x.shape[axis])}


def _embedding(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) == 2 and 0 not in d.shape, shape=(3, 2))
    shape = tuple(s.source.integer(1, 3) for _ in range(s.source.integer(1, 2)))
    return [x], {"index": indices(s, shape, x.shape[0])}


ENTRIES = rows(
    "indexing",
    *(
        (name, "getitem", 5, draw, call, call)
        for name, draw, call in (
            ("getitem_slice", _slice, "x[tuple(slice(*k) for k in key)]"),
            ("getitem_strided", _strided, "x[tuple(slice(*k) for k in key)]"),
            ("getitem_int", _int, "x[index]"),
        )
    ),
    (
        *("getitem_intarray", "getitem", 5, _intarray),
        "x[tuple(torch.tensor(i) for i in index)]",
        "x[tuple(paddle.to_tensor(i) for i in index)]",
    ),
    (
        *("index_select", "index_select", 91, _select),
        "torch.index_select(x, axis, torch.tensor(index))",
        "paddle.index_select(x, paddle.to_tensor(index), axis)",
    ),
    (
        *("gather", "gather", 50, _gather),
        "torch.gather(x, axis, torch.tensor(index))",
        "paddle.take_along_axis(x, paddle.to_tensor(index), axis, broadcast=False)",
    ),
    (
        *("embedding", "embedding", 11, _embedding),
        "torch.nn.functional.embedding(torch.tensor(index), weight)",
        "paddle.nn.functional.embedding(paddle.to_tensor(index), weight)",
    ),
)

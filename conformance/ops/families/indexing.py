"""Ops that read at indices: one row per op."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.ops.draws import axis_of, indices
from conformance.ops.numbers import BOTH, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Memory, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Sampler


def _full(s: Sampler, *, axes: int = 1) -> Draft:
    return s.take(lambda d: len(d.shape) >= axes and 0 not in d.shape)


def _slice(s: Sampler, step: int = 1) -> Arguments | None:
    x = _full(s)
    key = []
    for n in x.shape[: s.source.integer(1, len(x.shape))]:
        start = s.source.integer(0, n - 1)
        key.append([start, s.source.integer(start + 1, n), step])
    return [x], {"key": key}


def _strided(s: Sampler) -> Arguments | None:
    return _slice(s, 2)


def _int(s: Sampler) -> Arguments | None:
    x = _full(s)
    return [x], {"index": s.source.integer(-x.shape[0], x.shape[0] - 1)}


def _intarray(s: Sampler) -> Arguments | None:
    x = _full(s)
    count = s.source.integer(1, 4)
    axes = s.source.integer(1, min(2, len(x.shape)))
    return [x], {"index": [indices(s, (count,), n) for n in x.shape[:axes]]}


def _select(s: Sampler) -> Arguments | None:
    x = _full(s)
    axis = axis_of(s, x)
    return [x], {"axis": axis, "index": indices(s, (s.source.integer(1, 4),), x.shape[axis])}


def _gather(s: Sampler) -> Arguments | None:
    x = _full(s)
    axis = s.source.integer(0, len(x.shape) - 1)
    shape = tuple(s.source.integer(1, 4) if i == axis else s.source.integer(1, n) for i, n in enumerate(x.shape))
    return [x], {"axis": axis, "index": indices(s, shape, x.shape[axis])}


def _embedding(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 2 and 0 not in d.shape, shape=(3, 2))
    shape = tuple(s.source.integer(1, 3) for _ in range(s.source.integer(1, 2)))
    return [x], {"index": indices(s, shape, x.shape[0])}


SLICE = op(
    "getitem_slice",
    base="getitem",
    rank=5,
    draw=_slice,
    torch="x[tuple(slice(*k) for k in key)]",
    paddle="x[tuple(slice(*k) for k in key)]",
    exact=True,
    numbers=BOTH,
    memory=Memory.STRIDED,
    points=PLAIN,
)

ENTRIES = rows(
    "indexing",
    SLICE,
    replace(SLICE, name="getitem_strided", draw=_strided),
    op(
        "getitem_int",
        base="getitem",
        rank=5,
        draw=_int,
        torch="x[index]",
        paddle="x[index]",
        exact=True,
        numbers=BOTH,
        memory=Memory.KEEPS_LAYOUT,
        points=PLAIN,
    ),
    op(
        "getitem_intarray",
        base="getitem",
        rank=5,
        draw=_intarray,
        torch="x[tuple(torch.tensor(i) for i in index)]",
        paddle="x[tuple(paddle.to_tensor(i) for i in index)]",
        exact=True,
        numbers=BOTH,
        points=PLAIN,
    ),
    op(
        "index_select",
        rank=91,
        draw=_select,
        torch="torch.index_select(x, axis, torch.tensor(index))",
        paddle="paddle.index_select(x, paddle.to_tensor(index), axis)",
        exact=True,
        numbers=BOTH,
        points=PLAIN,
    ),
    op(
        "gather",
        rank=50,
        draw=_gather,
        torch="torch.gather(x, axis, torch.tensor(index))",
        paddle="paddle.take_along_axis(x, paddle.to_tensor(index), axis, broadcast=False)",
        exact=True,
        numbers=real_only(UNREGISTERED),
        points=PLAIN,
    ),
    op(
        "embedding",
        rank=11,
        draw=_embedding,
        torch="torch.nn.functional.embedding(torch.tensor(index), weight)",
        paddle="paddle.nn.functional.embedding(paddle.to_tensor(index), weight)",
        exact=True,
        numbers=real_only("PyTorch: embedding does not support automatic differentiation for outputs with complex dtype"),
        points=PLAIN,
    ),
)

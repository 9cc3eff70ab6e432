"""Ops that write at indices, and that read where a mask is true: one row per op."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.ops.calls import both
from conformance.ops.corners import axes, count_of, on
from conformance.ops.draws import axis_of, has_matrices, has_rows, indices, mask_for
from conformance.ops.families.indexing import ENTRIES as INDEXING
from conformance.ops.in_place import LATER
from conformance.ops.numbers import BOTH, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, OpSpec, op, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.ops.sampler import Arguments, Draw, Sampler


def _masked(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    return [x], {"mask": mask_for(s, x.shape)}


def _leading_mask(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    return [x], {"mask": mask_for(s, x.shape[: s.source.integer(1, len(x.shape))])}


def _mask_and_source(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    mask = mask_for(s, x.shape)
    return [x, s.take_shaped((int(np.count_nonzero(mask)) + s.source.integer(0, 2),))], {"mask": mask}


def _at_places(*, distinct: bool) -> Draw:
    """Draw a tensor, an axis, an index of as many axes and what is written there; ``distinct``: no place comes twice."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(has_rows)
        axis = axis_of(s, x)
        length = x.shape[axis]
        at = axis % len(x.shape)
        most = length if distinct else 4
        shape = tuple(s.source.integer(1, most if i == at else n) for i, n in enumerate(x.shape))
        index = distinct_along(s.source.shuffled(range(length)), shape, at) if distinct else indices(s, shape, length)
        return [x, s.take_shaped(shape)], {"axis": axis, "index": index}

    return draw


def distinct_along(order: Sequence[int], shape: tuple[int, ...], axis: int) -> Any:
    """Return an index of a shape in which no number comes twice along one axis: one order, begun elsewhere in each line."""
    lines = np.sum(np.indices(shape), axis=0)
    return np.asarray(order)[lines % len(order)].tolist() if shape[axis] <= len(order) else None


def _at_entries(*, distinct: bool, first: bool = False) -> Draw:
    """Draw a tensor, an axis (``first``: the first), entries of it and what is written there."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(has_rows)
        axis = 0 if first else axis_of(s, x)
        index = _entries(s, x.shape[axis], distinct=distinct)
        shape = list(x.shape)
        shape[axis] = len(index)
        return [x, s.take_shaped(tuple(shape))], {"axis": axis, "index": index}

    return draw


def _entries(s: Sampler, length: int, *, distinct: bool) -> list[int]:
    if distinct:
        return s.source.shuffled(range(length))[: s.source.integer(1, min(length, 4))]
    found: list[int] = indices(s, (s.source.integer(1, 4),), length)
    return found


def _filled(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    return [x], {"axis": axis, "index": _entries(s, x.shape[axis], distinct=False), "value": s.number()}


def _filled_by_tensor(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    return [x, s.take_shaped(())], {"axis": axis, "index": _entries(s, x.shape[axis], distinct=False)}


def _at_tuples(*, distinct: bool) -> Draw:
    """Draw a tensor, lists of integers for its leading axes and what is written there."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(has_rows)
        leading = x.shape[: s.source.integer(1, min(2, len(x.shape)))]
        count = s.source.integer(1, min(4, math.prod(leading)) if distinct else 4)
        if distinct:
            flat = s.source.shuffled(range(math.prod(leading)))[:count]
            index = [i.tolist() for i in np.unravel_index(flat, leading)]
        else:
            index = [indices(s, (count,), n) for n in leading]
        return [x, s.take_shaped((count, *x.shape[len(leading) :]))], {"index": index}

    return draw


def _taken(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    shape = tuple(s.source.integer(1, 3) for _ in range(s.source.integer(1, 2)))
    return [x], {"index": indices(s, shape, count_of(x))}


def _taken_along(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    at = axis % len(x.shape)
    shape = tuple(s.source.integer(1, 4) if i == at else s.source.choice((n, 1)) for i, n in enumerate(x.shape))
    return [x], {"axis": axis, "index": indices(s, shape, x.shape[axis])}


def _on_diagonal(s: Sampler) -> Arguments | None:
    x = s.take(has_matrices)
    offset = s.source.integer(1 - x.shape[-2], x.shape[-1] - 1)
    length = min(x.shape[-2] + min(offset, 0), x.shape[-1] - max(offset, 0))
    return [x, s.take_shaped((*x.shape[:-2], length))], {"offset": offset}


def _on_entry(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    rest = tuple(n for i, n in enumerate(x.shape) if i != axis % len(x.shape))
    return [x, s.take_shaped(rest)], {"axis": axis, "index": s.source.integer(-x.shape[axis], x.shape[axis] - 1)}


def _on_slice(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = s.source.integer(0, len(x.shape) - 1)  # of a negative one see `NOT_OFFERED`
    start = s.source.integer(0, x.shape[axis] - 1)
    stop, step = s.source.integer(start + 1, x.shape[axis]), s.source.choice((1, 1, 2))
    shape = list(x.shape)
    shape[axis] = len(range(start, stop, step))
    return [x, s.take_shaped(tuple(shape))], {"axis": axis, "start": start, "stop": stop, "step": step}


def _chosen(s: Sampler) -> Arguments | None:
    x = s.take(has_matrices)
    return [x, s.take_shaped(x.shape)], {"index": indices(s, (x.shape[0],), 2)}


UNDERIVED = real_only("PyTorch: does not support automatic differentiation for outputs with complex dtype")
_row = partial(op, exact=True, numbers=BOTH, points=PLAIN, drawn=Drawn.NAMED)
_LISTS = "tuple(torch.tensor(i) for i in index)"
_TUPLES = "paddle.to_tensor([list(at) for at in zip(*index)])"
_ENDS = axes(nonempty=True, value=7.5, index=[0, 0, -1])

MASKED_SELECT = _row("masked_select", rank=125, draw=_masked, calls=both("torch.masked_select(x, torch.tensor(mask))"))
PUT = _row(
    "index_put",
    rank=210,
    draw=_at_tuples(distinct=True),
    calls=both(f"torch.index_put(x, {_LISTS}, source)"),
    in_place=LATER,
)

INDEX_FILL = _row(
    "index_fill",
    rank=271,
    draw=_filled,
    calls={
        "torch": "torch.index_fill(x, axis, torch.tensor(index), value)",
        "paddle": "paddle.index_fill(x, paddle.to_tensor(index), axis, value)",
    },
    corners=_ENDS,
    in_place=LATER,
)


def _reduced(mode: str, **more: Any) -> OpSpec:
    """Make the row of what comes at the places of a tensor, reduced in a way."""
    return _row(
        f"scatter_reduce_{mode}",
        base="scatter_reduce",
        rank=174,
        draw=_at_places(distinct=False),
        calls=both(f"torch.scatter_reduce(x, axis, torch.tensor(index), source, '{mode}')"),
        numbers=UNDERIVED,
        **more,
    )


ENTRIES = rows(
    "scatter",
    _row(
        "scatter",
        rank=94,
        draw=_at_places(distinct=True),
        calls={
            "torch": "torch.scatter(x, axis, torch.tensor(index), source)",
            "paddle": "paddle.put_along_axis(x, paddle.to_tensor(index), source, axis, broadcast=False)",
        },
        numbers=real_only(UNREGISTERED),
        in_place=LATER,
    ),
    _row(
        "index_add",
        rank=101,
        draw=_at_entries(distinct=False),
        calls={
            "torch": "torch.index_add(x, axis, torch.tensor(index), source)",
            "paddle": "paddle.index_add(x, paddle.to_tensor(index), axis, source)",
        },
        numbers=real_only(UNREGISTERED),
        in_place=LATER,
    ),
    replace(
        next(row for row in INDEXING if row.name == "getitem_intarray"),
        name="gather_nd",
        base_op="gather_nd",
        rank=111,
        calls={"torch": f"x[{_LISTS}]", "paddle": f"paddle.gather_nd(x, {_TUPLES})"},
        drawn=Drawn.NAMED,
    ),
    MASKED_SELECT,
    replace(
        MASKED_SELECT,
        name="getitem_mask",
        base_op="getitem",
        rank=5,
        draw=_leading_mask,
        calls=both("x[torch.tensor(mask)]"),
    ),
    _row(
        "scatter_add_to",
        base="scatter_add",
        rank=131,
        draw=_at_places(distinct=False),
        calls={
            "torch": "torch.scatter_add(x, axis, torch.tensor(index), source)",
            "paddle": "paddle.put_along_axis(x, paddle.to_tensor(index), source, axis, 'add', broadcast=False)",
        },
        numbers=real_only(UNREGISTERED),
        in_place=LATER,
    ),
    _row(
        "scatter_nd_add",
        rank=160,
        draw=_at_tuples(distinct=False),
        calls={
            "torch": f"torch.index_put(x, {_LISTS}, source, accumulate=True)",
            "paddle": f"paddle.scatter_nd_add(x, {_TUPLES}, source)",
        },
        numbers=real_only(UNREGISTERED),
    ),
    _row(
        "index_copy",
        rank=167,
        draw=_at_entries(distinct=True, first=True),
        calls={
            "torch": "torch.index_copy(x, axis, torch.tensor(index), source)",
            "paddle": "paddle.scatter(x, paddle.to_tensor(index), source, overwrite=True)",
        },
        numbers=real_only(UNREGISTERED),
    ),
    _reduced("sum"),
    _reduced("mean", exact=False),
    _reduced("amax", exact=False),
    _reduced("amin", exact=False),
    _reduced("prod", growth=Growth.UNBOUNDED),
    _row(
        "masked_scatter",
        rank=76,
        draw=_mask_and_source,
        calls=both("torch.masked_scatter(x, torch.tensor(mask), source)"),
        in_place=LATER,
    ),
    _row(
        "take_along_dim",
        rank=204,
        draw=_taken_along,
        calls={
            "torch": "torch.take_along_dim(x, torch.tensor(index), axis)",
            "paddle": "paddle.take_along_axis(x, paddle.to_tensor(index), axis)",
        },
        numbers=real_only(UNREGISTERED),
    ),
    PUT,
    replace(
        PUT,
        name="index_put_accumulate",
        draw=_at_tuples(distinct=False),
        calls=both(f"torch.index_put(x, {_LISTS}, source, accumulate=True)"),
    ),
    INDEX_FILL,
    replace(INDEX_FILL, name="index_fill_tensor", draw=_filled_by_tensor, corners={}),
    _row(
        "take",
        rank=272,
        draw=_taken,
        calls=both("torch.take(x, torch.tensor(index))"),
        corners={"negative": on(lambda x: {"index": [[-1, 0], [0, -1]]} if has_rows(x) else None)},
    ),
    _row(
        "diagonal_scatter",
        rank=274,
        draw=_on_diagonal,
        calls=both("torch.diagonal_scatter(x, source, offset, -2, -1)"),
    ),
    _row(
        "select_scatter",
        rank=275,
        draw=_on_entry,
        calls=both("torch.select_scatter(x, source, axis, index)"),
        numbers=UNDERIVED,
    ),
    _row(
        "slice_scatter",
        rank=276,
        draw=_on_slice,
        calls={
            "torch": "torch.slice_scatter(x, source, axis, start, stop, step)",
            "paddle": "paddle.slice_scatter(x, source, [axis], [start], [stop], [step])",
        },
        numbers=UNDERIVED,
    ),
    _row(
        "multiplex",
        rank=277,
        draw=_chosen,
        calls={
            "torch": "torch.where(torch.tensor(index).reshape([-1] + [1] * (x.ndim - 1)) == 0, x, y)",
            "paddle": "paddle.multiplex([x, y], paddle.to_tensor([[i] for i in index], dtype='int32'))",
        },
    ),
)

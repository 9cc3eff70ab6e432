"""Ops that write at indices, and that read where a mask is true: one row per op."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.ops.corners import axes, count_of, given, on
from conformance.ops.draws import axis_of, indices, mask_for
from conformance.ops.families.indexing import ENTRIES as INDEXING
from conformance.ops.in_place import NotOffered
from conformance.ops.numbers import BOTH, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, OpSpec, op, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

UNDERIVED = real_only("PyTorch: does not support automatic differentiation for outputs with complex dtype")
LATER = NotOffered("comes with the next forms in place")


def _full(s: Sampler, axes: int = 1) -> Draft:
    return s.take(lambda d: len(d.shape) >= axes and 0 not in d.shape)


def _masked(s: Sampler) -> Arguments | None:
    x = _full(s)
    return [x], {"mask": mask_for(s, x.shape)}


def _leading_mask(s: Sampler) -> Arguments | None:
    x = _full(s)
    return [x], {"mask": mask_for(s, x.shape[: s.source.integer(1, len(x.shape))])}


def _mask_and_source(s: Sampler) -> Arguments | None:
    x = _full(s)
    mask = mask_for(s, x.shape)
    return [x, s.take_shaped((int(np.count_nonzero(mask)) + s.source.integer(0, 2),))], {"mask": mask}


def _at_places(*, distinct: bool) -> Draw:
    """Draw a tensor, an axis, an index of as many axes and what is written there; ``distinct``: no place comes twice."""

    def draw(s: Sampler) -> Arguments | None:
        x = _full(s)
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
        x = _full(s)
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
    x = _full(s)
    axis = axis_of(s, x)
    return [x], {"axis": axis, "index": _entries(s, x.shape[axis], distinct=False), "value": s.number()}


def _at_tuples(*, distinct: bool) -> Draw:
    """Draw a tensor, lists of integers for its leading axes and what is written there."""

    def draw(s: Sampler) -> Arguments | None:
        x = _full(s)
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
    x = _full(s)
    shape = tuple(s.source.integer(1, 3) for _ in range(s.source.integer(1, 2)))
    return [x], {"index": indices(s, shape, count_of(x))}


def _taken_along(s: Sampler) -> Arguments | None:
    x = _full(s)
    axis = axis_of(s, x)
    at = axis % len(x.shape)
    shape = tuple(s.source.integer(1, 4) if i == at else s.source.choice((n, 1)) for i, n in enumerate(x.shape))
    return [x], {"axis": axis, "index": indices(s, shape, x.shape[axis])}


def _on_diagonal(s: Sampler) -> Arguments | None:
    x = _full(s, 2)
    offset = s.source.integer(1 - x.shape[-2], x.shape[-1] - 1)
    length = min(x.shape[-2] + min(offset, 0), x.shape[-1] - max(offset, 0))
    return [x, s.take_shaped((*x.shape[:-2], length))], {"offset": offset}


def _on_entry(s: Sampler) -> Arguments | None:
    x = _full(s)
    axis = axis_of(s, x)
    rest = tuple(n for i, n in enumerate(x.shape) if i != axis % len(x.shape))
    return [x, s.take_shaped(rest)], {"axis": axis, "index": s.source.integer(-x.shape[axis], x.shape[axis] - 1)}


def _on_slice(s: Sampler) -> Arguments | None:
    x = _full(s)
    axis = s.source.integer(0, len(x.shape) - 1)
    start = s.source.integer(0, x.shape[axis] - 1)
    stop, step = s.source.integer(start + 1, x.shape[axis]), s.source.choice((1, 1, 2))
    shape = list(x.shape)
    shape[axis] = len(range(start, stop, step))
    return [x, s.take_shaped(tuple(shape))], {"axis": axis, "start": start, "stop": stop, "step": step}


def _chosen(s: Sampler) -> Arguments | None:
    x = _full(s, 2)
    return [x, s.take_shaped(x.shape)], {"index": indices(s, (x.shape[0],), 2)}


def _row(name: str, rank: int, draw: Draw, torch: str, paddle: str, *, base: str | None = None, **more: Any) -> OpSpec:
    """Make a row; in the calls ``I`` is the index as a tensor, ``M`` the mask."""
    calls = {
        framework: call.replace("I", f"{tensor}(index)").replace("M", f"{tensor}(mask)")
        for framework, call, tensor in (("torch", f"torch.{torch}", "torch.tensor"), ("paddle", f"paddle.{paddle}", "paddle.to_tensor"))
    }
    plain = {"exact": True, "numbers": BOTH, "points": PLAIN, "drawn": Drawn.NAMED}
    return op(name, rank=rank, draw=draw, base=base, **{**plain, **calls, **more})


MASKED_SELECT = _row("masked_select", 125, _masked, "masked_select(x, M)", "masked_select(x, M)")
_T_LISTS, _P_LISTS = "tuple(torch.tensor(i) for i in index)", "tuple(paddle.to_tensor(i) for i in index)"
_PAIRS = "paddle.to_tensor([list(at) for at in zip(*index)])"
PUT = _row(
    "index_put",
    210,
    _at_tuples(distinct=True),
    f"index_put(x, {_T_LISTS}, source)",
    f"index_put(x, {_P_LISTS}, source)",
    in_place=LATER,
)
_LAST = {name: given(draw, value=7.5, index=[0, 0, -1]) for name, draw in axes(nonempty=True).items()}

ENTRIES = rows(
    "scatter",
    _row(
        "scatter",
        94,
        _at_places(distinct=True),
        "scatter(x, axis, I, source)",
        "put_along_axis(x, I, source, axis, broadcast=False)",
        numbers=real_only(UNREGISTERED),
        in_place=LATER,
    ),
    _row(
        "index_add",
        101,
        _at_entries(distinct=False),
        "index_add(x, axis, I, source)",
        "index_add(x, I, axis, source)",
        in_place=LATER,
        numbers=real_only(UNREGISTERED),
    ),
    replace(
        next(row for row in INDEXING if row.name == "getitem_intarray"),
        name="gather_nd",
        base_op="gather_nd",
        rank=111,
        calls={"torch": f"x[{_T_LISTS}]", "paddle": f"paddle.gather_nd(x, {_PAIRS})"},
        drawn=Drawn.NAMED,
    ),
    MASKED_SELECT,
    replace(
        MASKED_SELECT,
        name="getitem_mask",
        base_op="getitem",
        rank=5,
        draw=_leading_mask,
        calls={"torch": "x[torch.tensor(mask)]", "paddle": "x[paddle.to_tensor(mask)]"},
    ),
    _row(
        "scatter_add_to",
        131,
        _at_places(distinct=False),
        "scatter_add(x, axis, I, source)",
        "put_along_axis(x, I, source, axis, 'add', broadcast=False)",
        base="scatter_add",
        in_place=LATER,
        numbers=real_only(UNREGISTERED),
    ),
    _row(
        "scatter_nd_add",
        160,
        _at_tuples(distinct=False),
        f"index_put(x, {_T_LISTS}, source, accumulate=True)",
        f"scatter_nd_add(x, {_PAIRS}, source)",
        numbers=real_only(UNREGISTERED),
    ),
    _row(
        "index_copy",
        167,
        _at_entries(distinct=True, first=True),
        "index_copy(x, axis, I, source)",
        "scatter(x, I, source, overwrite=True)",
        numbers=real_only(UNREGISTERED),
    ),
    _row(
        "scatter_reduce_sum",
        174,
        _at_places(distinct=False),
        "scatter_reduce(x, axis, I, source, 'sum')",
        "scatter_reduce(x, axis, I, source, 'sum')",
        base="scatter_reduce",
        numbers=UNDERIVED,
    ),
    _row(
        "scatter_reduce_mean",
        174,
        _at_places(distinct=False),
        "scatter_reduce(x, axis, I, source, 'mean')",
        "scatter_reduce(x, axis, I, source, 'mean')",
        base="scatter_reduce",
        exact=False,
        numbers=UNDERIVED,
    ),
    _row("masked_scatter", 76, _mask_and_source, "masked_scatter(x, M, source)", "masked_scatter(x, M, source)", in_place=LATER),
    _row(
        "take_along_dim",
        204,
        _taken_along,
        "take_along_dim(x, I, axis)",
        "take_along_axis(x, I, axis)",
        numbers=real_only(UNREGISTERED),
    ),
    PUT,
    replace(
        PUT,
        name="index_put_accumulate",
        draw=_at_tuples(distinct=False),
        calls={
            "torch": f"torch.index_put(x, {_T_LISTS}, source, accumulate=True)",
            "paddle": f"paddle.index_put(x, {_P_LISTS}, source, accumulate=True)",
        },
    ),
    _row("index_fill", 271, _filled, "index_fill(x, axis, I, value)", "index_fill(x, I, axis, value)", corners=_LAST, in_place=LATER),
    _row(
        "take",
        272,
        _taken,
        "take(x, I)",
        "take(x, I)",
        corners={"negative": on(lambda x: {"index": [[-1, 0], [0, -1]]} if x.shape and 0 not in x.shape else None)},
    ),
    _row(
        "diagonal_scatter",
        274,
        _on_diagonal,
        "diagonal_scatter(x, source, offset, -2, -1)",
        "diagonal_scatter(x, source, offset, -2, -1)",
    ),
    _row(
        "select_scatter",
        275,
        _on_entry,
        "select_scatter(x, source, axis, index)",
        "select_scatter(x, source, axis, index)",
        numbers=UNDERIVED,
    ),
    _row(
        "slice_scatter",
        276,
        _on_slice,
        "slice_scatter(x, source, axis, start, stop, step)",
        "slice_scatter(x, source, [axis], [start], [stop], [step])",
        numbers=UNDERIVED,
    ),
    _row(
        "multiplex",
        277,
        _chosen,
        "where(torch.tensor(index).reshape([-1] + [1] * (x.ndim - 1)) == 0, x, y)",
        "multiplex([x, y], paddle.to_tensor([[i] for i in index], dtype='int32'))",
    ),
)

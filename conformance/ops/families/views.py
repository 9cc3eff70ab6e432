"""Ops that read the elements of a tensor by other names: one row per op."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.ops import corners_of_shapes
from conformance.ops.calls import both
from conformance.ops.corners import axes, count_of, equal_parts, given, on, several, uneven_parts
from conformance.ops.draws import axis_of, has_elements, has_rows, reshaped, unary
from conformance.ops.families.shape import ENTRIES as SHAPES
from conformance.ops.numbers import BOTH, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, Memory, op, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.ops.sampler import Arguments, Draw, Sampler
    from conformance.ops.spec import OpSpec

SHAPE = {row.name: row for row in SHAPES}


def _like(of: str, name: str, rank: int, call: str, **more: Any) -> OpSpec:
    """Make the row of an op that is another by another name, or the same with other arguments."""
    row = replace(SHAPE[of], name=name, base_op=name, rank=rank, calls=both(call), in_place=None, drawn=Drawn.NAMED)
    return replace(row, **more)


def _summed(s: Sampler) -> Arguments | None:
    x = s.take(has_elements)
    kept = x.shape[s.source.integer(0, len(x.shape)) :]
    shape = [1 if s.source.chance(0.4) else n for n in kept]
    return None if tuple(shape) == x.shape else ([x], {"shape": shape})  # of its own shape a tensor comes back itself


def _flat(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 2)  # of one axis a tensor comes back itself
    return [x], {"shape": [count_of(x)]}


def _unflattened(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    n = x.shape[axis]
    first = s.source.choice([d for d in range(1, n + 1) if n % d == 0])
    return [x], {"axis": axis, "sizes": [first, n // first]}


def _moved(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 2)
    count = s.source.integer(1, 2)
    source, destination = (s.source.shuffled(range(len(x.shape)))[:count] for _ in range(2))
    return [x], {"source": source, "destination": destination}


def _narrowed(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    start = s.source.integer(0, x.shape[axis] - 1)
    return [x], {"axis": axis, "start": start, "length": s.source.integer(1, x.shape[axis] - start), "copied": True}


def _selected(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    return [x], {"axis": axis, "index": s.source.integer(-x.shape[axis], x.shape[axis] - 1)}


def _last_entry(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    return [x], {"index": s.source.integer(-x.shape[-1], x.shape[-1] - 1)}


def _cut(axis: Callable[[int], int], least: int) -> Draw:
    """Cut an axis into two parts; ``axis`` says which, from how many there are."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) >= least and d.shape[axis(len(d.shape))] >= 2, shape=(2, 4, 2)[-max(least, 2) :])
        at = axis(len(x.shape))
        first = s.source.integer(1, x.shape[at] - 1)
        return [x], {"sections": [first, x.shape[at] - first], "axis": at, "part": s.source.integer(0, 1)}

    return draw


def _split(name: str, rank: int, axis: Callable[[int], int], least: int, rest: str = "") -> OpSpec:
    """Make the row of a split of one axis, at the places where its parts but the first begin."""
    starts = "[sum(sections[:i]) for i in range(1, len(sections))]"
    return replace(
        SHAPE["split"],
        name=name,
        base_op=name,
        rank=rank,
        draw=_cut(axis, least),
        calls=both(f"torch.{name}(x, {starts}{rest})[part]"),
        memory=Memory.STRIDED,
        corners={},
        drawn=Drawn.NAMED,
    )


_row = partial(op, exact=True, numbers=BOTH, points=PLAIN, drawn=Drawn.NAMED)

ENTRIES = rows(
    "views",
    _like(
        "expand",
        "expand_as",
        79,
        "x.expand_as(torch.empty(shape))",
        numbers=real_only(UNREGISTERED),
    ),
    _like("expand", "broadcast_to", 138, "torch.broadcast_to(x, shape)"),
    _row(
        "unflatten",
        rank=90,
        draw=_unflattened,
        calls=both("torch.unflatten(x, axis, sizes)"),
        memory=Memory.RESHAPES,
        corners={
            "inferred": on(lambda x: {"axis": -1, "sizes": [1, -1]} if has_rows(x) else None),
            "three": on(lambda x: {"axis": 0, "sizes": [1, x.shape[0], 1]} if has_rows(x) else None),
        },
    ),
    _like("transpose", "swapaxes", 140, "torch.swapaxes(x, axis0, axis1)"),
    replace(
        _split("tensor_split", 142, lambda _: 0, 1, ", axis"),
        corners={
            "many": given(equal_parts(-1), part=1),
            "first axis": given(equal_parts(0), part=1),
            "uneven": given(uneven_parts(-1), part=1),
        },
    ),
    _like(
        "reshape",
        "view_as",
        145,
        "x.contiguous().view_as(torch.empty(shape))",
        draw=reshaped,
        corners={name: draw for name, draw in corners_of_shapes.RESHAPE.items() if name != "inferred"},
    ),
    _row(
        "moveaxis",
        rank=148,
        draw=_moved,
        calls=both("torch.moveaxis(x, source, destination)"),
        memory=Memory.STRIDED,
        corners={
            "negative axes": on(lambda x: {"source": [-1], "destination": [0]} if len(x.shape) > 1 else None),
            "two": on(lambda x: {"source": [0, -1], "destination": [-1, -2]} if len(x.shape) > 2 else None),
        },
    ),
    _row(
        "narrow_view",
        base="narrow",
        rank=166,
        draw=_narrowed,
        calls={
            "torch": "torch.narrow(x, axis, start, length)",
            "paddle": "paddle.narrow(x.contiguous().clone() if copied else x, axis, start, length)",  # of a view it is wrong
        },
        memory=Memory.DOUBTFUL,
        corners={
            **axes(nonempty=True, start=0, length=1, copied=True),
            "negative start": on(lambda x: {"axis": 0, "start": -1, "length": 1, "copied": True} if has_rows(x) else None),
            "whole": on(lambda x: {"axis": 0, "start": 0, "length": x.shape[0], "copied": True} if has_rows(x) else None),
        },
    ),
    _like("reshape", "ravel", 253, "torch.ravel(x)", draw=_flat, corners={}),
    _row(
        "matrix_transpose",
        base="mT",
        rank=254,
        draw=unary(axes=2),
        calls=both("x.mT"),
        memory=Memory.STRIDED,
    ),
    _split("hsplit", 258, lambda count: 0 if count == 1 else 1, 1),
    _split("vsplit", 259, lambda _: 0, 2),
    _split("dsplit", 260, lambda _: 2, 3),
    _row(
        "select",
        rank=273,
        draw=_selected,
        calls={"torch": "torch.select(x, axis, index)", "paddle": "x[(slice(None),) * (axis % x.ndim) + (index,)]"},
        memory=Memory.STRIDED,
        corners=axes(nonempty=True, index=-1),
    ),
    _row(
        "getitem_newaxis",
        base="getitem",
        rank=5,
        draw=_last_entry,
        calls=both("x[..., None, index]"),
        memory=Memory.STRIDED,
        corners=several("index", 0, -1, draw=on(lambda x: {} if has_rows(x) else None)),
    ),
    _row(
        "reduce_as",
        rank=290,
        draw=_summed,
        calls={"torch": "x.sum_to_size(shape)", "paddle": "paddle.reduce_as(x, paddle.empty(shape))"},
        corners={"all": on(lambda x: {"shape": [1]} if x.shape and x.shape != (1,) else None)},
    ),
)

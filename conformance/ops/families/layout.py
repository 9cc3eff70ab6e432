"""Ops that lay tensors out anew: one row per op."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.ops.calls import both
from conformance.ops.corners import axes, given, on, several
from conformance.ops.draws import axis_of, has_rows, is_matrix
from conformance.ops.numbers import BOTH, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, Memory, OpSpec, op, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler


def _side_by_side(least: int, axis: Callable[[int], int | None]) -> Draw:
    """Join two or three tensors of ``least`` axes or more; ``axis``: along which, of so many; on a new one all have one shape."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) >= least)
        found = axis(len(x.shape))
        shapes = []
        for _ in range(s.source.integer(1, 2)):
            shape = list(x.shape)
            if found is not None:
                shape[found] = s.length()
            shapes.append(tuple(shape))
        return [x, *map(s.take_shaped, shapes)], {}

    return draw


def _blocks(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 2)
    return [x, s.take_shaped((s.source.integer(1, 2), s.source.integer(1, 3)))], {}


def _vectors(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 1 and 0 not in d.shape)
    return [x, *(s.take_shaped((s.source.integer(1, 3),)) for _ in range(s.source.integer(1, 2)))], {}


def _partners(s: Sampler) -> Arguments | None:
    x = s.take()
    return [x, s.partner(x)], {}


def _choices(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 1 and 2 <= d.shape[0] < 8, shape=(3,))
    return [x], {"r": s.source.integer(2, min(3, x.shape[0])), "with_replacement": s.source.chance(0.5)}


def _on_diagonal(axes: int | None) -> Draw:
    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: 0 not in d.shape and math.prod(d.shape) < 64 and (axes is None or len(d.shape) == axes))
        return [x], {"offset": s.source.integer(-2, 2)}

    return draw


def _diagonal(s: Sampler) -> Arguments | None:
    x = s.take(is_matrix)
    return [x], {"offset": s.source.integer(1 - x.shape[0], x.shape[1] - 1)}


def _embedded(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: has_rows(d) and math.prod(d.shape) < 64)
    rank = len(x.shape) + 1
    rows, columns = s.source.shuffled(range(rank))[:2] if s.source.chance(0.5) else (rank - 2, rank - 1)
    back = rank if s.source.chance(0.5) else 0
    return [x], {"offset": s.source.integer(-2, 2), "dim1": rows - back, "dim2": columns - back}


def _turned(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 2)
    return [x], {"k": s.source.choice((1, -1, 2, 3)), "axes": s.source.shuffled(range(len(x.shape)))[:2]}


def _fewer(axes: int) -> Draw:
    """Draw a tensor of fewer axes; one that has as many comes back itself."""
    return lambda s: ([s.take_shaped(()) if axes == 1 else s.take(lambda d: len(d.shape) < axes)], {})


def _strided(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: math.prod(d.shape) >= 2)
    last = math.prod(x.shape) - 1
    shape, strides, reach = [], [], s.source.integer(0, last)
    offset = last - reach
    for _ in range(2):
        stride = s.source.integer(0, min(2, reach))
        length = s.source.integer(1, min(3, reach // stride + 1) if stride else 2)
        reach -= stride * (length - 1)
        shape.append(length)
        strides.append(stride)
    return [x], {"shape": shape, "strides": strides, "offset": offset}


def _windows(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    size = s.source.integer(1, min(4, x.shape[axis]))
    steps = [n for n in range(1, size + 1) if (x.shape[axis] - size) % n == 0]  # no element is left out; see `NOT_OFFERED`
    return [x], {"axis": axis, "size": size, "step": s.source.choice(steps)}


def _each(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    axis = axis_of(s, x)
    return [x], {"repeats": [s.source.integer(0, 3) for _ in range(x.shape[axis] - 1)] + [2], "axis": axis}


def _many(x: Draft) -> dict[str, Any] | None:
    return {"axis": -1, "size": 2, "step": 1} if x.shape and x.shape[-1] >= 2 else None


_row = partial(op, exact=True, numbers=BOTH, points=PLAIN, drawn=Drawn.NAMED)


def _stacked(name: str, rank: int, axis: Callable[[int], int | None], least: int = 1) -> OpSpec:
    return _row(name, rank=rank, draw=_side_by_side(least, axis), calls=both(f"torch.{name}(xs)"))


ENTRIES = rows(
    "layout",
    _row(
        "meshgrid",
        rank=87,
        draw=_vectors,
        calls={"torch": "torch.stack(torch.meshgrid(xs, indexing='ij'))", "paddle": "paddle.stack(paddle.meshgrid(xs))"},
    ),
    _row("diag_matrix", base="diag", rank=158, draw=_on_diagonal(1), calls=both("torch.diag(x, offset)")),
    _row("diag_of_matrix", base="diag", rank=158, draw=_diagonal, calls=both("torch.diag(x, offset)")),
    _row(
        "diag_embed",
        base="diag",
        rank=158,
        draw=_embedded,
        calls=both("torch.diag_embed(x, offset, dim1, dim2)"),
        corners=several("offset", 0, 1, -2, draw=_embedded),
        numbers=real_only(UNREGISTERED),
    ),
    _stacked("vstack", 185, lambda count: 0 if count > 1 else None),
    _row(
        "as_strided",
        rank=203,
        draw=_strided,
        corners={"no elements": given(_strided, shape=[2, 0], strides=[1, 1])},
        calls={  # of a tensor that begins where its memory does
            "torch": "x.contiguous().clone().as_strided(shape, strides, offset)",
            "paddle": "paddle.as_strided(x.contiguous().clone(), shape, strides, offset * x.element_size())",
        },
    ),
    _stacked("hstack", 209, lambda count: min(1, count - 1)),
    _row(
        "broadcast_tensors",
        rank=226,
        draw=_partners,
        calls={"torch": "torch.stack(torch.broadcast_tensors(*xs))", "paddle": "paddle.stack(paddle.broadcast_tensors(xs))"},
    ),
    _stacked("dstack", 255, lambda count: 2 if count > 2 else None),
    _stacked("column_stack", 256, lambda count: 1 if count > 1 else None),
    _stacked("row_stack", 257, lambda count: 0 if count > 1 else None),
    _row(
        "rot90",
        rank=261,
        draw=_turned,
        calls=both("torch.rot90(x, k, axes)"),
        corners=several("k", 4, 0, -3, draw=given(_turned, axes=[0, 1])),
    ),
    _row("diagflat", rank=262, draw=_on_diagonal(None), calls=both("torch.diagflat(x, offset)")),
    *(
        _row(
            f"atleast_{n}d",
            rank=262 + n,
            draw=_fewer(n),
            calls=both(f"torch.atleast_{n}d(x)"),
            memory=Memory.KEEPS_LAYOUT if n > 1 else Memory.RESHAPES,
        )
        for n in (1, 2, 3)
    ),
    _row(
        "tensor_unfold",
        rank=266,
        draw=_windows,
        calls={"torch": "x.unfold(axis, size, step)", "paddle": "paddle.unfold(x, axis, size, step)"},
        memory=Memory.STRIDED,
        corners={"overlapping": on(_many), **axes(nonempty=True, size=1, step=1)},
    ),
    _row("block_diag", rank=267, draw=_blocks, calls={"torch": "torch.block_diag(*xs)", "paddle": "paddle.block_diag(xs)"}),
    _row(
        "cartesian_prod",
        rank=268,
        draw=_vectors,
        calls={"torch": "torch.cartesian_prod(*xs)", "paddle": "paddle.cartesian_prod(xs)"},
    ),
    _row("combinations", rank=269, draw=_choices, calls=both("torch.combinations(x, r, with_replacement)")),
    _row(
        "repeat_interleave_each",
        base="repeat_interleave",
        rank=65,
        draw=_each,
        calls=both("torch.repeat_interleave(x, torch.tensor(repeats), axis)"),
        numbers=real_only(UNREGISTERED),
    ),
)

"""Products that are one node in a framework, differences along an axis, and diagonals: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.draws import axis_of, has_matrices, has_rows, is_matrix
from conformance.ops.in_place import LATER
from conformance.ops.numbers import UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, Memory, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draw, Sampler

FACTORS = (1.0, 0.5, -2.0)


def _differences(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) > 0 and 0 not in d.shape and min(d.shape) > 1, shape=(3, 2))
    return [x], {"axis": axis_of(s, x)}


def _diagonal(s: Sampler) -> Arguments | None:
    x = s.take(has_matrices)
    return [x], {"offset": s.source.integer(1 - x.shape[-2], x.shape[-1] - 1)}


def _trace(s: Sampler) -> Arguments | None:
    return [s.take(is_matrix)], {}


def _dot(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 1 and 0 not in d.shape)
    return [x, s.take_shaped(x.shape)], {}


def _of_rows(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    return [x, s.take_shaped(x.shape)], {}


def _sum_and_product(axes_of_batch: int) -> Draw:
    """Draw a tensor, and two of which the product has its shape."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) == axes_of_batch + 2 and 0 not in d.shape, shape=(*(2,) * axes_of_batch, 3, 2))
        *batch, m, n = x.shape
        k = s.source.integer(1, 3)
        operands = [x, s.take_shaped((*batch, m, k)), s.take_shaped((*batch, k, n))]
        return operands, {"beta": s.source.choice(FACTORS), "alpha": s.source.choice(FACTORS)}

    return draw


def _vector(s: Sampler) -> Arguments | None:
    x = s.take(is_matrix)
    return [x, s.take_shaped(x.shape[1:])], {}


def _rows_of_two(s: Sampler) -> Arguments | None:
    x = s.take(is_matrix)
    return [x, s.take_shaped((s.source.integer(1, 3), x.shape[1]))], {}


def _blocks(s: Sampler) -> Arguments | None:
    return [s.take(is_matrix), s.take_shaped((s.source.integer(1, 2), s.source.integer(1, 3)))], {}


_row = partial(op, exact=True, numbers=real_only(UNEXAMINED), points=PLAIN, drawn=Drawn.NAMED)

ENTRIES = rows(
    "products",
    _row(
        "addmm",
        rank=115,
        draw=_sum_and_product(0),
        calls=both("torch.addmm(x, y, z, beta=beta, alpha=alpha)"),
        growth=Growth.COMPOUNDS,
        in_place=LATER,
    ),
    _row(
        "baddbmm",
        rank=120,
        draw=_sum_and_product(1),
        calls=both("torch.baddbmm(x, y, z, beta=beta, alpha=alpha)"),
        growth=Growth.COMPOUNDS,
        in_place=LATER,
    ),
    _row("diagonal", rank=159, draw=_diagonal, calls=both("torch.diagonal(x, offset, -2, -1)"), memory=Memory.STRIDED),
    _row("dot", rank=161, draw=_dot, calls=both("torch.dot(x, y)")),
    _row("diff", rank=162, draw=_differences, calls={"torch": "torch.diff(x, dim=axis)", "paddle": "paddle.diff(x, axis=axis)"}),
    _row("trace", rank=230, draw=_trace, calls=both("torch.trace(x)")),
    _row("mv", rank=305, draw=_vector, calls=both("torch.mv(x, y)")),
    _row("inner", rank=306, draw=_rows_of_two, calls=both("torch.inner(x, y)")),
    _row("vecdot", rank=307, draw=_of_rows, calls=both("torch.linalg.vecdot(x, y)")),
    _row("kron", rank=308, draw=_blocks, calls=both("torch.kron(x, y)")),
)

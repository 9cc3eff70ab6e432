"""Products that are one node in a framework, differences along an axis, and diagonals: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.ops.draws import axis_of
from conformance.ops.in_place import NotOffered
from conformance.ops.numbers import real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, Memory, OpSpec, op, rows

if TYPE_CHECKING:
    from conformance.ops.numbers import Numbers
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

COMPLEX_LATER = real_only("what the frameworks make of complex ones has not been looked at yet")
FACTORS = (1.0, 0.5, -2.0)


def _differences(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) > 0 and 0 not in d.shape and min(d.shape) > 1, shape=(3, 2))
    return [x], {"axis": axis_of(s, x)}


def _diagonal(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 2 and 0 not in d.shape)
    return [x], {"offset": s.source.integer(1 - x.shape[-2], x.shape[-1] - 1)}


def _is_matrix(x: Draft) -> bool:
    return len(x.shape) == 2 and 0 not in x.shape


def _trace(s: Sampler) -> Arguments | None:
    return [s.take(_is_matrix)], {}


def _dot(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 1 and 0 not in d.shape)
    return [x, s.take_shaped(x.shape)], {}


def _of_rows(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) >= 1 and 0 not in d.shape)
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
    x = s.take(_is_matrix)
    return [x, s.take_shaped(x.shape[1:])], {}


def _rows_of_two(s: Sampler) -> Arguments | None:
    x = s.take(_is_matrix)
    return [x, s.take_shaped((s.source.integer(1, 3), x.shape[1]))], {}


def _blocks(s: Sampler) -> Arguments | None:
    return [s.take(_is_matrix), s.take_shaped((s.source.integer(1, 2), s.source.integer(1, 3)))], {}


def _row(name: str, rank: int, draw: Draw, torch: str, paddle: str, *, exact: bool = True, **more: Any) -> OpSpec:
    numbers: Numbers = COMPLEX_LATER
    calls = {"torch": f"torch.{torch}", "paddle": f"paddle.{paddle}"}
    return op(name, rank=rank, draw=draw, exact=exact, **{"numbers": numbers, "points": PLAIN, "drawn": Drawn.NAMED, **calls, **more})


LATER = NotOffered("comes with the next forms in place")
_SUM = "(x, y, z, beta=beta, alpha=alpha)"

ENTRIES = rows(
    "products",
    _row(
        "addmm",
        115,
        _sum_and_product(0),
        f"addmm{_SUM}",
        f"addmm{_SUM}",
        growth=Growth.COMPOUNDS,
        in_place=LATER,
    ),
    _row("baddbmm", 120, _sum_and_product(1), f"baddbmm{_SUM}", f"baddbmm{_SUM}", growth=Growth.COMPOUNDS, in_place=LATER),
    _row(
        "diagonal",
        159,
        _diagonal,
        "diagonal(x, offset, -2, -1)",
        "diagonal(x, offset, -2, -1)",
        memory=Memory.STRIDED,
    ),
    _row("dot", 161, _dot, "dot(x, y)", "dot(x, y)"),
    _row("diff", 162, _differences, "diff(x, dim=axis)", "diff(x, axis=axis)"),
    _row("trace", 230, _trace, "trace(x)", "trace(x)"),
    _row("mv", 305, _vector, "mv(x, y)", "mv(x, y)"),
    _row("inner", 306, _rows_of_two, "inner(x, y)", "inner(x, y)"),
    _row("vecdot", 307, _of_rows, "linalg.vecdot(x, y)", "linalg.vecdot(x, y)"),
    _row("kron", 308, _blocks, "kron(x, y)", "kron(x, y)"),
)

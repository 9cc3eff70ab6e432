"""Triangular factors with exchanged rows: made, taken apart, and solved with; one row per op.

The rows of the matrices that are factored are in any order, so that pivots are found elsewhere than on the diagonal. The other ops
are given pivots as data, and any matrix for the factors: they need not come of an elimination.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.ops.corners import given
from conformance.ops.draws import has_matrices, nested
from conformance.ops.numbers import UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Sampler


def _pivots(s: Sampler, x: Draft) -> Any:
    """Draw with which row each row is exchanged, itself or one behind it."""
    *batch, m, n = x.shape

    def of_matrix() -> list[int]:
        return [s.source.integer(k, m) for k in range(1, min(m, n) + 1)]

    return nested(tuple(batch), of_matrix)


def _factored(s: Sampler) -> Arguments | None:
    return [s.take(has_matrices, domain=Domain.PIVOTED, shape=(3, 2))], {}


def _unpacked(s: Sampler) -> Arguments | None:
    x = s.take(has_matrices)
    return [x], {"pivots": _pivots(s, x)}


def _solved(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: has_matrices(d) and d.shape[-1] == d.shape[-2], domain=Domain.DOMINANT, shape=(3, 3))
    y = s.take_shaped((*x.shape[:-1], s.source.integer(1, 3)))
    return [x, y], {"pivots": _pivots(s, x), "transposed": s.source.chance(0.3)}


_row = partial(op, numbers=real_only(UNEXAMINED), points=PLAIN, drawn=Drawn.NAMED)

ENTRIES = rows(
    "elimination",
    _row(
        "lu",
        rank=318,
        draw=_factored,
        exact=False,
        growth=Growth.UNBOUNDED,
        calls={"torch": "torch.linalg.lu_factor(x)[0]", "paddle": "paddle.linalg.lu(x)[0]"},
    ),
    _row(
        "lu_unpack",
        rank=319,
        draw=_unpacked,
        exact=True,
        calls={
            "torch": "torch.lu_unpack(x, torch.tensor(pivots, dtype=torch.int32))[1:]",
            "paddle": "paddle.linalg.lu_unpack(x, paddle.to_tensor(pivots, dtype='int32'))[1:]",
        },
    ),
    _row(
        "lu_solve",
        rank=320,
        draw=_solved,
        exact=False,
        growth=Growth.UNBOUNDED,
        calls={
            "torch": "torch.linalg.lu_solve(x, torch.tensor(pivots, dtype=torch.int32), y, adjoint=transposed)",
            "paddle": "paddle.linalg.lu_solve(y, x, paddle.to_tensor(pivots, dtype='int32'), 'T' if transposed else 'N')",
        },
        corners={"plain": given(_solved, transposed=False), "transposed": given(_solved, transposed=True)},
    ),
)

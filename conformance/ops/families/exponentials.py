"""The exponential of a matrix: its row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.draws import has_matrices
from conformance.ops.numbers import UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


LONGEST = 8
"""The most rows of a matrix: bounds of third derivatives of larger ones take longer than a case may."""


def _square(s: Sampler) -> Arguments | None:
    return [s.take(lambda d: has_matrices(d) and d.shape[-1] == d.shape[-2] <= LONGEST, shape=(3, 3))], {}


ENTRIES = rows(
    "exponentials",
    op(
        "matrix_exp",
        rank=327,
        draw=_square,
        calls=both("torch.linalg.matrix_exp(x)"),
        exact=False,
        numbers=real_only(UNEXAMINED),
        growth=Growth.UNBOUNDED,
        points=PLAIN,
        drawn=Drawn.NAMED,
    ),
)

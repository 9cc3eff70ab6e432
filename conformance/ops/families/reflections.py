"""Products of Householder reflections: one row.

The factors that are drawn are above 1, so that ``tau |v|^2`` is not 1, where PyTorch documents that the gradient is not defined. Paddle
writes into the matrix that it is given (`paddle-householder-product-written`), so it is given a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.draws import has_matrices
from conformance.ops.numbers import UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _packed(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: has_matrices(d) and d.shape[-2] >= d.shape[-1] and d.shape[-1] <= LONGEST, shape=(3, 2))
    *batch, _, n = x.shape
    return [x, s.fresh((*batch, s.source.integer(1, n)), domain=Domain.BEYOND_ONE)], {}


LONGEST = 8
"""The most columns: the reference takes them one by one."""

ENTRIES = rows(
    "reflections",
    op(
        "householder_product",
        rank=330,
        draw=_packed,
        calls={
            "torch": "torch.linalg.householder_product(x, tau)",
            "paddle": "paddle.linalg.householder_product(x.clone(), tau)",
        },
        exact=False,
        numbers=real_only(UNEXAMINED),
        growth=Growth.UNBOUNDED,
        points=PLAIN,
        drawn=Drawn.NAMED,
    ),
)

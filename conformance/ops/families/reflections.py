"""Products of Householder reflections: one row per op.

The factors that are drawn are above 1, so that ``tau |v|^2`` is not 1, where PyTorch documents that the gradient is not defined. Paddle
writes into the matrix that it is given (`paddle-householder-product-written`), so it is given a copy.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.draws import has_matrices
from conformance.ops.numbers import UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draw, Sampler


def _packed(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: has_matrices(d) and d.shape[-2] >= d.shape[-1] and d.shape[-1] <= LONGEST, shape=(3, 2))
    *batch, _, n = x.shape
    return [x, s.fresh((*batch, s.source.integer(1, n)), domain=Domain.BEYOND_ONE)], {}


def _multiplied(s: Sampler) -> Arguments | None:
    """Draw square matrices of reflections, and what they are multiplied with: Paddle has the first columns of others alone."""
    x = s.take(lambda d: has_matrices(d) and d.shape[-2] == d.shape[-1] <= LONGEST and len(d.shape) <= 3, shape=(3, 3))
    *batch, n, _ = x.shape
    left, other = not s.source.chance(0.4), s.source.integer(1, 3)
    y = s.take_shaped((*batch, n, other) if left else (*batch, other, n))
    return [x, s.fresh((*batch, n), domain=Domain.BEYOND_ONE), y], {"left": left, "transposed": s.source.chance(0.4)}


def _at_side(*, left: bool, transposed: bool) -> Draw:
    def draw(s: Sampler) -> Arguments | None:
        drawn = _multiplied(s)
        if drawn is None:
            return None
        (x, tau, _), _ = drawn
        *batch, n, _ = x.shape
        return [x, tau, s.take_shaped((*batch, n, 2) if left else (*batch, 2, n))], {"left": left, "transposed": transposed}

    return draw


LONGEST = 8
"""The most columns: the reference takes them one by one."""

_row = partial(op, exact=False, numbers=real_only(UNEXAMINED), growth=Growth.UNBOUNDED, points=PLAIN, drawn=Drawn.NAMED)

ENTRIES = rows(
    "reflections",
    _row(
        "householder_product",
        rank=330,
        draw=_packed,
        calls={
            "torch": "torch.linalg.householder_product(x, tau)",
            "paddle": "paddle.linalg.householder_product(x.clone(), tau)",
        },
    ),
    _row(
        "ormqr",
        rank=331,
        draw=_multiplied,
        calls={
            "torch": "torch.ormqr(x, tau, y, left, transposed)",
            "paddle": "paddle.linalg.ormqr(x.clone(), tau, y, left, transposed)",
        },
        corners={
            "from the left": _at_side(left=True, transposed=False),
            "from the left, transposed": _at_side(left=True, transposed=True),
            "from the right": _at_side(left=False, transposed=False),
            "from the right, transposed": _at_side(left=False, transposed=True),
        },
    ),
)

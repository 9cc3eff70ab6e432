"""Products of matrices and vectors: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import multiplied
from conformance.ops.draws import matrices
from conformance.ops.numbers import BOTH, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draw, Sampler


def _linear(axes: int) -> Draw:
    """Draw a layer, and what it is applied to: so many axes."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) == axes)
        n = s.length()
        return [x, s.take_shaped((n, x.shape[-1])), s.take_shaped((n,))], {}

    return draw


_row = partial(op, exact=True, numbers=BOTH, points=PLAIN)

ENTRIES = rows(
    "linalg",
    _row(
        "matmul",
        rank=27,
        draw=matrices("matmul"),
        calls=both("torch.matmul(x, y)"),
        corners={form: multiplied(form) for form in ("vector", "matrix", "batch", "square", "batch beside a vector")},
    ),
    _row("bmm", rank=72, draw=matrices("bmm"), calls=both("torch.bmm(x, y)"), numbers=real_only(UNREGISTERED)),
    _row(
        "linear",
        rank=2,
        draw=_linear(2),
        corners={"a vector": _linear(1), "a batch": _linear(3)},
        calls={
            "torch": "torch.nn.functional.linear(x, weight, bias)",
            "paddle": "paddle.nn.functional.linear(x, paddle.t(weight), bias)",
        },
    ),
    _row("outer", rank=92, draw=matrices("outer"), calls=both("torch.outer(x, y)")),
)

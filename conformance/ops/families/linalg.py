"""Products of matrices and vectors: one row per op."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import multiplied
from conformance.ops.draws import has_elements, matrices
from conformance.ops.numbers import BOTH, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draw, Sampler


def _linear(axes: int) -> Draw:
    """Draw a layer, and what it is applied to: so many axes."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) == axes)
        n = s.length()
        return [x, s.take_shaped((n, x.shape[-1])), s.take_shaped((n,))], {}

    return draw


RANKS = ("vector", "matrix", "batch")


def _transposed(first: str = "", second: str = "") -> Draw:
    """Draw a product of which one operand is transposed, or both, also a vector, which that leaves as it is; ``""``: of any rank."""

    def draw(s: Sampler) -> Arguments | None:
        flags = s.source.choice(((True, False), (False, True), (True, True)))
        axes = {"vector": (1,), "matrix": (2,), "batch": (3,), "": (1, 2, 3)}[first]
        x = s.take(lambda d: len(d.shape) in axes and has_elements(d))
        k = x.shape[-2 if flags[0] and len(x.shape) > 1 else -1]
        form = second or s.source.choice(RANKS)
        if form == "vector":
            shape: tuple[int, ...] = (k,)
        else:
            shape = (s.length(), k) if flags[1] else (k, s.length())
        if form == "batch":
            shape = (x.shape[0] if len(x.shape) > 2 else 2, *shape)
        return [x, s.take_shaped(shape)], {"transpose_x": flags[0], "transpose_y": flags[1]}

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
    _row(
        "matmul_transposed",
        base="matmul",
        rank=27,
        draw=_transposed(),
        calls={
            "torch": "torch.matmul(x.mT if transpose_x and x.ndim > 1 else x, y.mT if transpose_y and y.ndim > 1 else y)",
            "paddle": "paddle.matmul(x, y, transpose_x, transpose_y)",
        },
        corners={f"{first} and {second}": _transposed(first, second) for first, second in product(RANKS, RANKS)},
        drawn=Drawn.NAMED,
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

"""Products of matrices and vectors: how to draw their arguments, and their calls in each framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.draws import matrices
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn


def _linear(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) == 2)
    n = s.length()
    return [x, s.take_shaped((n, x.shape[-1])), s.take_shaped((n,))], {}


ENTRIES = rows(
    "linalg",
    ("matmul", "matmul", 27, matrices("matmul"), "torch.matmul(x, y)", "paddle.matmul(x, y)"),
    ("bmm", "bmm", 72, matrices("bmm"), "torch.bmm(x, y)", "paddle.bmm(x, y)"),
    (
        *("linear", "linear", 2, _linear),
        "torch.nn.functional.linear(x, weight, bias)",
        "paddle.nn.functional.linear(x, paddle.t(weight), bias)",
    ),
    ("outer", "outer", 92, matrices("outer"), "torch.outer(x, y)", "paddle.outer(x, y)"),
)

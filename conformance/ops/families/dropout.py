"""What of dropout is no matter of chance: one row per op.

``torch.nn.functional.dropout`` returns its operand itself in evaluation, so that what is asked there is `torch.native_dropout`, the op
that a training step on other devices records. PyTorch has one of Paddle's two modes; the other one is a product there.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import several
from conformance.ops.draws import unary
from conformance.ops.in_place import ONE_ALONE
from conformance.ops.numbers import UNREGISTERED, real_only
from conformance.ops.spec import ELEMENTS, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler

SHARES = (0.5, 0.25, 0.75)


def _with_share(s: Sampler) -> Arguments | None:
    return [s.take()], {"p": s.source.choice(SHARES)}


def _with_elements(s: Sampler) -> Arguments | None:
    return [s.take(lambda d: 0 not in d.shape)], {}  # of none PyTorch returns the tensor itself


_row = partial(op, base="dropout", rank=10, exact=True, numbers=real_only(UNREGISTERED), points=ELEMENTS, drawn=Drawn.NAMED)

ENTRIES = rows(
    "dropout",
    _row(
        "dropout_eval",
        draw=_with_share,
        calls={
            "torch": "torch.native_dropout(x, p, False)[0]",
            "paddle": "paddle.nn.functional.dropout(x, p, training=False)",
        },
        corners=several("p", 0.1, 1.0, draw=unary()),
        in_place=ONE_ALONE,
    ),
    _row(
        "dropout_downscaled",
        draw=_with_share,
        calls={
            "torch": "torch.mul(x, 1.0 - p)",
            "paddle": "paddle.nn.functional.dropout(x, p, training=False, mode='downscale_in_infer')",
        },
        corners=several("p", 1.0, draw=unary()),
    ),
    _row(
        "dropout_all",
        draw=_with_elements,
        calls=both("torch.nn.functional.dropout(x, 1.0, training=True)"),
    ),
)

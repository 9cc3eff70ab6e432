"""The softmax family: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import axes, long_last_axis, on
from conformance.ops.draws import along_axis
from conformance.ops.in_place import ONE_ALONE
from conformance.ops.numbers import UNIMPLEMENTED, real_only
from conformance.ops.spec import ROWS, Points, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _glu(s: Sampler) -> Arguments | None:
    return [s.take(lambda d: len(d.shape) >= 1 and d.shape[-1] in (2, 4), shape=(2, 4))], {"axis": -1}


_row = partial(op, exact=False, numbers=real_only(UNIMPLEMENTED))

ENTRIES = rows(
    "softmax",
    _row(
        "softmax",
        rank=28,
        draw=along_axis(),
        calls=both("torch.nn.functional.softmax(x, axis)"),
        corners=axes(nonempty=True) | long_last_axis(),
        points=ROWS,
        in_place=ONE_ALONE,
    ),
    _row(
        "log_softmax",
        rank=40,
        draw=along_axis(),
        calls=both("torch.nn.functional.log_softmax(x, axis)"),
        corners=axes(nonempty=True) | long_last_axis(),
        points=ROWS,
    ),
    _row(
        "glu",
        rank=84,
        draw=_glu,
        calls=both("torch.nn.functional.glu(x, axis)"),
        corners={"first axis": on(lambda x: {"axis": 0} if x.shape and x.shape[0] % 2 == 0 < x.shape[0] else None)},
        points=Points(width=4),
    ),
)

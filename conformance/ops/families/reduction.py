"""Reductions and running sums: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import axes, axis_lists, kept, several_axes
from conformance.ops.draws import along_axis, exact_mean, has_elements, reduction
from conformance.ops.in_place import LATER
from conformance.ops.numbers import BOTH, UNIMPLEMENTED, UNORDERED, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, ROWS, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _mse(s: Sampler) -> Arguments | None:
    x = s.take(has_elements)
    return [x, s.take_shaped(x.shape)], {}


_sum = reduction(one_axis=False)
_extremum = reduction(one_axis=True, nonempty=True)

_row = partial(op, points=ROWS)

ENTRIES = rows(
    "reduction",
    _row(
        "sum",
        rank=32,
        draw=_sum,
        calls={"torch": "torch.sum(x, axis, keepdims)", "paddle": "paddle.sum(x, axis, keepdim=keepdims)"},
        exact=True,
        numbers=BOTH,
        corners=axis_lists(),
    ),
    _row(
        "mean",
        rank=14,
        draw=exact_mean,
        calls={"torch": "torch.mean(x, axis, keepdims)", "paddle": "paddle.mean(x, axis, keepdim=keepdims)"},
        exact=True,
        numbers=BOTH,
        corners=axis_lists(nonempty=True),
    ),
    _row(
        "max",
        rank=68,
        draw=_extremum,
        calls={"torch": "torch.max(x, axis, keepdims)[0]", "paddle": "paddle.max(x, axis, keepdim=keepdims)"},
        exact=True,
        numbers=real_only(UNORDERED),
        corners=kept(axes(nonempty=True)),
    ),
    _row(
        "min",
        rank=108,
        draw=_extremum,
        calls={"torch": "torch.min(x, axis, keepdims)[0]", "paddle": "paddle.min(x, axis, keepdim=keepdims)"},
        exact=True,
        numbers=real_only(UNORDERED),
        corners=kept(axes(nonempty=True)),
    ),
    _row(
        "amax",
        rank=103,
        draw=reduction(one_axis=False, nonempty=True),
        calls={"torch": "torch.amax(x, [] if axis is None else axis, keepdims)", "paddle": "paddle.amax(x, axis, keepdim=keepdims)"},
        exact=True,
        numbers=real_only(UNORDERED),
        corners=axis_lists(nonempty=True),
    ),
    _row(
        "amin",
        rank=146,
        draw=reduction(one_axis=False, nonempty=True),
        calls={"torch": "torch.amin(x, [] if axis is None else axis, keepdims)", "paddle": "paddle.amin(x, axis, keepdim=keepdims)"},
        exact=True,
        numbers=real_only(UNORDERED),
        corners=axis_lists(nonempty=True),
    ),
    _row(
        "prod",
        rank=102,
        draw=_extremum,
        calls={"torch": "torch.prod(x, axis, keepdims)", "paddle": "paddle.prod(x, axis, keepdim=keepdims)"},
        exact=False,
        numbers=BOTH,
        corners=kept(axes(nonempty=True)),
    ),
    _row(
        "logsumexp",
        rank=109,
        draw=_extremum,
        calls={"torch": "torch.logsumexp(x, axis, keepdims)", "paddle": "paddle.logsumexp(x, axis, keepdim=keepdims)"},
        exact=False,
        numbers=real_only(UNREGISTERED),
        corners={**kept(axes(nonempty=True)), **several_axes(nonempty=True)},
    ),
    _row(
        "cumsum",
        rank=64,
        draw=along_axis(),
        calls=both("torch.cumsum(x, axis)"),
        exact=True,
        numbers=BOTH,
        corners=axes(nonempty=True),
        in_place=LATER,
    ),
    _row(
        "mse_loss",
        rank=41,
        draw=_mse,
        calls=both("torch.nn.functional.mse_loss(x, y)"),
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        points=PLAIN,
    ),
)

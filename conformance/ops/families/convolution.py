"""Convolution: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.numbers import UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _images(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 4 and 0 not in d.shape, shape=(1, 2, 3, 3))
    kernel = [min(n, s.source.integer(1, 2)) for n in x.shape[2:]]
    weight = s.take_shaped((s.source.integer(1, 3), x.shape[1], *kernel))
    return [x, weight], {"padding": [s.source.integer(0, n - 1) for n in kernel]}


ENTRIES = rows(
    "convolution",
    op(
        "conv2d",
        rank=15,
        draw=_images,
        calls=both("torch.nn.functional.conv2d(x, weight, padding=padding)"),
        exact=True,
        numbers=real_only(UNREGISTERED),
        points=PLAIN,
        drawn=Drawn.IN_PROGRAMS,  # eager scripts have it where they name it: the shares were measured without
    ),
)

"""Convolution: how to draw its arguments, and its calls in each framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn


def _images(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) == 4 and 0 not in d.shape, shape=(1, 2, 3, 3))
    kernel = [min(n, s.source.integer(1, 2)) for n in x.shape[2:]]
    weight = s.take_shaped((s.source.integer(1, 3), x.shape[1], *kernel))
    return [x, weight], {"padding": [s.source.integer(0, n - 1) for n in kernel]}


ENTRIES = rows(
    "convolution",
    (
        *("conv2d", "conv2d", 15, _images),
        "torch.nn.functional.conv2d(x, weight, padding=padding)",
        "paddle.nn.functional.conv2d(x, weight, padding=padding)",
    ),
    eager=False,  # what its second derivatives count as depending on in eager frameworks is not in the dialects
)

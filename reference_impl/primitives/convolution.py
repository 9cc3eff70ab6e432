"""Convolution of images, stride 1: a correlation, as both frameworks mean it.

Its rules are correlations too: the gradient of the image is one of the cotangent with the turned kernel, the gradient of the kernel is
one of the image with the cotangent. So every order is there without further ado. A negative padding cuts off.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.shape import flip, transpose
from reference_impl.tape.primitive import primitive, shape_of


def _bordered(x: Any, padding: Any) -> Any:
    rows, columns = (max(n, 0) for n in padding)
    wide = np.pad(x, ((0, 0), (0, 0), (rows, rows), (columns, columns)))
    top, left = (max(-n, 0) for n in padding)
    return wide[:, :, top : wide.shape[2] - top, left : wide.shape[3] - left]


def _correlate(x: Any, weight: Any, padding: Any) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(_bordered(x, padding), weight.shape[2:], (2, 3))
    return np.einsum("bchwpq,ocpq->bohw", windows, weight)


@primitive(
    error_scale=lambda out, x, weight, *, padding: _correlate(np.abs(x), np.abs(weight), padding),
    summands=lambda x, weight, *, padding: math.prod(weight.shape[1:]),
    reordered=lambda forward, x, weight, *, padding: forward(np.flip(x, 1), np.flip(weight, 1), padding=padding),
)
def conv2d(x: Any, weight: Any, *, padding: Any) -> Any:
    """Slide ``weight`` over ``x`` with a border of ``padding`` zeros: ``(b, c, h, w), (o, c, p, q) -> (b, o, h', w')``."""
    return _correlate(x, weight, padding)


def _swapped(x: Any) -> Any:
    return transpose(x, axis0=0, axis1=1)


@conv2d.vjp("x")
def conv2d_vjp_x(g: Any, out: Any, x: Any, weight: Any, *, padding: Any) -> Any:
    turned = _swapped(flip(flip(weight, axis=2), axis=3))
    return conv2d(g, turned, padding=[n - 1 - p for n, p in zip(shape_of(weight)[2:], padding, strict=True)])


@conv2d.vjp("weight")
def conv2d_vjp_weight(g: Any, out: Any, x: Any, weight: Any, *, padding: Any) -> Any:
    return _swapped(conv2d(_swapped(x), _swapped(g), padding=padding))

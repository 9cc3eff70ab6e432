"""Convolution of images, stride 1: a correlation, as both frameworks mean it.

The gradient of the kernel is a correlation too, of the image with the cotangent. That of the image spreads the cotangent: the kernel is
added up where it lay, times each element, so that no element of it meets a zero of a border. What it spreads is correlated again, so
every order is there without further ado. A negative padding cuts off.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.primitives.shape import transpose
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


def _spread(x: Any, weight: Any, padding: Any) -> Any:
    rows, columns = shape_of(weight)[2:]
    height, width = shape_of(x)[2:]
    wide = np.zeros((x.shape[0], weight.shape[1], height + rows - 1, width + columns - 1), x.dtype)
    for top, left in np.ndindex(rows, columns):
        wide[:, :, top : top + height, left : left + width] += np.einsum("bohw,oc->bchw", x, weight[:, :, top, left])
    return _bordered(wide, [-n for n in padding])


@primitive(
    error_scale=lambda out, x, weight, *, padding: _spread(np.abs(x), np.abs(weight), padding),
    summands=lambda x, weight, *, padding: math.prod(weight.shape) / max(weight.shape[1], 1),
    reordered=lambda forward, x, weight, *, padding: forward(np.flip(x, 1), np.flip(weight, 0), padding=padding),
)
def conv2d_spread(x: Any, weight: Any, *, padding: Any) -> Any:
    """Add up ``weight`` times each element of ``x`` where `conv2d` would read it: ``(b, o, h', w'), (o, c, p, q) -> (b, c, h, w)``."""
    return _spread(x, weight, padding)


@conv2d.vjp("x")
def conv2d_vjp_x(g: Any, out: Any, x: Any, weight: Any, *, padding: Any) -> Any:
    return conv2d_spread(g, weight, padding=padding)


@conv2d_spread.vjp("x")
def conv2d_spread_vjp_x(g: Any, out: Any, x: Any, weight: Any, *, padding: Any) -> Any:
    return conv2d(g, weight, padding=padding)


@conv2d_spread.vjp("weight")
def conv2d_spread_vjp_weight(g: Any, out: Any, x: Any, weight: Any, *, padding: Any) -> Any:
    return _swapped(conv2d(_swapped(g), _swapped(x), padding=padding))


@conv2d.vjp("weight")
def conv2d_vjp_weight(g: Any, out: Any, x: Any, weight: Any, *, padding: Any) -> Any:
    return _swapped(conv2d(_swapped(x), _swapped(g), padding=padding))

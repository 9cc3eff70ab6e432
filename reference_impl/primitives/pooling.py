"""Pooling and the moves of elements that go with it, on tensors ``(n, c, places...)``; each is one node in both frameworks.

What slides over the places is written as a table of windows: the places under each position of the kernel, in the border of a padding
too. Sources: the pages of ``torch.nn.functional`` and ``paddle.nn.functional`` on each.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import div
from reference_impl.primitives.fused import fused
from reference_impl.primitives.indexing import index_select
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.reduction import extremum_vjp, mean
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.shape import pad_constant, permute, reshape
from reference_impl.tape.primitive import primitive, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def _table(places: Sequence[int], kernel: Sequence[int], stride: Sequence[int]) -> tuple[tuple[int, ...], Any]:
    """Return how many windows there are along each axis, and for each of them the flat positions of its elements."""
    counts = tuple((n - k) // s + 1 for n, k, s in zip(places, kernel, stride, strict=True))
    rank = len(counts)
    found: Any = 0
    for axis, n in enumerate(places):
        starts = (np.arange(counts[axis]) * stride[axis]).reshape([-1 if i == axis else 1 for i in range(2 * rank)])
        inside = np.arange(kernel[axis]).reshape([-1 if i == rank + axis else 1 for i in range(2 * rank)])
        found = found * n + starts + inside
    return counts, np.asarray(found).reshape(-1)


def windows(x: Any, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], fill: float) -> Any:
    """Return the elements of each window: ``(n, c, places...) -> (n, c, windows..., k)``, with a border of ``fill``."""
    around = [0, 0, *padding]
    wide = pad_constant(x, before=around, after=around, value=fill)
    batch, places = shape_of(wide)[:2], shape_of(wide)[2:]
    counts, index = _table(places, kernel, stride)
    flat = reshape(wide, shape=(*batch, math.prod(places)))
    return reshape(index_select(flat, axis=2, index=index), shape=(*batch, *counts, math.prod(kernel)))


def _average(x: Any, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]) -> Any:
    return mean(windows(x, kernel, stride, padding, 0.0), axis=[-1], keepdims=False)


@fused()
def avg_pool1d(x: Any, *, kernel: Any, stride: Any, padding: Any) -> Any:
    """Return the mean of each window along one axis of places; the border counts as zeros."""
    return _average(x, kernel, stride, padding)


@fused()
def avg_pool2d(x: Any, *, kernel: Any, stride: Any, padding: Any) -> Any:
    """Return the mean of each window of an image; the border counts as zeros."""
    return _average(x, kernel, stride, padding)


@fused()
def avg_pool2d_exclusive(x: Any, *, kernel: Any, stride: Any, padding: Any) -> Any:
    """Return the mean of those elements of each window that are no border."""
    inside = np.ones((1, 1, *shape_of(x)[2:]), x.dtype)
    counts = np.add.reduce(windows(inside, kernel, stride, padding, 0.0), axis=-1)
    return div(add_up(windows(x, kernel, stride, padding, 0.0), axis=[-1], keepdims=False), counts)


@primitive(ulps=0)
def largest_of_windows(x: Any) -> Any:
    """Return the largest element along the last axis; the first of those that tie takes the cotangent (both frameworks)."""
    return np.maximum.reduce(x, axis=-1)


@largest_of_windows.vjp("x")
def largest_of_windows_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return extremum_vjp(g, out, x, -1, keepdims=False, ties="first")


@fused()
def max_pool1d(x: Any, *, kernel: Any, stride: Any, padding: Any) -> Any:
    """Return the largest element of each window along one axis of places."""
    return largest_of_windows(windows(x, kernel, stride, padding, -np.inf))


@fused()
def max_pool2d(x: Any, *, kernel: Any, stride: Any, padding: Any) -> Any:
    """Return the largest element of each window of an image."""
    return largest_of_windows(windows(x, kernel, stride, padding, -np.inf))


def _parts(length: int, count: int, dtype: Any) -> tuple[Any, Any]:
    """Return which of ``length`` places belong to each of ``count`` parts, as ones, and how many they are; parts overlap."""
    rows = [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]
    return (
        np.array([[start <= place < stop for place in range(length)] for start, stop in rows], dtype).reshape(count, length),
        np.array([stop - start for start, stop in rows], dtype),
    )


@fused()
def adaptive_avg_pool1d(x: Any, *, size: Any) -> Any:
    """Return the means of ``size`` parts: part i of n places is from i n / size, rounded down, to (i + 1) n / size, rounded up."""
    part, count = _parts(shape_of(x)[-1], size[0], x.dtype)
    return div(matmul(x, np.transpose(part)), count)


@fused()
def adaptive_avg_pool2d(x: Any, *, size: Any) -> Any:
    """Return the means of ``size[0]`` by ``size[1]`` parts of an image, as `adaptive_avg_pool1d` along either axis."""
    (rows, high), (columns, wide) = (_parts(n, count, x.dtype) for n, count in zip(shape_of(x)[2:], size, strict=True))
    return div(matmul(matmul(rows, x), np.transpose(columns)), np.multiply.outer(high, wide))


@fused(saves=())
def channel_shuffle(x: Any, *, groups: int) -> Any:
    """Take the channels of ``groups`` groups by turns: channel ``i`` of group ``j`` becomes ``i groups + j``."""
    n, c, h, w = shape_of(x)
    split = reshape(x, shape=(n, groups, c // groups, h, w))
    return reshape(permute(split, axes=[0, 2, 1, 3, 4]), shape=(n, c, h, w))

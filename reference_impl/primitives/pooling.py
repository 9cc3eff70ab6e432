"""Pooling and the moves of elements that go with it, on tensors ``(n, c, places...)``; each is one node in both frameworks.

What slides over the places is written with the tables of `reference_impl.primitives.windows`.
Sources: the pages of ``torch.nn.functional`` and ``paddle.nn.functional`` on each.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import div, mul, mul_scalar, pow_scalar
from reference_impl.primitives.fused import fused
from reference_impl.primitives.indexing import scatter_add
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.piecewise import abs as absolute
from reference_impl.primitives.piecewise import relu, sign
from reference_impl.primitives.reduction import extremum_vjp, mean
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.selection import masked_fill
from reference_impl.primitives.shape import permute, reshape
from reference_impl.primitives.windows import bordered, fractional, gathered, parts, uneven, windows, windows_rounded_up
from reference_impl.tape.primitive import alias, composite, primitive, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence


@fused()
def avg_pool2d(x: Any, *, kernel: Any, stride: Any, padding: Any) -> Any:
    """Return the mean of each window; the border counts as zeros."""
    return mean(windows(x, kernel, stride, padding, 0.0), axis=[-1], keepdims=False)


avg_pool1d = alias("avg_pool1d", avg_pool2d)
avg_pool3d = alias("avg_pool3d", avg_pool2d)


@fused()
def avg_pool2d_exclusive(x: Any, *, kernel: Any, stride: Any, padding: Any) -> Any:
    """Return the mean of those elements of each window that are no border."""
    inside = np.ones((1, 1, *shape_of(x)[2:]), x.dtype)
    counts = np.add.reduce(windows(inside, kernel, stride, padding, 0.0), axis=-1)
    return div(add_up(windows(x, kernel, stride, padding, 0.0), axis=[-1], keepdims=False), counts)


def counted(places: Any, kernel: Any, stride: Any, padding: Any, dtype: Any) -> Any:
    """Return over how many elements each window goes that may end behind the border: its places, and those of the border."""
    inside = bordered(np.ones((1, 1, *places), dtype), padding, 1.0)
    return np.add.reduce(windows_rounded_up(inside, kernel, stride, [0] * len(kernel), 0.0), axis=-1)


@fused()
def avg_pool2d_ceil(x: Any, *, kernel: Any, stride: Any, padding: Any) -> Any:
    """Return the mean of each window; the border counts as zeros, and what lies behind it does not count."""
    sums = add_up(windows_rounded_up(x, kernel, stride, padding, 0.0), axis=[-1], keepdims=False)
    count = counted(shape_of(x)[2:], kernel, stride, padding, x.dtype)
    return div(sums, count[tuple(slice(n) for n in shape_of(sums))])


avg_pool1d_ceil = alias("avg_pool1d_ceil", avg_pool2d_ceil)
avg_pool3d_ceil = alias("avg_pool3d_ceil", avg_pool2d_ceil)


@primitive(ulps=0)
def largest_of_windows(x: Any) -> Any:
    """Return the largest element along the last axis; the first of those that tie takes the cotangent (both frameworks)."""
    return np.maximum.reduce(x, axis=-1)


@largest_of_windows.vjp("x")
def largest_of_windows_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return extremum_vjp(g, out, x, -1, keepdims=False, ties="first")


@fused()
def max_pool2d(x: Any, *, kernel: Any, stride: Any, padding: Any) -> Any:
    """Return the largest element of each window."""
    return largest_of_windows(windows(x, kernel, stride, padding, -np.inf))


max_pool1d = alias("max_pool1d", max_pool2d)
max_pool3d = alias("max_pool3d", max_pool2d)


@fused()
def adaptive_max_pool2d(x: Any, *, size: Any) -> Any:
    """Return the largest element of each of ``size`` parts, which are those of `adaptive_avg_pool1d` along each axis of places."""
    return largest_of_windows(gathered(x, uneven(shape_of(x)[2:], size)))


adaptive_max_pool1d = alias("adaptive_max_pool1d", adaptive_max_pool2d)
adaptive_max_pool3d = alias("adaptive_max_pool3d", adaptive_max_pool2d)


@fused()
def fractional_max_pool2d(x: Any, *, kernel: Any, size: Any, sample: float) -> Any:
    """Return the largest element of each of ``size`` regions of ``kernel`` places, which lie as `fractional` says."""
    along = zip(shape_of(x)[2:], kernel, size, strict=True)
    return largest_of_windows(gathered(x, [fractional(n, k, count, sample) for n, k, count in along]))


fractional_max_pool3d = alias("fractional_max_pool3d", fractional_max_pool2d)


@fused()
def lp_pool2d(x: Any, *, p: float, kernel: Any, stride: Any) -> Any:
    """Return the root ``(sum x^p)^(1/p)`` of each window: its p-norm where no element is negative, or ``p`` is even."""
    powers = add_up(windows(pow_scalar(x, exponent=p), kernel, stride, [0] * len(kernel), 0.0), axis=[-1], keepdims=False)
    return pow_scalar(powers, exponent=1.0 / p)


lp_pool1d = alias("lp_pool1d", lp_pool2d)


@fused()
def lp_pool2d_ceil(x: Any, *, p: float, kernel: Any, stride: Any) -> Any:
    """Return the same of windows that may end behind the last place: of those elements that they have."""
    wide = windows_rounded_up(pow_scalar(x, exponent=p), kernel, stride, [0] * len(kernel), 0.0)
    return pow_scalar(add_up(wide, axis=[-1], keepdims=False), exponent=1.0 / p)


lp_pool1d_ceil = alias("lp_pool1d_ceil", lp_pool2d_ceil)


def root_of_means(pool: Any, x: Any, *, p: float, kernel: Any, stride: Any, count: Any) -> Any:
    """Return the root of the sum of each window of ``count`` elements, by its mean.

    No negative sum is left out, since its sign comes back (PyTorch).
    """
    means = pool(pow_scalar(x, exponent=p), kernel=kernel, stride=stride, padding=[0] * len(kernel))
    kept = mul(sign(means), relu(absolute(means)))
    sums = mul_scalar(kept, other=count) if isinstance(count, int) else mul(kept, count)
    return pow_scalar(sums, exponent=1.0 / p)


@composite
def lp_pool1d_of_means(x: Any, *, p: float, kernel: Any, stride: Any) -> Any:
    """Return the same as `lp_pool1d`, by the means of windows."""
    return root_of_means(avg_pool1d, x, p=p, kernel=kernel, stride=stride, count=math.prod(kernel))


@composite
def lp_pool2d_of_means(x: Any, *, p: float, kernel: Any, stride: Any) -> Any:
    """Return the same as `lp_pool2d`, by the means of windows."""
    return root_of_means(avg_pool2d, x, p=p, kernel=kernel, stride=stride, count=math.prod(kernel))


@composite
def lp_pool1d_ceil_of_means(x: Any, *, p: float, kernel: Any, stride: Any) -> Any:
    """Return the same as `lp_pool1d_ceil`, by the means of windows."""
    count = counted(shape_of(x)[2:], kernel, stride, [0], x.dtype)
    return root_of_means(avg_pool1d_ceil, x, p=p, kernel=kernel, stride=stride, count=count)


@composite
def lp_pool2d_ceil_of_means(x: Any, *, p: float, kernel: Any, stride: Any) -> Any:
    """Return the same as `lp_pool2d_ceil`, by the means of windows."""
    count = counted(shape_of(x)[2:], kernel, stride, [0, 0], x.dtype)
    return root_of_means(avg_pool2d_ceil, x, p=p, kernel=kernel, stride=stride, count=count)


def unpooled(places: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]) -> list[int]:
    """Return how many places along each axis those are of which a pooling left ``places``, where its last window ends at the border."""
    return [(n - 1) * s + k - 2 * p for n, k, s, p in zip(places, kernel, stride, padding, strict=True)]


def written_over(index: Any) -> Any:
    """Return a mask over lists of positions, true at those that come again behind them in the same list."""
    lists = index.reshape(-1, index.shape[-1])
    apart = lists + np.arange(len(lists))[:, None] * (index.max(initial=0) + 1)
    _, last = np.unique(apart.reshape(-1)[::-1], return_index=True)
    over = np.ones(index.size, bool)
    over[index.size - 1 - last] = False
    return over.reshape(index.shape)


@fused()
def max_unpool2d(x: Any, *, index: Any, kernel: Any, stride: Any, padding: Any) -> Any:
    """Return zeros with the elements at the flat places of an index, each plane by itself; of several at one place the last stays."""
    batch, places = shape_of(x)[:2], unpooled(shape_of(x)[2:], kernel, stride, padding)
    lists = np.reshape(np.asarray(index, dtype=np.intp), (*batch, -1))
    kept = masked_fill(reshape(x, shape=lists.shape), mask=written_over(lists), value=0.0)
    planes = scatter_add(kept, axis=2, index=lists, shape=(*batch, math.prod(places)))
    return reshape(planes, shape=(*batch, *places))


max_unpool1d = alias("max_unpool1d", max_unpool2d)
max_unpool3d = alias("max_unpool3d", max_unpool2d)


def _parts(length: int, count: int, dtype: Any) -> tuple[Any, Any]:
    """Return which of ``length`` places belong to each of ``count`` parts, as ones, and how many they are; parts overlap."""
    rows = parts(length, count)
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


@fused()
def adaptive_avg_pool3d(x: Any, *, size: Any) -> Any:
    """Return the means of ``size[0]`` by ``size[1]`` by ``size[2]`` parts, as `adaptive_avg_pool1d` along each axis of places."""
    depth, *image = shape_of(x)[2:]
    part, count = _parts(depth, size[0], x.dtype)
    (rows, high), (columns, wide) = (_parts(n, k, x.dtype) for n, k in zip(image, size[1:], strict=True))
    images = matmul(matmul(rows, x), np.transpose(columns))
    last = permute(matmul(permute(images, axes=[0, 1, 3, 4, 2]), np.transpose(part)), axes=[0, 1, 4, 2, 3])
    return div(last, np.multiply.outer(count, np.multiply.outer(high, wide)))


def _or_mean(pool: Any, x: Any, size: Any) -> Any:
    """Return the mean of all places for a size of ones, as another op (PyTorch)."""
    if any(n != 1 for n in size):
        return pool(x, size=size)
    return mean(x, axis=list(range(-len(size), 0)), keepdims=True)


@composite
def adaptive_avg_pool1d_or_mean(x: Any, *, size: Any) -> Any:
    """Return the same as `adaptive_avg_pool1d`, of images of one row: by `mean` where one place is left."""
    *outer, length = shape_of(x)
    batch = outer if len(outer) > 1 else [1, *outer]
    image = _or_mean(adaptive_avg_pool2d, reshape(x, shape=(*batch, 1, length)), [1, *size])
    return reshape(image, shape=(*outer, *size))


@composite
def adaptive_avg_pool2d_or_mean(x: Any, *, size: Any) -> Any:
    """Return the same as `adaptive_avg_pool2d`, by `mean` where one place is left."""
    return _or_mean(adaptive_avg_pool2d, x, size)


@composite
def adaptive_avg_pool3d_or_mean(x: Any, *, size: Any) -> Any:
    """Return the same as `adaptive_avg_pool3d`, by `mean` where one place is left."""
    return _or_mean(adaptive_avg_pool3d, x, size)


@fused(saves=())
def channel_shuffle(x: Any, *, groups: int) -> Any:
    """Take the channels of ``groups`` groups by turns: channel ``i`` of group ``j`` becomes ``i groups + j``."""
    n, c, h, w = shape_of(x)
    split = reshape(x, shape=(n, groups, c // groups, h, w))
    return reshape(permute(split, axes=[0, 2, 1, 3, 4]), shape=(n, c, h, w))

"""Resampling: tensors ``(n, c, places...)`` read between their places, and what moves elements between places and channels.

What is read at fixed points is a weighted sum along one axis after the other, `weigh`. What is read at points that are an operand is
picked from the places around each point, `pick`, and weighted by formulas of the point. Both have their transposes as rules.
Sources: the pages of ``torch.nn.functional`` and ``paddle.nn.functional`` on each; the cubic kernel is that of Keys (1981) with
a = -0.75, as both frameworks have it.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import add, add_scalar, mul, mul_scalar, rsub_scalar, sub
from reference_impl.primitives.fused import fused
from reference_impl.primitives.indexing import index_select
from reference_impl.primitives.piecewise import floor
from reference_impl.primitives.pooling import adaptive_avg_pool2d
from reference_impl.primitives.shape import narrow, permute, reshape, stack, unbind
from reference_impl.tape.primitive import Primitive, alias, composite, primitive, register, shape_of

KEYS = -0.75
FRONT = "front"
"""In the place of ``align_corners`` for an axis: where Paddle reads it if its new length is 1, half a place before the first one."""
CLOSE = 1e-4
"""How near to a place, in places, a point is that a framework may find on the other side of it in single precision."""


def _along(x: Any, matrix: Any, axis: int) -> Any:
    return np.moveaxis(np.matmul(np.moveaxis(x, axis, -1), np.transpose(matrix)), -1, axis)


def _in_opposite_order(forward: Any, x: Any, *, axis: int, weights: Any, doubt: Any) -> Any:
    return forward(np.flip(x, axis), axis=axis, weights=np.flip(weights, 1), doubt=np.flip(doubt, 1))


@primitive(
    ulps=4,
    error_scale=lambda out, x, *, axis, weights, doubt: _along(np.abs(x), np.abs(weights) + doubt, axis),
    summands=lambda x, *, axis, weights, doubt: int(np.count_nonzero(weights, axis=1).max(initial=1)),
    reordered=_in_opposite_order,
)
def weigh(x: Any, *, axis: int, weights: Any, doubt: Any) -> Any:
    """Return weighted sums along an axis: ``weights`` is ``(new length, length)``.

    Args:
        x: any array.
        axis: along which.
        weights: an array.
        doubt: how many units in the last place of 1 each weight may be off, for it is itself rounded.
    """
    return _along(x, np.asarray(weights, dtype=x.dtype), axis)


@weigh.vjp("x")
def weigh_vjp_x(g: Any, out: Any, x: Any, *, axis: int, weights: Any, doubt: Any) -> Any:
    return weigh(g, axis=axis, weights=np.transpose(weights), doubt=np.transpose(doubt))


def _points(length: int, size: int, *, align_corners: bool | str) -> Any:
    """Return where ``size`` points lie between the centres of ``length`` places; with ``align_corners`` the ends meet."""
    if align_corners == FRONT:
        return np.full(size, -0.5)
    if align_corners:
        return np.arange(size) * ((length - 1) / (size - 1) if size > 1 else 0.0)
    return (np.arange(size) + 0.5) * (length / size) - 0.5


def _linear(length: int, size: int, *, align_corners: bool | str) -> tuple[Any, Any]:
    """Return the weights of linear interpolation, and their doubt."""
    points = np.maximum(_points(length, size, align_corners=align_corners), 0.0)
    return _hats(length, points, lambda away: np.maximum(1.0 - np.abs(away), 0.0), 1)


def _cubic(length: int, size: int, *, align_corners: bool | str) -> tuple[Any, Any]:
    return _hats(length, _points(length, size, align_corners=align_corners), _keys, 2)


def _keys(away: Any) -> Any:
    """Return the cubic kernel at a distance."""
    d = np.abs(away)
    near = ((KEYS + 2.0) * d - (KEYS + 3.0)) * d * d + 1.0
    return np.where(d <= 1.0, near, np.where(d < 2.0, ((d - 5.0) * d + 8.0) * d * KEYS - 4.0 * KEYS, 0.0))


def _hats(length: int, points: Any, kernel: Any, width: int) -> tuple[Any, Any]:
    """Weigh the places around each point by a kernel; beyond the ends stands the last place."""
    weights, doubt = np.zeros((len(points), length)), np.zeros((len(points), length))
    first = np.floor(points).astype(int)
    for step in range(-width, width + 2):
        place = np.clip(first + step, 0, length - 1)
        away = points - (first + step)
        np.add.at(weights, (np.arange(len(points)), place), kernel(away))
        np.add.at(doubt, (np.arange(len(points)), place), np.where(np.abs(away) < width + CLOSE, 1.0 + np.abs(points), 0.0))
    return weights, doubt


def _nearest(length: int, size: int) -> tuple[Any, Any]:
    weights = np.equal.outer(np.arange(size) * length // size, np.arange(length)).astype(float)
    return weights, np.zeros_like(weights)


def _interpolated(x: Any, size: Any, align_corners: Any, weights_of: Any) -> Any:
    each = align_corners if isinstance(align_corners, list) else [align_corners] * len(size)
    for axis, (count, aligned) in enumerate(zip(size, each, strict=True), 2):
        weights, doubt = weights_of(shape_of(x)[axis], count, align_corners=aligned)
        x = weigh(x, axis=axis, weights=weights, doubt=doubt)
    return x


@fused(saves=())
def interpolate_nearest(x: Any, *, size: Any) -> Any:
    """Return element ``i n / size``, rounded down, of ``n`` along each axis of places."""
    for axis, count in enumerate(size, 2):
        weights, doubt = _nearest(shape_of(x)[axis], count)
        x = weigh(x, axis=axis, weights=weights, doubt=doubt)
    return x


@fused(saves=())
def interpolate_bilinear(x: Any, *, size: Any, align_corners: Any) -> Any:
    """Interpolate linearly along each axis of places; ``align_corners`` is for all of them, or a list."""
    return _interpolated(x, size, align_corners, _linear)


interpolate_linear = alias("interpolate_linear", interpolate_bilinear)
interpolate_trilinear = alias("interpolate_trilinear", interpolate_bilinear)


@fused(saves=())
def interpolate_bicubic(x: Any, *, size: Any, align_corners: Any) -> Any:
    """Interpolate by the cubic kernel along both axes of an image; ``align_corners`` is for both, or a list."""
    return _interpolated(x, size, align_corners, _cubic)


@composite
def interpolate_area(x: Any, *, size: Any) -> Any:
    """Return the means of ``size[0]`` by ``size[1]`` parts of an image."""
    return adaptive_avg_pool2d(x, size=size)


@fused(saves=())
def pixel_shuffle(x: Any, *, factor: int) -> Any:
    """Make squares of ``factor`` by ``factor`` places of as many channels: ``(n, c r r, h, w) -> (n, c, h r, w r)``."""
    n, c, h, w = shape_of(x)
    c //= factor * factor
    squares = permute(reshape(x, shape=(n, c, factor, factor, h, w)), axes=[0, 1, 4, 2, 5, 3])
    return reshape(squares, shape=(n, c, h * factor, w * factor))


@fused(saves=())
def pixel_unshuffle(x: Any, *, factor: int) -> Any:
    """Make channels of squares of ``factor`` by ``factor`` places: ``(n, c, h r, w r) -> (n, c r r, h, w)``."""
    n, c, h, w = shape_of(x)
    h, w = h // factor, w // factor
    squares = permute(reshape(x, shape=(n, c, h, factor, w, factor)), axes=[0, 1, 3, 5, 2, 4])
    return reshape(squares, shape=(n, c * factor * factor, h, w))


def _centres(count: int, *, align_corners: bool) -> Any:
    """Return ``count`` coordinates from -1 to 1: the corners themselves, or the centres of as many parts."""
    if align_corners:
        return np.linspace(-1.0, 1.0, count) if count > 1 else np.zeros(1)
    return (2.0 * np.arange(count) + 1.0) / count - 1.0


@fused(saves=())
def affine_grid(theta: Any, *, size: Any, align_corners: bool) -> Any:
    """Return the points ``theta (x, y, 1)`` of an image of a size: ``(n, 2, 3) -> (n, h, w, 2)``; coordinates are from -1 to 1."""
    high, wide = size[2:]
    y, x = np.meshgrid(*(_centres(n, align_corners=align_corners) for n in (high, wide)), indexing="ij")
    base = np.stack([x, y, np.ones_like(x)], axis=-1).reshape(high * wide, 3)
    points = weigh(theta, axis=2, weights=base, doubt=np.broadcast_to([1.0, 1.0, 0.0], base.shape))
    beside = stack(*unbind(points, axis=1), axis=-1)  # a product of matrices lies row by row in the frameworks, whatever it is of
    return reshape(beside, shape=(shape_of(theta)[0], high, wide, 2))


def _inside(x_shape: Any, row: Any, column: Any, beyond: Any) -> tuple[Any, Any, Any, Any]:
    """Return which points lie in an image, and their sample, row and column, those of others at the edge."""
    high, wide = x_shape[2:]
    row, column = row + beyond[0], column + beyond[1]
    inside = (row >= 0) & (row <= high - 1) & (column >= 0) & (column <= wide - 1)
    sample = np.arange(x_shape[0]).reshape(-1, *(1 for _ in row.shape[1:]))
    return inside, sample, *(np.clip(at, 0, n - 1).astype(np.intp) for at, n in ((row, high), (column, wide)))


def _placed(g: Any, row: Any, column: Any, beyond: Any, size: Any) -> Any:
    out = np.zeros((*g.shape[:2], *size), g.dtype)
    inside, sample, *at = _inside(out.shape, row, column, beyond)
    np.add.at(np.moveaxis(out, 1, -1), (sample, *at), np.where(inside[..., None], np.moveaxis(g, 1, -1), 0))
    return out


@primitive(saves=("row", "column"), ulps=0)
def pick(x: Any, row: Any, column: Any, *, beyond: Any) -> Any:
    """Return elements of images, and zeros beyond their edges: ``(n, c, h, w), (n, p, q), (n, p, q) -> (n, c, p, q)``.

    The rows and columns are whole numbers, and nothing flows to them. ``beyond``: so many rows and columns further. That is no sum of
    its own, which would count as rounded: what rounding makes of a whole number is below it as often as not, in the place before.
    """
    inside, sample, *at = _inside(x.shape, row, column, beyond)
    return np.where(inside[:, None], np.moveaxis(np.moveaxis(x, 1, -1)[(sample, *at)], -1, 1), 0).astype(x.dtype)


@pick.vjp("x")
def pick_vjp_x(g: Any, out: Any, x: Any, row: Any, column: Any, *, beyond: Any) -> Any:
    return place(g, row, column, beyond=beyond, size=shape_of(x)[2:])


@primitive(
    saves=("row", "column"),
    error_scale=lambda out, g, row, column, *, beyond, size: _placed(np.abs(g), row, column, beyond, size),
    summands=lambda g, row, column, *, beyond, size: row[0].size,
    reordered=lambda forward, g, row, column, *, beyond, size: forward(
        np.flip(g, (2, 3)), np.flip(row, (1, 2)), np.flip(column, (1, 2)), beyond=beyond, size=size
    ),
)
def place(g: Any, row: Any, column: Any, *, beyond: Any, size: Any) -> Any:
    """Add elements up at rows and columns of images of a size: the transpose of `pick`."""
    return _placed(g, row, column, beyond, size)


@place.vjp("g")
def place_vjp_g(g: Any, out: Any, x: Any, row: Any, column: Any, *, beyond: Any, size: Any) -> Any:
    return pick(g, row, column, beyond=beyond)


def _coordinate(grid: Any, axis: int, length: int, *, align_corners: bool) -> Any:
    """Return one coordinate of points, counted in places from the centre of the first: -1 and 1 are the ends of the image."""
    found = reshape(narrow(grid, axis=3, start=axis, length=1), shape=shape_of(grid)[:3])
    if align_corners:
        return mul_scalar(add_scalar(found, other=1.0), other=(length - 1) / 2.0)
    return mul_scalar(add_scalar(mul_scalar(add_scalar(found, other=1.0), other=float(length)), other=-1.0), other=0.5)


@fused()
def grid_sample_bilinear(x: Any, grid: Any, *, align_corners: bool) -> Any:
    """Interpolate images linearly at points: ``(n, c, h, w), (n, p, q, 2) -> (n, c, p, q)``; beyond their edges they are zero."""
    high, wide = shape_of(x)[2:]
    column, row = (_coordinate(grid, axis, n, align_corners=align_corners) for axis, n in enumerate((wide, high)))
    top, left = floor(row), floor(column)
    down, right = sub(row, top), sub(column, left)
    total = None
    for below, beside in itertools.product((0, 1), repeat=2):
        of_row = down if below else rsub_scalar(down, other=1.0)
        of_column = right if beside else rsub_scalar(right, other=1.0)
        weight = reshape(mul(of_row, of_column), shape=(shape_of(grid)[0], 1, *shape_of(grid)[1:3]))
        part = mul(pick(x, top, left, beyond=(below, beside)), weight)
        total = part if total is None else add(total, part)
    return total


def _bordered(x: Any, before: Any, after: Any, mode: str) -> Any:
    """Put places of a tensor around it along its last axes, by NumPy's word for which these are."""
    first = len(shape_of(x)) - len(before)
    for axis, (front, behind) in enumerate(zip(before, after, strict=True), first):
        read = np.pad(np.arange(shape_of(x)[axis]), (front, behind), mode=mode)  # type: ignore[call-overload]
        x = index_select(x, axis=axis, index=read.tolist())
    return x


@fused()
def pad_reflect(x: Any, *, before: Any, after: Any) -> Any:
    """Put a border around the places of images: what a mirror at their first and last ones shows."""
    return _bordered(x, before, after, "reflect")


@fused()
def pad_replicate(x: Any, *, before: Any, after: Any) -> Any:
    """Put a border around the places of images: the nearest of them."""
    return _bordered(x, before, after, "edge")


@fused(saves=())
def pad_circular(x: Any, *, before: Any, after: Any) -> Any:
    """Put a border around the places of images: those at the other end."""
    return _bordered(x, before, after, "wrap")


VOLUME = 5
"""How many axes a batch of volumes has."""


def _by_volumes(op: Primitive) -> None:
    """Register the form of a padding for which lines and images have axes of length 1 put in, and taken out again."""

    def padded(x: Any, *, before: Any, after: Any) -> Any:
        shape = shape_of(x)
        lacking = VOLUME - len(shape)
        if not lacking:
            return op(x, before=before, after=after)
        at = 2 if lacking == 1 else 3
        unpadded = [0] * lacking
        before, after = ([*unpadded, *widths] if lacking == 1 else [*widths, *unpadded] for widths in (before, after))
        out = op(reshape(x, shape=(*shape[:at], *[1] * lacking, *shape[at:])), before=before, after=after)
        sizes = shape_of(out)
        return reshape(out, shape=(*sizes[:at], *sizes[at + lacking :]))

    register(f"{op.name}_by_volumes", padded)


for _pad in (pad_reflect, pad_replicate, pad_circular):
    _by_volumes(_pad)

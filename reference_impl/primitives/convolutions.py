"""Convolutions of any number of axes, with strides, borders, dilations and groups, and their transposes; unfold and fold.

A convolution is a product of matrices: the elements under each position of the kernel, with the kernel. Its transpose is the other
product, of which the results are added up where the windows lie. The weight is ``(o, c / groups, kernel...)``, that of a transpose
``(c, o / groups, kernel...)``. Sources: the pages of ``torch.nn.functional`` and ``paddle.nn.functional`` on each.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from reference_impl.primitives.arithmetic import add
from reference_impl.primitives.fused import fused
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.shape import permute, reshape, transpose
from reference_impl.primitives.windows import reach, scattered, sliding, windows, without_border
from reference_impl.tape.primitive import alias, composite, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def _biased(x: Any, bias: Any) -> Any:
    """Add a number to each channel."""
    return add(x, reshape(bias, shape=[1, shape_of(bias)[0], *(1 for _ in shape_of(x)[2:])]))


def _convolved(x: Any, weight: Any, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int) -> Any:
    outer, per_group, *kernel = shape_of(weight)
    under = windows(x, kernel, stride, padding, 0.0, dilation)
    batch, _, *counts, elements = shape_of(under)
    places = math.prod(counts)
    rows = permute(reshape(under, shape=(batch, groups, per_group, places, elements)), axes=[0, 1, 3, 2, 4])
    rows = reshape(rows, shape=(batch, groups, places, per_group * elements))
    columns = transpose(reshape(weight, shape=(groups, outer // groups, per_group * elements)), axis0=-1, axis1=-2)
    return reshape(transpose(matmul(rows, columns), axis0=-1, axis1=-2), shape=(batch, outer, *counts))


def _spread(
    x: Any,
    weight: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    added: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    batch, inner, *counts = shape_of(x)
    _, per_group, *kernel = shape_of(weight)
    columns = reshape(x, shape=(batch, groups, inner // groups, math.prod(counts)))
    rows = reshape(weight, shape=(groups, inner // groups, per_group * math.prod(kernel)))
    products = matmul(transpose(columns, axis0=-1, axis1=-2), rows)
    shape = (batch, groups, math.prod(counts), per_group, math.prod(kernel))
    under = reshape(
        permute(reshape(products, shape=shape), axes=[0, 1, 3, 2, 4]), shape=(batch, groups * per_group, *counts, math.prod(kernel))
    )
    along = zip(counts, stride, reach(kernel, dilation), added, strict=True)
    wide = [(n - 1) * s + k + more for n, s, k, more in along]
    return without_border(scattered(under, sliding(counts, kernel, stride, dilation), wide), padding)


@fused(saves=("x", "weight"))
def conv2d_biased(x: Any, weight: Any, bias: Any, *, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Slide ``weight`` over an image with a border of zeros, and add ``bias``: ``(n, c, h, w), (o, c / groups, p, q), (o,)``."""
    return _biased(_convolved(x, weight, stride, padding, dilation, groups), bias)


conv1d = alias("conv1d", conv2d_biased)
conv3d = alias("conv3d", conv2d_biased)


@fused()
def conv2d_plain(x: Any, weight: Any, *, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Return the same as `conv2d_biased` without a bias."""
    return _convolved(x, weight, stride, padding, dilation, groups)


conv2d_depthwise = alias("conv2d_depthwise", conv2d_plain)
conv3d_plain = alias("conv3d_plain", conv2d_plain)


@composite
def conv_of_parts(x: Any, weight: Any, bias: Any, *, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Return the same as `conv2d_biased`, or as `conv3d`, as a convolution and a sum."""
    plain = conv3d_plain if len(shape_of(x)) == 5 else conv2d_plain
    return _biased(plain(x, weight, stride=stride, padding=padding, dilation=dilation, groups=groups), bias)


@composite
def conv1d_of_parts(x: Any, weight: Any, bias: Any, *, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Return the same as `conv1d`, as a convolution of images of one row, and a sum."""
    image, kernel = (reshape(one, shape=(*shape_of(one)[:2], 1, shape_of(one)[2])) for one in (x, weight))
    attrs = {"stride": [1, *stride], "padding": [0, *padding], "dilation": [1, *dilation], "groups": groups}
    out = _biased(conv2d_plain(image, kernel, **attrs), bias)
    return reshape(out, shape=(*shape_of(out)[:2], shape_of(out)[3]))


@fused(saves=("x", "weight"))
def conv_transpose2d(x: Any, weight: Any, bias: Any, *, stride: Any, padding: Any, added: Any, dilation: Any, groups: int) -> Any:
    """Add up ``weight`` times each element where `conv2d_biased` would read it, and ``bias``; ``added``: so many more at the ends."""
    return _biased(_spread(x, weight, stride, padding, added, dilation, groups), bias)


conv_transpose1d = alias("conv_transpose1d", conv_transpose2d)
conv_transpose3d = alias("conv_transpose3d", conv_transpose2d)


@fused()
def conv_transpose2d_plain(x: Any, weight: Any, *, stride: Any, padding: Any, added: Any, dilation: Any, groups: int) -> Any:
    """Return the same as `conv_transpose2d` without a bias."""
    return _spread(x, weight, stride, padding, added, dilation, groups)


conv_transpose3d_plain = alias("conv_transpose3d_plain", conv_transpose2d_plain)


@composite
def conv_transpose_of_parts(
    x: Any, weight: Any, bias: Any, *, stride: Any, padding: Any, added: Any, dilation: Any, groups: int
) -> Any:
    """Return the same as `conv_transpose2d`, or as `conv_transpose3d`, as its products and a sum."""
    plain = conv_transpose3d_plain if len(shape_of(x)) == 5 else conv_transpose2d_plain
    return _biased(plain(x, weight, stride=stride, padding=padding, added=added, dilation=dilation, groups=groups), bias)


@composite
def conv_transpose1d_of_parts(
    x: Any, weight: Any, bias: Any, *, stride: Any, padding: Any, added: Any, dilation: Any, groups: int
) -> Any:
    """Return the same as `conv_transpose1d`, as products of images of one column, and a sum."""
    image, kernel = (reshape(one, shape=(*shape_of(one), 1)) for one in (x, weight))
    attrs = {"stride": [*stride, 1], "padding": [*padding, 0], "added": [*added, 0], "dilation": [*dilation, 1], "groups": groups}
    out = _biased(conv_transpose2d_plain(image, kernel, **attrs), bias)
    return reshape(out, shape=shape_of(out)[:3])


@fused(saves=())
def nn_unfold(x: Any, *, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Return the elements under each position of a kernel as columns: ``(n, c, h, w) -> (n, c k, positions)``."""
    under = windows(x, kernel, stride, padding, 0.0, dilation)
    batch, channels, *counts, elements = shape_of(under)
    columns = transpose(reshape(under, shape=(batch, channels, math.prod(counts), elements)), axis0=-1, axis1=-2)
    return reshape(columns, shape=(batch, channels * elements, math.prod(counts)))


@fused(saves=())
def nn_fold(x: Any, *, size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Add the columns that `nn_unfold` makes of an image of this size up at the places that they come from: its transpose."""
    wide = [n + 2 * p for n, p in zip(size, padding, strict=True)]
    counts = [(n - k) // s + 1 for n, k, s in zip(wide, reach(kernel, dilation), stride, strict=True)]
    elements = math.prod(kernel)
    batch, channels = shape_of(x)[0], shape_of(x)[1] // elements
    under = transpose(reshape(x, shape=(batch, channels, elements, math.prod(counts))), axis0=-1, axis1=-2)
    under = reshape(under, shape=(batch, channels, *counts, elements))
    return without_border(scattered(under, sliding(counts, kernel, stride, dilation), wide), padding)

"""Normalizations, as formulas: each is one node in both frameworks, but for the last three, which are several.

Means and variances are over what is normalized, the variance is the biased one, and ``eps`` is added to it below the root.
What has mean 0 and deviation 1 is in range however large the numbers were, so they are measured in units where their squares are.
Sources: the pages of ``torch.nn.functional`` and ``paddle.nn.functional`` on each.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import add, add_scalar, div, div_by_quotient, mul, mul_scalar, pow_scalar, reciprocal, sub
from reference_impl.primitives.elementary import rsqrt
from reference_impl.primitives.fused import fused
from reference_impl.primitives.pooling import avg_pool2d, avg_pool3d
from reference_impl.primitives.reduction import mean
from reference_impl.primitives.shape import pad_constant, reshape, squeeze, unsqueeze
from reference_impl.primitives.statistics import centred
from reference_impl.tape.primitive import array_of, composite, primitive, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence


LARGE = 2.0**32
"""The spread from which on another unit is taken, in every dtype: squares of less than that are in range, even if there are many."""


@primitive(ulps=0)
def unit_of(x: Any, *, axes: Sequence[int]) -> Any:
    """Return a power of two that is about the spread of numbers over some axes if that is large, else 1 (no derivative)."""
    over = tuple(axes)
    halved = np.multiply(x, 0.5)  # of which no difference leaves the range
    spread = np.max(halved, axis=over, keepdims=True) - np.min(halved, axis=over, keepdims=True)
    large = np.isfinite(spread) & (spread > LARGE)
    return np.ldexp(np.ones_like(spread), np.where(large, np.frexp(spread)[1] - 1, 0))


@primitive(ulps=0)
def in_units(x: Any, unit: Any) -> Any:
    """Return ``x / unit``, which has the digits of ``x``: the unit is a power of two."""
    return np.divide(x, unit)


@in_units.vjp("x")
def in_units_vjp_x(g: Any, out: Any, x: Any, unit: Any) -> Any:
    return in_units(g, unit)


def standardized(x: Any, axes: Sequence[int], eps: float) -> tuple[Any, Any]:
    """Return what has mean 0 and deviation 1 over some axes, and the inverse of the deviation that it was divided by."""
    unit = unit_of(array_of(x), axes=axes)
    apart = centred(in_units(x, unit), axis=axes)
    least = in_units(in_units(np.asarray(eps, dtype=x.dtype), unit), unit)
    inverse = rsqrt(add(mean(mul(apart, apart), axis=axes, keepdims=True), least))
    return mul(apart, inverse), in_units(inverse, unit)


def pulled_back(g: Any, normal: Any, inverse: Any, axes: Sequence[int]) -> Any:
    """Return the cotangent of what was standardized: ``(g - mean(g) - n mean(g n)) / d`` of the result ``n`` and the deviation ``d``.

    To pull it back through the formula is to subtract means once before and once behind. Both frameworks have this form, and so its
    derivative has terms that cancel, such as a constant less its mean, and that no second mean takes away once they are rounded.
    """
    along = mul(normal, mean(mul(g, normal), axis=axes, keepdims=True))
    return mul(sub(sub(g, mean(g, axis=axes, keepdims=True)), along), inverse)


def _normalized(x: Any, axes: Sequence[int], eps: float) -> Any:
    return standardized(x, axes, eps)[0]


def _pulled_back(g: Any, x: Any, axes: Sequence[int], eps: float) -> Any:
    return pulled_back(g, *standardized(x, axes, eps), axes)


def per_channel(x: Any) -> tuple[int, ...]:
    """Return the shape in which one number for each channel broadcasts; the channels are axis 1."""
    return (shape_of(x)[1], *(1,) * (len(shape_of(x)) - 2))


def of_channels(x: Any, weight: Any, bias: Any) -> Any:
    """Return ``weight x + bias`` with one weight and one bias for each channel."""
    shape = per_channel(x)
    return add(mul(x, reshape(weight, shape=shape)), reshape(bias, shape=shape))


def in_groups(x: Any, groups: int) -> tuple[Any, list[int]]:
    """Return a tensor with an axis of groups before that of the channels of a group, and the axes over which a group extends."""
    shape = shape_of(x)
    return reshape(x, shape=(shape[0], groups, shape[1] // groups, *shape[2:])), list(range(2, len(shape) + 1))


def _spatial(x: Any) -> list[int]:
    return list(range(2, len(shape_of(x))))


@fused()
def layer_norm(x: Any, weight: Any, bias: Any, *, eps: float) -> Any:
    """Normalize over the last axes, as many as the weight has, and then scale and shift each element."""
    axes = list(range(-len(shape_of(weight)), 0))
    return add(mul(_normalized(x, axes, eps), weight), bias)


@layer_norm.vjp("x")
def layer_norm_vjp_x(g: Any, out: Any, x: Any, weight: Any, bias: Any, *, eps: float) -> Any:
    return _pulled_back(mul(g, weight), x, list(range(-len(shape_of(weight)), 0)), eps)


@fused()
def layer_norm_noaffine(x: Any, *, axes: int, eps: float) -> Any:
    """Normalize over the last ``axes`` axes."""
    return _normalized(x, list(range(-axes, 0)), eps)


@layer_norm_noaffine.vjp("x")
def layer_norm_noaffine_vjp_x(g: Any, out: Any, x: Any, *, axes: int, eps: float) -> Any:
    return _pulled_back(g, x, list(range(-axes, 0)), eps)


@fused(saves=["x", "weight"])
def batch_norm_train(x: Any, weight: Any, bias: Any, *, eps: float) -> Any:
    """Normalize each channel by its own statistics over the batch and all places, and then scale and shift it."""
    return of_channels(_normalized(x, [0, *_spatial(x)], eps), weight, bias)


@batch_norm_train.vjp("x")
def batch_norm_train_vjp_x(g: Any, out: Any, x: Any, weight: Any, bias: Any, *, eps: float) -> Any:
    return _pulled_back(mul(g, reshape(weight, shape=per_channel(x))), x, [0, *_spatial(x)], eps)


@fused(saves=["x", "weight"])
def batch_norm_eval(x: Any, weight: Any, bias: Any, *, means: Any, variances: Any, eps: float) -> Any:
    """Normalize each channel by statistics that are given, one number each, and then scale and shift it."""
    centre, variance = (np.reshape(np.asarray(numbers, dtype=x.dtype), per_channel(x)) for numbers in (means, variances))
    return of_channels(mul(sub(x, centre), rsqrt(add_scalar(variance, other=eps))), weight, bias)


@fused(saves=["x", "weight"])
def instance_norm(x: Any, weight: Any, bias: Any, *, eps: float) -> Any:
    """Normalize each channel of each sample over its places, and then scale and shift it."""
    return of_channels(_normalized(x, _spatial(x), eps), weight, bias)


@instance_norm.vjp("x")
def instance_norm_vjp_x(g: Any, out: Any, x: Any, weight: Any, bias: Any, *, eps: float) -> Any:
    return _pulled_back(mul(g, reshape(weight, shape=per_channel(x))), x, _spatial(x), eps)


@fused()
def group_norm(x: Any, weight: Any, bias: Any, *, groups: int, eps: float) -> Any:
    """Normalize each group of channels of each sample over its places, and then scale and shift each channel."""
    grouped, axes = in_groups(x, groups)
    return of_channels(reshape(_normalized(grouped, axes, eps), shape=shape_of(x)), weight, bias)


@group_norm.vjp("x")
def group_norm_vjp_x(g: Any, out: Any, x: Any, weight: Any, bias: Any, *, groups: int, eps: float) -> Any:
    return _pulled_back_in_groups(mul(g, reshape(weight, shape=per_channel(x))), x, groups, eps)


@fused()
def group_norm_noaffine(x: Any, *, groups: int, eps: float) -> Any:
    """Normalize each group of channels of each sample over its places."""
    grouped, axes = in_groups(x, groups)
    return reshape(_normalized(grouped, axes, eps), shape=shape_of(x))


@group_norm_noaffine.vjp("x")
def group_norm_noaffine_vjp_x(g: Any, out: Any, x: Any, *, groups: int, eps: float) -> Any:
    return _pulled_back_in_groups(g, x, groups, eps)


def _pulled_back_in_groups(g: Any, x: Any, groups: int, eps: float) -> Any:
    """Return the cotangent that `pulled_back` returns, with a multiple of ``x`` and one of its mean in the place of one of ``n``.

    Both frameworks have it so. In a derivative by what shifts a whole group, which vanishes, the two cancel but for their roundings.
    """
    grouped, axes = in_groups(x, groups)
    g = reshape(g, shape=shape_of(grouped))
    unit = unit_of(array_of(grouped), axes=axes)
    given = in_units(grouped, unit)
    middle = sub(given, centred(given, axis=axes))
    normal, inverse = standardized(grouped, axes, eps)
    inverse = in_units(inverse, reciprocal(unit))
    slope = mul(mul(mean(mul(g, normal), axis=axes, keepdims=True), inverse), inverse)
    along = sub(mul(slope, given), mul(slope, middle))
    found = in_units(sub(mul(sub(g, mean(g, axis=axes, keepdims=True)), inverse), along), unit)
    return reshape(found, shape=shape_of(x))


@composite
def rms_norm(x: Any, weight: Any, *, eps: float) -> Any:
    """Divide by the root of the mean of the squares over the last axes, as many as the weight has, and then scale each element."""
    squares = mean(pow_scalar(x, exponent=2.0), axis=list(range(-len(shape_of(weight)), 0)), keepdims=True)
    return mul(mul(x, rsqrt(add_scalar(squares, other=eps))), weight)


@composite
def local_response_norm(x: Any, *, size: int, alpha: float, beta: float, k: float) -> Any:
    """Divide by ``(k + alpha m)^beta``, where ``m`` is the mean of the squares in ``size`` channels around; the border has zeros."""
    return div(x, _power_of_means(x, size, alpha, beta, k))


@composite
def local_response_norm_by_quotient(x: Any, *, size: int, alpha: float, beta: float, k: float) -> Any:
    """Return the same, whose gradient is made of the result."""
    return div_by_quotient(x, _power_of_means(x, size, alpha, beta, k))


def _power_of_means(x: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    shape, around = shape_of(x), (size // 2, (size - 1) // 2)
    if len(shape) == 3:
        means = squeeze(_means_of_channels(avg_pool2d, unsqueeze(mul(x, x), axis=1), around, [size, 1]), axis=1)
    else:
        volume = reshape(mul(x, x), shape=(shape[0], 1, shape[1], shape[2], math.prod(shape[3:])))
        means = reshape(squeeze(_means_of_channels(avg_pool3d, volume, around, [size, 1, 1]), axis=1), shape=shape)
    return pow_scalar(add_scalar(mul_scalar(means, other=alpha), other=k), exponent=beta)


def _means_of_channels(pool: Any, squares: Any, around: tuple[int, int], kernel: list[int]) -> Any:
    """Return the means of the squares of neighbouring channels, which are the first of the places, with a border of zeros."""
    before, after = ([0, 0, border, *(0 for _ in kernel[1:])] for border in around)
    ones, zeros = [1 for _ in kernel], [0 for _ in kernel]
    return pool(pad_constant(squares, before=before, after=after, value=0.0), kernel=kernel, stride=ones, padding=zeros)

"""Discrete Fourier transforms: one linear primitive, and what the frameworks offer as formulas of it.

``dft`` sums ``x_j w^(jk)`` over some axes, ``w = e^(sign 2 pi i / n)``, and scales nothing. It is linear, and its conjugate transpose
is the sum with the other sign, so it is its own rule. What frameworks offer beside it differs in three things:

- which *lengths*: an operand is cut, or gets zeros, at the end of each axis;
- which *scale*: ``norm`` names the direction that divides by the number of elements, or ``ortho`` for its root in both;
- which *half*: of a real signal the spectrum at -k is the conjugate of that at k, so one half of the last axis is kept. On the
  way back the other half is added as conjugates; what is its own conjugate is real, so that an imaginary part of it counts nothing.

Sources: the pages of ``torch.fft`` and ``paddle.fft``; J. W. Cooley, P. A. W. Lewis and P. D. Welch, "The fast Fourier transform
algorithm", J. Sound Vib. 12 (1970), section 3 for the halves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import mul, mul_scalar
from reference_impl.primitives.complex import from_real, is_complex, real
from reference_impl.primitives.fused import fused, fused_as
from reference_impl.primitives.shape import narrow, roll, widen
from reference_impl.tape.primitive import alias, primitive, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def _directly(_: Any, x: Any, *, axes: Sequence[int], sign: int) -> Any:
    """Transform by the definition, the last term first."""
    for axis in axes:
        n = x.shape[axis]
        steps = np.multiply.outer(np.arange(n), np.arange(n))[:, ::-1] % n
        roots = np.exp(sign * 2j * np.pi * steps / n).astype(x.dtype)
        x = np.moveaxis(np.matmul(np.moveaxis(np.flip(x, axis), axis, -1), np.transpose(roots)), -1, axis)
    return x


@primitive(
    saves=(),
    ulps=2,  # a product with a root that is rounded, and a sum
    error_scale=lambda out, x, *, axes, sign: np.broadcast_to(np.add.reduce(np.abs(x), axis=tuple(axes), keepdims=True), x.shape),
    summands=lambda x, *, axes, sign: math.prod(x.shape[axis] for axis in axes),
    reordered=_directly,
)
def dft(x: Any, *, axes: Sequence[int], sign: int) -> Any:
    """Return the sums of ``x_j e^(sign 2 pi i j k / n)`` over some axes of a complex tensor, not scaled."""
    return np.fft.fftn(x, axes=tuple(axes)) if sign < 0 else np.fft.ifftn(x, axes=tuple(axes), norm="forward")


@dft.vjp("x")
def dft_vjp_x(g: Any, out: Any, x: Any, *, axes: Sequence[int], sign: int) -> Any:
    return dft(g, axes=axes, sign=-sign)


# What completes a half in a derivative has a name of its own: PyTorch writes it into zeros, and a node for that is freed, while what
# completes an axis that was cut to a length is none that is.
completed = alias("completed", widen)


@primitive(saves=(), ulps=0)
def half(x: Any, *, axis: int, length: int) -> Any:
    """Return the first entries along an axis of a spectrum, of which the others are the conjugates."""
    return np.take(x, range(length), axis=axis)


@half.vjp("x")
def half_vjp_x(g: Any, out: Any, x: Any, *, axis: int, length: int) -> Any:
    return completed(g, axis=axis, start=0, full=shape_of(x)[axis])


def _resized(x: Any, axis: int, length: int) -> Any:
    """Cut an axis at its end, or put zeros there."""
    there = shape_of(x)[axis]
    if length == there:
        return x
    return narrow(x, axis=axis, start=0, length=length) if length < there else widen(x, axis=axis, start=0, full=length)


def _lengths(x: Any, lengths: Sequence[int] | None, axes: Sequence[int] | None) -> tuple[list[int], list[int]]:
    """Return the axes that are transformed, and their lengths; without names all axes, or as many last ones as lengths."""
    shape = shape_of(x)
    if axes is None:
        axes = list(range(-(len(shape) if lengths is None else len(lengths)), 0))
    return list(axes), [shape[axis] for axis in axes] if lengths is None else list(lengths)


def _scaled(x: Any, lengths: Sequence[int], norm: str, direction: str) -> Any:
    """Divide by the number of elements in the direction that ``norm`` names, and in ``ortho`` by its root."""
    count = math.prod(lengths)
    if norm == "ortho":
        return mul_scalar(x, other=1.0 / math.sqrt(count))
    return mul_scalar(x, other=1.0 / count) if norm == direction else x


FORWARD = (-1, "forward")
BACKWARD = (1, "backward")
"""The sign of a direction, and the ``norm`` that scales in it."""


def _whole(x: Any, lengths: Any, axes: Any, norm: str, way: tuple[int, str]) -> Any:
    """Transform; a real operand is taken for a complex one."""
    axes, lengths = _lengths(x, lengths, axes)
    for axis, length in zip(axes, lengths, strict=True):
        x = _resized(x, axis, length)
    x = x if is_complex(x) else from_real(x)
    return _scaled(dft(x, axes=axes, sign=way[0]), lengths, norm, way[1])


def _to_half(x: Any, lengths: Any, axes: Any, norm: str, way: tuple[int, str]) -> Any:
    """Transform a real operand, and keep the first half of the last axis."""
    axes, lengths = _lengths(x, lengths, axes)
    whole, length = _whole(x, lengths, axes, norm, way), lengths[-1] // 2 + 1
    return whole if length == lengths[-1] else half(whole, axis=axes[-1], length=length)


def _from_half(x: Any, lengths: Any, axes: Any, norm: str, way: tuple[int, str]) -> Any:
    """Transform a half of the last axis, of a length that is even where none is named, to the real numbers that it is the half of.

    What has a conjugate in the other half counts twice: the real part of the sum is that of both.
    """
    given = lengths
    axes, lengths = _lengths(x, lengths, axes)
    if given is None:
        lengths[-1] = 2 * (lengths[-1] - 1)
    length = lengths[-1]
    for axis, needed in zip(axes, [*lengths[:-1], length // 2 + 1], strict=True):
        x = _resized(x, axis, needed)
    x = x if is_complex(x) else from_real(x)
    double = np.full(length // 2 + 1, 2.0)
    double[0] = 1.0
    if length % 2 == 0:
        double[-1] = 1.0
    counted = np.reshape(double, [-1 if i == axes[-1] % len(shape_of(x)) else 1 for i in range(len(shape_of(x)))])
    x = _resized(mul(x, counted.astype(x.dtype)), axes[-1], length)
    return _scaled(real(dft(x, axes=axes, sign=way[0])), lengths, norm, way[1])


TRANSFORMS = {
    "fft": (_whole, FORWARD),  # the spectrum
    "ifft": (_whole, BACKWARD),  # what has the spectrum
    "rfft": (_to_half, FORWARD),  # the half of the spectrum of real numbers
    "irfft": (_from_half, BACKWARD),  # the real numbers that have a spectrum of which this is half
    "hfft": (_from_half, FORWARD),  # the spectrum, which is real, of a signal of which this is half and the rest its conjugate
    "ihfft": (_to_half, BACKWARD),  # half of the signal that has a real spectrum
}


def _along(transform: Any, way: tuple[int, str]) -> tuple[Any, Any]:
    """Return a transform along one axis, of length ``n``, and along several, of lengths ``s``; ``None``: as long as they are."""

    def one(x: Any, *, n: int | None, axis: int, norm: str) -> Any:
        return transform(x, None if n is None else [n], [axis], norm, way)

    def several(x: Any, *, s: Any, axes: Any, norm: str) -> Any:
        return transform(x, s, axes, norm, way)

    return one, several


for _name, _kind in TRANSFORMS.items():
    _one, _several = _along(*_kind)
    fused_as(_name, _one, saves=())
    alias(f"{_name}2", fused_as(f"{_name}n", _several, saves=()))


def _rolled(x: Any, axes: Any, *, back: bool) -> Any:
    shape = shape_of(x)
    for axis in range(len(shape)) if axes is None else axes:
        x = roll(x, shift=-(shape[axis] // 2) if back else shape[axis] // 2, axis=axis)
    return x


@fused(saves=())
def fftshift(x: Any, *, axes: Any) -> Any:
    """Shift what is at place 0 of some axes, or all, to their middle."""
    return _rolled(x, axes, back=False)


@fused(saves=())
def ifftshift(x: Any, *, axes: Any) -> Any:
    """Shift what is in the middle of some axes, or all, to place 0."""
    return _rolled(x, axes, back=True)

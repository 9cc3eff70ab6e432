"""Signals: spectra of short windows, and back. Sources: the pages of ``stft`` and ``istft``, on which both frameworks have one formula.

The way back is that of least squares (D. W. Griffin and J. S. Lim, "Signal estimation from modified short-time Fourier transform",
1984): what the windows have in common is added up, weighed by each of them, over the sum of their squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import div, mul, square
from reference_impl.primitives.fused import fused
from reference_impl.primitives.indexing import index_add_rows
from reference_impl.primitives.layout import tensor_unfold
from reference_impl.primitives.shape import expand, narrow, reshape, squeeze, transpose, unsqueeze
from reference_impl.tape.primitive import OPS, composite, shape_of


@fused()
def stft(x: Any, window: Any, *, hop_length: int, normalized: bool, onesided: bool) -> Any:
    """Return the spectra of windows of the last axis of a real signal, as the columns of matrices.

    Windows begin ``hop_length`` apart and are as long as ``window``, by which they are multiplied. ``normalized`` divides by the root
    of the length, and ``onesided`` keeps the frequencies up to the half.
    """
    axis = len(shape_of(x)) - 1
    frames = tensor_unfold(x, axis=axis, size=shape_of(window)[0], step=hop_length)
    transform = OPS["rfft" if onesided else "fft"]
    spectra = transform(mul(frames, window), n=None, axis=axis + 1, norm="ortho" if normalized else "backward")
    return transpose(spectra, axis0=axis, axis1=axis + 1)


@composite
def stft_of_parts(x: Any, window: Any, *, hop_length: int, normalized: bool, onesided: bool) -> Any:
    """Return the same as `stft`, of a batch of signals; one signal is made a batch of one, and its spectra are taken out of that."""
    signals = reshape(x, shape=shape_of(x)) if len(shape_of(x)) > 1 else unsqueeze(x, axis=0)
    spectra = stft.forward(signals, window, hop_length=hop_length, normalized=normalized, onesided=onesided)
    return spectra if len(shape_of(x)) > 1 else squeeze(spectra, axis=0)


@fused()
def istft(x: Any, window: Any, *, hop_length: int, center: bool, normalized: bool, onesided: bool, length: Any) -> Any:
    """Return the real signal whose spectra, as those of `stft`, are nearest to the columns of matrices.

    ``center``: half a window hangs over at either end, and is cut off. ``length``: how much of the signal is returned from there on,
    else all. Of spectra that are not ``onesided`` the first half is read.
    """
    *batch, _, count = shape_of(x)
    n, axis = shape_of(window)[0], len(batch)
    spectra = transpose(x if onesided else narrow(x, axis=axis, start=0, length=n // 2 + 1), axis0=axis, axis1=axis + 1)
    frames = OPS["irfft"](spectra, n=n, axis=axis + 1, norm="ortho" if normalized else "backward")
    whole, start = n + hop_length * (count - 1), n // 2 if center else 0
    index = np.add.outer(hop_length * np.arange(count), np.arange(n)).reshape(-1)

    def overlapped(parts: Any) -> Any:
        row = reshape(parts, shape=(*shape_of(parts)[:-2], count * n))
        summed = index_add_rows(row, axis=-1, index=index, length=whole)
        return narrow(summed, axis=-1, start=start, length=whole - 2 * start if length is None else length)

    return div(overlapped(mul(frames, window)), overlapped(expand(square(window), shape=(count, n))))

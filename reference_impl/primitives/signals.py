"""Signals: spectra of short windows. Sources: ``torch.stft`` and ``paddle.signal.stft``, which document the same formula."""

from __future__ import annotations

from typing import Any

from reference_impl.primitives.arithmetic import mul
from reference_impl.primitives.fused import fused
from reference_impl.primitives.layout import tensor_unfold
from reference_impl.primitives.shape import transpose
from reference_impl.tape.primitive import OPS, shape_of


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

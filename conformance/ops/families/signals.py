"""Signals: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.corners import given
from conformance.ops.dtypes import OTHER_KIND, is_complex
from conformance.ops.numbers import COMPLEX, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Sampler

LENGTHS = (4, 2, 3)
"""How long windows are."""


def _is_signal(x: Draft) -> bool:
    return 1 <= len(x.shape) <= 2 and x.shape[-1] > 1 and 0 not in x.shape


def _windows(s: Sampler) -> Arguments | None:
    x = s.take(_is_signal, shape=(2, 6))
    length = s.source.choice([n for n in LENGTHS if n <= x.shape[-1]])
    attrs = {"hop_length": s.source.integer(1, 3), "normalized": s.source.chance(0.4), "onesided": s.source.chance(0.6)}
    return [x, s.take_shaped((length,))], attrs


def _is_spectrum(x: Draft) -> bool:
    return 2 <= len(x.shape) <= 3 and min(x.shape[-2:]) > 1 and 0 not in x.shape


def _spectra(s: Sampler) -> Arguments | None:
    """Draw spectra of overlapping windows, and of the signal all of it or so much as the windows reach."""
    x = s.take(_is_spectrum, shape=(3, 2))
    rows, count = x.shape[-2:]
    odd = s.source.chance(0.2)
    onesided = rows % 2 != odd or s.source.chance(0.6)
    n = 2 * (rows - 1) + odd if onesided else rows
    hop, center = s.source.integer(1, n), s.source.chance(0.5)
    reached = n + hop * (count - 1) - (n // 2 if center else 0)
    attrs = {
        "hop_length": hop,
        "center": center,
        "normalized": s.source.chance(0.4),
        "onesided": onesided,
        "length": s.source.integer(1, reached) if s.source.chance(0.4) else None,
    }
    return [x, s.fresh((n,), domain=Domain.NONZERO, dtype=OTHER_KIND[x.dtype] if is_complex(x.dtype) else x.dtype)], attrs


_ATTRS = "window=window, center=False, normalized=normalized, onesided=onesided"
_BACK = "window=window, center=center, normalized=normalized, onesided=onesided, length=length"

ENTRIES = rows(
    "signals",
    op(
        "stft",
        rank=170,
        draw=_windows,
        calls={
            "torch": f"torch.stft(x, window.shape[0], hop_length, {_ATTRS}, return_complex=True)",
            "paddle": f"paddle.signal.stft(x, window.shape[0], hop_length, {_ATTRS})",
        },
        exact=False,
        numbers=real_only("signals that are complex come with the next ones"),
        points=PLAIN,
        corners={
            "both sides": given(_windows, normalized=False, onesided=False),
            "windows that overlap": given(_windows, hop_length=1, normalized=True, onesided=True),
            "windows that are apart": given(_windows, hop_length=3, normalized=False, onesided=True),
        },
        drawn=Drawn.NAMED,
    ),
    op(
        "istft",
        rank=361,
        draw=_spectra,
        calls={
            "torch": f"torch.istft(x, window.shape[0], hop_length, {_BACK})",
            "paddle": f"paddle.signal.istft(x, window.shape[0], hop_length, {_BACK})",
        },
        exact=False,
        numbers=COMPLEX,
        growth=Growth.UNBOUNDED,
        points=PLAIN,
        corners={
            "all": given(_spectra, center=False, length=None, normalized=False),
            "centred": given(_spectra, center=True, length=None, normalized=True),
            "the first number": given(_spectra, center=True, length=1, normalized=False),
        },
        drawn=Drawn.NAMED,
    ),
)

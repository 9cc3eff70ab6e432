"""Signals: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.corners import given
from conformance.ops.numbers import real_only
from conformance.ops.spec import PLAIN, Drawn, op, rows

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


_ATTRS = "window=window, center=False, normalized=normalized, onesided=onesided"

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
)

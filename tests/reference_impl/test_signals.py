"""Signals from spectra of windows against their definition: the inverse of `stft`, and sums written out."""

from __future__ import annotations

import numpy as np
import pytest

from reference_impl import OPS

RANDOM = np.random.default_rng(4)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("onesided", [False, True])
@pytest.mark.parametrize("n", [3, 4])
def test_a_signal_comes_back_from_its_spectra(n: int, onesided: bool, normalized: bool) -> None:
    x, window = RANDOM.normal(size=(2, n + 8)), RANDOM.uniform(0.5, 1.5, n)
    spectra = OPS["stft"](x, window, hop_length=2, normalized=normalized, onesided=onesided)
    given = {"hop_length": 2, "normalized": normalized, "onesided": onesided}
    assert np.allclose(x, OPS["istft"](spectra, window, **given, center=False, length=None), atol=1e-13)
    assert np.allclose(x[:, n // 2 : -(n // 2)], OPS["istft"](spectra, window, **given, center=True, length=None), atol=1e-13)
    assert np.allclose(x[:, n // 2 :][:, :5], OPS["istft"](spectra, window, **given, center=True, length=5), atol=1e-13)


@pytest.mark.parametrize(("n", "hop"), [(4, 1), (5, 3)])
def test_spectra_of_no_signal_are_added_up_by_their_windows(n: int, hop: int) -> None:
    spectra = RANDOM.normal(size=(n // 2 + 1, 3)) + 1j * RANDOM.normal(size=(n // 2 + 1, 3))
    window = RANDOM.uniform(0.5, 1.5, n)
    signal, weights = np.zeros(n + 2 * hop), np.zeros(n + 2 * hop)
    for frame in range(3):
        at = slice(frame * hop, frame * hop + n)
        signal[at] += np.fft.irfft(spectra[:, frame], n) * window
        weights[at] += window**2
    made = OPS["istft"](spectra, window, hop_length=hop, center=False, normalized=False, onesided=True, length=None)
    assert np.allclose(signal / weights, made, atol=1e-13)

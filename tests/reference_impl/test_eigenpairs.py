"""Eigenpairs against their definition, and how far rounding carries them against what disturbances do."""

from __future__ import annotations

import numpy as np
import pytest

from reference_impl import OPS
from reference_impl.tape.primitive import Primitive

RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(4, 3, 3)) + np.diag([4.0, -8.0, 12.0])


def test_eigenpairs_are_pairs_of_their_matrix() -> None:
    shifted = np.roll(X, 1, -2)
    w, v = OPS["eig"](shifted)
    assert np.abs(w.imag).max() > 1.0
    assert np.allclose(shifted @ v, v * w[..., None, :], atol=1e-12)
    assert np.allclose(1.0, np.linalg.norm(v, axis=-2), rtol=1e-14)


@pytest.mark.parametrize("shift", [0, 1])
def test_sums_over_eigenpairs_know_no_phase_and_no_order(shift: int) -> None:
    w, v = np.linalg.eig(np.roll(X, shift, -2))
    order, phases = RANDOM.permutation(3), np.exp(1j * RANDOM.uniform(0.0, 6.0, 3))
    w, v = w[..., order], v[..., order] * phases
    expected = np.stack([(np.abs(v) ** 2 * (w**power)[..., None, :]).sum(-1) for power in range(3)], -1)
    assert np.allclose(0.0, expected.imag, atol=1e-11)
    assert np.allclose(expected.real.reshape(4, 9), OPS["eig_invariant"](X, shift=shift), rtol=1e-11)


@pytest.mark.parametrize("vectors", [False, True])
def test_the_bound_of_eigenpairs_holds_what_a_disturbance_of_their_matrix_does(vectors: bool) -> None:
    shifted, settled = np.roll(X, 1, -2), OPS["settled_pair"]
    assert isinstance(settled, Primitive)
    assert settled.error_scale is not None
    w, v = OPS["eig"](shifted)
    part = v if vectors else w
    bound = 1e-9 * settled.error_scale(part, part, w, v, vectors=vectors)
    for _ in range(20):
        moved = shifted + 1e-9 * np.linalg.norm(shifted, 2, (-2, -1), keepdims=True) * RANDOM.uniform(-0.5, 0.5, shifted.shape)
        other, turned = OPS["eig"](moved)
        aligned = turned * np.exp(-1j * np.angle((np.conj(v) * turned).sum(-2, keepdims=True)))
        assert (np.abs((aligned if vectors else other) - part) <= bound).all()

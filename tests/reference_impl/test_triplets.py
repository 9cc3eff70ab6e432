"""The margin loss of triplets by a distance that a caller gives, held against its definition in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reference_impl import OPS

FORMS = ("triplet_margin_with_distance_loss", "triplet_margin_with_distance_loss_by_difference")
X, Y, Z = [[0.5, -1.0], [2.0, 0.25]], [[1.0, 0.5], [-1.0, 1.0]], [[0.0, 2.0], [0.5, 1.5]]


def distance(a: list[float], b: list[float]) -> float:
    return math.fsum(abs(p - q) for p, q in zip(a, b, strict=True))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("swap", [False, True])
def test_a_triplet_counts_how_much_nearer_the_other_one_is_than_the_margin_allows(form: str, swap: bool) -> None:
    wanted = []
    for x, y, z in zip(X, Y, Z, strict=True):
        far = min(distance(x, z), distance(y, z)) if swap else distance(x, z)
        wanted.append(max(0.0, 1.0 + distance(x, y) - far))
    assert wanted == OPS[form](np.array(X), np.array(Y), np.array(Z), margin=1.0, swap=swap, reduction="none").tolist()

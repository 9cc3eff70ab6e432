"""The loss of sequences that are not aligned, against the sum over all alignments, one by one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from reference_impl import OPS

RANDOM = np.random.default_rng(3)


def collapsed(path: tuple[int, ...]) -> list[int]:
    """Make repeated classes one, and leave blanks out."""
    return [c for c, _ in itertools.groupby(path) if c]


def by_all_paths(scores: Any, labels: list[int]) -> float:
    """Return minus the logarithm of the sum of the probabilities of all paths that become the labels."""
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    paths = itertools.product(range(scores.shape[1]), repeat=len(scores))
    return -math.log(sum(math.prod(shares[t, c] for t, c in enumerate(path)) for path in paths if collapsed(path) == labels))


@pytest.mark.parametrize("op", ["ctc_loss", "ctc_loss_of_scores"])
@pytest.mark.parametrize("labels", [[1], [1, 2], [1, 1], [2, 1, 2], [2, 2, 1]])
def test_the_loss_of_a_sequence_is_that_of_all_its_alignments(op: str, labels: list[int]) -> None:
    x = RANDOM.normal(size=(5, 2, 3))
    given = {"target": [labels, [1] * len(labels)], "times": [5, 3], "lengths": [len(labels), 1]}
    wanted = [by_all_paths(x[:, 0], labels), by_all_paths(x[:3, 1], [1])]
    assert np.allclose(wanted, OPS[op](x, **given, reduction="none"), rtol=1e-14)
    assert np.isclose((wanted[0] / len(labels) + wanted[1]) / 2, OPS[op](x, **given, reduction="mean"), rtol=1e-14)
    assert np.isclose(sum(wanted), OPS[op](x, **given, reduction="sum"), rtol=1e-14)

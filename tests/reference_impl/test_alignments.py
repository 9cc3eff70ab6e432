"""The loss of sequences that are not aligned, against the sum over all alignments, one by one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest

from reference_impl import OPS, Tensor, grad
from reference_impl.dialects.dialect import FORMULAS

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


def exactly(logs: Any, labels: list[int]) -> mpmath.mpf:
    """Return the same of logarithms of probabilities, in the range of no dtype."""
    paths = itertools.product(range(logs.shape[1]), repeat=len(logs))
    taken = (path for path in paths if collapsed(path) == labels)
    return -mpmath.log(mpmath.fsum(mpmath.exp(mpmath.fsum(logs[t, c] for t, c in enumerate(path))) for path in taken))


UNLIKELY = np.array([[0.0, -900.0, -500.0], [-3.0, -1200.0, -800.0], [0.0, -800.0, -1500.0], [-2.0, -900.0, -400.0]])


@pytest.mark.parametrize("labels", [[1], [1, 2], [1, 1], [2, 1]])
def test_the_loss_of_what_is_so_unlikely_that_its_probability_underflows_is_its_logarithm(labels: list[int]) -> None:
    given = {"target": [labels], "times": [4], "lengths": [len(labels)]}
    assert np.exp(-float(exactly(UNLIKELY, labels))) == 0.0
    assert np.isclose(float(exactly(UNLIKELY, labels)), OPS["alignments"](UNLIKELY[:, None], **given)[0], rtol=1e-15)


@pytest.mark.parametrize("labels", [[1, 2], [1, 1], [2, 1]])
def test_gradients_of_what_underflows_are_those_of_its_alignments(labels: list[int]) -> None:
    given = {"target": [labels], "times": [4], "lengths": [len(labels)]}
    leaf = Tensor(UNLIKELY[:, None], requires_grad=True)
    weights = RANDOM.normal(size=UNLIKELY[:, None].shape)
    (slope,) = grad([OPS["alignments"](leaf, **given)], [leaf], create_graph=True, dialect=FORMULAS)
    (curve,) = grad([slope], [leaf], [Tensor(weights)], allow_unused=True, dialect=FORMULAS)
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -20
        step = np.vectorize(mpmath.mpf)(weights[:, 0])
        point = np.vectorize(mpmath.mpf)(UNLIKELY)
        before, at, behind = (exactly(point + i * h * step, labels) for i in (-1, 0, 1))
        expected = float((behind - before) / (2 * h)), float((behind - 2 * at + before) / h**2)
    assert np.isclose(expected[0], np.sum(slope.array * weights), rtol=1e-12)
    assert np.isclose(expected[1], np.sum(curve.array * weights), rtol=1e-9, atol=1e-12)


def test_the_loss_of_a_long_sequence_is_finite() -> None:
    x = RANDOM.normal(size=(400, 1, 5))
    labels = [1 + i % 4 for i in range(60)]
    made = OPS["ctc_loss"](x.astype(np.float32), target=[labels], times=[400], lengths=[60], reduction="sum")
    assert 100.0 < made < 1000.0


def test_the_loss_of_a_sequence_that_is_too_short_is_infinite() -> None:
    with np.errstate(divide="ignore"):
        assert np.isposinf(OPS["alignments"](np.zeros((2, 1, 3)), target=[[1, 1]], times=[2], lengths=[2]))

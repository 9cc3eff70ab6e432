"""Cross entropies of shares, held against the sums of their definitions, term by term in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reference_impl import OPS

SCORES = [[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]]
OTHERS = [[1.0, 0.5, -1.0], [0.0, 2.0, 0.5]]
WEIGHT = [1.0, 0.5, 2.0]
LABELS = [2, 0]
SMOOTHING = 0.1


def softmax(row: list[float]) -> list[float]:
    whole = math.fsum(math.exp(x) for x in row)
    return [math.exp(x) / whole for x in row]


def mixed(shares: list[float]) -> list[float]:
    return [(1 - SMOOTHING) * share + SMOOTHING / len(shares) for share in shares]


HARD = [mixed([float(c == label) for c in range(3)]) for label in LABELS]
SOFT = [mixed(softmax(row)) for row in OTHERS]


def weighed_by_class(shares: list[list[float]]) -> list[float]:
    rows = zip(shares, map(softmax, SCORES), strict=True)
    return [-math.fsum(w * t * math.log(p) for w, t, p in zip(WEIGHT, row, of, strict=True)) for row, of in rows]


def weights(shares: list[list[float]]) -> list[float]:
    return [math.fsum(w * t for w, t in zip(WEIGHT, row, strict=True)) for row in shares]


def weighed_by_sample(shares: list[list[float]]) -> list[float]:
    rows = zip(shares, map(softmax, SCORES), weights(shares), strict=True)
    return [-whole * math.fsum(t * math.log(p) for t, p in zip(row, of, strict=True)) for row, of, whole in rows]


def reduced(terms: list[float], reduction: str, count: float) -> list[float] | float:
    return terms if reduction == "none" else math.fsum(terms) / (count if reduction == "mean" else 1)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_smoothed_labels_are_weighed_by_class_and_averaged_over_the_weights_of_the_labels(reduction: str) -> None:
    wanted = reduced(weighed_by_class(HARD), reduction, sum(WEIGHT[label] for label in LABELS))
    made = OPS["cross_entropy_smoothed"](np.array(SCORES), target=LABELS, weight=WEIGHT, label_smoothing=SMOOTHING, reduction=reduction)
    assert np.allclose(wanted, made, rtol=1e-14)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_soft_labels_are_weighed_by_class_and_averaged_over_the_samples(reduction: str) -> None:
    wanted = reduced(weighed_by_class(SOFT), reduction, len(SCORES))
    made = OPS["cross_entropy_distilled"](
        np.array(SCORES), np.array(OTHERS), weight=WEIGHT, label_smoothing=SMOOTHING, reduction=reduction
    )
    assert np.allclose(wanted, made, rtol=1e-14)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_paddle_weighs_samples_by_their_shares_and_averages_over_these_weights(reduction: str) -> None:
    attrs = {"weight": WEIGHT, "label_smoothing": SMOOTHING, "reduction": reduction}
    hard = OPS["cross_entropy_smoothed_of_samples"](np.array(SCORES), target=LABELS, **attrs)
    soft = OPS["cross_entropy_distilled_of_samples"](np.array(SCORES), np.array(OTHERS), **attrs)
    for shares, made in ((HARD, hard), (SOFT, soft)):
        assert np.allclose(reduced(weighed_by_sample(shares), reduction, sum(weights(shares))), made, rtol=1e-14)


def test_classes_of_images_lie_along_the_axis_1() -> None:
    x = np.array(SCORES).T[None]
    attrs = {"weight": WEIGHT, "label_smoothing": SMOOTHING, "reduction": "none"}
    for form in ("cross_entropy_smoothed", "cross_entropy_smoothed_of_samples"):
        flat = OPS[form](np.array(SCORES), target=LABELS, **attrs)
        assert np.allclose([flat], OPS[form](x, target=[LABELS], **attrs), rtol=1e-15)

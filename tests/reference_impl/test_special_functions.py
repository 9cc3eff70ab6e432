"""Special functions, losses of probabilities, and spectra of windows against their definitions, by other means than their forwards."""

from __future__ import annotations

import cmath
import math

import mpmath
import numpy as np
import pytest

from reference_impl import OPS

RANDOM = np.random.default_rng(0)
PLACES = [0.0, 1e-300, 1e-9, 0.01, 0.25, 0.636, 0.637, 1.0, 2.5, 20.0, 1e5 + 0.25]


def at(op: str, x: float, **attrs: int) -> float:
    return float(OPS[op](np.array([x]), **attrs)[0])


@pytest.mark.parametrize("x", PLACES)
@pytest.mark.parametrize("order", range(5))
def test_derivatives_of_the_cardinal_sine_are_moments_of_cosines(order: int, x: float) -> None:
    # The cardinal sine is the mean of cos(pi x t) over 0 < t < 1, so its derivatives are means of its derivatives.
    with mpmath.workdps(30):
        if x:
            wanted = float(mpmath.taylor(lambda t: mpmath.sinc(mpmath.pi * t), x, order)[order] * mpmath.factorial(order))
        else:
            wanted = 0.0 if order % 2 else (-1) ** (order // 2) * math.pi**order / (order + 1)
    found = at("sinc_slope", x, order=order) if order else at("sinc", x)
    assert abs(found - wanted) <= 1e-14 * (math.pi**order + abs(wanted))


@pytest.mark.parametrize(("x", "wanted"), [(1e308, 0.0), (math.inf, math.nan), (math.nan, math.nan)])
def test_the_cardinal_sine_has_a_value_wherever_the_sine_has_one(x: float, wanted: float) -> None:
    assert np.array_equal([wanted], [at("sinc", x)], equal_nan=True) or abs(at("sinc", x)) < 1e-300


@pytest.mark.parametrize("x", [1e-300, 1e-9, 0.1, 0.4999, 0.5001, 0.9, 1 - 1e-9, 1 - 2.0**-53])
def test_the_inverse_of_the_error_function_is_that_of_mpmath(x: float) -> None:
    with mpmath.workdps(40):
        wanted = float(mpmath.erfinv(mpmath.mpf(x)))
    assert abs(at("erfinv", x) / wanted - 1) < 4e-16
    assert at("erfinv", -x) == -at("erfinv", x)


@pytest.mark.parametrize(("x", "wanted"), [(1.0, math.inf), (-1.0, -math.inf), (1.5, math.nan), (math.nan, math.nan), (0.0, 0.0)])
def test_the_inverse_of_the_error_function_ends_at_one(x: float, wanted: float) -> None:
    assert np.array_equal([wanted], [at("erfinv", x)], equal_nan=True)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_a_cross_entropy_of_probabilities_is_the_sum_over_both_classes(reduction: str) -> None:
    x, target, weight = [0.25, 0.5, 0.875], [1.0, 0.0, 0.25], [2.0, 0.5, 1.0]
    terms = [-w * (t * math.log(p) + (1 - t) * math.log(1 - p)) for p, t, w in zip(x, target, weight, strict=True)]
    wanted = terms if reduction == "none" else sum(terms) / (3 if reduction == "mean" else 1)
    for op in ("binary_cross_entropy", "binary_cross_entropy_of_terms"):
        assert np.allclose(wanted, OPS[op](np.array(x), target=target, weight=weight, reduction=reduction), rtol=1e-15)


def test_no_logarithm_of_a_probability_is_less_than_minus_100() -> None:
    assert [100.0, 0.0] == OPS["entropy"](np.array([0.0, 0.0]), target=[1.0, 0.0]).tolist()


@pytest.mark.parametrize("weights", [[0.25], [0.25, 2.0, -1.0]])
def test_a_parametric_relu_multiplies_what_is_not_positive_by_the_weight_of_its_channel(weights: list[float]) -> None:
    x = RANDOM.normal(size=(2, 3, 2))
    of = [weights[k % len(weights)] for k in range(3)]
    wanted = [[[v if v > 0 else of[k] * v for v in row] for k, row in enumerate(sample)] for sample in x.tolist()]
    assert wanted == OPS["prelu"](x, np.array(weights)).tolist()


def test_dropout_without_chance_keeps_scales_or_drops_all() -> None:
    x = np.array([1.0, -2.0, math.inf])
    assert x.tolist() == OPS["dropout_eval"](x, p=0.25).tolist()
    assert (0.75 * x).tolist() == OPS["dropout_downscaled"](x, p=0.25).tolist()
    assert [0.0] * 3 == OPS["dropout_all"](x).tolist()


@pytest.mark.parametrize("onesided", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_the_spectra_of_windows_are_sums_of_their_definition(normalized: bool, onesided: bool) -> None:
    x, window, hop = RANDOM.normal(size=7), RANDOM.normal(size=4), 2
    starts = range(0, len(x) - 3, hop)
    scale = 0.5 if normalized else 1.0
    wanted = [
        [scale * sum(window[n] * x[start + n] * cmath.exp(-2j * math.pi * k * n / 4) for n in range(4)) for start in starts]
        for k in range(3 if onesided else 4)
    ]
    found = OPS["stft"](x, window, hop_length=hop, normalized=normalized, onesided=onesided)
    assert np.allclose(wanted, found, rtol=1e-14, atol=1e-14)

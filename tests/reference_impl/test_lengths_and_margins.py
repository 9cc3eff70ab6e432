"""Lengths, signs, windows of powers, margins and incomplete gamma functions against their definitions, by other means."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest

from reference_impl import OPS

RANDOM = np.random.default_rng(14)
NUMBERS = [0.0, -0.0, 1.5, -2.0, 1e-300, 1e300, math.inf, -math.inf, math.nan]


def drawn(*shape: int) -> Any:
    return RANDOM.normal(size=shape)


def slopes(op: str, *operands: Any, **attrs: Any) -> list[Any]:
    """Return what the rules of an op make of ones."""
    arrays = [np.asarray(x, dtype=np.float64) for x in operands]
    made: Any = OPS[op]
    with np.errstate(all="ignore"):
        out = made(*arrays, **attrs)
        return [made.rule(i)(np.ones_like(out), out, *arrays, **attrs) for i in range(len(arrays))]


@pytest.mark.parametrize(("x", "y"), list(itertools.product(NUMBERS[:8], repeat=2)))
def test_a_length_is_the_root_of_the_sum_of_squares_in_numbers_without_a_range(x: float, y: float) -> None:
    wanted = float(mpmath.hypot(mpmath.mpf(x), mpmath.mpf(y)))
    assert OPS["hypot"](np.array(x), np.array(y)) == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize(("x", "y", "wanted"), [(3e300, 4e300, 0.6), (3e-300, 4e-300, 0.6), (math.inf, 1.0, 1.0), (0.0, 0.0, 0.0)])
def test_the_slope_of_a_length_is_a_cosine_wherever_there_is_one_and_0_at_the_origin(x: float, y: float, wanted: float) -> None:
    assert slopes("hypot", x, y)[0] == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize("op", ["copysign", "copysign_by_quotient"])
@pytest.mark.parametrize(("x", "y"), list(itertools.product(NUMBERS, repeat=2)))
def test_a_copied_sign_is_that_of_its_bit(op: str, x: float, y: float) -> None:
    wanted = math.copysign(x, y)
    assert np.array_equal(OPS[op](np.array(x), np.array(y)), wanted, equal_nan=True)
    if not math.isnan(x):
        slope = 0.0 if x == 0 else math.copysign(1.0, x) * math.copysign(1.0, y)
        assert [slope, 0.0] == [float(s) for s in slopes(op, x, y)]


def test_a_positive_of_a_number_is_the_number() -> None:
    x = drawn(3)
    assert OPS["positive"](x) is x


@pytest.mark.parametrize("op", ["lp_pool2d", "lp_pool2d_of_means"])
@pytest.mark.parametrize("p", [1.0, 1.5, 3.0])
def test_a_pooled_power_is_the_norm_of_each_window(op: str, p: float) -> None:
    x = np.abs(drawn(2, 1, 4, 3))
    found = OPS[op](x, p=p, kernel=[2, 2], stride=[2, 1])
    for (i, row), (j, column) in itertools.product(enumerate((0, 2)), enumerate((0, 1))):
        window = x[:, :, row : row + 2, column : column + 2].reshape(2, 1, 4)
        assert np.allclose(np.linalg.norm(window, p, axis=-1), found[:, :, i, j], rtol=1e-14)


@pytest.mark.parametrize("op", ["lp_pool1d", "lp_pool1d_of_means"])
def test_a_pooled_square_is_the_length_of_each_window_whatever_the_signs(op: str) -> None:
    x = drawn(1, 2, 5)
    wanted = [np.linalg.norm(x[..., k : k + 3], axis=-1) for k in (0, 2)]
    assert np.allclose(np.stack(wanted, -1), OPS[op](x, p=2.0, kernel=[3], stride=[2]), rtol=1e-14)


@pytest.mark.parametrize("op", ["lp_pool1d_ceil", "lp_pool1d_ceil_of_means"])
def test_a_window_that_ends_behind_the_last_place_has_the_norm_of_what_is_in_it(op: str) -> None:
    found = OPS[op](np.array([[[1.0, 2.0, 3.0, 4.0, 5.0]]]), p=2.0, kernel=[2], stride=[2])
    assert np.allclose([[[math.sqrt(5.0), 5.0, 5.0]]], found, rtol=1e-15)


@pytest.mark.parametrize("op", ["lp_pool2d_ceil", "lp_pool2d_ceil_of_means"])
def test_a_window_that_ends_behind_both_axes_has_the_norm_of_what_is_in_it(op: str) -> None:
    x = np.abs(drawn(1, 2, 4, 5))
    found = OPS[op](x, p=3.0, kernel=[2, 3], stride=[3, 2])
    for (i, row), (j, column) in itertools.product(enumerate((0, 3)), enumerate((0, 2))):
        window = x[:, :, row : row + 2, column : column + 3].reshape(1, 2, -1)
        assert np.allclose(np.linalg.norm(window, 3, axis=-1), found[:, :, i, j], rtol=1e-14)


@pytest.mark.parametrize(("length", "kernel", "starts"), [(4, 2, [0, 2]), (5, 1, [0, 4])])
def test_regions_in_three_dimensions_are_those_along_each_axis(length: int, kernel: int, starts: list[int]) -> None:
    x = drawn(1, 1, length, length, length)
    found = OPS["fractional_max_pool3d"](x, kernel=[kernel] * 3, size=[2] * 3, sample=0.37)
    for at in itertools.product(range(2), repeat=3):
        region = tuple(slice(starts[i], starts[i] + kernel) for i in at)
        assert found[(0, 0, *at)] == x[(0, 0, *region)].max()


@pytest.mark.parametrize("op", ["multi_margin_loss", "multi_margin_loss_of_parts"])
@pytest.mark.parametrize("weight", [None, [0.5, 2.0, 1.0, 3.0]])
@pytest.mark.parametrize("p", [1, 2])
def test_a_margin_of_one_class_is_a_mean_over_the_others(op: str, p: int, weight: list[float] | None) -> None:
    x, target, margin = drawn(3, 4), [2, 0, 2], 0.75
    wanted = [
        (1.0 if weight is None else weight[t]) * sum(max(0.0, margin - row[t] + row[j]) ** p for j in range(4) if j != t) / 4
        for row, t in zip(x.tolist(), target, strict=True)
    ]
    for reduction, of in (("none", list), ("sum", sum), ("mean", lambda terms: sum(terms) / 3)):
        found = OPS[op](x, target=target, p=p, margin=margin, weight=weight, reduction=reduction)
        assert np.allclose(of(wanted), found, rtol=1e-14, atol=1e-15)  # type: ignore[operator]


@pytest.mark.parametrize("op", ["multilabel_margin_loss", "multilabel_margin_loss_of_parts"])
def test_a_margin_of_several_classes_ends_at_the_first_that_is_none(op: str) -> None:
    x, target = drawn(3, 4), [[3, 0, -1, 1], [-1, 2, 1, 0], [2, 1, 0, 3]]
    wanted = []
    for row, listed in zip(x.tolist(), target, strict=True):
        own = listed[: listed.index(-1)] if -1 in listed else listed
        wanted.append(sum(max(0.0, 1.0 - row[j] + row[i]) for j in own for i in range(4) if i not in own) / 4)
    assert np.allclose(wanted, OPS[op](x, target=target, reduction="none"), rtol=1e-14)


@pytest.mark.parametrize("a", [0.25, 0.5, 1.0, 2.0, 7.5])
@pytest.mark.parametrize("x", [1e-12, 1e-3, 0.4, 1.9, 2.1, 8.0, 40.0, 600.0])
def test_incomplete_gamma_functions_are_those_of_mpmath(x: float, a: float) -> None:
    with mpmath.workdps(40):
        below = float(mpmath.gammainc(a, 0, x, regularized=True))
        above = float(mpmath.gammainc(a, x, mpmath.inf, regularized=True))
    assert OPS["gammainc"](np.array(x), a=a) == pytest.approx(below, rel=1e-15)
    assert OPS["gammaincc"](np.array(x), a=a) == pytest.approx(above, rel=1e-15)


@pytest.mark.parametrize(("x", "below"), [(0.0, 0.0), (math.inf, 1.0), (1e300, 1.0), (-1.0, math.nan), (math.nan, math.nan)])
def test_incomplete_gamma_functions_have_their_limits_and_nothing_below_0(x: float, below: float) -> None:
    found = [float(OPS[op](np.array(x), a=1.5)) for op in ("gammainc", "gammaincc")]
    assert np.array_equal([below, 1.0 - below], found, equal_nan=True)

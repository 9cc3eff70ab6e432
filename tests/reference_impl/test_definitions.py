"""Values of ops against their definitions: transforms, orders, spreads and functions of numbers, by other means than their forwards."""

from __future__ import annotations

import cmath
import itertools
import math
import operator
import statistics
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import pytest

from reference_impl import OPS, Tensor, grad

if TYPE_CHECKING:
    from collections.abc import Callable

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(3, 4, 2))
Z = RANDOM.normal(size=(3, 4, 2)) + 1j * RANDOM.normal(size=(3, 4, 2))
NORMS = ("backward", "ortho", "forward")
CLOSE = 1e-13


def close(expected: Any, actual: Any, bound: float = CLOSE) -> bool:
    return np.shape(expected) == np.shape(actual) and bool(np.allclose(expected, actual, rtol=bound, atol=bound))


# Transforms.


def transformed(x: Any, sign: int) -> Any:
    """Sum the definition over all axes, in Python's numbers."""
    out = np.zeros(x.shape, complex)
    for k in itertools.product(*map(range, x.shape)):
        for j in itertools.product(*map(range, x.shape)):
            turns = sum(a * b / n for a, b, n in zip(j, k, x.shape, strict=True))
            out[k] += x[j] * cmath.exp(sign * 2j * math.pi * turns)
    return out


def scale(norm: str, *, forward: bool, count: int) -> float:
    return 1 / math.sqrt(count) if norm == "ortho" else 1 / count if (norm == "forward") is forward else 1.0


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("op", "sign"), [("fftn", -1), ("ifftn", 1)])
def test_a_transform_is_the_sum_of_its_definition(op: str, sign: int, norm: str) -> None:
    expected = transformed(Z, sign) * scale(norm, forward=sign < 0, count=Z.size)
    assert close(expected, OPS[op](Z, s=None, axes=None, norm=norm))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("op", "sign"), [("rfftn", -1), ("ihfftn", 1)])
def test_a_transform_of_real_numbers_is_half_of_the_whole_one(op: str, sign: int, norm: str) -> None:
    expected = transformed(X, sign)[..., :2] * scale(norm, forward=sign < 0, count=X.size)
    assert close(expected, OPS[op](X, s=None, axes=None, norm=norm))


@pytest.mark.parametrize("length", [3, 4, 5, 8])
@pytest.mark.parametrize(("op", "sign"), [("irfft", 1), ("hfft", -1)])
def test_a_half_counts_as_the_whole_that_is_its_own_mirror_image(op: str, sign: int, length: int) -> None:
    half = RANDOM.normal(size=length // 2 + 1) + 1j * RANDOM.normal(size=length // 2 + 1)
    whole = np.array([half[k] if k < len(half) else half[length - k].conj() for k in range(length)])
    whole[0] = whole[0].real
    if length % 2 == 0:
        whole[length // 2] = whole[length // 2].real
    expected = transformed(whole, sign).real * scale("backward", forward=sign < 0, count=length)
    assert close(expected, OPS[op](half, n=length, axis=0, norm="backward"))


@pytest.mark.parametrize(("n", "given"), [(2, X[:, :2]), (6, np.pad(X, ((0, 0), (0, 2), (0, 0))))])
def test_an_axis_is_cut_or_filled_at_its_end(n: int, given: Any) -> None:
    expected = np.apply_along_axis(lambda row: transformed(row, -1), 1, given)
    assert close(expected, OPS["fft"](X, n=n, axis=1, norm="backward"))


@pytest.mark.parametrize("op", ["dft"])
def test_the_terms_of_a_transform_may_be_taken_in_the_opposite_order(op: str) -> None:
    made: Any = OPS[op]
    assert close(transformed(Z, -1), made.reordered(made.forward, Z, axes=[0, 1, 2], sign=-1))


def test_shifts_put_the_first_place_to_the_middle_and_back() -> None:
    shifted = OPS["fftshift"](np.arange(5.0), axes=[0])
    assert [3.0, 4.0, 0.0, 1.0, 2.0] == shifted.tolist()
    assert list(range(5)) == OPS["ifftshift"](shifted, axes=None).tolist()


# Orders.

ROWS = [[3.0, -1.0, 2.0, 0.5, 7.0], [1.0, 4.0, -2.0, 8.0, 0.0]]


@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_that_of_lists(descending: bool) -> None:
    assert [sorted(row, reverse=descending) for row in ROWS] == OPS["sort"](np.array(ROWS), axis=1, descending=descending).tolist()


@pytest.mark.parametrize("op", ["median", "median_min", "nanmedian"])
@pytest.mark.parametrize("length", [4, 5])
def test_medians_are_those_of_the_standard_library(op: str, length: int) -> None:
    of = statistics.median if op == "median" else statistics.median_low
    assert [of(row[:length]) for row in ROWS] == OPS[op](np.array(ROWS)[:, :length], axis=-1, keepdims=False).tolist()


def test_nan_is_a_median_unless_it_is_not_counted() -> None:
    row = np.array([1.0, np.nan, 3.0, 2.0])
    assert math.isnan(OPS["median_min"](row, axis=0, keepdims=False))
    assert float(OPS["nanmedian"](row, axis=0, keepdims=False)) == 2.0


@pytest.mark.parametrize("q", [0.0, 0.25, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("op", ["quantile", "nanquantile"])
def test_quantiles_are_those_of_numpy(op: str, q: float) -> None:
    assert close(np.quantile(ROWS, q, axis=1, keepdims=True), OPS[op](np.array(ROWS), q=q, axis=1, keepdims=True))


@pytest.mark.parametrize("q", [0.0, 0.25, 0.3, 0.5, 1.0])
def test_quantiles_without_nan_are_those_of_what_is_left_of_each_row(q: float) -> None:
    rows = np.array(
        [[math.nan, 3.0, -1.0, 2.0], [0.5, math.nan, math.nan, 4.0], [math.nan, 7.0, math.nan, math.nan], [1.0, 2.0, 4.0, 8.0]]
    )
    leaf = Tensor(rows, requires_grad=True)
    out = OPS["nanquantile"](leaf, q=q, axis=1, keepdims=False)
    assert close([np.quantile(row[~np.isnan(row)], q) for row in rows], out.array)
    (found,) = grad([out], [leaf], [Tensor(np.ones(4))])
    assert close([np.vdot(row[~np.isnan(row)], g[~np.isnan(row)]) for row, g in zip(rows, found.array, strict=True)], out.array)
    assert not found.array[np.isnan(rows)].any()


@pytest.mark.parametrize(("op", "of"), [("cummax", max), ("cummin", min)])
def test_running_extremes_are_the_extremes_up_to_each_element(op: str, of: Callable[[list[float]], float]) -> None:
    expected = [[of(row[: i + 1]) for i in range(len(row))] for row in ROWS]
    assert expected == OPS[op](np.array(ROWS), axis=1).tolist()


@pytest.mark.parametrize("op", ["cummax", "cummin"])
@pytest.mark.parametrize("axis", [0, -1])
def test_a_number_without_axes_is_its_own_running_extreme(op: str, axis: int) -> None:
    x = Tensor(np.array(2.0), requires_grad=True)
    out = OPS[op](x, axis=axis)
    assert out.array == 2.0
    assert [3.0] == [g.array for g in grad([out], [x], [Tensor(np.array(3.0))])]


def test_kthvalue_counts_from_one() -> None:
    assert [sorted(row)[1] for row in ROWS] == OPS["kthvalue"](np.array(ROWS), k=2, axis=1, keepdims=False).tolist()


# Spreads, sums and integrals.


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("axis", [None, [1], [0, -1]])
def test_spreads_are_those_of_numpy(axis: list[int] | None, unbiased: bool) -> None:
    over = None if axis is None else tuple(axis)
    assert close(np.var(X, over, ddof=int(unbiased)), OPS["var"](X, axis=axis, unbiased=unbiased, keepdims=False))
    assert close(np.std(X, over, ddof=int(unbiased)), OPS["std"](X, axis=axis, unbiased=unbiased, keepdims=False))


def test_sums_and_means_without_nan_are_those_of_numpy() -> None:
    x = np.where(X > 1, np.nan, X)
    assert close(np.nansum(x, 1), OPS["nansum"](x, axis=[1], keepdims=False))
    assert close(np.nanmean(x, (0, 2), keepdims=True), OPS["nanmean"](x, axis=[0, 2], keepdims=True))


def test_areas_are_sums_of_strips() -> None:
    y, x = X, np.cumsum(np.abs(Z), 1)
    strips = (x[:, 1:] - x[:, :-1]) * (y[:, 1:] + y[:, :-1]) / 2
    assert close(strips.sum(1), OPS["trapezoid_x"](y, x, axis=1))
    assert close(strips.cumsum(1), OPS["cumulative_trapezoid_x"](y, x, axis=1))
    even = np.broadcast_to(np.arange(4.0).reshape(4, 1) * 0.5, x.shape)
    assert close(OPS["trapezoid_x"](y, even, axis=1), OPS["trapezoid"](y, dx=0.5, axis=1))
    assert close(OPS["cumulative_trapezoid_x"](y, even, axis=1), OPS["cumulative_trapezoid"](y, dx=0.5, axis=1))


@pytest.mark.parametrize("zero", [False, True])
def test_the_gradient_of_running_products_is_the_same_with_a_zero_and_next_to_it(zero: bool) -> None:
    x, g = np.array([2.0, 0.0 if zero else 1e-9, -3.0, 0.5]), np.array([1.0, -2.0, 0.5, 4.0])
    slopes = [sum(g[j] * math.prod(np.delete(x[: j + 1], i)) for j in range(i, 4)) for i in range(4)]
    made: Any = OPS["cumprod"]
    assert close(slopes, made.rules[0](g, np.cumprod(x), x, axis=0), 1e-12)


@pytest.mark.parametrize("reach", [1.0, 400.0])
def test_logarithms_of_running_sums_and_their_slopes_keep_their_range(reach: float) -> None:
    x, g = np.array([0.5, reach, -reach, 2.0]), np.array([1.0, -2.0, 0.5, 4.0])
    out = OPS["logcumsumexp"](x, axis=0)
    assert close([float(mpmath.log(sum(mpmath.exp(v) for v in x[: i + 1]))) for i in range(4)], out)
    made: Any = OPS["logcumsumexp"]
    slopes = [sum(g[j] * math.exp(x[i] - out[j]) for j in range(i, 4)) for i in range(4)]
    assert close(slopes, made.rules[0](g, out, x, axis=0))


# What comes at places.


@pytest.mark.parametrize(
    ("op", "of"), [("scatter_reduce_amax", max), ("scatter_reduce_amin", min), ("scatter_reduce_prod", operator.mul)]
)
def test_what_comes_at_places_is_reduced_one_by_one(op: str, of: Callable[[float, float], float]) -> None:
    x, source = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(2, 3))
    index = [[0, 3, 3], [1, 1, 1]]
    expected = x.copy()
    for row, column in itertools.product(range(2), range(3)):
        place = row, index[row][column]
        expected[place] = of(expected[place], source[row, column])
    assert np.array_equal(expected, OPS[op](x, source, axis=1, index=index))


def test_an_entry_that_is_named_again_is_filled_once() -> None:
    leaves = [Tensor(np.array(numbers), requires_grad=True) for numbers in ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], 0.5)]
    filled = OPS["index_fill_tensor"](*leaves, axis=0, index=[-1, 0, 2])
    assert [[0.5, 0.5], [3.0, 4.0], [0.5, 0.5]] == filled.array.tolist()
    found = grad([filled], leaves, [Tensor(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))])
    assert [[[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]], 14.0] == [g.array.tolist() for g in found]


def test_numbers_that_tie_at_a_place_share_its_cotangent() -> None:
    leaves = [Tensor(np.array(numbers), requires_grad=True) for numbers in ([2.0, 1.0, 5.0], [2.0, 2.0, 4.0])]
    found = grad([OPS["scatter_reduce_amax"](*leaves, axis=0, index=[0, 0, 2])], leaves, [Tensor(np.array([3.0, 1.0, 1.0]))])
    assert [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]] == [g.array.tolist() for g in found]


@pytest.mark.parametrize("factors", [(2.0, 3.0, 5.0), (0.0, 3.0, 5.0), (2.0, 0.0, 0.0), (2e300, 3e10, 5e-300), (2e-300, 3e-20, 5e-10)])
@np.errstate(over="ignore", under="ignore")
def test_the_derivative_of_a_product_at_a_place_is_that_of_the_others(factors: tuple[float, ...]) -> None:
    leaves = [Tensor(np.array(numbers), requires_grad=True) for numbers in (factors[:1], factors[1:])]
    found = grad([OPS["scatter_reduce_prod"](*leaves, axis=0, index=[0, 0])], leaves, [Tensor(np.array([7.0]))], create_graph=True)
    others = [7.0 * math.prod(factors[:i] + factors[i + 1 :]) for i in range(3)]
    assert others == pytest.approx([number for g in found for number in g.array.tolist()], rel=1e-15)
    seconds = grad([found[1]], leaves[:1], [Tensor(np.array([1.0, 0.0]))])
    assert 7.0 * factors[2] == pytest.approx(seconds[0].array.item(), rel=1e-15)


# Divergences.


@pytest.mark.parametrize(("reduction", "share"), [("none", 1.0), ("mean", 1 / 24), ("sum", 1.0), ("batchmean", 1 / 3)])
def test_a_divergence_of_logarithms_is_that_of_the_probabilities(reduction: str, share: float) -> None:
    logs = -np.abs(RANDOM.normal(size=X.shape))
    terms = share * np.array([t * (math.log(t) - x) for x, t in zip(X.ravel(), np.exp(logs).ravel(), strict=True)]).reshape(X.shape)
    found = OPS["kl_div_of_logs"](X, target=logs.tolist(), reduction=reduction)
    assert close(terms if reduction == "none" else np.sum(terms), found)


@pytest.mark.parametrize("form", ["", "_of_terms"])
def test_losses_in_a_target_are_those_of_a_target_that_is_an_attribute(form: str) -> None:
    shares = np.exp(-np.abs(RANDOM.normal(size=X.shape)))
    others = np.exp(-np.abs(RANDOM.normal(size=X.shape)))
    weights = {"weight": others.tolist(), "reduction": "mean"}
    for op, x, y, attrs in (
        ("kl_div", X, shares, {"reduction": "batchmean"}),
        ("kl_div_of_logs", X, np.log(shares), {"reduction": "none"}),
        ("binary_cross_entropy", others, shares, weights),
        ("binary_cross_entropy_with_logits", X, shares, {"pos_weight": others.tolist(), **weights}),
        ("binary_cross_entropy_with_logits", X, shares, {"pos_weight": None, **weights}),
    ):
        assert close(OPS[op](x, target=y.tolist(), **attrs), OPS[f"{op}_in_target{form}"](x, y, **attrs))


def test_no_share_of_a_target_adds_nothing_to_a_divergence() -> None:
    for op in ("kl_div_in_target", "kl_div_in_target_of_terms"):
        assert OPS[op](np.array([-2.0]), np.array([0.0]), reduction="sum") == 0.0


# Borders.


@pytest.mark.parametrize(
    ("op", "read"),
    [
        ("pad_reflect", lambda i, n: abs(i) if i < n else 2 * (n - 1) - i),
        ("pad_replicate", lambda i, n: min(max(i, 0), n - 1)),
        ("pad_circular", lambda i, n: i % n),
    ],
)
@pytest.mark.parametrize(("before", "after"), [([1, 2], [2, 0]), ([3], [1]), ([0, 0], [0, 1])])
def test_a_border_is_read_place_by_place(op: str, read: Callable[[int, int], int], before: list[int], after: list[int]) -> None:
    x = RANDOM.normal(size=(1, 2, 3, 4))
    expected = x
    for axis, (front, behind) in enumerate(zip(before, after, strict=True), x.ndim - len(before)):
        length = x.shape[axis]
        expected = np.stack([np.take(expected, read(i, length), axis) for i in range(-front, length + behind)], axis)
    assert np.array_equal(expected, OPS[op](x, before=before, after=after))


# Parts of numbers.


@pytest.mark.parametrize(("op", "of"), [("atan2", math.atan2)])
def test_a_function_of_two_numbers_is_that_of_the_standard_library(op: str, of: Callable[[float, float], float]) -> None:
    x, y = [1.0, -2.0, 0.0, 1e200], [-0.5, 3.0, -1.0, 1e200]
    assert close([of(a, b) for a, b in zip(x, y, strict=True)], OPS[op](np.array(x), np.array(y)))


def test_a_number_is_scaled_by_powers_of_two_one_by_one_and_so_is_its_cotangent() -> None:
    x, exponent = np.array([[1.5], [-3.0]]), [[-2, 0, 5], [3, -1, 1]]
    leaf = Tensor(x, requires_grad=True)
    out = OPS["ldexp"](leaf, exponent=exponent)
    assert [[math.ldexp(a, e) for e in row] for (a,), row in zip(x.tolist(), exponent, strict=True)] == out.array.tolist()
    assert [[33.25], [10.5]] == grad([out], [leaf], [Tensor(np.ones((2, 3)))])[0].array.tolist()
    assert np.array_equal(out.array, OPS["ldexp_of_parts"](x, exponent=exponent))


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.1), (-0.5, 0.1), (7.3, -0.1), (-1e-320, 3.0), (1e300, 1e-300), (-4.0, -4.0)])
def test_a_remainder_and_its_slope_are_those_of_exact_fractions(a: float, b: float) -> None:
    times = Fraction(a) // Fraction(b)
    x, y = (Tensor(np.array([one]), requires_grad=True) for one in (a, b))
    out = OPS["remainder"](x, y)
    assert [float(Fraction(a) - times * Fraction(b))] == out.array.tolist()
    assert times > 1e300 or [[1.0], [float(-times)]] == [g.array.tolist() for g in grad([out], [x, y])]


def test_what_is_no_number_is_replaced() -> None:
    x = np.array([1.0, math.nan, math.inf, -math.inf])
    assert [1.0, 0.5, 7.0, -8.0] == OPS["nan_to_num"](x, nan=0.5, posinf=7.0, neginf=-8.0).tolist()


@pytest.mark.parametrize("x", [1e-12, 0.1, 0.5, 0.999])
def test_logit_is_the_logarithm_of_odds(x: float) -> None:
    assert close(float(mpmath.log(mpmath.mpf(x) / (1 - mpmath.mpf(x)))), OPS["logit"](np.array(x)))

"""Scalar functions at special points against arbitrary precision: what is finite mathematically is finite, and right."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import pytest

from reference_impl import OPS, Tensor, grad

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS = (
    -1e150,
    -1e3,
    -745.0,
    -90.0,
    -30.0,
    -6.0,
    -1.0,
    -1e-30,
    0.0,
    1e-310,
    1e-30,
    0.5,
    1.0,
    6.0,
    19.0,
    30.0,
    90.0,
    700.0,
    1e3,
    1e150,
)
SLACK = 1e-7
DIGITS = 1200


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], dict[str, Any], bool]] = {
    "exp": (mpmath.exp, {}, False),
    "log": (mpmath.log, {}, True),
    "sqrt": (mpmath.sqrt, {}, True),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), {}, True),
    "tanh": (mpmath.tanh, {}, False),
    "sigmoid": (_sigmoid, {}, False),
    "silu": (lambda x: x * _sigmoid(x), {}, False),
    "gelu": (lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2, {}, False),
    "gelu_tanh": (lambda x: x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3))), {}, False),
    "erf": (mpmath.erf, {}, False),
    "pow_scalar": (lambda x: x**3, {"exponent": 3.0}, False),
    "square": (lambda x: x**2, {}, False),
    "soft_margin": (lambda x: mpmath.log(1 + mpmath.exp(x)), {"target": [-1.0]}, False),
    "soft_margin_by_sum": (lambda x: mpmath.log(1 + mpmath.exp(-x)), {"target": [1.0]}, False),
    "logistic_entropy": (lambda x: mpmath.log(1 + mpmath.exp(x)) - x / 4, {"target": [0.25], "pos_weight": None}, False),
}


def _exact(function: Callable[[Any], Any], x: float, order: int) -> float:
    with mpmath.workdps(DIGITS):
        at = mpmath.mpf(x)
        h = (abs(at) or 1) * mpmath.mpf(10) ** -100
        if order == 0:
            return float(function(at))
        if order == 1:
            return float((function(at + h) - function(at - h)) / (2 * h))
        return float((function(at + h) - 2 * function(at) + function(at - h)) / h**2)


@pytest.mark.parametrize(("op", "order"), list(itertools.product(FUNCTIONS, (0, 1, 2))))
def test_what_is_finite_mathematically_is_finite_and_right(op: str, order: int) -> None:
    function, attrs, positive = FUNCTIONS[op]
    for x in POINTS:
        if (positive and x <= 0) or (op in ("gelu", "gelu_tanh", "erf") and abs(x) > 1e3):
            continue
        exact = _exact(function, x, order)
        leaf = Tensor(np.array([x]), requires_grad=True)
        with np.errstate(all="ignore"):
            out = OPS[op](leaf, **attrs)
            for _ in range(order):
                (out,) = grad([out], [leaf], [Tensor(np.ones(1))], create_graph=True)
        if np.isfinite(exact):
            eps = np.finfo(np.float64).eps
            assert abs(float(out.array[0]) - exact) <= SLACK * abs(exact) + 4 * eps * max(
                1.0, abs(x) if order == 0 else min(abs(x), 100.0)
            ), x


@pytest.mark.parametrize("x", [1e20, -1e20, 1e154, -1e300])
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_of_gelu_do_not_overflow_far_out(x: float, order: int) -> None:
    leaf = Tensor(np.array([x]), requires_grad=True)
    with np.errstate(all="ignore"):
        out = OPS["gelu"](leaf)
        for _ in range(order):
            (out,) = grad([out], [leaf], [Tensor(np.ones(1))], create_graph=True)
    assert float(out.array[0]) == (1.0 if order == 1 and x > 0 else 0.0)


@pytest.mark.parametrize(("y", "x"), [(1e200, 1.0), (1.0, 1e200), (0.0, 1e-200), (3e-200, -4e-200), (1e-300, 1e10), (1e300, 1e300)])
def test_slopes_of_an_angle_are_right_where_squares_leave_the_range(y: float, x: float) -> None:
    leaves = [Tensor(np.array([v]), requires_grad=True) for v in (y, x)]
    found = [g.array[0] for g in grad([OPS["atan2"](*leaves)], leaves)]
    a, b = map(mpmath.mpf, (y, x))
    exact = [float(b / (a**2 + b**2)), float(-a / (a**2 + b**2))]
    assert exact == pytest.approx(found, rel=1e-15, abs=5e-324)


def test_slopes_of_an_angle_vanish_at_infinity() -> None:
    leaves = [Tensor(np.array(v), requires_grad=True) for v in ([1.0, np.inf, -np.inf, np.inf], [np.inf, 1.0, 0.0, -np.inf])]
    found = grad([OPS["atan2"](*leaves)], leaves, [Tensor(np.ones(4))])
    assert [[0.0] * 4] * 2 == [g.array.tolist() for g in found]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((1e8, 1e8, 1e8), (11 / 6, 5 / 6, 1 / 3)),
        ((1.7e308, 1.7e308, 0.0), (2.0, 1.0, 0.0)),
        ((-np.inf, 0.0, 0.0), (1.0, 1.5, 0.5)),
        ((0.0, np.inf, 1.0), (1.0, 2.0, 0.0)),
        ((0.0, np.inf, np.inf), (1.0, np.nan, np.nan)),
        ((0.0, np.nan, 0.0), (np.nan, np.nan, np.nan)),
    ],
)
def test_slopes_of_logarithms_of_running_sums_are_shares_however_large_the_numbers_are(numbers: Any, expected: Any) -> None:
    leaf = Tensor(np.array(numbers), requires_grad=True)
    with np.errstate(all="ignore"):
        (found,) = grad([OPS["logcumsumexp"](leaf, axis=0)], [leaf], [Tensor(np.ones(3))])
    assert list(expected) == pytest.approx(found.array, rel=1e-15, nan_ok=True)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((1e8, 1e8, 1e8), (1 / 3, 1 / 3, 1 / 3)),
        ((1.7e308, 1.7e308, 0.0), (0.5, 0.5, 0.0)),
        ((-np.inf, 1e20, 1e20), (0.0, 0.5, 0.5)),
        ((np.inf, 0.0, -np.inf), (1.0, 0.0, 0.0)),
        ((0.0, np.inf, np.inf), (0.0, np.nan, np.nan)),
        ((-np.inf,), (1.0,)),
        ((np.inf,), (1.0,)),
        ((0.0, np.nan, 0.0), (np.nan, np.nan, np.nan)),
    ],
)
def test_slopes_of_logarithms_of_sums_are_shares_however_large_the_numbers_are(numbers: Any, expected: Any) -> None:
    leaf = Tensor(np.array(numbers), requires_grad=True)
    with np.errstate(all="ignore"):
        (found,) = grad([OPS["logsumexp"](leaf, axis=0, keepdims=False)], [leaf])
    assert list(expected) == pytest.approx(found.array, rel=1e-15, nan_ok=True)


def test_curvatures_of_logarithms_of_sums_are_those_of_the_shares_where_sums_round_to_an_element() -> None:
    leaf = Tensor(np.array([1e17, 1e17, 1e17]), requires_grad=True)
    (first,) = grad([OPS["logsumexp"](leaf, axis=0, keepdims=False)], [leaf], create_graph=True)
    (second,) = grad([OPS["getitem_int"](first, index=0)], [leaf])
    assert [2 / 9, -1 / 9, -1 / 9] == pytest.approx(second.array, rel=1e-15)


@pytest.mark.parametrize("numbers", [(1e200, 2e200, 4e200), (1e-200, 2e-200, 4e-200), (1e308, 1e308, -1e308), (0.0, 1.7e308, 1.7e308)])
def test_a_deviation_and_its_slopes_keep_to_the_range_of_the_numbers(numbers: tuple[float, ...]) -> None:
    leaf = Tensor(np.array(numbers), requires_grad=True)
    with np.errstate(over="ignore"):
        out = OPS["std"](leaf, axis=[0], unbiased=False, keepdims=False)
        (found,) = grad([out], [leaf])
    apart = [mpmath.mpf(x) - mpmath.fsum(numbers) / 3 for x in numbers]
    spread = mpmath.sqrt(mpmath.fsum(d**2 for d in apart) / 3)
    assert float(spread) == pytest.approx(out.array, rel=1e-15)
    assert [float(d / (3 * spread)) for d in apart] == pytest.approx(found.array, rel=1e-14)


NORMS = {
    "layer_norm_noaffine": ((1, 3), {"axes": 1}, 0),
    "group_norm_noaffine": ((1, 3), {"groups": 1}, 0),
    "instance_norm": ((1, 1, 3), {}, 1),
    "batch_norm_train": ((3, 1), {}, 1),
}
"""In which shape three numbers are normalized together, the attributes, and how many weights and biases there are."""


@pytest.mark.parametrize("op", NORMS)
@pytest.mark.parametrize(
    "numbers",
    [
        (-1.0, -1.0, 1.0),
        (1.0, 1.0, 1.0),
        (0.0, 1.0, 1.0),
        (1.0, 0.5, 0.25),
        (2.0**-300, 0.0, -(2.0**-298)),
        (2.0**-1000, -(2.0**-999), 2.0**-999),
    ],
)
def test_a_normalization_does_not_depend_on_the_unit_of_the_numbers(op: str, numbers: tuple[float, ...]) -> None:
    shape, attrs, parameters = NORMS[op]
    largest, eps, seeds = np.finfo(np.float64).max, 0.001, (1.0, -0.5, 2.0)
    x = [mpmath.mpf(n * largest) for n in numbers]
    leaf = Tensor(np.array(numbers).reshape(shape) * largest, requires_grad=True)
    given = [Tensor(np.full(1, float(fill))) for fill in (1, 0)][: 2 * parameters]
    with np.errstate(over="ignore"):
        out = OPS[op](leaf, *given, eps=eps, **attrs)
        (found,) = grad([out], [leaf], [Tensor(np.array(seeds).reshape(shape))])
    apart = [n - mpmath.fsum(x) / 3 for n in x]
    spread = mpmath.sqrt(mpmath.fsum(d**2 for d in apart) / 3 + mpmath.mpf(eps))
    normal = [d / spread for d in apart]
    mean, along = mpmath.fsum(seeds) / 3, mpmath.fsum(s * n for s, n in zip(seeds, normal, strict=True)) / 3
    exact = [(s - mean - n * along) / spread for s, n in zip(seeds, normal, strict=True)]
    assert list(map(float, normal)) == pytest.approx(out.array.ravel(), rel=1e-14)
    assert list(map(float, exact)) == pytest.approx(found.array.ravel(), rel=1e-13, abs=1e-15 * float(1 / spread))


@pytest.mark.parametrize(
    ("factors", "gradient"),
    [((2.0, 3.0, np.inf), (np.inf, np.inf, 6.0)), ((1e200, 1e200), (1e200, 1e200)), ((1e-200, 1e-200), (1e-200, 1e-200))],
)
def test_gradient_of_a_running_product_is_the_product_of_the_others(factors: Any, gradient: Any) -> None:
    leaf = Tensor(np.array(factors), requires_grad=True)
    with np.errstate(over="ignore"):
        products = OPS["cumprod"](leaf, axis=0)
        (found,) = grad([OPS["getitem_int"](products, index=-1)], [leaf])
    assert gradient == tuple(found.array)


@pytest.mark.parametrize(("factors", "gradient"), [((0.0, 2.0, 3.0), (6.0, 0.0, 0.0)), ((0.0, 0.0, 3.0), (0.0, 0.0, 0.0))])
def test_gradient_of_a_product_is_the_product_of_the_others_also_at_zeros(factors: Any, gradient: Any) -> None:
    leaf = Tensor(np.array(factors), requires_grad=True)
    found = grad([OPS["prod"](leaf, axis=0, keepdims=False)], [leaf])
    assert gradient == tuple(found[0].array)


@pytest.mark.parametrize(
    ("base", "exponent", "first", "second"), [(0.0, 0.0, 0.0, 0.0), (0.0, 2.0, 0.0, 0.0), (5e-324, 0.0, 0.0, -np.inf)]
)
def test_gradient_of_a_power_is_right_where_the_rule_is_zero_times_infinity(
    base: float, exponent: float, first: float, second: float
) -> None:
    x, y = (Tensor(np.array([v]), requires_grad=True) for v in (base, exponent))
    with np.errstate(all="ignore"):
        gx, gy = grad([OPS["pow"](x, y)], [x, y], [Tensor(np.ones(1))])
    assert first == gx.array[0]
    assert (second if np.isfinite(second) else np.log(base)) == gy.array[0]


@pytest.mark.parametrize(
    ("numbers", "q", "expected"),
    [
        ((0.0, 1.0, np.inf), 1.0, np.inf),
        ((0.0, 1.0, np.inf), 0.75, np.inf),
        ((-np.inf, 0.0, 1.0), 0.25, -np.inf),
        ((0.0, 1.0, np.inf), 0.5, 1.0),
    ],
)
def test_quantile_beside_an_infinite_number_is_the_limit(numbers: Any, q: float, expected: float) -> None:
    assert expected == OPS["quantile"](np.array(numbers), q=q, axis=0, keepdims=False)


@pytest.mark.parametrize(("numbers", "expected"), [((np.inf, 1.0), np.inf), ((-np.inf, -np.inf), -np.inf), ((-np.inf, 2.0), 2.0)])
def test_logsumexp_of_infinities_is_the_limit(numbers: Any, expected: float) -> None:
    with np.errstate(all="ignore"):
        assert expected == OPS["logsumexp"](np.array(numbers), axis=0, keepdims=False)


@pytest.mark.parametrize(
    ("logit", "target", "expected", "slope"),
    [(-np.inf, 0.0, 0.0, 0.0), (np.inf, 1.0, 0.0, 0.0), (-np.inf, 0.5, np.inf, -0.5), (np.inf, 0.0, np.inf, 1.0)],
)
def test_cross_entropy_of_an_infinite_logit_is_the_limit(logit: float, target: float, expected: float, slope: float) -> None:
    leaf = Tensor(np.array([logit]), requires_grad=True)
    with np.errstate(all="ignore"):
        out = OPS["logistic_entropy"](leaf, target=[target], pos_weight=None)
        (gradient,) = grad([out], [leaf], [Tensor(np.ones(1))])
    assert (expected, slope) == (out.array[0], gradient.array[0])


@pytest.mark.parametrize("x", [10.0, 20.0, 80.0])
def test_cross_entropy_of_logits_is_as_steep_where_the_target_is_one_as_in_the_mirror(x: float) -> None:
    slopes = []
    for logit, target in ((x, 1.0), (-x, 0.0)):
        leaf = Tensor(np.array([logit], np.float32), requires_grad=True)
        slopes += grad([OPS["logistic_entropy"](leaf, target=[target], pos_weight=None)], [leaf], [Tensor(np.ones(1, np.float32))])
    assert slopes[0].array[0] == -slopes[1].array[0] != 0


@pytest.mark.parametrize(("gate", "expected"), [(1.0, -np.inf), (-1.0, np.inf)])
def test_second_derivative_of_glu_in_its_gate_is_infinite_where_the_other_half_is(gate: float, expected: float) -> None:
    leaf = Tensor(np.array([np.inf, gate]), requires_grad=True)
    with np.errstate(all="ignore"):
        (first,) = grad([OPS["glu"](leaf, axis=0)], [leaf], [Tensor(np.ones(1))], create_graph=True)
        (second,) = grad([OPS["narrow"](first, axis=0, start=1, length=1)], [leaf], [Tensor(np.ones(1))])
    assert expected == second.array[1]

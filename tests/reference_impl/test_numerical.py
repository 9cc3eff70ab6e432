"""The oracle itself: its formulas, and whether its error bounds hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reference_impl.numerical import Estimate, Sample, derivative, line, stencil
from tests.reference_impl.directions import mixed_derivatives, taylor_slope

if TYPE_CHECKING:
    from collections.abc import Callable

ORDERS = (1, 2, 3)


@pytest.mark.parametrize(
    ("order", "expected"),
    [(1, (-0.5, 0.0, 0.5)), (2, (1.0, -2.0, 1.0))],
)
def test_three_point_stencils_are_the_textbook_ones(order: int, expected: tuple[float, ...]) -> None:
    assert expected == stencil(order, 1)


def test_five_point_stencil_of_third_order_is_the_textbook_one() -> None:
    expected = (-0.5, 1.0, 0.0, -1.0, 0.5)
    assert expected == stencil(3, 2)


@pytest.mark.parametrize("order", ORDERS)
def test_stencil_is_exact_for_polynomials_of_its_degree(order: int) -> None:
    weights = stencil(order)
    got = [math.fsum(w * i**n for w, i in zip(weights, range(-5, 6), strict=True)) for n in range(11)]
    expected = [math.factorial(order) if n == order else 0.0 for n in range(11)]
    assert got == pytest.approx(expected, rel=1e-9, abs=1e-8)


KNOWN: dict[str, tuple[Callable[[float], float], tuple[float, float, float]]] = {
    "exp": (lambda t: math.exp(0.5 + t), (math.exp(0.5),) * 3),
    "sin": (lambda t: math.sin(1.0 + t), (math.cos(1.0), -math.sin(1.0), -math.cos(1.0))),
    "pole nearby": (lambda t: 1.0 / (0.4 + t), (-1 / 0.4**2, 2 / 0.4**3, -6 / 0.4**4)),
    "cubic": (lambda t: (t + 2.0) ** 3, (12.0, 12.0, 6.0)),
    "constant": (lambda _: 3.0, (0.0, 0.0, 0.0)),
}


def _exponential(rate: float) -> Callable[[float], float]:
    return lambda t: math.exp(rate * t)


def _phi(function: Callable[[float], float]) -> Callable[[float], Sample]:
    return lambda t: Sample(function(t), abs(function(t)) + 1.0)


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("order", ORDERS)
def test_error_bound_holds(name: str, order: int) -> None:
    function, expected = KNOWN[name]
    assert derivative(_phi(function), order).agrees_with(expected[order - 1])


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("order", ORDERS)
def test_error_bound_is_small_where_the_function_is_smooth(name: str, order: int) -> None:
    assert derivative(_phi(KNOWN[name][0]), order).is_sharp(1e-6)


POLES: dict[str, Callable[[float], tuple[float, float, float, float]]] = {
    "simple": lambda x: (1 / x, -1 / x**2, 2 / x**3, -6 / x**4),
    "double": lambda x: (1 / x**2, -2 / x**3, 6 / x**4, -24 / x**5),
    "logarithm": lambda x: (math.log(abs(x)), 1 / x, -1 / x**2, 2 / x**3),
}


@pytest.mark.parametrize("kind", POLES)
@pytest.mark.parametrize("order", ORDERS)
def test_error_bound_holds_wherever_a_pole_is(kind: str, order: int) -> None:
    pole = POLES[kind]
    distances = [sign * 10.0 ** (0.02 * exponent) for exponent in range(-130, 50) for sign in (-1, 1)]
    estimates = {d: derivative(_phi(lambda t, d=d: pole(t - d)[0] if t != d else math.inf), order) for d in distances}  # type: ignore[misc]
    outside = [d for d, estimate in estimates.items() if not (math.isinf(estimate.error) or estimate.agrees_with(pole(-d)[order]))]
    assert not outside
    assert all(estimate.is_sharp(1e-5) for d, estimate in estimates.items() if abs(d) > 0.5)


@pytest.mark.parametrize("order", ORDERS)
def test_kink_near_the_point_shows_in_the_bound(order: int) -> None:
    assert not derivative(_phi(lambda t: max(t - 0.003, 0.006 - 2 * t)), order).is_sharp(1e-2)


@pytest.mark.parametrize("kinked", [lambda t: max(t, -2 * t), lambda t: t * abs(t)], ids=["slope jumps", "curvature jumps"])
def test_kink_at_the_point_shows_in_the_bound_of_some_order(kinked: Callable[[float], float]) -> None:
    assert not all(derivative(_phi(kinked), order).is_sharp(1e-2) for order in ORDERS)


def test_undefined_function_has_an_infinite_bound() -> None:
    assert math.inf == derivative(_phi(lambda _: math.nan), 1).error


def test_estimate_never_agrees_with_nan() -> None:
    assert not Estimate(0.0, math.inf).agrees_with(math.nan)


def test_mixed_derivatives_of_a_product_of_three_factors() -> None:
    def product(x: Any) -> Any:
        return x[0] * x[1] * x[2]

    directions = [[d, None] for d in 2.0 * np.eye(3)]
    found = mixed_derivatives(product, [np.array([0.3, 0.7, -1.1])], [np.array(1.5)], directions)
    expected = (1.5 * 2.0 * 0.7 * -1.1, 1.5 * 4.0 * -1.1, 1.5 * 8.0)
    assert [True] * 3 == [
        estimate.agrees_with(right) and estimate.is_sharp(1e-6) for estimate, right in zip(found, expected, strict=True)
    ]


def test_line_pairs_every_output_with_its_moving_seed() -> None:
    def two(x: Any) -> Any:
        return x, 2.0 * x

    x, d, seeds, turns = np.array([1.0, 2.0]), np.array([3.0, 5.0]), (np.array([1.0, 0.0]), np.array([0.0, 1.0])), np.ones(2)
    phi = line(two, [x], seeds, [d, None, turns])
    # At t = 1 the operand is (4, 7): <(1, 0), (4, 7)> + <(1, 2), (8, 14)>.
    assert phi(1.0).value == 4.0 + 8.0 + 28.0


@pytest.mark.parametrize("wrong_from", [1, 2, 3])
def test_taylor_slope_falls_to_the_order_of_the_first_wrong_derivative(wrong_from: int) -> None:
    phis = [_phi(_exponential(a)) for a in (0.7, -1.1)]
    values = [[a**j + 0.1 * (j == wrong_from) for j in range(4)] for a in (0.7, -1.1)]
    assert taylor_slope(phis, values) == pytest.approx(wrong_from, abs=0.3)


@pytest.mark.parametrize("order", ORDERS)
def test_taylor_slope_of_right_derivatives_is_one_more_than_their_order(order: int) -> None:
    phis = [_phi(_exponential(a)) for a in (0.7, -1.1)]
    values = [[a**j for j in range(order + 1)] for a in (0.7, -1.1)]
    assert taylor_slope(phis, values) == pytest.approx(order + 1, abs=0.1)


def test_taylor_slope_of_an_exact_expansion_is_infinite() -> None:
    assert math.inf == taylor_slope([_phi(lambda t: 1.0 + t)], [[1.0, 1.0]])

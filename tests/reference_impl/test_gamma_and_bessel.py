"""The gamma function, the Bessel functions and their derivatives, to the fourth order, against arbitrary precision."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import pytest

from reference_impl import OPS, Tensor, grad

if TYPE_CHECKING:
    from collections.abc import Callable

ORDERS = range(5)
ROUNDINGS = 8 * np.finfo(np.float64).eps
GAMMA = (1e-300, 1e-9, 0.3, 0.75, 1.0, 1 + 1e-9, 1.25, 1.4616321449683622, 2.0, 2 - 1e-9, 5.5, 19.9, 20.1, 1e10)
BELOW = (-1e-9, -0.5, -1.25, -2.4, -30.3, -100.25)
BESSEL = (0.0, 5e-324, 1e-9, 0.01, 0.3, 1.5, 5.0, 39.9, 40.1, 100.0, 709.0, -0.3, -50.0)
DAMPED = (1e-300, 1e-9, 0.3, 1.5, 5.0, 39.9, 40.1, 1e3, 1e6, 1e30, -1e-9, -0.3, -50.0)


def derived(op: str, x: float, order: int, **attrs: int) -> float:
    """Return a derivative of an op at a number, by as many reverse passes."""
    leaf = Tensor(np.array([x]), requires_grad=True)
    with np.errstate(all="ignore"):
        out = OPS[op](leaf, **attrs)
        for _ in range(order):
            (out,) = grad([out], [leaf], [Tensor(np.ones(1))], create_graph=True)
    return float(out.array[0])


def close(wanted: Any, found: float, scale: float = 0.0) -> bool:
    known = float(wanted)
    return found == known or abs(found - known) <= ROUNDINGS * (abs(known) + scale)


def bessel(n: int, x: Any, order: int) -> Any:
    """Return a derivative of ``I_n`` as the mean of its neighbours, again and again."""
    return sum(mpmath.binomial(order, j) * mpmath.besseli(abs(n - order + 2 * j), x) for j in range(order + 1)) / 2**order


@pytest.mark.parametrize("op", ["lgamma", "gammaln"])
@pytest.mark.parametrize("x", GAMMA + BELOW)
def test_the_logarithm_of_the_gamma_function_is_that_of_mpmath(op: str, x: float) -> None:
    with mpmath.workdps(40):
        wanted = mpmath.loggamma(mpmath.mpf(x)).real
    assert close(wanted, derived(op, x, 0))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("x", GAMMA)
def test_derivatives_of_the_logarithm_of_the_gamma_function_are_polygamma_functions(order: int, x: float) -> None:
    with mpmath.workdps(40):
        wanted = [mpmath.psi(order + n, mpmath.mpf(x)) for n in range(3)]
    scale = 1.0 if order == 0 else 0.0  # near its zero digamma is what its terms leave
    assert close(wanted[0], derived("lgamma", x, order + 1), scale)
    assert close(wanted[0], derived("digamma", x, order), scale)
    assert close(wanted[1], derived("polygamma", x, order, n=1))
    assert close(wanted[2], derived("polygamma", x, order, n=2))


@pytest.mark.parametrize("n", range(1, 5))
@pytest.mark.parametrize("x", BELOW)
def test_polygamma_functions_are_right_below_zero(n: int, x: float) -> None:
    with mpmath.workdps(40):
        wanted, terms = (
            mpmath.psi(n, mpmath.mpf(x)),
            mpmath.nsum(lambda k: mpmath.factorial(n) / abs(x + k) ** (n + 1), [0, mpmath.inf]),
        )
    assert close(wanted, derived("polygamma", x, 0, n=n), float(terms))


@pytest.mark.parametrize(
    ("x", "wanted"),
    [
        (0.0, (math.inf, -math.inf, math.inf, -math.inf)),
        (-0.0, (math.inf, math.inf, math.inf, math.inf)),
        (-2.0, (math.inf, math.nan, math.inf, math.nan)),
        (math.inf, (math.inf, math.inf, 0.0, 0.0)),
        (-math.inf, (math.inf, math.nan, math.nan, math.nan)),
        (math.nan, (math.nan,) * 4),
    ],
)
def test_poles_and_ends_of_the_gamma_function(x: float, wanted: tuple[float, ...]) -> None:
    found = [derived("lgamma", x, 0), derived("digamma", x, 0), derived("polygamma", x, 0, n=1), derived("polygamma", x, 0, n=2)]
    assert np.array_equal(wanted, found, equal_nan=True)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("x", BESSEL)
def test_bessel_functions_and_their_derivatives_are_those_of_mpmath(order: int, x: float) -> None:
    with mpmath.workdps(40):
        wanted = [bessel(n, mpmath.mpf(x), order) for n in range(2)]
    assert close(wanted[0], derived("i0", x, order))
    assert close(wanted[1], derived("i1", x, order))


def damped(n: int, order: int) -> Callable[[Any], Any]:
    def at(a: Any) -> Any:
        terms = (mpmath.binomial(order, j) * (-1) ** (order - j) * bessel(n, a, j) for j in range(order + 1))
        return mpmath.fsum(terms) * mpmath.exp(-a)

    return at


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("x", DAMPED)
def test_damped_bessel_functions_keep_their_digits_near_zero_and_far_out(order: int, x: float) -> None:
    # What is left of differences needs the digits that they lose: 30 for each order, at 1e30.
    with mpmath.workdps(40 + 30 * order):
        even, odd, next_even = (damped(n, k)(abs(mpmath.mpf(x))) for n, k in ((0, order), (1, order), (0, order + 1)))
    turned = math.copysign(1.0, x)
    assert close(turned**order * even, derived("i0e", x, order))
    assert close(turned ** (order + 1) * odd, derived("i1e", x, order), abs(float(even)) + abs(float(next_even)) if order else 0.0)


@pytest.mark.parametrize(
    ("op", "x", "wanted"),
    [
        ("i0", math.inf, math.inf),
        ("i0", -math.inf, math.inf),
        ("i1", -math.inf, -math.inf),
        ("i0e", -math.inf, 0.0),
        ("i1e", math.inf, 0.0),
        ("i0", math.nan, math.nan),
        ("i1e", math.nan, math.nan),
    ],
)
def test_ends_of_bessel_functions(op: str, x: float, wanted: float) -> None:
    assert np.array_equal([wanted], [derived(op, x, 0)], equal_nan=True)


@pytest.mark.parametrize(("op", "order", "wanted"), [("i0e", 1, 0.0), ("i1e", 1, 0.5), ("i1e", 2, 0.0)])
def test_at_the_kink_is_the_middle_of_both_sides(op: str, order: int, wanted: float) -> None:
    assert derived(op, 0.0, order) == wanted


@pytest.mark.parametrize("x", [1.4616, 3.0, -0.5, -2.25])
def test_polygamma_of_order_0_rounds_as_digamma_does(x: float) -> None:
    digamma: Any = OPS["digamma"]
    polygamma: Any = OPS["polygamma"]
    at, out = np.array([x]), digamma.forward(np.array([x]))
    assert digamma.error_scale(out, at).tolist() == polygamma.error_scale(out, at, n=0).tolist()


@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_multivariate_gamma_function_is_a_product_of_gamma_functions(p: int, order: int) -> None:
    x = mpmath.mpf(2.75)
    with mpmath.workdps(30):
        constant = p * (p - 1) / mpmath.mpf(4) * mpmath.log(mpmath.pi) if order == 0 else 0
        of = mpmath.loggamma if order == 0 else lambda at: mpmath.psi(order - 1, at)
        wanted = constant + mpmath.fsum(of(x - mpmath.mpf(j) / 2) for j in range(p))
    assert close(wanted, derived("multigammaln", 2.75, order, p=p), 1.0)
    assert close(wanted, derived("multigammaln_of_parts", 2.75, order, p=p), 1.0)

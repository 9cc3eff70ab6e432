"""Counterfactual exponentials of matrices; see `counterfactuals.rules`."""

from __future__ import annotations

import math
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl.primitives.arithmetic import add, mul, mul_scalar, sub
from reference_impl.primitives.exponentials import matrix_exp
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.matrices import adjoint, solve
from reference_impl.primitives.selection import where
from reference_impl.primitives.shape import cat, narrow
from reference_impl.tape.primitive import array_of, shape_of
from reference_impl.tape.rules import replaced_forward, replaced_op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule

QUOTIENTS = {"float32": (7, 3.92572478313866), "float64": (13, 5.371920351148152)}
"""By dtype the degree of the quotient of polynomials, and the norm up to which it is exact to rounding (N. J. Higham, 2005)."""


def matrices_halved_too_few_times(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have exponentials be those of matrices that were halved until their norm is below twice the bound, where it is the bound.

    Between the two the terms of the quotient cancel, so the steps in which it is computed round more than an exponential does.
    """
    yield _halved_too_few_times()
    yield replaced_op("matrix_exp_or_exp", _of_several_elements)


def _of_several_elements(right: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return an op that is the quotient, step by step; of matrices with one element Paddle takes the exponentials of elements."""
    return lambda x: right(x) if shape_of(x)[-1] == 1 else _quotient(x, *_plan(x, x.dtype.name))


@contextmanager
def _halved_too_few_times() -> Iterator[None]:
    single: list[bool] = []

    def forward(x: Any) -> Any:
        """Compute the quotient; what is asked in float64 after float32 was is the same number, for a bound, and no other quotient."""
        single.extend([True] * (x.dtype == np.float32))
        return _quotient(x, *_plan(x, "float32" if single else "float64"))

    with ExitStack() as stack:
        stack.enter_context(replaced_forward(matrix_exp, lambda _: forward))
        stack.enter_context(changed_rules(("matrix_exp",), _of_quotient))
        yield


def _plan(x: Any, dtype: str) -> tuple[int, Any]:
    """Return the degree, and for each matrix how often it is halved."""
    degree, bound = QUOTIENTS[dtype]
    return degree, np.maximum(np.floor(_octaves_above(bound, x)), 0.0)


def _octaves_above(bound: float, x: Any) -> Any:
    norms = np.abs(array_of(x)).sum(-2).max(-1)[..., None, None]
    with np.errstate(divide="ignore"):
        return np.log2(norms / bound)


def _quotient(x: Any, degree: int, halvings: Any) -> Any:
    """Return ``(V - U)^-1 (V + U)`` with the odd terms ``U`` and the even terms ``V`` of the matrices, squared as often as halved."""
    x = mul(x, np.exp2(-halvings).astype(x.dtype))
    power: Any = np.broadcast_to(np.eye(shape_of(x)[-1], dtype=x.dtype), shape_of(x))
    parts = [power, np.zeros(shape_of(x), x.dtype)]
    for k in range(1, degree + 1):
        power = matmul(power, x)
        share = math.comb(degree, k) * math.factorial(2 * degree - k) / math.factorial(2 * degree)
        parts[k % 2] = add(parts[k % 2], mul_scalar(power, other=share))
    made = solve(sub(*parts), add(*parts))
    for done in range(int(halvings.max(initial=0.0))):
        made = where(matmul(made, made), made, mask=np.broadcast_to(done < halvings, shape_of(made)))
    return made


def _of_quotient(_: Rule, __: int, g: Any, ___: Any, x: Any) -> Any:
    """Return the derivative of the same quotient, as `matrix_exp` does."""
    return _corner(_quotient(_block(g, x), *_plan(x, x.dtype.name)))


def _block(g: Any, x: Any) -> Any:
    """Return the matrix twice as large with what arrives in its corner; the corner of its exponential is the gradient."""
    turned = adjoint(x)
    return cat(cat(turned, g, axis=-1), cat(np.zeros(shape_of(x), x.dtype), turned, axis=-1), axis=-2)


def _corner(block: Any) -> Any:
    n = shape_of(block)[-1] // 2
    return narrow(narrow(block, axis=-2, start=0, length=n), axis=-1, start=n, length=n)


OF_DEGREE_EIGHTEEN = {"float32": 3.010066362817634, "float64": 1.090863719290036}
"""By dtype the norm up to which a polynomial of degree 18 is exact to rounding (Bader, Blanes, Casas, Mathematics 7, 2019)."""


def gradients_of_exponentials_squared_too_often(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of an exponential be squared as often as the larger of the matrix and what arrives asks for."""
    yield changed_rules(("matrix_exp",), _squared_too_often)


def _squared_too_often(_: Rule, __: int, g: Any, ___: Any, x: Any) -> Any:
    both, degree = _block(g, x), QUOTIENTS[x.dtype.name][0]
    halvings = np.maximum(np.ceil(_octaves_above(OF_DEGREE_EIGHTEEN[x.dtype.name], both)), 0.0)
    return _corner(_quotient(both, degree, halvings))


OF_DEGREE_EIGHT = {"float32": (5.116619363445086e-02, 5.800524627688768e-01), "float64": (3.397168839976962e-04, 4.991228871115323e-02)}
"""By dtype the norms between which a polynomial of degree 8 is exact to rounding (Bader, Blanes, Casas, Mathematics 7, 2019)."""


def degree_eight_with_a_wrong_factor(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have exponentials of single matrices of small norm be a polynomial of degree 8, in one factor of which a square is missing."""
    yield _of_wrong_factor()


@contextmanager
def _of_wrong_factor() -> Iterator[None]:
    single: list[bool] = []

    def instead(right: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def forward(x: Any) -> Any:
            single.extend([True] * (x.dtype == np.float32))
            low, high = OF_DEGREE_EIGHT["float32" if single else "float64"]
            alone = x.ndim > 1 and x.size == x.shape[-1] ** 2
            return _by_degree_eight(x) if alone and low < np.abs(x).sum(-2).max(initial=0.0) <= high else right(x)

        return forward

    with replaced_forward(matrix_exp, instead):
        yield


def _by_degree_eight(x: Any) -> Any:
    """Return the polynomial of three products; the last factor is divided by 2/3, and not by the square of that."""
    root, one = math.sqrt(177.0), np.eye(x.shape[-1], dtype=x.dtype)
    second = x @ x
    fourth = second @ ((1 + root) / 132 * x + (1 + root) / 528 * second)
    inner = (29 * root - 271) / 210 * one + 11 * (root - 1) / 840 * x + 11 * (root - 9) / 3360 * second + (89 - root) / 3360 * fourth
    return (one + x + (857 - 58 * root) / 630 * second + (2 / 3 * second + fourth) @ inner).astype(x.dtype)

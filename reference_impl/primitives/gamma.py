"""The logarithm of the gamma function and all its derivatives, and its relatives.

Each derivative is a primitive of one family, so there is one function to compute, by Stirling's series far from 0, by the recurrence
near it, and by the reflection below. It is computed in longdouble, since the terms of each of them cancel where the sum is small.
Source: the NIST Digital Library of Mathematical Functions, sections 5.4, 5.5, 5.11 and 5.15.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import Polynomial

from reference_impl.primitives.arithmetic import add, add_scalar, mul
from reference_impl.primitives.fused import fused, of_parts
from reference_impl.tape.primitive import Domain, alias, primitive

if TYPE_CHECKING:
    from collections.abc import Sequence

FAR = 20
"""From here on the series is exact to the last place of a longdouble."""
TERMS = 14
NEAR = 0.25
"""How far from 1 and 2, where the logarithm is 0, it is a sum of powers, so that its last places are right, too."""
POWERS = 32
PI = np.arccos(np.longdouble(-1.0))


@functools.cache
def _bernoulli() -> Sequence[Fraction]:
    """Return the Bernoulli numbers of even order, from the second on."""
    found = [Fraction(1)]
    for n in range(1, 2 * TERMS + 1):
        found.append(-sum((math.comb(n + 1, k) * found[k] for k in range(n)), Fraction()) / (n + 1))
    return found[2::2]


def _long(number: Fraction) -> Any:
    return np.longdouble(number.numerator) / np.longdouble(number.denominator)


def _series(y: Any, order: int) -> Any:
    """Return Stirling's series of the derivative of an order of the logarithm; ``order`` 0 is the logarithm itself."""
    if order == 0:
        out = (y - 0.5) * np.log(y) - y + np.log(2 * PI) / 2
    elif order == 1:
        out = np.log(y) - 0.5 / y
    else:
        out = (math.factorial(order - 2) * y ** (1 - order) + math.factorial(order - 1) / 2 * y**-order) * (-1.0) ** order
    for j, share in enumerate(_shares(order), start=1):
        out = out + share * y ** (1 - 2 * j - order)
    return out


@functools.cache
def _shares(order: int) -> Sequence[Any]:
    """Return the factors of the negative powers in `_series`."""
    return [
        (-1.0) ** order * _long(number * Fraction(math.factorial(2 * j + order - 2), math.factorial(2 * j)))
        for j, number in enumerate(_bernoulli(), start=1)
    ]


def _right(x: Any, order: int) -> Any:
    """Return the derivative where ``x`` is not negative: what is nearer than `FAR` is carried there, one by one."""
    count = np.where(x < FAR, np.ceil(FAR - np.where(x < FAR, x, FAR)), 0)
    out = _series(x + count, order)
    product, rest = np.ones_like(x), np.zeros_like(x)
    for k in range(int(np.max(count, initial=0))):
        taken = k < count
        step = np.where(taken, x + np.copysign(k, x), 1)  # of -0 the reciprocal is -inf
        if order == 0:
            product = product * step
        else:
            rest = rest + np.where(taken, step**-order, 0)
    return out - np.log(product) if order == 0 else out + (-1.0) ** order * math.factorial(order - 1) * rest


def _cotangent(turn: Any, order: int) -> Any:
    """Return ``pi`` times the derivative of an order of ``cot(pi x)``, a polynomial in it."""
    return PI ** (order + 1) * _in_cotangent(order)(1 / np.tan(PI * turn))


@functools.cache
def _in_cotangent(order: int) -> Polynomial:
    found = Polynomial([0, 1])
    for _ in range(order):
        found = found.deriv() * Polynomial([-1, 0, -1])
    return found


def _left(x: Any, order: int) -> Any:
    """Return the derivative where ``x`` is negative, by what it is at ``1 - x``."""
    turn = x - np.rint(x)
    if order == 0:
        return np.log(PI / np.abs(np.sin(PI * turn))) - _right(1 - x, 0)
    out = -((-1.0) ** order) * _right(1 - x, order) - _cotangent(turn, order - 1)
    return np.where(turn == 0, np.nan if order % 2 else np.inf, out)  # on either side of an odd pole lies another infinity


@functools.cache
def _taylor() -> Sequence[Any]:
    """Return the coefficients of the powers of ``x - 1`` in the logarithm."""
    one = np.ones((), np.longdouble)
    return [_right(one, k) / np.longdouble(math.factorial(k)) for k in range(1, POWERS)]


def _of_powers(d: Any) -> Any:
    out = np.zeros_like(d)
    for coefficient in reversed(_taylor()):
        out = (out + coefficient) * d
    return out


def _derivative(x: Any, order: int) -> Any:
    """Return the derivative of an order of the logarithm of the size of the gamma function."""
    wide = np.asarray(x, np.longdouble)
    with np.errstate(all="ignore"):
        negative = wide < 0
        out = _right(np.where(negative, 1, wide), order)
        if np.any(negative):
            out = np.where(negative, _left(np.where(negative, wide, -0.5), order), out)
        if order == 0:
            out = np.where(np.isinf(wide), np.inf, out)
            for zero in (1, 2):
                d = np.where(np.abs(wide - zero) < NEAR, wide - zero, 0)
                out = np.where(np.abs(wide - zero) < NEAR, _of_powers(d) + (np.log1p(d) if zero == 2 else 0), out)
        return out.astype(x.dtype)


def log_gamma(x: Any) -> Any:
    """Return the logarithm of the size of the gamma function of an array, in its dtype."""
    return _derivative(x, 0)


@primitive(ulps=8, domain={"x": Domain.POSITIVE})
def lgamma(x: Any) -> Any:
    """Logarithm of the size of the gamma function."""
    return log_gamma(x)


@lgamma.vjp("x")
def lgamma_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, digamma(x))


def _scale_of_reflected(out: Any, x: Any) -> Any:
    return np.abs(out) + 1.0 + np.abs(_derivative(np.where(np.less(x, 0), np.subtract(1, x), 1), 1))


@primitive(ulps=8, error_scale=_scale_of_reflected, domain={"x": Domain.POSITIVE})
def digamma(x: Any) -> Any:
    """Return the derivative of `lgamma`: at 0 it is minus infinity, at -0 plus infinity, and NaN at negative whole numbers."""
    return _derivative(x, 1)


@digamma.vjp("x")
def digamma_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return mul(g, polygamma(x, n=1))


def _scale_of_terms(out: Any, x: Any, *, n: int) -> Any:
    """Return the sum of the sizes of the terms ``n! / (x + k)^(n + 1)``: of a negative number those on either side of 0, or more.

    Of order 0 there is no such sum, and what is computed is `digamma`.
    """
    if n == 0:
        return _scale_of_reflected(out, x)
    if not np.any(np.less(x, 0)):
        return np.abs(out)
    part = np.subtract(x, np.floor(x))
    around = np.abs(_derivative(part, n + 1)) + np.abs(_derivative(np.subtract(1, part), n + 1))
    return np.where(np.less(x, 0), around, np.abs(out))


@primitive(ulps=8, error_scale=_scale_of_terms, domain={"x": Domain.POSITIVE})
def polygamma(x: Any, *, n: int) -> Any:
    """Return the derivative of `digamma` of the order ``n``."""
    return _derivative(x, n + 1)


@polygamma.vjp("x")
def polygamma_vjp_x(g: Any, out: Any, x: Any, *, n: int) -> Any:
    return mul(g, polygamma(x, n=n + 1))


gammaln = alias("gammaln", lgamma)


@fused(domain={"x": Domain.BEYOND_ONE})
def multigammaln(x: Any, *, p: int) -> Any:
    """Logarithm of the multivariate gamma function of dimension ``p``, of numbers above ``(p - 1) / 2``."""
    out = lgamma(x)
    for j in range(1, p):
        out = add(out, lgamma(add_scalar(x, other=-0.5 * j)))
    return add_scalar(out, other=p * (p - 1) / 4.0 * math.log(math.pi))


multigammaln_of_parts = of_parts(multigammaln)

"""Counterfactual rules of special functions: the formulas of a framework, where they are not what the function is.

See `counterfactuals.rules` for what such a rule is.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from conformance.ops.dtypes import format_of
from reference_impl.primitives.arithmetic import add, mul, mul_scalar, neg, reciprocal, rsub_scalar, sub
from reference_impl.primitives.bessel import i0, i0e, i1e
from reference_impl.primitives.elementary import SOFTPLUS_THRESHOLD, exp, logistic_slope, sigmoid, softplus, softplus_slope, tanh
from reference_impl.primitives.elementary import pow as power
from reference_impl.primitives.gamma import digamma, polygamma
from reference_impl.primitives.piecewise import inside
from reference_impl.primitives.selection import masked_fill
from reference_impl.tape.primitive import Primitive, Symbol, array_of
from reference_impl.tape.rules import replaced_forward, replaced_op, replaced_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule

FROM_HERE_STRAIGHT = 20.0
"""What Paddle takes for its own ``log(1 + e^x)``."""
EULER_MACLAURIN = (
    *(12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10, -2.950130727918164224e12),
    *(1.1646782814350067249e14, -4.5979787224074726105e15, 1.8152105401943546773e17, -7.1661652561756670113e18),
)
"""The numbers ``(2 k)! / B_2k`` of the formula of Euler and Maclaurin, for ``k`` from 1 on: the divisors of its terms."""


def products_with_numbers_never_minus_zero(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a product with a number be ``scale x + 0``, and a negative be one with -1: what is -0 is 0 then."""
    yield _plus_zero()


@contextmanager
def _plus_zero() -> Iterator[None]:
    with ExitStack() as stack:
        for op in (neg, mul_scalar):
            stack.enter_context(replaced_forward(op, lambda right: lambda x, **attrs: right(x, **attrs) + np.zeros((), x.dtype)))
        yield


def curvatures_of_softplus_differences(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the second derivative of softplus be ``beta s (1 - s)`` of the rounded ``s``, as PyTorch has it: ``1 - s`` cancels."""
    yield replaced_rule(softplus_slope, 0, lambda _: _by_difference)


def _by_difference(g: Any, _: Any, x: Any, *, beta: float) -> Any:
    curved = inside(array_of(x), low=-np.inf, high=SOFTPLUS_THRESHOLD / beta)
    return mul(mul_scalar(mul(g, curved), other=beta), logistic_slope(sigmoid(mul_scalar(x, other=beta))))


def softplus_of_rounded_sums(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have `softplus` be ``log(1 + e^(beta x)) / beta`` of the rounded sum, as Paddle has it."""
    yield _softplus_of_rounded_sums()


@contextmanager
def _softplus_of_rounded_sums() -> Iterator[None]:
    single: list[bool] = []

    def forward(x: Any, *, beta: float) -> Any:
        """Round the sum to float32 also in what is asked in a wider dtype after that, which is the same number, for a bound."""
        single.extend([True] * (x.dtype == np.float32))
        z = np.multiply(x, beta)
        total = (1.0 + np.exp(np.minimum(z, SOFTPLUS_THRESHOLD))).astype(np.float32 if single else np.float64)
        smooth = np.log(total.astype(x.dtype)) / beta
        return np.where(z > SOFTPLUS_THRESHOLD, x, smooth).astype(x.dtype)

    with replaced_forward(softplus, lambda _: forward):
        yield


def mish_of_rounded_sums(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have `mish` be ``x tanh(log(1 + e^x))`` of the rounded sum, and the slope of the logarithm ``1 - e^-log``, a difference again."""
    yield replaced_op("mish", lambda _: lambda x: mul(x, tanh(_LOGARITHM_OF_SUM(x))))


_LOGARITHM_OF_SUM = Primitive(
    lambda x: np.where(np.greater(x, FROM_HERE_STRAIGHT), x, np.log(1 + np.exp(np.minimum(x, FROM_HERE_STRAIGHT)))).astype(x.dtype),
    "logarithm_of_sum",
    error_scale=lambda out, _: 1.0 + np.abs(out),
)
_LOGARITHM_OF_SUM.rules = [lambda g, out, _: mul(g, rsub_scalar(exp(neg(out)), other=1.0))]


def slopes_of_powers_by_operands(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a power in its exponent be made of the operands, not of the result, as Paddle has it."""
    yield changed_rules(("pow",), lambda right, _, g, __, x, y: right(g, power(x, y), x, y))


def trigammas_of_a_short_series(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have polygamma of order 1 be six terms of its sum and four of its series, as PyTorch computes it."""
    yield replaced_forward(polygamma, lambda right: partial(_with_short_series, right))


def _with_short_series(right: Callable[..., Any], x: Any, *, n: int) -> Any:
    if n != 1:
        return right(x, n=n)
    left = np.less(x, 0.5)
    sine, y = np.sin(x * x.dtype.type(np.pi)), np.where(left, 1 - x, x)
    total = np.where(left, -(np.pi**2) / np.square(sine), 0)
    for _ in range(6):
        total, y = total + 1 / np.square(y), y + 1
    square = 1 / np.square(y)
    total = total + (1 + 0.5 / y + square * (1 / 6 - square * (1 / 30 - square / 42))) / y
    return np.asarray(np.where(left, -total, total)).astype(x.dtype)


def digammas_reflected_far_from_0(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have digamma of a negative number be made of the tangent of ``pi`` times its digits behind the point, as PyTorch computes it.

    Just above a whole number these digits are nearly -1, and what is rounded off ``-pi`` is much beside what is left of it.
    """
    yield _reflected_far_from_0()


@contextmanager
def _reflected_far_from_0() -> Iterator[None]:
    with (
        replaced_forward(digamma, lambda right: partial(_by_digits_behind_the_point, right)),
        replaced_forward(polygamma, lambda right: lambda x, *, n: right(x, n=n) if n else digamma.forward(x)),
    ):
        yield


def _by_digits_behind_the_point(right: Callable[..., Any], x: Any) -> Any:
    turn = np.float64(np.pi) * np.fmod(x, 1).astype(np.float64)  # in this precision, whatever the run has
    reflected = np.less(x, 0) & np.not_equal(turn, 0)
    out = right(np.where(reflected, 1 - x, x))
    return np.asarray(np.where(reflected, out - np.pi / np.tan(np.where(reflected, turn, 1)), out)).astype(x.dtype)


def trigammas_of_nine_terms(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have polygamma of order 1 of single numbers be the first ten terms of its sum and a series for the rest, as Eigen computes it.

    The series is one for the rest only where that begins far above 0.
    """
    yield replaced_forward(polygamma, lambda right: partial(_with_nine_terms, right))


def _with_nine_terms(right: Callable[..., Any], x: Any, *, n: int) -> Any:
    out = right(x, n=n)
    if n != 1 or x.dtype != np.float32:
        return out
    with np.errstate(all="ignore"):
        return np.where(np.less(x, 0) & np.not_equal(x, np.floor(x)), _trigamma_of_eigen(np.asarray(x)), out)


def _trigamma_of_eigen(x: Any) -> Any:
    def added(total: Any, term: Any, done: Any) -> tuple[Any, Any]:
        total = np.where(done, total, total + term)
        return total, done | (np.abs(term) < format_of(x.dtype).rounding(np.abs(total)) / 2)

    one = x.dtype.type(1)
    a, b = x, one / np.square(x)
    total, done = b, np.zeros(x.shape, bool)
    for _ in range(9):
        a = a + one
        b = one / np.square(a)
        total, done = added(total, b, done)
    total = np.where(done, total, total + b * a - b / 2)
    factor, k = one, 0
    for divisor in EULER_MACLAURIN:
        factor, b = factor * x.dtype.type(2 + k), b / a
        total, done = added(total, factor * b / x.dtype.type(divisor), done)
        factor, b, k = factor * x.dtype.type(3 + k), b / a, k + 2
    return total


def slopes_of_gammaln_short_series(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of gammaln be digamma by a series of five terms from 8.5 on, as Paddle computes it; it has no derivative.

    In a program, where a rule sees no numbers, every digamma is made so.
    """
    yield changed_rules(("gammaln",), _times_short_digamma)
    yield replaced_forward(digamma, lambda _: _short_digamma)


def _times_short_digamma(right: Rule, _: int, g: Any, out: Any, x: Any) -> Any:
    return right(g, out, x) if isinstance(x, Symbol) else mul(g, _short_digamma(array_of(x)))


def _short_digamma(x: Any) -> Any:
    with np.errstate(all="ignore"):
        left = np.less(x, 0)
        y = np.where(left, 1 - x, x)
        total = np.where(left, -np.pi / np.tan(np.pi * x), 0)
        for _ in range(9):
            near = np.less(y, 8.5)
            total, y = np.where(near, total - 1 / y, total), np.where(near, y + 1, y)
        r = 1 / np.square(y)
        series = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r / 132))))
        return np.asarray(total + np.log(y) - 0.5 / y - series).astype(x.dtype)


def slopes_of_bessel_differences(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have slopes of Bessel functions be differences of such functions, as both frameworks have them.

    Up to the epsilon of the dtype the slope at order 1 is a half; in PyTorch at NaN, too. In Paddle zeros have a sign.
    """
    yield _of_differences(lambda x: ~np.greater(np.abs(x), _spacing(x)), np.sign)
    yield _of_differences(lambda x: np.less_equal(np.abs(x), _spacing(x)), lambda x: np.copysign(1, x).astype(x.dtype))


def _spacing(x: Any) -> float:
    return float(format_of(x.dtype).rounding(1.0))


@contextmanager
def _of_differences(is_tiny: Callable[[Any], Any], sign: Callable[[Any], Any]) -> Iterator[None]:
    def changed(slope: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
        def rule(_: Rule, __: int, g: Any, out: Any, x: Any) -> Any:
            if isinstance(x, Symbol):  # of a program, in which there are no numbers yet; its slopes are differentiated no further
                return mul(g, Primitive(lambda out, x: slope(out, x, sign(x)), "slope")(out, x))
            with np.errstate(all="ignore"):
                return mul(g, slope(out, x, sign(array_of(x))))

        return rule

    def half_if_tiny(slope: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
        def halved(out: Any, x: Any, turned: Any) -> Any:
            tiny = is_tiny(array_of(x))
            made = slope(out, masked_fill(x, mask=tiny, value=_spacing(array_of(x))), turned)
            return masked_fill(made, mask=tiny, value=0.5)

        return halved

    slopes = {
        "i0e": lambda out, x, turned: sub(i1e(x), mul(turned, out)),
        "i1": half_if_tiny(lambda out, x, _: sub(i0(x), mul(out, reciprocal(x)))),
        "i1e": half_if_tiny(lambda out, x, turned: sub(i0e(x), mul(out, add(turned, reciprocal(x))))),
    }
    with ExitStack() as stack:
        for op, slope in slopes.items():
            stack.enter_context(changed_rules((op,), changed(slope)))
        yield

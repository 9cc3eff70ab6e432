"""Counterfactual rules of single functions: slopes as a framework writes them, where that is not what they are.

See `counterfactuals.rules` for what such a rule is.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from conformance.deviations.counterfactuals.attributes import in_front
from conformance.ops.dtypes import format_of
from reference_impl import OPS
from reference_impl.primitives.arithmetic import add, add_scalar, clone, div, mul, mul_scalar, neg, reciprocal, rsub_scalar, square, sub
from reference_impl.primitives.elementary import exp, sigmoid, silu_pulled
from reference_impl.primitives.elementwise import whole_quotient
from reference_impl.primitives.piecewise import step
from reference_impl.primitives.reduction import mean, shares_of_exponentials
from reference_impl.primitives.selection import masked_fill
from reference_impl.primitives.shape import expand, flip, reshape, sum_to
from reference_impl.primitives.statistics import logcumsumexp
from reference_impl.static.program import Variable
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.rules import replaced_forward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule

sin, cos, log, absolute = (OPS[name] for name in ("sin", "cos", "log", "abs"))


def _elements(x: Any) -> Any:
    return np.array(x)


constant = Primitive(_elements, "constant", ())
"""What it is given, as a constant: nothing flows through it. It takes the symbols of a formula too, which have no elements."""


def with_derivatives(value: Any, like: Any) -> Any:
    """Return ``value`` with the derivatives of ``like``."""
    return add(like, constant(sub(value, like)))


def quotients_rounded_twice(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have quotients in the gradients of remainder be rounded to the next number before they are rounded down."""
    yield replaced_forward(whole_quotient, lambda _: lambda x, y: np.floor(np.divide(x, y)))


def derivatives_of_weighed_kinks_one_sided(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of prelu be what they are, with the derivatives that they would have if the slope at 0 were 1."""
    yield changed_rules(("prelu",), _straight_at_zero)


def _straight_at_zero(right: Rule, position: int, g: Any, out: Any, x: Any, weight: Any) -> Any:
    value = right(g, out, x, weight)
    straight = rsub_scalar(step(neg(x), neg(x)), other=1.0)
    shared = shape_of(weight) in ((), (1,))
    spread = weight if shared else reshape(weight, shape=(-1, *(1 for _ in shape_of(x)[2:])))
    if position == 0:
        slope = add(straight, mul(rsub_scalar(straight, other=1.0), spread))
        return with_derivatives(value, reshape(mul(g, slope), shape=shape_of(x)))
    terms = sum_to(mul(g, mul(x, rsub_scalar(straight, other=1.0))), () if shared else shape_of(spread))
    return with_derivatives(value, reshape(terms, shape=shape_of(weight)))


def slopes_constant(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the slopes of ops be what they are, but constants, whatever they depend on: gradients depend on what arrives alone."""
    yield changed_rules(ops, _constant)


def _constant(right: Rule, _: int, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    return right(g, array_of(out), *map(array_of, operands), **attrs)


def slopes_constant_at_zero(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the slopes of ops of one operand be what they are, but a constant where the operand is 0, whatever it depends on."""
    yield changed_rules(ops, _constant_at_zero)


def _constant_at_zero(right: Rule, _: int, g: Any, out: Any, x: Any, **attrs: Any) -> Any:
    return right(g, out, masked_fill(x, mask=np.equal(array_of(x), 0), value=0.0), **attrs)


def slopes_of_sizes_quotients(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the slope of a size be ``x / |x|``, which is NaN where ``x`` is infinite."""
    yield changed_rules(("abs",), _nan_at_infinity)


def _nan_at_infinity(right: Rule, _: int, g: Any, out: Any, x: Any) -> Any:
    if isinstance(x, Variable):  # whose elements are not known yet
        lost = add_scalar(mul_scalar(x, other=0.0), other=1.0)
        lost.stop_gradient = True
        return mul(right(g, out, x), lost)
    return mul(right(g, out, x), np.where(np.isinf(array_of(x)), np.nan, 1.0).astype(out.dtype))


def curvatures_of_logsigmoid_differences(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the second derivative of logsigmoid be ``s (s - 1)`` of the rounded ``s``, of which the difference cancels."""
    yield changed_rules(("logsigmoid",), _less_one)


def _less_one(_: Rule, __: int, g: Any, ___: Any, x: Any) -> Any:
    return mul(g, with_derivatives(sigmoid(neg(x)), rsub_scalar(sigmoid(x), other=1.0)))


def slopes_of_sinc_differences(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the slope of sinc be a difference that cancels near 0, and 0 at 0, as a constant is, in the two ways of writing that."""
    yield changed_rules(("sinc",), partial(_sinc_rule, _over_square))
    yield changed_rules(("sinc",), partial(_sinc_rule, _of_quotient))


def slopes_of_sinc_masked_last(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have what arrives at sinc be multiplied by the slope first, and the product be 0 at 0."""
    yield changed_rules(("sinc",), _masked_last)


def _masked_last(right: Rule, _: int, g: Any, out: Any, x: Any) -> Any:
    return masked_fill(right(g, out, x), mask=np.equal(array_of(x), 0), value=0.0)


def _sinc_rule(slope: Callable[[Any], Any], _: Rule, __: int, g: Any, ___: Any, x: Any) -> Any:
    with np.errstate(all="ignore"):
        return mul(g, slope(x))


def _over_square(x: Any) -> Any:
    u, bottom = mul_scalar(x, other=math.pi), mul_scalar(square(x), other=math.pi)
    return masked_fill(div(sub(mul(u, cos(u)), sin(u)), bottom), mask=np.equal(array_of(bottom), 0), value=0.0)


def _of_quotient(x: Any) -> Any:
    zero = np.equal(array_of(x), 0)
    u = mul_scalar(masked_fill(x, mask=zero, value=1e-20), other=math.pi)
    slope = sub(div(cos(u), u), div(div(sin(u), u), u))
    return masked_fill(mul_scalar(slope, other=math.pi), mask=zero, value=0.0)


OF_SINC: dict[str, Callable[[Sequence[str]], Iterator[AbstractContextManager[Any]]]] = {
    "as if slopes of sinc were differences": slopes_of_sinc_differences,
    "as if gradients of sinc were masked last": slopes_of_sinc_masked_last,
}
"""The rules of sinc by the words that an entry uses."""


def slopes_of_angles_over_squares(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the slopes of atan2 be divided by a sum of squares, whatever that is, or multiplied by its reciprocal, which is 0 of 0."""
    yield changed_rules(("atan2",), partial(_over_squares, div))
    yield changed_rules(("atan2",), partial(_over_squares, _times_reciprocal))


def _over_squares(divided: Callable[..., Any], _: Rule, position: int, g: Any, __: Any, x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        squares = add(square(x), square(y))
        return sum_to(divided(mul(g, neg(x) if position else y), squares), shape_of(y if position else x))


def _times_reciprocal(top: Any, bottom: Any) -> Any:
    return mul(top, masked_fill(reciprocal(bottom), mask=np.equal(array_of(bottom), 0), value=0.0))


def fractions_of_two_zeros(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of ldexp be multiplied by powers of two that are whole numbers, so that 0 stands for a fraction."""
    yield changed_rules(("ldexp",), _by_whole_powers)


def _by_whole_powers(_: Rule, __: int, g: Any, ___: Any, x: Any, *, exponent: Any) -> Any:
    powers = np.where(np.less(exponent, 0), 0.0, np.ldexp(1.0, exponent))
    return sum_to(mul(g, powers.astype(array_of(x).dtype)), shape_of(x))


def shared_gradients_averaged(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of what windows are taken of be its mean along its last axis, its first, or both."""
    for axes in ([-1], [0], None):
        yield changed_rules(("tensor_unfold",), partial(_averaged, axes))


def _averaged(axes: list[int] | None, right: Rule, _: int, *given: Any, **attrs: Any) -> Any:
    made = right(*given, **attrs)
    return expand(mean(made, axis=axes, keepdims=True), shape=shape_of(made))


def gradients_of_running_sums_in_logarithms(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of logcumsumexp be made of logarithms of the seeds, of the positive and of the negative ones apart.

    Such a logarithm has no derivative at the seed 0, and a seed that is NaN is neither positive nor negative, so it is left out.
    """
    yield changed_rules(("logcumsumexp",), _in_logarithms)


def _in_logarithms(right: Rule, _: int, g: Any, out: Any, x: Any, *, axis: int) -> Any:
    if not shape_of(x) or np.iscomplexobj(array_of(x)):
        return right(g, out, x, axis=axis)

    def summed(chosen: Any) -> Any:
        taken = masked_fill(sizes, mask=~chosen, value=-format_of(array_of(g).dtype).largest)
        sums = logcumsumexp(flip(sub(taken, out), axis=axis), axis=axis)
        return exp(add(flip(sums, axis=axis), x))

    with np.errstate(all="ignore"):
        sizes = log(absolute(g))
        return sub(summed(np.greater(array_of(g), 0)), summed(np.less(array_of(g), 0)))


def repeated_entries_filled_again(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a value that fills entries of an axis count an entry as often as it is named."""
    yield changed_rules(("index_fill_tensor",), _counted)


def _counted(right: Rule, position: int, g: Any, out: Any, x: Any, value: Any, *, axis: int, index: Any) -> Any:
    if position:
        length = shape_of(x)[axis]
        times = np.bincount(np.asarray(index, dtype=int) % length, minlength=length)
        axes = [length if i == axis % len(shape_of(x)) else 1 for i in range(len(shape_of(x)))]
        g = mul(g, np.broadcast_to(times.reshape(axes), shape_of(x)).astype(array_of(g).dtype))
    return right(g, out, x, value, axis=axis, index=index)


def gradients_of_sums_in_differences(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of logsumexp be made of exponentials of the differences between elements and the result."""
    yield replaced_forward(shares_of_exponentials, lambda _: _of_a_difference)


def _of_a_difference(x: Any, total: Any, *, axis: Any) -> Any:  # noqa: ARG001 - as the forward is called
    return np.exp(np.subtract(x, total))


def running_sums_from_the_least_number(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have logcumsumexp add to the least number of the dtype, and its gradient be made of such logarithms.

    Beside that number -inf is nothing, NaN is neither more nor less than another number, and equal infinities have no difference.
    """
    yield _from_the_least_number()


@contextmanager
def _from_the_least_number() -> Iterator[None]:
    with changed_rules(("logcumsumexp",), _in_logarithms), replaced_forward(logcumsumexp, lambda _: _added_to_least):
        yield


def _added_to_least(x: Any, *, axis: int) -> Any:
    elements = np.moveaxis(x, axis, 0)
    sums, total = np.empty_like(elements), np.full(elements.shape[1:], -format_of(x.dtype).largest, x.dtype)
    for i, one in enumerate(elements):
        more, less = np.where(total < one, one, total), np.where(one < total, one, total)
        sums[i] = total = (more + np.log1p(np.exp(less - more))).astype(x.dtype)
    return np.moveaxis(sums, 0, axis)


def gradients_of_single_points_in_front(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of interpolations to one place go half a place before the first one, in the place of the middle."""
    yield changed_rules(ops, _moved_to_front)


def _moved_to_front(right: Rule, _: int, *given: Any, size: Sequence[int], align_corners: Any, **attrs: Any) -> Any:
    return right(*given, size=size, align_corners=align_corners or in_front(size), **attrs)


def exponentials_clamped(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have exponentials be taken of no less than about minus the logarithm of the largest number, where they are subnormal already."""
    yield _clamped()


@contextmanager
def _clamped() -> Iterator[None]:
    with replaced_forward(exp, _of_no_less), replaced_forward(silu_pulled, _with_such_a_tail):
        yield


LEAST_EXPONENTS = {np.dtype("float32"): -88.723, np.dtype("float64"): -709.784}
"""At which exponent the kernels of Eigen clamp, as its source has it."""


def _of_no_less(right: Callable[..., Any]) -> Callable[..., Any]:
    def forward(x: Any) -> Any:
        return right(np.maximum(x, LEAST_EXPONENTS[x.dtype]).astype(x.dtype) if x.dtype in LEAST_EXPONENTS else x)

    return forward


def _with_such_a_tail(_: Callable[..., Any]) -> Callable[..., Any]:
    """Return the gradient of `silu` with such an exponential: far out, a huge number times one that is not 0 is left of its tail."""

    def forward(g: Any, x: Any, _: Any) -> Any:
        tail = _of_no_less(np.exp)(-x)
        s = 1 / (1 + tail)
        return (g * (s * (1 + x * (tail * s)))).astype(x.dtype)

    return forward


def seeds_lost_beside_constants(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients that are appended to a program not depend on what arrives, at ops whose first operand is a constant."""
    yield changed_rules([name for name, op in OPS.items() if isinstance(op, Primitive) and len(op.operands) > 1], _without_seed)


def _without_seed(right: Rule, _: int, g: Any, out: Any, x: Any, *given: Any, **attrs: Any) -> Any:
    if isinstance(g, Variable) and (not isinstance(x, Variable) or x.stop_gradient):
        held = mul_scalar(g, other=1.0)
        held.stop_gradient = True
        cotangent = right(held, out, x, *given, **attrs)
        return clone(held) if cotangent is held else cotangent  # what arrives at an operand does not stop gradients
    return right(g, out, x, *given, **attrs)


def derivatives_of_differences_negated(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have programs negate derivatives of an op's gradients in what arrives, if the second operand has more axes than the first."""
    yield changed_rules(ops, _negated_beneath)


def _negated_beneath(right: Rule, _: int, g: Any, out: Any, x: Any, y: Any, **attrs: Any) -> Any:
    if isinstance(g, Variable) and len(shape_of(x)) < len(shape_of(y)):
        held = mul_scalar(g, other=2.0)
        held.stop_gradient = True
        g = sub(held, g)
    return right(g, out, x, y, **attrs)

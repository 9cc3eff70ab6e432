"""Counterfactual rules of normalizations.

A kernel that works backwards from a result or leaves out a mean, a formula that loses its axes, a variance that cancels.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from conformance.deviations.counterfactuals.memory import read_as_one_number, read_in_a_row
from reference_impl.primitives.arithmetic import add, add_scalar, div, mul, mul_scalar, neg, sub
from reference_impl.primitives.elementary import rsqrt
from reference_impl.primitives.nn import (
    group_norm,
    group_norm_noaffine,
    in_groups,
    of_channels,
    per_channel,
    pulled_back,
    standardized,
    unit_of,
)
from reference_impl.primitives.reduction import count_reduced, mean, numpy_axes
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.shape import reshape, transpose
from reference_impl.primitives.statistics import centred
from reference_impl.reverse.dump import undrawn
from reference_impl.tape.primitive import Primitive, Symbol, array_of, shape_of
from reference_impl.tape.rules import intercepted_rules, replaced_forward, replaced_rule
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.reverse.dump import Arrow
    from reference_impl.tape.primitive import Application
    from reference_impl.tape.rules import Pull, Pulled, Rule

OF_INPUT, OF_WEIGHT, OF_BIAS = 0, 1, 2
LANES = 8
"""How many sums Paddle's CPU kernel makes side by side."""


def normalized_from_results(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the rules of group normalizations compute the normalized numbers from the result, as ``(y - bias) / weight``.

    So they have its rounding, the larger the smaller the weight of their channel is, and are zeros where it is 0: there nothing is
    divided, and nothing is left.
    """
    yield changed_rules(ops, _from_results)


def _from_results(right: Rule, position: int, g: Any, out: Any, x: Any, weight: Any, bias: Any, *, groups: int, eps: float) -> Any:
    if position == OF_BIAS:
        return right(g, out, x, weight, bias, groups=groups, eps=eps)
    weights, biases = (reshape(operand, shape=per_channel(x)) for operand in (weight, bias))
    zero = (array_of(weights) == 0).astype(weight.dtype)
    left = sub(out, biases)
    normal = mul(div(left, add(weights, zero)), 1 - zero)
    if position == OF_WEIGHT:
        return add_up(mul(g, normal), axis=[0, *range(2, len(shape_of(x)))], keepdims=False)
    grouped, axes = in_groups(x, groups)
    arriving, normal, weighed = (reshape(part, shape=shape_of(grouped)) for part in (mul(g, weights), normal, mul(g, left)))
    along = mul(normal, mean(weighed, axis=axes, keepdims=True))
    centred_on = sub(arriving, mean(arriving, axis=axes, keepdims=True))
    return reshape(mul(sub(centred_on, along), standardized(grouped, axes, eps)[1]), shape=shape_of(x))


def statistics_of_groups_constant(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have derivatives of the gradients of the weights of group normalizations count means and deviations as constants."""
    yield changed_rules(ops, _of_constant_statistics)


def _of_constant_statistics(right: Rule, position: int, g: Any, out: Any, x: Any, *parameters: Any, groups: int, eps: float) -> Any:
    if position != OF_WEIGHT:
        return right(g, out, x, *parameters, groups=groups, eps=eps)
    grouped, axes = in_groups(x, groups)
    known = array_of(grouped)
    normal = mul(sub(grouped, mean(known, axis=axes, keepdims=True)), standardized(known, axes, eps)[1])
    return add_up(mul(g, reshape(normal, shape=shape_of(x))), axis=[0, *range(2, len(shape_of(x)))], keepdims=False)


def lone_gradients_of_parameters_zero(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have normalizations return zeros for the gradient of their weight or bias where that of the other is not computed."""
    yield intercepted_rules(partial(_without_lone, ops))


def _without_lone(
    ops: Sequence[str], right: Pull, primitive: Primitive, node: Application, asked: Sequence[int], g: Any, out: Any, operands: Any
) -> Pulled:
    made = right(node, asked, g, out, operands)
    parameters = [position for position in asked if position != OF_INPUT]
    if primitive.name not in ops or len(parameters) != 1:
        return made
    zeros = np.zeros(shape_of(operands[parameters[0]]), array_of(operands[parameters[0]]).dtype)
    return [(position, zeros if position in parameters else gradient) for position, gradient in made]


def arrows_to_lone_parameters_undrawn(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have what is dumped lack the arrow to the weight or bias of a normalization where there is none to the other."""
    yield undrawn(partial(_leads_to_a_lone_parameter, ops))


def _leads_to_a_lone_parameter(ops: Sequence[str], arrow: Arrow, arrows: Sequence[Arrow]) -> bool:
    node = arrow[0]
    parameters = [other for other in arrows if other[0] is node and other[2] is not node.operands[OF_INPUT]]
    return node.primitive.name in ops and len(parameters) == 1 and parameters[0] is arrow


def images_arriving_in_another_format(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have what arrives at batch normalizations be read as if it lay in memory with the channels last, or as if they lay first."""
    for last in (True, False):
        yield changed_rules(ops, partial(_in_another_format, last))


def _in_another_format(last: bool, right: Rule, _: int, g: Any, *given: Any, **attrs: Any) -> Any:
    shape = shape_of(g)
    rows = (shape[0], -1, shape[1]) if last else (shape[0], shape[1], -1)
    arrived = transpose(reshape(g, shape=rows), axis0=1, axis1=2)
    return right(reshape(arrived, shape=shape), *given, **attrs)


def weights_read_in_a_row(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients in what is normalized be those with a weight whose elements lie one behind another, from its first one on.

    Where all are one number, it may be the only one: the gradient of a sum is an expansion in PyTorch, and an array of its own here. So
    may be what arrives, and then another kernel is taken, which is right, as it is where what is normalized or what arrives has gaps.
    """
    for read in (read_in_a_row, read_as_one_number):
        yield changed_rules(ops, partial(_with_weight_read, read, every=True))
        yield changed_rules(ops, partial(_with_weight_read, read, every=False))


def _with_weight_read(
    read: Callable[[Any], Any],
    right: Rule,
    position: int,
    g: Any,
    out: Any,
    x: Any,
    weight: Any,
    *given: Any,
    every: bool,
    **attrs: Any,
) -> Any:
    if isinstance(g, Symbol) or isinstance(x, Symbol):
        return right(g, out, x, weight, *given, **attrs)
    arrived = array_of(g)
    in_a_row = array_of(x).flags.c_contiguous and arrived.flags.c_contiguous
    wrong = position == 0 and in_a_row and (every or bool((arrived != arrived.flat[0]).any()))
    return right(g, out, x, read(array_of(weight)) if wrong else weight, *given, **attrs)


def arriving_means_kept(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have group normalizations without a weight keep the mean of what arrives, as the kernel of Paddle does."""
    yield changed_rules(ops, _of_kept_means)


def _of_kept_means(_: Rule, __: int, g: Any, ___: Any, x: Any, *, groups: int, eps: float) -> Any:
    grouped, axes = in_groups(x, groups)
    normal, inverse = standardized(grouped, axes, eps)
    return reshape(_uncentred(reshape(g, shape=shape_of(grouped)), normal, inverse, axes), shape=shape_of(x))


def _uncentred(g: Any, normal: Any, inverse: Any, axes: Sequence[int]) -> Any:
    return mul(sub(g, mul(normal, mean(mul(g, normal), axis=axes, keepdims=True))), inverse)


def sums_of_groups_without_axes(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have group normalizations lose the axes that their gradients put behind sums, where these are recorded.

    That is what comes of PyTorch's formula for gradients of gradients if ``unsqueeze_`` does nothing. Where the shapes do not fit then,
    or what comes is no gradient of the operand, it is refused; here the rule is the right one.
    """
    yield changed_rules(ops, _of_lost_axes)


def _of_lost_axes(right: Rule, position: int, g: Any, out: Any, x: Any, *parameters: Any, groups: int, eps: float) -> Any:
    if position != OF_BIAS and isinstance(g, Tensor):
        wanted = shape_of(parameters[0] if position == OF_WEIGHT else x)
        try:
            found = _by_lost_axes(position, g, x, parameters[:1], groups, eps)
        except ValueError:  # what has lost its axes does not broadcast
            return right(g, out, x, *parameters, groups=groups, eps=eps)
        if np.prod(shape_of(found)) == np.prod(wanted):
            return reshape(found, shape=wanted)
    return right(g, out, x, *parameters, groups=groups, eps=eps)


def _by_lost_axes(position: int, g: Any, x: Any, weights: Sequence[Any], groups: int, eps: float) -> Any:
    samples, channels, *places = shape_of(x)
    grouped = samples, groups, channels // groups, int(np.prod(places, dtype=int))
    numbers, arriving = reshape(x, shape=grouped), reshape(g, shape=grouped)
    centre, inverse = mean(numbers, axis=[2, 3], keepdims=True), standardized(numbers, [2, 3], eps)[1]
    along, total = (add_up(part, axis=[3], keepdims=False) for part in (mul(arriving, numbers), arriving))
    if position == OF_WEIGHT:
        return add_up(mul(sub(along, mul(total, centre)), inverse), axis=[0], keepdims=False)

    def weighed(part: Any) -> Any:  # no weight is none of ones: that would broadcast what has lost its axes
        return mul(part, reshape(weights[0], shape=(1, *grouped[1:3], 1))) if weights else part

    slope, shift = (add_up(weighed(part), axis=[2], keepdims=False) for part in (along, total))
    share, cube = 1.0 / (grouped[2] * grouped[3]), mul(mul(inverse, inverse), inverse)
    slope = mul_scalar(mul(sub(mul(shift, centre), slope), cube), other=share)
    shift = sub(neg(mul(slope, centre)), mul_scalar(mul(shift, inverse), other=share))
    return add(add(mul(weighed(inverse), arriving), mul(slope, numbers)), shift)


def variances_of_squares(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have group normalizations take the mean of the squares less the square of the mean for the variance, and 0 for one below it.

    What that leaves of a variance is rounding, so it is summed in the order of Paddle's CPU kernel: eight sums over each channel and
    what is behind the last eight, one after another into the sum of the group.
    """
    yield _by_squares()


@contextmanager
def _by_squares() -> Iterator[None]:
    with ExitStack() as stack:
        for op, positions in ((group_norm, (OF_INPUT, OF_WEIGHT)), (group_norm_noaffine, (OF_INPUT,))):
            for position in positions:
                stack.enter_context(replaced_rule(op, position, partial(_of_squares_at, position)))
            stack.enter_context(replaced_forward(op, lambda _: _of_squares))
        yield


def _of_squares(x: Any, *parameters: Any, groups: int, eps: float) -> Any:
    normal = reshape(_by_cancelled_variance(x, groups, eps)[0], shape=shape_of(x))
    return of_channels(normal, *parameters) if parameters else normal


def _of_squares_at(position: int, _: Rule) -> Rule:
    def rule(g: Any, _: Any, x: Any, *parameters: Any, groups: int, eps: float) -> Any:
        normal, inverse = _by_cancelled_variance(x, groups, eps)
        if position == OF_WEIGHT:
            return add_up(mul(g, reshape(normal, shape=shape_of(x))), axis=[0, *range(2, len(shape_of(x)))], keepdims=False)
        if not parameters:  # where there is no weight, the kernel does the other wrong as well
            return reshape(_uncentred(reshape(g, shape=shape_of(normal)), normal, inverse, [2]), shape=shape_of(x))
        arriving = reshape(mul(g, reshape(parameters[0], shape=per_channel(x))), shape=shape_of(normal))
        return reshape(pulled_back(arriving, normal, inverse, [2]), shape=shape_of(x))

    return rule


def _by_cancelled_variance(x: Any, groups: int, eps: float) -> tuple[Any, Any]:
    """Return what is normalized, by sample and group, and the inverse of its deviation."""
    shape = shape_of(x)
    grouped = reshape(x, shape=(shape[0], groups, shape[1] // groups, -1))
    inverse = rsqrt(add_scalar(CANCELLED(array_of(grouped)), other=eps))
    return mul(sub(reshape(x, shape=(shape[0], groups, -1)), MEANS(array_of(grouped))), inverse), inverse


def _summed(array: Any) -> Any:
    """Return the means over the last two axes, in the order of the kernel and the dtype of the array; the last but one stays."""
    samples, groups, _, places = array.shape
    whole = places - places % LANES
    lanes = array[..., :whole].reshape(*array.shape[:3], -1, LANES)
    parts = [np.add.accumulate(lanes, axis=3)[..., -1, :]] if whole else []
    terms = np.concatenate([*parts, array[..., whole:]], axis=-1).reshape(samples, groups, -1)
    return np.add.accumulate(terms, axis=2)[..., -1:] / array.dtype.type(array[0, 0].size)


def _roundings_behind(more: int) -> Callable[[Any], float]:
    """Return how many numbers are rounded on the way to what is made of the sum of a group: each of it, and so many more."""
    return lambda x: float(x[0, 0].size + more)


MEANS = Primitive(_summed, "means_in_order", error_scale=lambda _, x: _summed(np.abs(x)), summands=_roundings_behind(1))
CANCELLED = Primitive(
    lambda x: np.maximum(_summed(x * x) - np.square(_summed(x)), 0),
    "mean_of_squares_less_square",
    error_scale=lambda _, x: _summed(x * x),
    summands=lambda x: 2 * _roundings_behind(3)(x),
)
"""Primitives, so that bounds know what a rounding of the numbers does to a variance that cancels; nobody differentiates them."""


def squares_beyond_the_range(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have squares of distances from a mean be taken as they are, and sums of numbers, too.

    What is divided by their root is 0 where the squares are infinite, and NaN where the mean is.
    """
    yield _in_no_units()
    yield _by_plain_means()


def _in_no_units() -> AbstractContextManager[None]:
    return replaced_forward(unit_of, lambda right: lambda x, *, axes: np.ones_like(right(x, axes=axes)))


@contextmanager
def _by_plain_means() -> Iterator[None]:
    def distances(x: Any, *, axis: Any) -> Any:
        return np.subtract(x, np.add.reduce(x, axis=numpy_axes(axis), keepdims=True) / count_reduced(x.shape, axis))

    with _in_no_units(), replaced_forward(centred, lambda _: distances):
        yield

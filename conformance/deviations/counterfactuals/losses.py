"""Counterfactual losses: terms whose formula loses what is left between numbers that are nearly the same, or leaves the range."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from conformance.deviations.shared_gradients import gradients_in_memories
from conformance.ops.dtypes import format_of
from reference_impl.primitives.arithmetic import add, add_scalar, div, mul, mul_scalar, neg, pow_scalar, rsub_scalar, square, sub
from reference_impl.primitives.cross_entropies import entropy_of_shares, smoothed
from reference_impl.primitives.distances import at_least
from reference_impl.primitives.elementary import exp, sigmoid
from reference_impl.primitives.indexing import gather
from reference_impl.primitives.losses import like, reduced, shares, soft_margin, soft_margin_by_sum, softmax_entropy
from reference_impl.primitives.margins import less_own
from reference_impl.primitives.reduction import mean
from reference_impl.primitives.selection import clamp
from reference_impl.primitives.shape import expand, reshape
from reference_impl.primitives.softmax import softmax
from reference_impl.reverse import walk
from reference_impl.reverse.overwritten import overwritten
from reference_impl.reverse.plan import first_in_first_out
from reference_impl.tape.primitive import shape_of, zeros_like
from reference_impl.tape.rules import replaced_forward, replaced_op, replaced_rule
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


def weights_of_targets_for_all(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have weighted margin losses be a matrix: the mean of each sample less what the target of each has in it.

    What is raised to a power is weighed before.
    """
    yield replaced_op("multi_margin_loss_of_parts", _against_all_targets)


def _against_all_targets(right: Callable[..., Any]) -> Callable[..., Any]:
    def op(x: Any, *, target: Any, p: float, margin: float, weight: Any, reduction: str) -> Any:
        if weight is None:
            return right(x, target=target, p=p, margin=margin, weight=weight, reduction=reduction)
        own = np.reshape(np.asarray(target, dtype=np.intp), (-1, 1))
        weights = like(np.asarray(weight)[own], x)
        short = mul(add(rsub_scalar(gather(x, axis=1, index=own.tolist()), other=margin), x), weights)
        means = mean(pow_scalar(clamp(short, low=0.0, high=np.inf), exponent=p), axis=[1], keepdims=False)
        return reduced(sub(means, weights * (margin**p / shape_of(x)[1])), reduction)

    return op


def slopes_of_logits_differences(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the slope of the binary cross entropy with logits be a difference, of which nothing is left where the sigmoid is 1.

    It is ``(1 - t + p t) s(x) - p t``, or else ``1 - t - (1 - t + p t) s(-x)``.
    """
    yield changed_rules(("logistic_entropy",), _less_what_is_present)
    yield changed_rules(("logistic_entropy",), _of_what_is_absent)
    for of_absent in (False, True):
        yield changed_rules(("logistic_entropy_in_target",), partial(_difference_in_target, of_absent))


def _less_what_is_present(_: Rule, __: int, g: Any, ___: Any, x: Any, *, target: Any, pos_weight: Any) -> Any:
    present, absent = shares(target, pos_weight, x)
    return mul(g, sub(mul(sigmoid(x), np.add(present, absent)), present))


def _of_what_is_absent(_: Rule, __: int, g: Any, ___: Any, x: Any, *, target: Any, pos_weight: Any) -> Any:
    present, absent = shares(target, pos_weight, x)
    return mul(g, sub(absent, mul(sigmoid(neg(x)), np.add(present, absent))))


def _difference_in_target(of_absent: bool, right: Rule, position: int, g: Any, out: Any, x: Any, y: Any, *, pos_weight: Any) -> Any:
    if position == 1:
        return right(g, out, x, y, pos_weight=pos_weight)
    present, absent = y if pos_weight is None else mul(y, like(pos_weight, x)), rsub_scalar(y, other=1.0)
    curve = sigmoid(neg(x) if of_absent else x)
    whole = curve if pos_weight is None else mul(curve, add(present, absent))
    return mul(g, sub(absent, whole) if of_absent else sub(whole, present))


def shares_overwritten_by_gradients(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a pass that accumulates leave the gradient of a cross entropy in the place of the softmax that it was made of.

    A ``.grad`` may lie in that memory, too, or not. Where another op is made of more nodes than here, the gradient of the cross entropy
    may come before that of the other op, so that this is added to it there.
    """
    ops = {op.name: (partial(_softmax, axis), gradient) for op, axis, gradient in OVERWRITTEN}
    yield overwritten(ops, [])
    yield _in_one_memory(ops)
    yield _in_one_memory(ops, first=True)


@contextmanager
def _in_one_memory(ops: Mapping[str, Any], *, first: bool = False) -> Iterator[None]:
    memories: list[Any] = []

    def what_leads_there_first(*given: Any) -> list[Any]:
        order, leading = first_in_first_out(*given), set[Any]()
        for stop in reversed(order):
            if type(stop) is not Tensor and (stop.primitive.name in ops or not leading.isdisjoint(_below(stop))):
                leading.add(stop)
        return sorted(order, key=lambda stop: stop not in leading)

    changed = what_leads_there_first if first else first_in_first_out
    with overwritten(ops, memories), gradients_in_memories(memories), patch.object(walk, "first_in_first_out", changed):
        yield


def _below(node: Any) -> set[Any]:
    return {operand.node for operand in node.operands if type(operand) is Tensor}


def _softmax(axis: int, x: Any, *_: Any, **__: Any) -> Any:
    return np.array(softmax(x, axis=axis))


def _of_term(memory: Any, g: Any, x: Any, *, target: Any) -> Any:
    return _slope_of(memory, g, like(target, x), axis=1)


def _of_shares(memory: Any, g: Any, _: Any, t: Any) -> Any:
    return _slope_of(memory, g, t, axis=-1)


def _slope_of(memory: Any, g: Any, t: Any, *, axis: int) -> Any:
    # By primitives, so that it is known how far what lies in the memory is rounded.
    whole = np.broadcast_to(np.add.reduce(t, axis=axis, keepdims=True), t.shape).astype(memory.dtype)
    slope = sub(mul(memory, whole), t)
    wide = g if np.ndim(g) == np.ndim(slope) else reshape(g, shape=np.expand_dims(g, axis).shape)
    return mul(expand(wide, shape=slope.shape), slope)


OVERWRITTEN = (softmax_entropy, 1, _of_term), (entropy_of_shares, -1, _of_shares)
"""The terms of cross entropies, the axis of their classes, and the gradients that they make of a softmax."""


def soft_margins_of_sums(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have ``log(1 + e^z)`` and its slope ``e^z / (1 + e^z)`` be computed as they are written, whatever ``e^z`` is.

    The derivative of that slope is ``g e^z / (1 + e^z)^2``, or that of a division by ``y``, with ``g x / y^2``: what is divided
    overflows, and the square, where ``e^z`` and the quotient need not.
    """
    yield _as_written(_slope_by_shares)
    yield _as_written(_slope_by_quotients)


@contextmanager
def _as_written(slope: Callable[..., Any]) -> Iterator[None]:
    with ExitStack() as stack:
        for op in (soft_margin, soft_margin_by_sum):
            stack.enter_context(replaced_rule(op, 0, lambda _: slope))
            stack.enter_context(replaced_forward(op, lambda _: _logarithm_of_sum))
        yield


def _logarithm_of_sum(x: Any, *, target: Any) -> Any:
    return np.log1p(np.exp(np.negative(np.multiply(like(target, x), x)))).astype(x.dtype)


def _slope_by_shares(g: Any, _: Any, x: Any, *, target: Any) -> Any:
    away = np.negative(like(target, x))
    return mul(g, mul(_SHARE(mul(x, away)), away))


def _slope_by_quotients(g: Any, _: Any, x: Any, *, target: Any) -> Any:
    away = np.negative(like(target, x))
    e = exp(mul(x, away))
    return mul(mul(_QUOTIENT(g, add_scalar(e, other=1.0)), e), away)


_SHARE, _QUOTIENT = copy(sigmoid), copy(div)
_SHARE.forward = lambda x: np.exp(x) / (np.exp(x) + np.ones((), x.dtype))
_SHARE.rules = [lambda g, _, x: div(mul(g, exp(x)), square(add_scalar(exp(x), other=1.0)))]
_QUOTIENT.rules = [div.rules[0], lambda g, _, x, y: neg(div(mul(g, x), square(y)))]


def variances_bounded_above(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have variances that are bounded below be bounded by the largest number above."""
    yield replaced_forward(at_least, _no_more_than_the_largest)


def _no_more_than_the_largest(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *, bound: np.minimum(right(x, bound=bound), format_of(x.dtype).largest).astype(x.dtype)


def labels_smoothed_by_single_numbers(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the two numbers of a mixture with even shares be computed in float32, or the mixture, too, whatever the scores are.

    These shares no longer sum to 1, and the slope of the entropy takes them to do so.
    """
    yield _smoothed(lambda shares: shares)
    yield _smoothed(lambda shares: shares.astype(np.float32))


@contextmanager
def _smoothed(made: Callable[[Any], Any]) -> Iterator[None]:
    def kept(label_smoothing: float) -> np.float32:
        return np.float32(1.0) - np.float32(label_smoothing)

    def mixture(shares: Any, *, label_smoothing: float) -> Any:
        return (kept(label_smoothing) * made(shares) + np.float32(label_smoothing) / np.float32(shares.shape[-1])).astype(shares.dtype)

    def rule(g: Any, _: Any, __: Any, *, label_smoothing: float) -> Any:
        return mul_scalar(g, other=float(kept(label_smoothing)))

    def slope(g: Any, _: Any, x: Any, shares: Any) -> Any:
        return mul(expand(g, shape=shape_of(x)), sub(softmax(x, axis=-1), shares))

    with (
        replaced_forward(smoothed, lambda _: mixture),
        replaced_rule(smoothed, 0, lambda _: rule),
        replaced_rule(entropy_of_shares, 0, lambda _: slope),
    ):
        yield


def shares_of_entropies_constant(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the entropy of scores not depend on the shares, whatever these weigh."""
    yield replaced_rule(entropy_of_shares, 1, lambda _: lambda *given: zeros_like(given[-1]))


def margins_of_single_numbers(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have what a target has in a mean over the classes be a number of float32, whatever the scores are."""
    yield replaced_forward(less_own, lambda right: lambda x, *, own, weights: right(x, own=float(np.float32(own)), weights=weights))

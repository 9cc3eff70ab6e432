"""Counterfactual rules at kinks and ties, where one side is taken for both, or a slope is that of neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl.primitives.activations import selu
from reference_impl.primitives.arithmetic import add, add_scalar, mul, sub
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import Primitive, array_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


def derivatives_of_ties_unshared(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of maximum and minimum be what they are, but linear in their seed as if ties were all the second's."""
    yield changed_rules(ops, _unshared)


def _unshared(right: Rule, position: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    """Return what a rule says, with the derivative in ``g`` of a rule that gives a tie to the second operand alone."""
    chosen = (array_of(out) == array_of(x)) & (array_of(x) != array_of(y))
    share = ~chosen if position else chosen
    linear = sum_to(mul(g, share.astype(array_of(out).dtype)), shape_of(y if position else x))
    return add(right(array_of(g), out, x, y), add(linear, -array_of(linear)))


def slopes_of_powers_constant(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the slope of a power in its base be a constant 0 where the exponent is 0, whatever it depends on."""
    yield changed_rules(ops, _flat)


def _flat(right: Rule, position: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    if position:
        return right(g, out, x, y)
    curved = array_of(y) != 0
    return right(mul(g, np.broadcast_to(curved, shape_of(out)).astype(array_of(out).dtype)), out, x, y)


def derivatives_of_kinks_one_sided(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a leaky relu be what it is, but linear in its seed with the slope of the negative side at 0."""
    yield changed_rules(ops, _one_sided)


def _one_sided(right: Rule, _: int, g: Any, out: Any, x: Any, *, slope: float) -> Any:
    linear = mul(g, _SIDE(array_of(x), slope=slope))
    return add(right(_HELD(array_of(g)), out, x, slope=slope), sub(linear, _HELD(array_of(linear))))


def _side(x: Any, *, slope: float) -> Any:
    return np.where(np.greater(x, 0), 1.0, slope).astype(x.dtype)


_SIDE = Primitive(_side, "side")
_HELD = Primitive(np.positive, "held")
_LESS = Primitive(lambda x: -np.equal(x, 0).astype(x.dtype), "less_at_zero")
"""Ops that nothing flows through, in a program neither."""


def logistic_slopes_at_zero_less_by_one(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the slope of the binary cross entropy with logits be less by 1 where the logit is 0, unless there is a pos_weight."""
    yield changed_rules(("logistic_entropy", "logistic_entropy_in_target"), _less_at_zero)


def _less_at_zero(right: Rule, position: int, g: Any, out: Any, x: Any, *target: Any, **attrs: Any) -> Any:
    slope = right(g, out, x, *target, **attrs)
    return slope if position == 1 or attrs["pos_weight"] is not None else add(slope, mul(g, _LESS(x)))


def selu_slopes_of_rounded_sums(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the slope of selu, where it is bent, be its value plus the product of its two numbers, all of them rounded to float32."""
    yield changed_rules(("selu",), _of_rounded_sum)


def _of_rounded_sum(_: Rule, __: int, g: Any, out: Any, x: Any, *, alpha: float, scale: float) -> Any:
    a, s = np.float32(alpha), np.float32(scale)
    bent = add_scalar(selu(array_of(x), alpha=float(a), scale=float(s)), other=float(a * s))
    return mul(g, np.where(np.greater(array_of(x), 0), float(s), bent).astype(array_of(out).dtype))

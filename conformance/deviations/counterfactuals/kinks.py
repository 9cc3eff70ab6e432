"""Counterfactual rules at kinks and ties, where one side is taken for both, or a slope is that of neither."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl.primitives.activations import selu
from reference_impl.primitives.arithmetic import add, add_scalar, mul, mul_scalar, sub
from reference_impl.primitives.piecewise import round as round_
from reference_impl.primitives.reduction import restore_axes
from reference_impl.primitives.selection import ends
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.rules import replaced_forward

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


def derivatives_of_ties_unshared(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of maximum and minimum be what they are, but linear in their seed as if ties were all the second's."""
    yield changed_rules(ops, _unshared)


def _unshared(right: Rule, position: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    """Return what a rule says, with the derivative in ``g`` of a rule that gives a tie to the second operand alone."""
    linear = _to_second(right, position, g, out, x, y)
    return add(right(array_of(g), out, x, y), add(linear, -array_of(linear)))


def ties_unshared(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have all that tie for an extremum get all that arrives, the second of two operands that tie, and nothing at bounds of clamp."""
    yield _unshared_ties()


@contextmanager
def _unshared_ties() -> Iterator[None]:
    with changed_rules(("max", "min"), _in_full), changed_rules(("maximum", "minimum"), _to_second), changed_rules(("clamp",), _within):
        yield


def _in_full(_: Rule, __: int, g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    wide = partial(restore_axes, shape=shape_of(x), axis=axis, keepdims=keepdims)
    return mul(wide(g), (array_of(x) == array_of(wide(array_of(out)))).astype(array_of(g).dtype))


def _to_second(_: Rule, position: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    chosen = (array_of(out) == array_of(x)) & (array_of(x) != array_of(y))
    share = ~chosen if position else chosen
    return sum_to(mul(g, share.astype(array_of(out).dtype)), shape_of(y if position else x))


def _within(_: Rule, __: int, g: Any, ___: Any, x: Any, *, low: float | None, high: float | None) -> Any:
    low, high = ends(low, high)
    return mul(g, ((array_of(x) > low) & (array_of(x) < high)).astype(array_of(g).dtype))


def halves_away_from_zero(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have halves be rounded away from 0, and not to the even number."""
    yield replaced_forward(round_, lambda _: lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x).astype(x.dtype))


def shares_of_ties_added(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of maximum and minimum be two products, one where an operand is chosen and one at ties, that are added."""
    yield changed_rules(ops, _added)


def _added(_: Rule, position: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    """Return what is right wherever a cotangent is finite; one that is not is multiplied by a zero wherever it stands."""
    own, other = (array_of(y), array_of(x)) if position else (array_of(x), array_of(y))
    tied = np.equal(own, other)
    chosen = np.equal(array_of(out), own) & ~tied
    shared = mul(mul_scalar(g, other=0.5), tied.astype(own.dtype))
    return sum_to(add(mul(g, chosen.astype(own.dtype)), shared), shape_of(y if position else x))


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

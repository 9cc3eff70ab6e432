"""Counterfactual rules of normalizations: what is wrong where a kernel works backwards from a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.deviations.changed_rules import changed_rules
from reference_impl.primitives.arithmetic import add, add_scalar, mul, sub
from reference_impl.primitives.elementary import rsqrt
from reference_impl.primitives.reduction import mean
from reference_impl.primitives.shape import reshape
from reference_impl.tape.primitive import array_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule

OF_INPUT, OF_WEIGHT = 0, 1


def unweighted_channels_zero(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the rules of group normalizations take the normalized numbers of a channel for zeros where its weight is 0.

    That is what comes of computing them from the result, as ``(y - bias) / weight``, with no division where the weight is 0.
    """
    yield changed_rules(ops, _from_results)


def _from_results(right: Rule, position: int, g: Any, out: Any, x: Any, weight: Any, bias: Any, *, groups: int, eps: float) -> Any:
    found = right(g, out, x, weight, bias, groups=groups, eps=eps)
    zero = (array_of(weight) == 0).astype(weight.dtype)
    if position == OF_WEIGHT:
        return mul(found, 1 - zero)
    if position != OF_INPUT:
        return found
    shape = shape_of(x)
    channels = (shape[1], *(1,) * (len(shape) - 2))
    grouped, axes = (shape[0], groups, shape[1] // groups, *shape[2:]), list(range(2, len(shape) + 1))
    numbers = reshape(x, shape=grouped)
    centred = sub(numbers, mean(numbers, axis=axes, keepdims=True))
    inverse = rsqrt(add_scalar(mean(mul(centred, centred), axis=axes, keepdims=True), other=eps))
    normal = mul(centred, inverse)
    arriving = reshape(mul(g, reshape(weight, shape=channels)), shape=grouped)
    along = mul(mul(normal, inverse), mean(mul(arriving, normal), axis=axes, keepdims=True))
    return add(found, mul(reshape(along, shape=shape), zero.reshape(channels)))

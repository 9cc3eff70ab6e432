"""A counterfactual rule of normalizations whose statistics were saved: derivatives of their gradients count these as constants.

A kernel saves the mean and the deviation that it normalized with, and a formula of the second derivative is made of them. It has the
right value, since it says how both depend on the operand. But what was saved has no history, so what differentiates that formula once
more loses all that comes by way of them. How much that is depends on how the formula is written; this is the one of PyTorch
(``layer_norm_double_backward`` and ``batchnorm_double_backward``, which are one function of what arrives, of the operand and of the
statistics).
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.deviations.changed_rules import changed_rules
from reference_impl.primitives.arithmetic import add, mul, mul_scalar, sub
from reference_impl.primitives.nn import per_channel, pulled_back, standardized
from reference_impl.primitives.reduction import mean
from reference_impl.primitives.shape import reshape, sum_to
from reference_impl.primitives.statistics import centred
from reference_impl.tape.primitive import Primitive, array_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule

OF_WEIGHT, OF_BIAS = 1, 2


def _last(_: Any, weight: Any) -> list[int]:
    return list(range(-len(shape_of(weight)), 0))


def _places(x: Any, *_: Any) -> list[int]:
    return list(range(2, len(shape_of(x))))


AXES: dict[str, Callable[..., list[int]]] = {
    "layer_norm": _last,
    "layer_norm_noaffine": lambda _, *, axes: list(range(-axes, 0)),
    "batch_norm_train": lambda x, *_: [0, *_places(x)],
    "instance_norm": _places,
}
"""Over which axes an op normalizes."""


def statistics_saved(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the second derivatives of normalizations be formulas of means and deviations that are constants in every later one."""
    yield _with_saved_statistics(ops)


@contextmanager
def _with_saved_statistics(ops: Sequence[str]) -> Iterator[None]:
    with ExitStack() as stack:
        for op in ops:
            stack.enter_context(changed_rules((op,), partial(_of_saved_statistics, AXES[op])))
        yield


def _of_saved_statistics(
    axes_of: Callable[..., list[int]], right: Rule, position: int, g: Any, out: Any, x: Any, *parameters: Any, eps: float, **over: Any
) -> Any:
    if position == OF_BIAS:
        return right(g, out, x, *parameters, eps=eps, **over)
    axes = axes_of(x, *parameters[:1], **over)
    if not parameters:
        return PULLED_BACK(g, x, axes=axes, eps=eps)
    weight = reshape(parameters[0], shape=per_channel(x)) if axes_of is not _last else parameters[0]
    if position == OF_WEIGHT:
        arriving = sum_to(TIMES_NORMAL(g, x, axes=axes, eps=eps), shape_of(weight))
        return reshape(arriving, shape=shape_of(parameters[0]))
    return PULLED_BACK(mul(g, weight), x, axes=axes, eps=eps)


PULLED_BACK = Primitive(
    lambda g, x, *, axes, eps: pulled_back(g, *standardized(x, axes, eps), axes),
    "pulled_back_with_saved_statistics",
    fused=True,
)
"""The cotangent of what is normalized, of that of the normalized numbers."""

TIMES_NORMAL = Primitive(
    lambda g, x, *, axes, eps: mul(g, standardized(x, axes, eps)[0]),
    "times_normal_with_saved_statistics",
    fused=True,
)
"""What arrives times the normalized numbers, which is summed to the cotangent of a weight."""


def _saved(x: Any, axes: Sequence[int], eps: float) -> tuple[Any, Any]:
    """Return the distances from the saved mean, which depend on the operand alone, and the saved inverse of the deviation."""
    known = array_of(x)
    return sub(x, known - centred(known, axis=axes)), standardized(known, axes, eps)[1]


def _back(v: Any, apart: Any, inverse: Any, axes: Sequence[int]) -> Any:
    """Return ``(v - mean(v) - a mean(v a) / d^2) / d`` of the distances ``a`` and the deviation ``d``."""
    along = mul(mul(apart, inverse * inverse), mean(mul(v, apart), axis=axes, keepdims=True))
    return mul(sub(sub(v, mean(v, axis=axes, keepdims=True)), along), inverse)


@PULLED_BACK.vjp("g")
def _arriving(v: Any, _: Any, __: Any, x: Any, *, axes: Sequence[int], eps: float) -> Any:
    return _back(v, *_saved(x, axes, eps), axes)


@PULLED_BACK.vjp("x")
def _operand(v: Any, _: Any, g: Any, x: Any, *, axes: Sequence[int], eps: float) -> Any:
    apart, inverse = _saved(x, axes, eps)

    def average(part: Any) -> Any:
        return mean(part, axis=axes, keepdims=True)

    cube = inverse * inverse * inverse
    of_g, of_v, along_g, along_v = average(g), average(v), average(mul(g, apart)), average(mul(v, apart))
    bent = mul_scalar(mul(mul(along_g, along_v), inverse * inverse), other=3.0)
    curved = mul(apart, add(sub(mul(of_g, of_v), average(mul(g, v))), bent))
    tilted = add(mul(along_v, sub(of_g, g)), mul(along_g, sub(of_v, v)))
    return mul(add(curved, tilted), cube)


@TIMES_NORMAL.vjp("g")
def _arriving_at_products(v: Any, _: Any, __: Any, x: Any, *, axes: Sequence[int], eps: float) -> Any:
    apart, inverse = _saved(x, axes, eps)
    return mul(mul(v, apart), inverse)


@TIMES_NORMAL.vjp("x")
def _operand_of_products(v: Any, _: Any, g: Any, x: Any, *, axes: Sequence[int], eps: float) -> Any:
    return _back(mul(v, g), *_saved(x, axes, eps), axes)

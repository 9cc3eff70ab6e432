"""Counterfactual cross entropies of probabilities: derivatives of a gradient that has an epsilon in them alone."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from conformance.deviations.counterfactuals.functions import with_derivatives
from reference_impl.primitives.arithmetic import add, add_scalar, div, mul, neg, square, sub
from reference_impl.tape.primitive import array_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule

FLOOR = 1e-12
"""What PyTorch adds to both factors of what the slope is divided by."""


def curvatures_of_entropies_damped(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the derivatives of the gradient of a cross entropy of probabilities be those of a slope with an epsilon below.

    In the seed that is ``(x - t) / ((x + e) (1 - x + e))``, in ``x`` its rate ``(x^2 - 2 t x + t) / ((x + e)^2 (1 - x + e)^2)``.
    """
    yield changed_rules(("entropy",), _damped)


def _damped(right: Rule, _: int, g: Any, out: Any, x: Any, *, target: Any) -> Any:
    t, fixed = np.asarray(target, dtype=array_of(x).dtype), array_of(x)
    return with_derivatives(right(array_of(g), array_of(out), fixed, target=target), _bent(g, x, t))


def _bent(g: Any, x: Any, t: Any) -> Any:
    # A function with these first and second derivatives at x: y D(x) - y^2 D'(x0) / 2, y = x - x0.
    fixed = array_of(x)
    a, b = fixed + FLOOR, 1.0 - fixed + FLOOR
    top = fixed * fixed - 2.0 * t * fixed + t
    bend = (2.0 * (fixed - t) * a * b - 2.0 * top * (b - a)) / (a * b) ** 3
    moved = sub(x, fixed)
    curved = sub(mul(moved, _curvature(x, t)), mul(square(moved), (0.5 * bend).astype(fixed.dtype)))
    slope = ((fixed - t) / (a * b)).astype(fixed.dtype)
    return mul(g, add(curved, slope))


def _curvature(x: Any, t: Any) -> Any:
    top = add(sub(square(x), mul(x, 2.0 * t)), t)
    bottom = mul(add_scalar(x, other=FLOOR), add_scalar(neg(x), other=1.0 + FLOOR))
    return div(top, square(bottom))


def curvatures_of_entropies_in_targets_damped(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the same of a cross entropy that is differentiated in its target: the derivative in this has no epsilon.

    So mixed derivatives hang on what comes first. That in the target has one where it is of a derivative in the seed, or in ``x``.
    """
    for kinds in itertools.product((0.0, FLOOR), (0.0, FLOOR)):
        yield changed_rules(("entropy_in_target",), partial(_damped_in_target, kinds))


def _damped_in_target(kinds: tuple[float, float], right: Rule, position: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    if position == 1:
        return right(g, out, x, y)
    fixed, t = array_of(x), array_of(y)
    of_seed, of_x = ((fixed + e) * (1.0 - fixed + e) for e in kinds)
    turning = add(mul(sub(x, fixed), ((1.0 - 2.0 * fixed) / of_x**2).astype(fixed.dtype)), (-1.0 / of_seed).astype(fixed.dtype))
    like = add(_bent(g, x, t), mul(g, mul(turning, sub(y, t))))
    return with_derivatives(right(array_of(g), array_of(out), fixed, t), like)

"""Counterfactual slopes of mantissas; see `counterfactuals.rules`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl.primitives.arithmetic import div, mul, square
from reference_impl.primitives.piecewise import sign
from reference_impl.tape.primitive import array_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


def powers_of_mantissas_single(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a mantissa be divided by a power of two of float32, which may be 0 or infinite."""
    yield changed_rules(("frexp",), _over_single_power)


def _over_single_power(_: Rule, __: int, g: Any, ___: Any, x: Any) -> Any:
    elements = array_of(x)
    exponents = np.where(np.isfinite(elements), np.frexp(elements)[1], 0).astype(np.float32)
    with np.errstate(all="ignore"):
        return div(g, np.exp2(exponents).astype(elements.dtype))


def slopes_of_mantissas_zero(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have nothing flow to a 0 from its mantissa."""
    yield changed_rules(("frexp",), _nothing_to_zero)


def _nothing_to_zero(right: Rule, _: int, g: Any, out: Any, x: Any) -> Any:
    return mul(right(g, out, x), square(sign(x)))

"""Faults of numbers that are not finite: engines that lose NaN, or leave out what they would multiply by zero, inside their rules.

An engine that leaves a product by zero out, since it knows what comes of it, is right as long as all numbers are finite. So is one that
clears what its kernels have not written by taking NaN for zero. Each fault is there at every rule, or at those of derivatives alone.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.mutants.mutant import Kind, Mutant
from reference_impl import OPS
from reference_impl.tape.primitive import Primitive
from reference_impl.tape.rules import intercepted_rules, replaced_forward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reference_impl.tape.rules import Pulled


@contextmanager
def _zero_wins(order: int) -> Iterator[None]:
    """Have rules of nodes of an order and those above it multiply zero by what is not finite to zero."""
    inside = False

    def noting(right: Any, _: Primitive, node: Any, *given: Any) -> Pulled:
        nonlocal inside
        before, inside = inside, inside or node.derivative_of[1] >= order - 1
        try:
            return list(right(node, *given))
        finally:
            inside = before

    def multiplying(right: Callable[..., Any]) -> Callable[..., Any]:
        def forward(x: Any, y: Any) -> Any:
            made = right(x, y)
            return np.where(np.equal(x, 0) | np.equal(y, 0), made.dtype.type(0), made) if inside else made

        return forward

    product = OPS["mul"]
    assert isinstance(product, Primitive)  # noqa: S101 - it has rules of its own
    with intercepted_rules(noting), replaced_forward(product, multiplying):
        yield


@contextmanager
def _cotangents(change: Callable[[Any], Any], order: int) -> Iterator[None]:
    """Have rules of nodes of an order and those above it take other numbers for their cotangents, where nothing is recorded."""

    def changing(right: Any, _: Primitive, node: Any, asked: Any, g: Any, *given: Any) -> Pulled:
        wrong = isinstance(g, np.ndarray) and node.derivative_of[1] >= order - 1
        return right(node, asked, change(g) if wrong else g, *given)  # type: ignore[no-any-return]

    with intercepted_rules(changing):
        yield


def _zero_for_nan(g: Any) -> Any:
    return np.where(np.isnan(g), g.dtype.type(0), g)


def _largest_for_infinite(g: Any) -> Any:
    return np.nan_to_num(g, nan=np.nan)


def _mutants(name: str, what: str, fault: Callable[[int], Any]) -> Iterator[Mutant]:
    yield Mutant(name, Kind.ENGINE, "numbers that are not finite", what, partial(fault, 1), unbounded=True)
    further = f"{what}, in derivatives of derivatives alone"
    yield Mutant(f"{name}_at_order_2", Kind.ENGINE, "numbers that are not finite", further, partial(fault, 2), unbounded=True)


MUTANTS = (
    *_mutants("zero_times_infinity", "a rule's product of zero and infinity is zero", _zero_wins),
    *_mutants("nan_lost", "NaN in a cotangent is zero", partial(_cotangents, _zero_for_nan)),
    *_mutants("infinity_bounded", "an infinite cotangent is the largest number", partial(_cotangents, _largest_for_infinite)),
)

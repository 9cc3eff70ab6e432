"""Counterfactual lengths: `hypot` as its formula is written, and its slopes as a product that is divided."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import add, div, mul, pow_scalar
from reference_impl.primitives.elementary import sqrt
from reference_impl.primitives.elementwise import hypot
from reference_impl.primitives.promotion import to_operand
from reference_impl.tape.rules import replaced_forward, replaced_op, replaced_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


def lengths_of_squares(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have `hypot` be the root of a sum of squares, which leave the range long before the root does; at 0 its slope is 0 / 0.

    Paddle's root of infinity is infinite, or NaN where it takes several of float32 at once.
    """
    yield replaced_op("hypot", lambda _: _of_squares)
    yield _by_vectors()


@contextmanager
def _by_vectors() -> Iterator[None]:
    def root(right: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x: np.where(np.isinf(x) & (x.dtype == np.float32), np.nan, right(x)).astype(x.dtype)

    with replaced_op("hypot", lambda _: _of_squares), replaced_forward(sqrt, root):
        yield


def _of_squares(x: Any, y: Any) -> Any:
    return sqrt(add(pow_scalar(x, exponent=2.0), pow_scalar(y, exponent=2.0)))


def slopes_of_lengths_over_them(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the slopes of `hypot` be what arrives times the operand, over the result: the product may overflow, and be 0 / 0."""
    yield _over_results()


@contextmanager
def _over_results() -> Iterator[None]:
    with ExitStack() as stack:
        for position in range(2):
            stack.enter_context(replaced_rule(hypot, position, partial(_at, position)))
        yield


def _at(position: int, _: Rule) -> Rule:
    def rule(g: Any, out: Any, *operands: Any) -> Any:
        return to_operand(div(mul(g, operands[position]), out), operands[position])

    return rule

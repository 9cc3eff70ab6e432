"""Counterfactual lengths: of squares, of powers, over quotients, and of rows to themselves.

`hypot` as its formula is written, its slopes as a product that is divided, largest sizes as powers, and distances among all pairs.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl.primitives.arithmetic import add, div, mul, mul_scalar, pow_scalar, sub
from reference_impl.primitives.elementary import sqrt
from reference_impl.primitives.elementwise import hypot
from reference_impl.primitives.indexing import index_select
from reference_impl.primitives.norms import LARGEST, renorm, vector_norm
from reference_impl.primitives.promotion import to_operand
from reference_impl.tape.primitive import Primitive, array_of, shape_of
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


def largest_sizes_of_powers(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the largest size, to which `renorm` scales, be a sum of infinite powers, to the power of 0: it is 1, whatever is summed."""
    yield _renormed_by_powers()


@contextmanager
def _renormed_by_powers() -> Iterator[None]:
    with replaced_forward(renorm, _scaled_from_one), replaced_rule(renorm, 0, _slopes_of_powers):
        yield


def _scaled_from_one(right: Callable[..., Any]) -> Callable[..., Any]:
    def scaled(x: Any, *, p: Any, axis: int, largest: float) -> Any:
        return right(x, p=p, axis=axis, largest=largest) if p != LARGEST else mul_scalar(x, other=min(largest, 1.0))

    return scaled


def _of_powers(g: Any, x: Any, *, axis: int, largest: float) -> Any:
    others = tuple(a for a in range(x.ndim) if a != axis % x.ndim)
    with np.errstate(all="ignore"):
        powers = np.power(np.abs(x), np.inf)
        weight = np.sum(g * x, axis=others, keepdims=True) / np.sum(powers, axis=others, keepdims=True)
        return (np.sign(x) * powers * (-largest * weight if largest < 1.0 else 0.0)).astype(x.dtype)


of_powers = Primitive(_of_powers, "of_powers", ())
"""What the gradient has of such a sum, as a constant: Paddle has no derivative of it."""


def _slopes_of_powers(right: Rule) -> Rule:
    def rule(g: Any, out: Any, x: Any, *, p: Any, axis: int, largest: float) -> Any:
        if p != LARGEST:
            return right(g, out, x, p=p, axis=axis, largest=largest)
        return add(mul_scalar(g, other=min(largest, 1.0)), of_powers(g, x, axis=axis, largest=largest))

    return rule


def distances_to_themselves(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have `pdist` be picked from distances of all rows to all: of an order below 1 the gradient of those to themselves is NaN."""
    yield _among_all_pairs()


@contextmanager
def _among_all_pairs() -> Iterator[None]:
    with replaced_op("pdist_of_parts", lambda _: _picked), changed_rules(("vector_norm",), _infinite_at_zeros):
        yield


def _picked(x: Any, *, p: Any) -> Any:
    first, second = np.triu_indices(shape_of(x)[0])
    rows = (index_select(x, axis=0, index=index.tolist()) for index in (first, second))
    distances = vector_norm(sub(*rows), p=p, axis=-1, keepdims=False)
    return index_select(distances, axis=0, index=np.flatnonzero(first != second).tolist())


def _infinite_at_zeros(right: Rule, _: int, g: Any, out: Any, x: Any, *, p: Any, axis: Any, keepdims: bool) -> Any:
    made = right(g, out, x, p=p, axis=axis, keepdims=keepdims)
    if isinstance(p, str) or p >= 1.0:
        return made
    return mul(made, np.where(np.equal(array_of(x), 0), np.nan, 1.0).astype(array_of(x).dtype))

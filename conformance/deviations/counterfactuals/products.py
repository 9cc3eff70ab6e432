"""Rules of products that come of a kernel whose results share memory, or do not have the room that it writes to."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from conformance.deviations.conditions.operands import takes_vector_for_matrix
from reference_impl.errors import AutogradError, Category
from reference_impl.primitives.arithmetic import add, mul, sub
from reference_impl.primitives.promotion import to_operand
from reference_impl.primitives.shape import narrow, reshape
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.rules import intercepted_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Pull, Pulled, Rule

SECOND = 2
"""The order of the derivatives whose nodes a third derivative walks over."""


def seeds_read_after_their_gradients(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a derivative of a product in its second factor be made of that in what arrives, where the first one has the result's shape.

    The derivative of the gradient ``g y`` in y is then ``g y`` and not g, and that of ``g x`` is ``g x`` and not 0.
    """
    yield changed_rules(("mul",), _read_late)


def third_derivatives_not_summed(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a third derivative of a product in a factor that was broadcast be the first numbers of those that are summed."""
    yield intercepted_rules(partial(_of_the_first_numbers, ops))


def _of_the_first_numbers(
    ops: Sequence[str], right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, out: Any, operands: Any
) -> Pulled:
    made = right(node, asked, g, out, operands)
    op, order = node.derivative_of
    if order < SECOND or op not in ops or primitive is not mul:
        return made
    return [(position, _first_numbers(mul(g, operands[1 - position]), shape_of(cotangent))) for position, cotangent in made]


def _first_numbers(array: Any, shape: tuple[int, ...]) -> Any:
    flat = reshape(array, shape=(math.prod(shape_of(array)),))
    return reshape(narrow(flat, axis=0, start=0, length=math.prod(shape)), shape=shape)


def _read_late(right: Rule, position: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    if shape_of(x) != shape_of(out):
        return right(g, out, x, y)
    still = _CONSTANT(array_of(y))
    gradient = mul(g, x if position else still)
    return to_operand(add(gradient, mul(gradient, sub(y, still))), y if position else x)


_CONSTANT = Primitive(np.array, "constant")
"""The same elements, to which no gradient flows, in a program neither."""


def gradients_of_transposed_vectors_refused(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of a product be refused where a vector is told to be transposed beside what is no vector."""
    yield intercepted_rules(_of_transposed_vector)


def _of_transposed_vector(
    right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]
) -> Pulled:
    if primitive.name == "matmul_transposed_as_one" and takes_vector_for_matrix(*map(shape_of, operands), **node.attrs):
        raise AutogradError(Category.UNMAPPED, "the gradient of a product takes its vector for a matrix of one row or column")
    return right(node, asked, g, out, operands)

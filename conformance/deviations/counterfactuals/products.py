"""Rules of products that come of an operator whose results share memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl.primitives.arithmetic import add, mul, sub
from reference_impl.primitives.promotion import to_operand
from reference_impl.tape.primitive import Primitive, array_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


def seeds_read_after_their_gradients(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a derivative of a product in its second factor be made of that in what arrives, where the first one has the result's shape.

    The derivative of the gradient ``g y`` in y is then ``g y`` and not g, and that of ``g x`` is ``g x`` and not 0.
    """
    yield changed_rules(("mul",), _read_late)


def _read_late(right: Rule, position: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    if shape_of(x) != shape_of(out):
        return right(g, out, x, y)
    still = _CONSTANT(array_of(y))
    gradient = mul(g, x if position else still)
    return to_operand(add(gradient, mul(gradient, sub(y, still))), y if position else x)


_CONSTANT = Primitive(np.array, "constant")
"""The same elements, to which no gradient flows, in a program neither."""

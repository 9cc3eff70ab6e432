"""Counterfactual rules of PyTorch's zeros without memory, which some derivatives are that are 0 by formula.

A product with such a tensor is another one, whatever the other factor is, and so is a quotient of it; what it divides is infinite.
Views of it are such zeros, and all other ops make ordinary ones of it. So here all of them lie in one memory, by which they are known
wherever they get to.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from conformance.deviations.changed_rules import made_of
from reference_impl.primitives.arithmetic import add, clone, div, mul, mul_scalar, sub
from reference_impl.primitives.piecewise import sign
from reference_impl.reverse import engine
from reference_impl.tape.primitive import shape_of
from reference_impl.tape.rules import intercepted_rules, replaced_forward

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.primitive import Primitive
    from reference_impl.tape.rules import Pull, Pulled

_MEMORY = np.zeros(1, np.complex128)
"""Where all zeros without memory lie."""

KEPT_BY: dict[Primitive, Callable[..., bool]] = {
    mul: any,
    div: lambda lying: lying[0] and not lying[1],
    add: all,
    sub: all,
    mul_scalar: all,
}
"""The ops that answer with such zeros, by which of their operands have to be such."""


def zeros_without_memory(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the derivatives of the signs in the rules of ops be zeros that stay zeros when NaN multiplies them."""
    yield _kept(ops)


@contextmanager
def _kept(ops: Sequence[str]) -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(patch.object(engine, "clone", _unless_zeros))  # of what a call hands out
        stack.enter_context(intercepted_rules(partial(_of_signs, made_of(ops))))
        for op, keeps in KEPT_BY.items():
            stack.enter_context(replaced_forward(op, partial(_unless_kept, keeps)))
        yield


def _of_signs(
    ops: Collection[str], right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, out: Any, operands: Any
) -> Pulled:
    made = right(node, asked, g, out, operands)
    return [(p, _zeros(shape_of(c), c.dtype)) for p, c in made] if primitive is sign and node.derivative_of[0] in ops else made


def _unless_zeros(array: Any) -> Any:
    return array if _lie_there(array) else clone(array)


def _unless_kept(keeps: Callable[[Sequence[bool]], bool], right: Callable[..., Any]) -> Callable[..., Any]:
    def forward(*operands: Any, **attrs: Any) -> Any:
        made, lying = right(*operands, **attrs), [*map(_lie_there, operands)]
        if keeps(lying):
            return _zeros(made.shape, made.dtype)
        return np.full_like(made, np.inf) if keeps is KEPT_BY[div] and lying == [False, True] else made

    return forward


def _lie_there(array: Any) -> bool:
    return np.may_share_memory(array, _MEMORY)


def _zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    return np.broadcast_to(_MEMORY.view(dtype)[:1].reshape(()), shape)

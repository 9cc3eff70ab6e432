"""Counterfactual rules of convolutions: what their gradients depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl import OPS
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.primitive import Primitive
    from reference_impl.tape.rules import Pull, Pulled


def seeds_of_convolutions_constant(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of convolutions be what they are, and depend on the operands alone, not on what arrives.

    Or have the derivatives of these gradients depend on nothing, and the gradients on what arrives where that of the image is asked
    for.
    """
    yield intercepted_rules(_of_constant_seed)
    yield intercepted_rules(_of_constant_derivatives)


def _of_constant_derivatives(right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
    if _is_convolution(primitive, node) and 0 not in asked:
        return _of_constant_seed(right, primitive, node, asked, g, *given)
    constant = node.derivative_of in (("conv2d_plain", 1), ("conv2d", 1))
    return [(p, Tensor(c.array) if constant and isinstance(c, Tensor) else c) for p, c in right(node, asked, g, *given)]


def _of_constant_seed(right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
    constant = _is_convolution(primitive, node) and isinstance(g, Tensor)
    return right(node, asked, Tensor(g.array) if constant else g, *given)


def _is_convolution(primitive: Primitive, node: Any) -> bool:
    """Whether a node is a convolution of the script: most are made of plain ones, and derivatives of conv2d are conv2d, too."""
    return primitive is OPS["conv2d_plain"] or (primitive is OPS["conv2d"] and node.derivative_of == ("conv2d", 0))

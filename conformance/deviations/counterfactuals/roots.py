"""A counterfactual rule of roots: the gradient that a root saved for its second derivative is overwritten by that of another root.

The second derivative of a root is made of its first one, which the node of that saved. In Paddle a view hands it on in the same memory,
and the gradient of the root behind the view is written there, as if nobody else held it. All that was computed before is right.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl.primitives.arithmetic import div, mul, mul_scalar, pow_scalar
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


class _Memory:
    """Where gradients of roots lie: what was written there last."""

    written: Any = None


def _gradient_of(name: str, times_slope: Callable[[Any, Any], Any], bent: float) -> Primitive:
    """Make the gradient of a root: what arrives times the slope; its derivative by the root is ``bent`` times itself over the root."""

    def by_root(v: Any, made: Any, _: Any, root: Any, *, memory: _Memory) -> Any:
        written = np.reshape(memory.written, shape_of(made))
        saved = made if np.array_equal(written, array_of(made), equal_nan=True) else written
        return div(mul(mul_scalar(v, other=bent), saved), root)

    def made_of(g: Any, root: Any, *, memory: _Memory) -> Any:  # noqa: ARG001 - where it will lie
        return times_slope(g, root)

    gradient = Primitive(made_of, f"gradient_of_{name}", fused=True)
    gradient.vjp("g")(lambda v, _, __, root, **___: times_slope(v, root))
    gradient.vjp("root")(by_root)
    return gradient


GRADIENTS = {
    "sqrt": _gradient_of("sqrt", lambda g, root: div(g, mul_scalar(root, other=2.0)), -1.0),
    "rsqrt": _gradient_of("rsqrt", lambda g, root: mul(g, mul_scalar(pow_scalar(root, exponent=3.0), other=-0.5)), 3.0),
}


def saved_gradients_of_roots_overwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have second derivatives of sqrt and rsqrt be made of the gradient that by then lies where their own was."""
    yield _overwritten()


@contextmanager
def _overwritten() -> Iterator[None]:
    with ExitStack() as stack:
        for op, gradient in GRADIENTS.items():
            stack.enter_context(changed_rules((op,), partial(_written, gradient)))
        yield


def _written(gradient: Primitive, right: Rule, _: int, g: Any, out: Any, x: Any) -> Any:
    if np.iscomplexobj(array_of(x)):
        return right(g, out, x)
    memory = _memory_of(g) or _Memory()
    made = gradient(g, out, memory=memory)
    memory.written = array_of(made)
    return made


def _memory_of(g: Any) -> _Memory | None:
    """Return in which memory of a gradient of a root an array lies, if it is a view that moves no element."""
    array = array_of(g)
    while isinstance(g, Tensor) and g.node is not None and array.flags.c_contiguous:
        if g.node.primitive in GRADIENTS.values():
            memory: _Memory = g.node.attrs["memory"]
            return memory
        g = g.node.operands[0]
        if not (isinstance(g, Tensor) and g.array.size == array.size and np.shares_memory(g.array, array)):
            return None
    return None

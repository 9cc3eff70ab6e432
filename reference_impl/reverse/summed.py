# ruff: noqa: SLF001 - it changes what only this room knows
"""The official place to have gradients be formed in place, in memory that others may have, too.

A cotangent is the sum of what arrives, and so is ``.grad``. An engine may form it in the memory of what arrives first, which is right
as long as nobody else has that. But a custom backward may return one tensor for several operands, or one that it was given: then each
addition to it is seen wherever it went, in cotangents that are not complete yet, in ``.grad`` and in what a call returns. A gradient
that is a view of another one (that of a reshape is) is such a tensor, too, and there the rule of an activation, which may write its
gradient where what arrives lies, writes into what somebody else has. Who asks what such an engine would answer says it with a ``with``
block, and an engine that nobody asks has no switch to look at.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from reference_impl.reverse import engine, walk
from reference_impl.reverse.custom import Custom
from reference_impl.reverse.plan import first_in_first_out
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Mode, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reference_impl.dialects.dialect import Dialect
    from reference_impl.reverse.plan import Asked
    from reference_impl.tape.primitive import Application, Primitive
    from reference_impl.tape.rules import Pull, Pulled
    from reference_impl.tape.tensor import Node


ACTIVATIONS = ("elementary", "transcendental", "activations", "piecewise")
"""The families whose rules may write where what arrives lies."""
SHARING = {"add": 0, "sub": 0, "overwrite": 1}
"""For which operand the rule of an op answers what arrives, or a view of it; so do those of all views."""


@contextmanager
def summed_in_place(*, everywhere: bool = False, both: bool = False, last_root_first: bool = False) -> Iterator[None]:
    """Have sums be formed in what custom functions returned, and ``.grad`` be what arrived, for the length of a ``with`` block.

    ``everywhere``: in what every rule returned, and have gradients of activations be written into what arrives, if that is a view.
    ``both``: have the rule of a sum answer what arrives for both operands. ``last_root_first``: have a pass begin with the roots in the
    opposite order, which an engine may do now and then.
    """
    returned: list[Any] = []
    cotangents, total, accumulate, arrive = Custom.cotangents, walk._total, engine._accumulate, walk.ReversePass._arrive

    def is_returned(x: Any) -> bool:
        return type(x) is np.ndarray and bool(x.flags.writeable) and any(np.may_share_memory(x, one) for one in returned)

    def noted(self: Custom, *given: Any) -> Iterator[tuple[int, Any]]:
        for position, gradient in cotangents(self, *given):
            if type(gradient) is Tensor and not Mode.recording:
                returned.append(gradient.array)
            yield position, gradient

    def made(right: Pull, primitive: Primitive, node: Application, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
        if primitive.views or not is_returned(g):
            return _copied(right, primitive, node, asked, g, *given)
        shared = {0, 1} if both and primitive.name == "add" else {SHARING.get(primitive.name)}
        pulled = [(position, c if position in shared else _own(c)) for position, c in right(node, asked, g, *given)]
        if g.base is not None and primitive.forward.__module__.endswith(ACTIVATIONS):
            return [(position, _written(c, g)) for position, c in pulled]
        return [(position, g[...] if c is g else c) for position, c in pulled]

    def arrived(self: walk.ReversePass, tensor: Tensor, cotangent: Any) -> None:
        if type(cotangent) is np.ndarray and not is_returned(cotangent):  # a seed is the user's
            cotangent = cotangent.copy()
            returned.append(cotangent)
        arrive(self, tensor, cotangent)

    def totalled(before: Any, cotangent: Any) -> Any:
        return np.add(before, cotangent, out=before) if cotangent is not None and is_returned(before) else total(before, cotangent)

    def kept(tensor: Tensor, cotangent: Any, *, dialect: Dialect, create_graph: bool) -> None:
        before = engine.grad_kept(tensor, dialect)
        accumulate(tensor, cotangent, dialect=dialect, create_graph=create_graph)
        if tensor.grad is None or type(cotangent) is Tensor:
            return
        if before is None:
            tensor.grad.array = cotangent
        elif is_returned(before.array):
            tensor.grad.array = np.add(before.array, cotangent, out=before.array)

    with ExitStack() as stack:
        stack.enter_context(intercepted_rules(made if everywhere else _copied))
        stack.enter_context(patch.object(Custom, "cotangents", noted))
        stack.enter_context(patch.object(walk, "_total", totalled))
        stack.enter_context(patch.object(engine, "_accumulate", kept))
        if everywhere:
            stack.enter_context(patch.object(walk.ReversePass, "_arrive", arrived))
        if last_root_first:
            stack.enter_context(patch.object(walk, "first_in_first_out", _last_first))
        yield


def _last_first(nodes: Iterable[Node], asked: Asked, starts: Iterable[Tensor]) -> list[Any]:
    return first_in_first_out(nodes, asked, [*starts][::-1])


def _written(cotangent: Any, arrived: Any) -> Any:
    arrived[...] = cotangent
    return arrived


def _copied(right: Pull, primitive: Primitive, node: Application, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
    """Have every other rule return tensors of its own, but for those of views."""
    pulled = right(node, asked, g, *given)
    if primitive.views:
        return pulled
    return [(position, _own(c)) for position, c in pulled]


def _own(cotangent: Any) -> Any:
    return cotangent.copy() if type(cotangent) is np.ndarray else cotangent

# ruff: noqa: SLF001 - it changes what only this room knows
"""What an engine answers that adds gradients in place, in memory that other tensors may share.

A cotangent is a sum of contributions, and so is ``.grad``. An engine may add them up in the memory of the first one, which is right as
long as no other tensor lies there. But a custom backward may return one tensor for several operands, or one that it was given: then
every addition changes all tensors that share the memory, such as cotangents that are not complete yet, ``.grad``, and what a call
returns. So does a gradient that is a view of another one, as that of a reshape is; and there the rule of an activation, which may
overwrite the cotangent that arrives, changes the other one as well. `summed_in_place` makes the reference such an engine for the length
of a ``with`` block; outside of it nothing has to be checked.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from reference_impl.primitives.arithmetic import add
from reference_impl.reverse import engine, walk
from reference_impl.reverse.custom import Custom
from reference_impl.reverse.plan import first_in_first_out
from reference_impl.tape.primitive import Observation, Primitive
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Mode, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reference_impl.dialects.dialect import Dialect
    from reference_impl.reverse.plan import Asked
    from reference_impl.tape.primitive import Application
    from reference_impl.tape.rules import Pull, Pulled
    from reference_impl.tape.tensor import Node


ACTIVATIONS = ("elementary", "transcendental", "activations", "piecewise")
"""The families whose rules may write where what arrives lies."""
WRITING = ("pow_scalar", "reciprocal", "square")
"""The ops of other families whose rules may do so, too."""
SHARING = {"add": 0, "sub": 0, "overwrite": 1}
"""The operand to which the rule of an op passes on what arrives, or a view of it; the rules of all views do the same."""


@contextmanager
def summed_in_place(
    *, everywhere: bool = False, both: bool = False, last_root_first: bool = False, kept_by_nodes: Sequence[Any] = ()
) -> Iterator[None]:
    """Add in place to what custom functions returned, and use what arrives as ``.grad`` without a copy, inside a ``with`` block.

    ``everywhere``: add in place to what any rule returned, and write the gradients of activations into what arrives, if that is a view.
    ``both``: the rule of ``add`` passes on what arrives, uncopied, to both operands. ``last_root_first``: a pass begins with the roots
    in the opposite order, which an engine may do now and then. ``kept_by_nodes``: memory of nodes that their rules return, uncopied.
    """
    returned: list[Any] = []
    views: dict[int, Any] = {}
    cotangents, total, accumulate, arrive = Custom.cotangents, walk._total, engine._accumulate, walk.ReversePass._arrive

    def is_returned(x: Any) -> bool:
        return (
            type(x) is np.ndarray
            and bool(x.flags.writeable)
            and any(np.may_share_memory(x, one) for one in (*returned, *kept_by_nodes))
        )

    def noted(self: Custom, *given: Any) -> Iterator[tuple[int, Any]]:
        for position, gradient in cotangents(self, *given):
            if type(gradient) is Tensor and not Mode.recording:
                returned.append(gradient.array)
            yield position, gradient

    def own(cotangent: Any) -> Any:
        if any(cotangent is one for one in kept_by_nodes):
            return same(views.setdefault(id(cotangent), cotangent[...]), cotangent)
        return _own(cotangent)

    def changed(array: Any) -> Any:
        for one in kept_by_nodes:
            if one is not array and one.shape == array.shape and np.may_share_memory(one, array):
                same(one, array)
        return array

    def made(right: Pull, primitive: Primitive, node: Application, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
        if primitive.views or not is_returned(g):
            pulled = right(node, asked, g, *given)
            return pulled if primitive.views else [(position, own(c)) for position, c in pulled]
        shared = {0, 1} if both and primitive.name == "add" else {SHARING.get(primitive.name)}
        pulled = [(position, c if position in shared else own(c)) for position, c in right(node, asked, g, *given)]
        if g.base is not None and _writes(primitive):
            return [(position, changed(_written(c, g))) for position, c in pulled]
        return [(position, same(g[...], g) if c is g else c) for position, c in pulled]

    def arrived(self: walk.ReversePass, tensor: Tensor, cotangent: Any) -> None:
        if type(cotangent) is np.ndarray and not is_returned(cotangent):  # a seed is the user's
            cotangent = _own(cotangent)
            returned.append(cotangent)
        arrive(self, tensor, cotangent)

    def totalled(before: Any, cotangent: Any) -> Any:
        return changed(_added(before, cotangent)) if cotangent is not None and is_returned(before) else total(before, cotangent)

    def kept(tensor: Tensor, cotangent: Any, *, dialect: Dialect, create_graph: bool) -> None:
        before = engine.grad_kept(tensor, dialect)
        accumulate(tensor, cotangent, dialect=dialect, create_graph=create_graph)
        if tensor.grad is None or type(cotangent) is Tensor:
            return
        if before is None:
            tensor.grad.array = cotangent
        elif is_returned(before.array):
            tensor.grad.array = changed(_added(before.array, cotangent))

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


def _writes(primitive: Primitive) -> bool:
    return primitive.name in WRITING or primitive.forward.__module__.endswith(ACTIVATIONS)


def _written(cotangent: Any, arrived: Any) -> Any:
    arrived[...] = cotangent
    return same(arrived, cotangent)


def _copied(right: Pull, primitive: Primitive, node: Application, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
    """Have every other rule return tensors of its own, but for those of views."""
    pulled = right(node, asked, g, *given)
    if primitive.views:
        return pulled
    return [(position, _own(c)) for position, c in pulled]


def _own(cotangent: Any) -> Any:
    return _COPIED(cotangent) if type(cotangent) is np.ndarray else cotangent


def _added(before: Any, cotangent: Any) -> Any:
    np.add(before, cotangent, out=before)
    return _noted(add, [before, cotangent], before)


def same(array: Any, other: Any) -> Any:
    """Return an array that has the elements of another one since they were written there, or because it lies there."""
    return _noted(_COPIED, [other], array)


def _noted(primitive: Primitive, arrays: list[Any], out: Any) -> Any:
    """Return what was made in memory that was there before, as a primitive would make it; who looks on is told."""
    if Observation.observer is not None:
        Observation.observer(primitive, arrays, {}, out)
    return out


_COPIED = Primitive(lambda x: x.copy(), "copied", ulps=0)
"""The same elements."""

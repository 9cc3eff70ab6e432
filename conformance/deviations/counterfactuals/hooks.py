"""Counterfactual rules of callbacks: what comes of a pass that looks too late at what they return, or keeps it as it is."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from conformance.backends.reference.engine import ReferenceEngine
from conformance.deviations.counterfactuals.sums import read_in_the_dtype_of_the_last
from reference_impl.errors import AutogradError, Category
from reference_impl.reverse import custom, engine, walk
from reference_impl.tape.primitive import array_of
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager


def dtypes_checked_after_all_hooks(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have a hook return what dtype it likes, which the next one is given; it is checked of what they make of it together."""
    hooked = walk.ReversePass._hooked  # noqa: SLF001 - it is changed here, and nobody else needs it

    def checked_late(self: walk.ReversePass, hooks: list[Any], arrived: list[Any], primals: Sequence[Any]) -> list[Any]:
        with patch.object(walk, "fits", lambda returned, primal: returned.shape == primal.shape):
            slots = hooked(self, hooks, arrived, primals)
        made = ((array_of(slot), primal) for slot, primal in zip(slots, primals, strict=True) if slot is not None)
        if any(array.dtype != primal.dtype for array, primal in made):
            raise AutogradError(Category.CALLBACK_RESULT, "hooks returned another dtype than they were given")
        return slots

    yield patch.object(walk.ReversePass, "_hooked", checked_late)


@contextmanager
def _kept_as_they_are() -> Iterator[None]:
    """Keep answers in place of no gradient, and of one that was set to zero: what it held is set to zero, too, and let go of."""
    accumulate, called = engine._accumulate, walk.ReversePass._called  # noqa: SLF001 - as above
    clear = ReferenceEngine.clear_grad
    returned: list[Tensor] = []
    kept: dict[Tensor, Tensor] = {}
    zeroed: set[Tensor] = set()

    def noted(self: walk.ReversePass, *given: Any, **named: Any) -> Any:
        answer = called(self, *given, **named)
        returned.extend([] if answer is None else [answer])
        return answer

    def accumulated(leaf: Tensor, cotangent: Any, **named: Any) -> None:
        before, own = leaf.grad, kept.get(leaf)
        if before is not None and own is not None:
            before.array = own.array
        accumulate(leaf, cotangent, **named)
        if before is None or leaf in zeroed:
            kept.update((leaf, answer) for answer in returned if answer.array is cotangent)
        elif own is not None and leaf.grad is not None:
            own.array = leaf.grad.array
        zeroed.discard(leaf)

    def cleared(self: ReferenceEngine, leaf: Tensor, to: str) -> None:
        own = kept.pop(leaf, None)
        clear(self, leaf, to)
        if to == "zero" and leaf.grad is not None:
            zeroed.add(leaf)
            if own is not None:
                own.array = leaf.grad.array

    with (
        patch.object(walk.ReversePass, "_called", noted),
        patch.object(engine, "_accumulate", accumulated),
        patch.object(ReferenceEngine, "clear_grad", cleared),
    ):
        yield


def answers_kept(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have what a hook of a leaf returns be its ``.grad`` itself, so that what later passes add is added to it."""
    yield _kept_as_they_are()


def casts_of_custom_gradients_unrecorded(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have a gradient that a custom function returns in another dtype than its operand's be a constant."""
    yield patch.object(custom, "cast", lambda gradient, dtype: Tensor(array_of(gradient).astype(dtype)))


def dtypes_of_custom_gradients_kept(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have a gradient that a custom function returns for a leaf keep its dtype; in that of the last all is read that it is added to.

    If the function returns what arrived, that is what it is added to, and so may be a gradient that was asked for.
    """
    yield _dtypes_kept()
    yield _dtypes_kept(in_what_arrived=True)


@contextmanager
def _dtypes_kept(*, in_what_arrived: bool = False) -> Iterator[None]:
    fitted, cotangents, nodes = custom.Custom._fitted, custom.Custom.cotangents, []  # noqa: SLF001 - as above
    asked_for, sums = walk.ReversePass.cotangent, list[tuple[Any, Any]]()

    def noted(self: custom.Custom, node: Any, *given: Any) -> Iterator[tuple[int, Any]]:
        nodes.append(node)
        yield from cotangents(self, node, *given)

    def kept(self: custom.Custom, gradient: Tensor, primal: Any, position: int) -> Tensor:
        is_leaf = nodes[-1].operands[position].node is None
        return gradient if is_leaf and gradient.shape == primal.shape else fitted(self, gradient, primal, position)

    def note(array: Any, total: Any) -> None:
        if in_what_arrived:
            sums.append((array, total))

    def summed(self: walk.ReversePass, tensor: Tensor) -> Any:
        found = asked_for(self, tensor)
        total = next((total for array, total in sums if array is array_of(found)), None)
        return found if total is None else Tensor(total) if isinstance(found, Tensor) else total

    with (
        patch.object(custom.Custom, "cotangents", noted),
        patch.object(custom.Custom, "_fitted", kept),
        patch.object(walk.ReversePass, "cotangent", summed),
        read_in_the_dtype_of_the_last(became=note),
    ):
        yield


OF_CALLBACKS: dict[str, Callable[[Sequence[str]], Iterator[AbstractContextManager[Any]]]] = {
    "as if the dtype were checked after all hooks": dtypes_checked_after_all_hooks,
    "as if what hooks return were the gradient itself": answers_kept,
    "as if gradients of custom functions kept their dtypes": dtypes_of_custom_gradients_kept,
    "as if gradients of another dtype were constants": casts_of_custom_gradients_unrecorded,
}
"""The rules of this kind by the words that an entry uses."""

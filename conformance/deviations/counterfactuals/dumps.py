"""Counterfactual dumps of backward graphs, in which an arrow is drawn only where a gradient was handed on."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from reference_impl.reverse import engine
from reference_impl.reverse.custom import Custom
from reference_impl.reverse.dump import dump, undrawn
from reference_impl.reverse.walk import ReversePass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.reverse.dump import Arrow
    from reference_impl.tape.tensor import Node


def arrows_of_what_is_missing_undrawn(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have what is dumped lack the arrows along which custom functions handed on ``None``; what they lead to stays."""
    yield _drawn_afterwards()


@contextmanager
def _drawn_afterwards() -> Iterator[None]:
    run, cotangents = ReversePass.run, Custom.cotangents
    missing: set[tuple[Node, int]] = set()
    waiting: list[tuple[ReversePass, str]] = []

    def noted(self: Custom, node: Node, *given: Any) -> Iterator[tuple[int, Any]]:
        for position, gradient in cotangents(self, node, *given):
            if gradient is None:
                missing.add((node, position))
            yield position, gradient

    def is_missing(arrow: Arrow, _: Sequence[Arrow]) -> bool:
        node, _, operand = arrow
        return all((node, position) in missing for position in node.tracked if node.operands[position] is operand)

    def ran(self: ReversePass) -> None:
        try:
            run(self)
        finally:
            while waiting:
                dump(*waiting.pop())

    with (
        undrawn(is_missing),
        patch.object(Custom, "cotangents", noted),
        patch.object(engine, "dump", lambda *given: waiting.append(given)),
        patch.object(ReversePass, "run", ran),
    ):
        yield


OF_DUMPS: dict[str, Callable[[Sequence[str]], Iterator[AbstractContextManager[None]]]] = {
    "as if arrows were drawn where something went": arrows_of_what_is_missing_undrawn,
}
"""The rules of this kind by the words that an entry uses."""

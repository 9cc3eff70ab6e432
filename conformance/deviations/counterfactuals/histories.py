# ruff: noqa: SLF001 - it changes what only an update knows
"""Counterfactual rules of in-place updates: what comes of writes that change the history of one tensor, and the elements of all.

The others keep the nodes that made them. So a gradient passes by the write, and a node that kept what was written refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from conformance.deviations.conditions.calls import EXPANDING, SHAPED, TURNS
from reference_impl.primitives.update import Way
from reference_impl.reverse import in_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.tensor import Tensor

WHOLE = frozenset(SHAPED) - {*EXPANDING}
"""Shape ops whose results are views in Paddle, of all that their operand has where they have its shape."""


class _OfOne(in_place._Write):
    """A write that gives no history to the views of what has one."""

    def replace(self, tensor: Tensor, array: Any, history: Tensor | None) -> None:  # noqa: ARG002 - it is another one here
        super().replace(tensor, array, self.part if self._is_written(tensor) else None)

    def _is_written(self, tensor: Tensor) -> bool:
        return tensor is self.top


class _OfOneByAllNames(_OfOne):
    """One that gives it to what a shape op gives back that moves nothing, too: that is the tensor itself."""

    def _is_written(self, tensor: Tensor) -> bool:
        return self._itself(tensor) is self._itself(self.top)

    def _itself(self, tensor: Tensor) -> Tensor:
        while (link := tensor.link) is not None:  # whose memory is not asked here: that of the one may be written, of the other not yet
            above, op, attrs, _ = link
            if op is None or op.name not in WHOLE or above.shape != tensor.shape or attrs.get("k", 0) % TURNS:
                break
            tensor = above
        return tensor


def histories_kept(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have a write change the history of the tensor alone that is written, and be refused where that is a leaf."""
    for write in (_OfOne, _OfOneByAllNames):
        yield patch.multiple(
            in_place,
            _Write=write,
            _placed=lambda tensor, made, dialect: (tensor, made, Way()),  # noqa: ARG005
            differentiable_base=lambda tensor, copies: tensor,  # noqa: ARG005
        )

"""Counterfactual rules of sums: what comes of a pass that adds up gradients in memory which other tensors have, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl.reverse.summed import summed_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager


def sums_formed_in_place(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have sums of gradients be formed in the tensors that custom functions returned, which others may have, too."""
    yield summed_in_place()
    yield summed_in_place(last_root_first=True)


def gradients_formed_in_place(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have all sums of gradients be formed in what arrived first, and gradients of activations in what arrives as a view."""
    yield summed_in_place(everywhere=True)
    yield summed_in_place(everywhere=True, last_root_first=True)


def sums_formed_in_their_seeds(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have sums hand what arrives on to both operands, where it is added to itself."""
    yield summed_in_place(everywhere=True, both=True)

"""Counterfactual rules of inputs that are one tensor.

A seed and the gradient that it became have one node in Paddle, and mostly one autograd meta, by which duplicates are refused. Where
each has a meta of its own, the call goes through, and what arrives at the node is the gradient of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from reference_impl.reverse import contract

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager


def repeated_inputs_allowed(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have no input be refused for standing twice among those that a call asks for: each of the two has the whole gradient."""
    yield patch.object(contract, "check_inputs_distinct", lambda *_: None)

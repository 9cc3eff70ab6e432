"""Counterfactual rules of hooks: what comes of a pass that does not look at the dtype that each hook returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from reference_impl.reverse import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager


def dtypes_between_hooks_free(_: Sequence[str]) -> Iterator[AbstractContextManager[Any]]:
    """Have a hook return what dtype it likes, which the next one is given."""
    yield patch.object(walk, "fits", lambda returned, primal: returned.shape == primal.shape)

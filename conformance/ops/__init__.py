"""The op catalogue: every op that a random graph can use, by name.

An op lives in two places, found by its name and family: its rule in ``reference_impl/primitives/<family>.py``, its entry here in
``conformance/ops/<family>.py``.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.ops.spec import OpSpec

FAMILIES = ("arithmetic", "elementary", "reduction", "shape", "indexing", "linalg", "selection", "softmax")


@functools.cache
def catalogue() -> Mapping[str, OpSpec]:
    """Return all entries, the simplest families first: a generator that shrinks ends at the front."""
    modules = [importlib.import_module(f"conformance.ops.{family}") for family in FAMILIES]
    return {entry.name: entry for module in modules for entry in module.ENTRIES}

"""Each mutant as a backend by its id, ``conformance.mutants.engines:dropped_fan_out``, which is run and replayed like any other.

A conditional fault is on the reference, or on the engine that is named behind its id: ``conformance.mutants.engines:ID@torch``. Opened
like this it has a name of its own, for which no deviation of that engine is known.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.mutants.conditional.carried import REFERENCE
from conformance.mutants.registry import mutant

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends import Backend


def __getattr__(name: str) -> Callable[[], Backend]:
    try:
        found, _, host = name.partition("@")
        return partial(mutant(found).open, host or REFERENCE)
    except KeyError:
        raise AttributeError(f"no mutant is called {name!r}") from None

"""Each mutant as a backend by its id, ``conformance.mutants.engines:dropped_fan_out``, which is run and replayed like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.mutants.registry import mutant

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.mutants.mutant import WrongEngine


def __getattr__(name: str) -> Callable[[], WrongEngine]:
    try:
        return mutant(name).open
    except KeyError:
        raise AttributeError(f"no mutant is called {name!r}") from None

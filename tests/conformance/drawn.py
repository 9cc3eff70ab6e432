"""Cases that tests draw: each once, and not before a test asks.

Every process of the tests collects all of them, so what a module draws when it is imported is drawn by all, and is needed by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from conformance.generate.scripts import DrawOptions, case_of

if TYPE_CHECKING:
    from conformance.case.case import Case


class Drawn(Sequence["Case"]):
    """The cases of a seed with these indices."""

    def __init__(self, seed: int, count: int, options: DrawOptions | None = None) -> None:
        self._seed, self._options = seed, options or DrawOptions()
        self._indices = range(count)
        self._cases: dict[int, Case] = {}

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, at: int) -> Case: ...

    @overload
    def __getitem__(self, at: slice) -> Drawn: ...

    def __getitem__(self, at: int | slice) -> Case | Drawn:
        if isinstance(at, slice):
            part = Drawn(self._seed, 0, self._options)
            part._indices, part._cases = self._indices[at], self._cases
            return part
        index = self._indices[at]
        if index not in self._cases:
            self._cases[index] = case_of(self._seed, index, self._options)
        return self._cases[index]


USUAL = Drawn(1, 2000)
"""The first cases of the seed that a run has if none is named."""

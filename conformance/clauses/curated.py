"""What a curated case is: the id of a clause or the name of a switch, a case, and the numbers that must come out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends import BackendInfo
from conformance.case.outcome import Computed
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from reference_impl import PADDLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.case.case import Case
    from conformance.compare.mismatch import Mismatch
    from reference_impl import Dialect


@dataclass(frozen=True)
class Curated:
    """One promise, or one switch of the dialects, as a case.

    ``prints``: what the document shows, or what follows by hand, by name of a result, ``NAME.grad@STEP`` for ``.grad`` after a
    step, or ``events@STEP`` for the names of what happened in it; ``None``: absent. ``dialect``: in whose words the promise is made.
    """

    clause: str
    title: str
    case: Case
    prints: Mapping[str, Any] = field(default_factory=dict)
    dialect: Dialect = PADDLE

    @property
    def name(self) -> str:
        """Clause id and title."""
        return f"{self.clause} {self.title}"

    def difference(self, **switches: Any) -> Mismatch | None:
        """Return what changes for the judge when switches of the dialect are set otherwise; ``None`` if nothing does."""
        flipped = self._promise(replace(self.dialect, **switches))
        return Comparer(self._kept).run(flipped.outcome).mismatch

    @cached_property
    def _kept(self) -> Promise:
        return self._promise(self.dialect)

    def _promise(self, dialect: Dialect) -> Promise:
        return Promise(self.case, BackendInfo(dialect.name, "", dialect, dialect.not_offered))

    def disagreement(self) -> str:
        """Say where the reference contradicts the document; empty if nowhere."""
        outcome = Promise(self.case, BackendInfo(self.dialect.name, "", self.dialect)).outcome
        for place, printed in self.prints.items():
            found = self._lookup(outcome, place)
            agrees = found is printed if found is None or printed is None else np.array_equal(found, np.asarray(printed))
            if not agrees:
                return f"{place} is {found}, the document prints {printed}"
        return ""

    def _lookup(self, outcome: Any, place: str) -> Any:
        if place.startswith("events@"):
            return [event.name for event in outcome.observations[int(place.removeprefix("events@"))].events]
        name, _, step = place.partition(".grad@")
        if step:
            value = outcome.observations[int(step)].state[self.case.watched.index(name)]
            return None if value is None else value.array
        for made, seen in zip(self.case.steps, outcome.observations, strict=True):
            names = getattr(made, "results", ())
            if name in names and isinstance(seen, Computed):
                value = seen.values[names.index(name)]
                return None if value is None else value.array
        return None

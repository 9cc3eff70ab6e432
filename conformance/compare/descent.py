"""The search for branches on which an engine is right, where rounding decides more of them than can be tried in all combinations.

What differs on some branches is compared by where it begins and by how many elements are wrong there: by more than rounding can do on
just these branches. A number that is exactly 0 on one may be what roundings leave of terms that cancel on another.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from conformance.case.place import END
from conformance.compare.rounding import are_near
from conformance.ops.dtypes import is_floating

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.compare.branches import Branches
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise


@dataclass(frozen=True)
class Place:
    """Elements of answers that flip together: for each answer and its flat positions, one array of elements per alternative."""

    at: tuple[tuple[int, Any], ...]
    options: tuple[tuple[Any, ...], ...]


def combined(answers: Branches, places: list[Place]) -> Iterator[Branches]:
    """Yield the branches with every combination of the options of these places."""
    for chosen in itertools.product(*(place.options for place in places)):
        branches = [a.copy() for a in answers]
        for place, option in zip(places, chosen, strict=True):
            for (number, where), elements in zip(place.at, option, strict=True):
                branches[number][where] = elements
        yield branches


class Left(NamedTuple):
    """What differs on some branches, and which elements of it are wrong there; ``None`` where nobody compares elements."""

    found: Mismatch
    wrong: Any

    @property
    def at(self) -> tuple[float, int]:
        """Where it is: the step, and the slot."""
        return math.inf if self.found.step is END else self.found.step, self.found.slot

    @property
    def size(self) -> tuple[float, float, int]:
        """What to compare differences by: the later one is less, and of two at the same place that of fewer elements."""
        step, slot = self.at
        return -step, -slot, 0 if self.wrong is None else int(np.count_nonzero(self.wrong))

    def is_beside(self, other: Left) -> bool:
        """Whether both are about one tensor, and its elements."""
        place, there = ((one.found.step, one.found.slot, one.found.where) for one in (self, other))
        return place == there and self.wrong is not None and other.wrong is not None

    def is_behind(self, other: Left) -> bool:
        """Whether what the other one is about is right where this one differs."""
        return self.at > other.at and (self.found.step != other.found.step or self.found.where == other.found.where)


def wrong_elements(there: Promise, found: Mismatch) -> Any:
    """Return which elements differ by more than rounding can do on these branches, where terms may cancel that have none on others."""
    given, wanted = found.actual_array, found.expected_array
    if given is None or wanted is None or given.shape != wanted.shape:
        return None
    far = ~are_near(wanted, given)
    if not there.rounds or not is_floating(given.dtype) or given.dtype != wanted.dtype:
        return far
    return far & (there.bounds.ratios(given, found.step, found.slot, found.where, found.name) > 1)


def descended(left_on: Callable[[Branches], Left | None], answers: Branches, places: list[Place]) -> bool | None:
    """Take for one place after the other the option with which least differs, where all combinations are too many.

    Then again, as long as that is less: a place may matter for a later tensor alone. What is left differs on every branch if an
    element of it hangs on one place at most, and is wrong with each option of that. (Places that together change what none of them
    changes alone are left out.) Otherwise nobody knows, and the answer is ``None``.
    """
    if (left := left_on(answers)) is None:
        return True
    before: Left | None = None
    while before is not left:
        before = left
        for place in places:
            for branches in combined(answers, [place]):
                if (found := left_on(branches)) is None:
                    return True
                if found.size < left.size:
                    answers, left = branches, found
    if left.wrong is None:
        return None
    hangs_on, right = np.zeros(left.wrong.shape, int), ~left.wrong
    for place in places:
        found_there = [found for branches in combined(answers, [place]) if (found := left_on(branches)) is not None]
        beside = [found for found in found_there if found.is_beside(left)]
        expected = [found.found.expected_array for found in beside]
        hangs_on += ~np.all([same(array, left.found.expected_array) for array in expected], axis=0)
        right |= np.any([~found.wrong for found in beside], axis=0)
        right |= any(found.is_behind(left) for found in found_there)
    return False if (~right & (hangs_on <= 1)).any() else None


def same(a: Any, b: Any) -> Any:
    """Return which elements are equal, or both NaN."""
    return (a == b) | (np.isnan(a) & np.isnan(b))

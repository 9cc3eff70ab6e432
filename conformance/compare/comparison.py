"""What came of a comparison: the differences, known and unknown, and counts of what was compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.compare.mismatch import Mismatch
    from conformance.compare.rounding import Bounds

Known: TypeAlias = "Callable[[Mismatch], str | None]"
"""Names the entry of the known deviation that a difference is, if it is one."""


@dataclass
class Comparison:
    """What was compared, and the first mismatch that no known deviation explains, if there is one.

    ``known``: the known deviations, each with the id of its entry; ``shadowed``: the differences that may be consequences of them;
    ``steps`` lists the steps that agree, by number; ``gradients`` has for each call the values whose gradient came and agrees, whatever
    the others are. ``bounded``: the few-ulps test failed, so derived bounds were computed. ``rejected``: these bounds, if a number was
    beyond them. ``ratios``: where a bound was computed, the largest error over it, by what the step is called.
    """

    mismatch: Mismatch | None = None
    known: list[tuple[Mismatch, str]] = field(default_factory=list)
    shadowed: list[Mismatch] = field(default_factory=list)
    rejected: Bounds | None = None
    bounded: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    ratios: dict[str, float] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    gradients: dict[int, set[str]] = field(default_factory=dict)

    @property
    def near_kink(self) -> bool:
        """Whether a number was rejected that rounding may carry over a kink. To tell takes all shadows of the run."""
        return self.rejected is not None and self.rejected.near_kink

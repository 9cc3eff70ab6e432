"""What a record says of how often known deviations show."""

from __future__ import annotations

import msgspec


class ShareRecord(msgspec.Struct, frozen=True):
    """How often a known deviation was measured: in ``shown`` of ``cases``; the fewest and the most cases of the run that are usual."""

    shown: int
    cases: int
    fewest: int
    most: int


class DrawnRecord(msgspec.Struct, frozen=True):
    """The drawn cases of a backend, without those of the grid: how many there are, and how many showed each known deviation."""

    cases: int
    deviations: dict[str, int]

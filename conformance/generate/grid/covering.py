"""Covering arrays: few rows in which every possible combination of two values stands, and of three where that is dangerous.

What is possible is not independent: a vector cannot be transposed, and a bare number has no axis. So a row is a *frame*, values that
are known to go together because somebody tried, and free values, of which each frame says which it allows. What no frame allows is no
combination, and is not asked for.

Greedy, one row at a time: the first combination that is still missing is the seed of a row, and everything else in the row is chosen
for what it covers beside that. No randomness, so the same question has the same answer everywhere.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Row: TypeAlias = "dict[str, str]"
"""A value, by its name, for each dimension."""

Combination: TypeAlias = "tuple[tuple[str, str], ...]"
"""Dimensions with their values, in the order of the dimensions."""

TRIED = 6
"""How many frames are tried for a row, of those that fit its seed."""


def possible(
    frames: Sequence[Row], free: Sequence[Mapping[str, Sequence[str]]], wanted: Sequence[tuple[str, ...]]
) -> list[Combination]:
    """Return every combination of the ``wanted`` dimensions that some frame allows; ``free``: for each frame, what it allows."""
    found: dict[Combination, None] = {}
    for dimensions in wanted:
        seen = set()
        for frame, more in zip(frames, free, strict=True):
            choices = tuple((frame[d],) if d in frame else tuple(more[d]) for d in dimensions)
            if choices not in seen:
                seen.add(choices)
                found.update(dict.fromkeys(tuple(zip(dimensions, values, strict=True)) for values in product(*choices)))
    return list(found)


def cover(frames: Sequence[Row], free: Sequence[Mapping[str, Sequence[str]]], wanted: Sequence[tuple[str, ...]]) -> Iterator[Row]:
    """Yield rows in which all that is `possible` stands."""
    missing = dict.fromkeys(possible(frames, free, wanted))
    by_value: dict[tuple[str, str], set[int]] = {}
    for number, frame in enumerate(frames):
        for item in frame.items():
            by_value.setdefault(item, set()).add(number)
        for dimension, values in free[number].items():
            for value in values:
                by_value.setdefault((dimension, value), set()).add(number)
    used: Counter[tuple[str, str]] = Counter()
    ending = _by_last(tuple(frames[0]) + tuple(free[0]), wanted) if frames else {}
    for turn in range(len(missing)):
        if not missing:
            return
        seed = next(iter(missing))
        fitting = sorted(set.intersection(*(by_value[item] for item in seed)))
        step = max(1, len(fitting) // TRIED)
        tried = [_row(frames[n], free[n], dict(seed), missing, ending, used) for n in fitting[turn % step :: step]]
        row, covered = max(tried, key=lambda one: len(one[1]))
        for combination in covered:
            del missing[combination]
        used.update(row.items())
        yield row


def _by_last(order: Sequence[str], wanted: Sequence[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """Sort what is wanted by the dimension that a row in the making chooses last."""
    ending: dict[str, list[tuple[str, ...]]] = {dimension: [] for dimension in order}
    for dimensions in wanted:
        ending[max(dimensions, key=order.index)].append(dimensions)
    return ending


def _row(
    frame: Row,
    more: Mapping[str, Sequence[str]],
    seed: Row,
    missing: Mapping[Combination, None],
    ending: Mapping[str, Sequence[tuple[str, ...]]],
    used: Mapping[tuple[str, str], int],
) -> tuple[Row, list[Combination]]:
    """Complete a row in a frame; return it with what it covers."""
    row = {**frame}
    covered = [found for d in frame for found in _met(row, d, missing, ending)]
    for dimension, values in more.items():
        best: tuple[int, int] | None = None
        chosen, gained = "", list[Combination]()
        for value in (seed[dimension],) if dimension in seed else values:
            row[dimension] = value
            met = _met(row, dimension, missing, ending)
            if best is None or (len(met), -used[dimension, value]) > best:
                best, chosen, gained = (len(met), -used[dimension, value]), value, met
        row[dimension] = chosen
        covered += gained
    return row, covered


def _met(
    row: Row, last: str, missing: Mapping[Combination, None], ending: Mapping[str, Sequence[tuple[str, ...]]]
) -> list[Combination]:
    """Return the missing combinations that a row covers and that end with a dimension."""
    found = (tuple((d, row[d]) for d in dimensions) for dimensions in ending[last])
    return [combination for combination in found if combination in missing]

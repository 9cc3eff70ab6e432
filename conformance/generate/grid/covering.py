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
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Row: TypeAlias = "dict[str, str]"
"""A value, by its name, for each dimension."""

Combination: TypeAlias = "tuple[tuple[str, str], ...]"
"""Dimensions with their values, in the order of the dimensions."""

Key: TypeAlias = "tuple[int, tuple[str, ...]]"
"""The same in short: which dimensions, by their number among all that is wanted, and their values."""

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


class Wanted(NamedTuple):
    """Dimensions of which every combination is wanted, their number among all that is wanted, and what reads their values off a row."""

    number: int
    dimensions: tuple[str, ...]
    values: Callable[[Row], Any]

    def met(self, row: Row) -> Key:
        """Return which of its combinations a row has."""
        return self.number, self.values(row)


def cover(frames: Sequence[Row], free: Sequence[Mapping[str, Sequence[str]]], wanted: Sequence[tuple[str, ...]]) -> Iterator[Row]:
    """Yield rows in which all that is `possible` stands."""
    asked = [Wanted(number, dimensions, itemgetter(*dimensions)) for number, dimensions in enumerate(wanted)]
    numbers = {one.dimensions: one.number for one in asked}
    split = (tuple(zip(*combination, strict=True)) for combination in possible(frames, free, wanted))
    missing: dict[Key, None] = {(numbers[dimensions], values): None for dimensions, values in split}
    by_value: dict[tuple[str, str], set[int]] = {}
    for number, frame in enumerate(frames):
        for item in frame.items():
            by_value.setdefault(item, set()).add(number)
        for dimension, values in free[number].items():
            for value in values:
                by_value.setdefault((dimension, value), set()).add(number)
    used: Counter[tuple[str, str]] = Counter()
    ending = _by_last(tuple(frames[0]) + tuple(free[0]), asked) if frames else {}
    for turn in range(len(missing)):
        if not missing:
            return
        number, chosen = next(iter(missing))
        seed = dict(zip(wanted[number], chosen, strict=True))
        fitting = sorted(set.intersection(*(by_value[item] for item in seed.items())))
        step = max(1, len(fitting) // TRIED)
        tried = [_row(frames[n], free[n], seed, missing, ending, used) for n in fitting[turn % step :: step]]
        row, covered = max(tried, key=lambda one: len(one[1]))
        for key in covered:
            del missing[key]
        used.update(row.items())
        yield row


def _by_last(order: Sequence[str], asked: Sequence[Wanted]) -> dict[str, list[Wanted]]:
    """Sort what is wanted by the dimension that a row in the making chooses last."""
    ending: dict[str, list[Wanted]] = {dimension: [] for dimension in order}
    for one in asked:
        ending[max(one.dimensions, key=order.index)].append(one)
    return ending


def _row(
    frame: Row,
    more: Mapping[str, Sequence[str]],
    seed: Row,
    missing: Mapping[Key, None],
    ending: Mapping[str, Sequence[Wanted]],
    used: Mapping[tuple[str, str], int],
) -> tuple[Row, list[Key]]:
    """Complete a row in a frame; return it with what it covers."""
    row = {**frame}
    covered = [key for d in frame for one in ending[d] if (key := one.met(row)) in missing]
    for dimension, values in more.items():
        best: tuple[int, int] | None = None
        chosen, gained = "", list[Key]()
        for value in (seed[dimension],) if dimension in seed else values:
            row[dimension] = value
            met = [key for one in ending[dimension] if (key := one.met(row)) in missing]
            if best is None or (len(met), -used[dimension, value]) > best:
                best, chosen, gained = (len(met), -used[dimension, value]), value, met
        row[dimension] = chosen
        covered += gained
    return row, covered

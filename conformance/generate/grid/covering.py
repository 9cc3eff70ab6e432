"""Covering arrays: few rows in which every possible combination of two values stands, and of three where that is dangerous.

What is possible is not independent: a vector cannot be transposed, and a bare number has no axis. So a row is a *frame*, values that
are known to go together because somebody tried, and free values, of which each frame says which it allows. What no frame allows is no
combination, and is not asked for.

Greedy, one row at a time: the first combination that is still missing is the seed of a row, and everything else in the row is chosen
for what it covers beside that. No randomness, so the same question has the same answer everywhere.
"""

from __future__ import annotations

from collections import Counter
from itertools import count, product
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Row: TypeAlias = "dict[str, str]"
"""A value, by its name, for each dimension."""

Combination: TypeAlias = "tuple[tuple[str, str], ...]"
"""Dimensions with their values, in the order of the dimensions."""

Values: TypeAlias = "tuple[str, ...]"
"""The values alone of a combination."""

Ending: TypeAlias = "dict[str, list[tuple[Callable[[Row], Values], dict[Values, None]]]]"
"""By the dimension that a row in the making chooses last: what reads the values of wanted dimensions, and those still missing."""

TRIED = 6
"""How many frames are tried for a row, of those that fit its seed."""


def possible(
    frames: Sequence[Row], free: Sequence[Mapping[str, Sequence[str]]], wanted: Sequence[tuple[str, ...]]
) -> list[Combination]:
    """Return every combination of the ``wanted`` dimensions that some frame allows; ``free``: for each frame, what it allows."""
    asked = _asked(frames, free, wanted)
    return [tuple(zip(one.dimensions, values, strict=True)) for one in asked for values in one.missing]


def _asked(frames: Sequence[Row], free: Sequence[Mapping[str, Sequence[str]]], wanted: Iterable[tuple[str, ...]]) -> list[Wanted]:
    """Return what is wanted, with every combination still missing that some frame allows."""
    allowed = [
        {**{d: tuple(values) for d, values in more.items()}, **{d: (value,) for d, value in frame.items()}}
        for frame, more in zip(frames, free, strict=True)
    ]
    asked = []
    for dimensions in wanted:
        read = _reader(dimensions)
        missing: dict[Values, None] = {}
        for choices in dict.fromkeys(map(read, allowed)):
            missing.update(dict.fromkeys(product(*choices)))
        asked.append(Wanted(dimensions, read, missing))
    return asked


def _reader(dimensions: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return what reads the values of dimensions off a row; `itemgetter` of one name would return a bare value."""
    if len(dimensions) > 1:
        return itemgetter(*dimensions)
    (dimension,) = dimensions
    return lambda row: (row[dimension],)


class Wanted(NamedTuple):
    """Dimensions of which every combination is wanted, what reads their values off a row, and the values that are still missing."""

    dimensions: tuple[str, ...]
    values: Callable[[Row], Values]
    missing: dict[Values, None]


def cover(frames: Sequence[Row], free: Sequence[Mapping[str, Sequence[str]]], wanted: Sequence[tuple[str, ...]]) -> Iterator[Row]:
    """Yield rows in which all that is `possible` stands."""
    left = _asked(frames, free, wanted)
    by_value: dict[tuple[str, str], set[int]] = {}
    for number, frame in enumerate(frames):
        for item in frame.items():
            by_value.setdefault(item, set()).add(number)
        for dimension, values in free[number].items():
            for value in values:
                by_value.setdefault((dimension, value), set()).add(number)
    used: Counter[tuple[str, str]] = Counter()
    order = [*frames[0], *free[0]] if frames else []
    for turn in count():
        left = [one for one in left if one.missing]
        if not left:
            return
        seed = dict(zip(left[0].dimensions, next(iter(left[0].missing)), strict=True))
        fitting = sorted(set.intersection(*(by_value[item] for item in seed.items())))
        step = max(1, len(fitting) // TRIED)
        ending = _by_last(order, left)
        tried = [_row(frames[n], free[n], seed, ending, used) for n in fitting[turn % step :: step]]
        row, _ = max(tried, key=itemgetter(1))
        for one in left:
            one.missing.pop(one.values(row), None)
        used.update(row.items())
        yield row


def _by_last(order: Sequence[str], asked: Sequence[Wanted]) -> Ending:
    """Sort what is wanted by the dimension that a row in the making chooses last."""
    ending: Ending = {dimension: [] for dimension in order}
    for one in asked:
        ending[max(one.dimensions, key=order.index)].append((one.values, one.missing))
    return ending


def _row(
    frame: Row, more: Mapping[str, Sequence[str]], seed: Row, ending: Ending, used: Mapping[tuple[str, str], int]
) -> tuple[Row, int]:
    """Complete a row in a frame; return it with how much it covers."""
    row = {**frame}
    covered = 0
    for dimension in frame:
        for read, missing in ending[dimension]:
            if read(row) in missing:
                covered += 1
    for dimension, values in more.items():
        here = ending[dimension]
        most, least_used = -1, 0
        chosen = ""
        for value in (seed[dimension],) if dimension in seed else values:
            row[dimension] = value
            met = 0
            for read, missing in here:
                if read(row) in missing:
                    met += 1
            if met >= most:
                uses = used[dimension, value]
                if met > most or uses < least_used:
                    most, least_used, chosen = met, uses, value
        row[dimension] = chosen
        covered += max(most, 0)
    return row, covered

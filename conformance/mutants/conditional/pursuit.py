"""Which cases conditional faults are chased through, and in what order.

Faults of ops are chased through the grid first, where each op has cases of its own, and then through the cases that are drawn. Faults
of calls are chased through the drawn ones first, and then through a part of the grid: its calls are the same for every op. Faults
that show where numbers are not finite are chased through scripts that may have such numbers, which a campaign draws now and then.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.generate.grid import grid
from conformance.mutants.conditional.carried import REFERENCE
from conformance.mutants.conditional.chase import Chase, fault_of
from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.mutants.hunt import Kill

OF_EIGHT = 8
"""One point of the grid in so many is for faults of calls, as it is for laws and null pairs."""
FEW, MANY = 50, 400
"""How many cases a worker gets: few of an engine that may die of one, since then all of them are run again."""
TIMEOUT = 10.0
"""For one engine and one case, the judging included."""


def pursuits(ids: Sequence[str], kills: Mapping[str, Kill], cases: int, seed: int, folder: str, host: str) -> Iterator[Chase]:
    """Yield chases of those that are not in ``kills`` by then, through the grid and the first ``cases`` of a seed."""
    parts = {name: fault.part for name in ids if (fault := fault_of(name)).of_op}
    unbounded = tuple(name for name in ids if fault_of(name).of_unbounded)
    of_calls = tuple(name for name in ids if name not in parts and name not in unbounded)
    begun = partial(Chase, seed, timeout=TIMEOUT, host=host)
    if parts:
        points = dict(enumerate(grid(op for op in catalogue() if op in parts.values())))
        end = len(points) + cases
        yield from _ranges(begun(0, end, tuple(parts), _folder(folder, "ops"), points=points, drawn=len(points)), kills)
    if unbounded:
        yield from _ranges(begun(0, cases, unbounded, _folder(folder, "unbounded"), unbounded=True), kills)
    if of_calls:
        place = _folder(folder, "calls")
        yield from _ranges(begun(0, cases, of_calls, place), kills)
        if any(name not in kills for name in of_calls):
            points = dict(enumerate(tuple(grid())[::OF_EIGHT], cases))
            yield from _ranges(begun(cases, cases + len(points), of_calls, place, points=points), kills)


def _folder(folder: str, name: str) -> str:
    """Make a place for the notes of chases that may run side by side."""
    place = Path(folder) / name
    place.mkdir()
    return str(place)


def _ranges(whole: Chase, kills: Mapping[str, Kill]) -> Iterator[Chase]:
    """Yield the ranges of a chase in which something can be found out."""
    width = MANY if whole.host == REFERENCE else FEW
    for start in range(whole.start, whole.stop, width):
        stop = min(start + width, whole.stop)
        alive = tuple(name for name in whole.alive if name not in kills)
        points = {index: whole.points[index] for index in range(start, stop) if index in whole.points}
        parts = {fault_of(name).part for name in alive}
        if any(whole.is_for(index, parts) for index in range(start, stop)):
            yield replace(whole, start=start, stop=stop, alive=alive, points=points)

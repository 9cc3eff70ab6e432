"""Which cases conditional faults are chased through, and in what order.

Faults of ops are chased through the grid first, where each op has cases of its own, and then through the cases that are drawn. Faults
of calls are chased through the drawn ones first, and then through a part of the grid: its calls are the same for every op.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.generate.grid import grid
from conformance.mutants.conditional.carried import REFERENCE
from conformance.mutants.conditional.chase import Chase
from conformance.mutants.registry import mutant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.mutants.hunt import Kill

OF_EIGHT = 8
"""One point of the grid in so many is for faults of calls, as it is for laws and null pairs."""
FEW, MANY = 50, 400
"""How many cases a worker gets: few of an engine that may die of one, since then all of them are run again."""
TIMEOUT = 60.0


def pursuits(ids: Sequence[str], kills: Mapping[str, Kill], cases: int, seed: int, folder: str, host: str) -> Iterator[Chase]:
    """Yield chases of those that are not in ``kills`` by then, through the grid and the first ``cases`` of a seed."""
    of_ops = [name for name in ids if (fault := mutant(name).conditional) is not None and fault.of_op]
    of_calls = [name for name in ids if name not in of_ops]
    points = tuple(grid()) if ids else ()
    for wanted, first, behind in ((of_ops, points, ()), (of_calls, (), points[::OF_EIGHT])):
        drawn = len(first)
        at = dict(chain(enumerate(first), enumerate(behind, drawn + cases)))
        place = Path(folder) / ("ops" if wanted is of_ops else "calls")
        place.mkdir()
        yield from _ranges(
            Chase(seed, 0, len(at) + cases, tuple(wanted), str(place), TIMEOUT, host=host, points=at, drawn=drawn), kills
        )


def _ranges(whole: Chase, kills: Mapping[str, Kill]) -> Iterator[Chase]:
    """Yield the ranges of a chase in which something can be found out."""
    width = MANY if whole.host == REFERENCE else FEW
    for start in range(0, whole.stop, width):
        stop = min(start + width, whole.stop)
        alive = tuple(name for name in whole.alive if name not in kills)
        points = {index: whole.points[index] for index in range(start, stop) if index in whole.points}
        found = replace(whole, start=start, stop=stop, alive=alive, points=points)
        if any(map(found.is_for, range(start, stop))):
            yield found

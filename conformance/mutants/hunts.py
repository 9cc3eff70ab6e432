"""Which cases mutants are hunted through, and in what order.

What has no condition is hunted through the cases that are drawn. Where the grid takes part, as in the gate, a wrong rule is hunted
first through the points of its op, since most of what can be wrong with it shows in the first few; what comes through is hunted on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.generate.grid import grid
from conformance.mutants.hunt import Hunt
from conformance.mutants.registry import mutant
from conformance.mutants.samples import row_of
from conformance.ops import catalogue
from conformance.ops.spec import Drawn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.mutants.hunt import Kill

FIRST, WIDEST = 25, 400
"""How many drawn cases a worker gets: few at first, when most mutants are alive."""
TIMEOUT = 30.0
"""For all mutants together and one case, the judging included."""


@dataclass
class Hunts:
    """The hunts for mutants, through the first ``cases`` of a seed, and before these through the grid if it is asked for.

    They are made one by one, as workers have room for them, each for the mutants that are not in ``kills`` by then.
    """

    ids: Sequence[str]
    kills: Mapping[str, Kill]
    cases: int
    seed: int
    folder: str
    grid: bool
    points: dict[str, range] = field(default_factory=dict)
    """The numbers of the points of each op; the cases that are drawn come behind those of all ops."""

    def __iter__(self) -> Iterator[Hunt]:
        if self.grid:
            yield from self._through_the_grid()
        start, width, behind = 0, FIRST, self._behind
        while start < self.cases and (alive := tuple(name for name in self.ids if name not in self.kills)):
            stop = min(start + width, self.cases)
            yield Hunt(self.seed, behind + start, behind + stop, alive, self.folder, TIMEOUT, drawn=behind)
            start, width = stop, min(2 * width, WIDEST)

    def tries(self, name: str, kill: Kill) -> int:
        """Return how many cases it took until a mutant was found out: the points of its op, and then what was drawn."""
        mine = self.points.get(of_grid(name) or "", range(0))
        return mine.index(kill.case) + 1 if kill.case in mine else len(mine) + kill.case - self._behind + 1

    @property
    def _behind(self) -> int:
        return sum(map(len, self.points.values()))

    def _through_the_grid(self) -> Iterator[Hunt]:
        wanted: dict[str, list[str]] = {}
        for name in self.ids:
            if (op := of_grid(name)) is not None:
                wanted.setdefault(op, []).append(name)
        for op, names in wanted.items():
            start = self._behind
            points = dict(enumerate(grid([op]), start))
            self.points[op] = range(start, start + len(points))
            if points:
                yield Hunt(self.seed, start, start + len(points), tuple(names), self.folder, TIMEOUT, points=points)


def of_grid(name: str) -> str | None:
    """Return the op whose points of the grid a mutant is for; ``None`` if there is none."""
    found = mutant(name)
    row = None if found.rule is None else row_of(found.part)
    return None if row is None or catalogue()[row].drawn is Drawn.IN_PROGRAMS else row

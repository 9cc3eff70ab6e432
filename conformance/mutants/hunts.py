"""Which cases mutants are hunted through, and in what order.

What has no condition is hunted through the cases that are drawn. Where the grid takes part, as in the gate, a wrong rule is hunted
first through the points of its op, since most of what can be wrong with it shows in the first few; what comes through is hunted on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.generate.grid import Point, grid
from conformance.mutants.hunt import Hunt, of_grid
from conformance.mutants.registry import mutant
from conformance.mutants.samples import origins

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.mutants.hunt import Kill
    from conformance.mutants.samples import Origin

FIRST, WIDEST = 25, 400
"""How many drawn cases a worker gets: few at first, when most mutants are alive."""
AT_ONCE = 8
"""How many ops of the grid a worker gets."""
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
            yield Hunt(*(self.seed, behind + start, behind + stop, alive, self.folder, TIMEOUT), drawn=behind, origins=_origins(alive))
            start, width = stop, min(2 * width, WIDEST)

    def tries(self, name: str, kill: Kill) -> int:
        """Return how many cases it took until a mutant was found out: the points of its op, and then what was drawn."""
        mine = self.points.get(of_grid(mutant(name)) or "", range(0))
        return mine.index(kill.case) + 1 if kill.case in mine else len(mine) + kill.case - self._behind + 1

    @property
    def _behind(self) -> int:
        return sum(map(len, self.points.values()))

    def _through_the_grid(self) -> Iterator[Hunt]:
        wanted: dict[str, list[str]] = {}
        for name in self.ids:
            if (op := of_grid(mutant(name))) is not None:
                wanted.setdefault(op, []).append(name)
        ops = list(wanted)
        for group in (ops[at : at + AT_ONCE] for at in range(0, len(ops), AT_ONCE)):
            start, points = self._behind, dict[int, Point]()
            for op in group:
                first = self._behind
                points |= enumerate(grid([op]), first)
                self.points[op] = range(first, start + len(points))
            alive = tuple(name for op in group for name in wanted[op])
            if points:
                yield Hunt(self.seed, start, start + len(points), alive, self.folder, TIMEOUT, points=points, origins=_origins(alive))


def _origins(ids: Sequence[str]) -> dict[str, Origin | None]:
    return origins(mutant(name).part for name in ids if mutant(name).rule is not None)

"""What a campaign is asked to do, and what its header says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from conformance import __version__
from conformance.backends.registry import registration, slowness
from conformance.campaign.baseline import read_baseline
from conformance.campaign.records import SCHEMA, Header
from conformance.campaign.records.provenance import environment
from conformance.campaign.shares import read_shares
from conformance.deviations.entries import known
from conformance.generate.grid import VALUES, WANTED, grid
from conformance.generate.scripts import DrawOptions, case_of, is_program, odds_of
from conformance.laws.judging import Judging, Sampling
from conformance.ops import not_offered

if TYPE_CHECKING:
    from conformance.campaign.records import BackendRecord
    from conformance.campaign.records.accepted import Accepted
    from conformance.case.case import Case
    from conformance.generate.grid import Point


@dataclass(frozen=True)
class Options:
    """What a campaign is asked to do.

    Attributes:
        cases: how many are drawn; with ``grid`` those of the grid come after them, on the backends of eager scripts.
        budget: the seconds after which it ends, more or less: what is under way is not cut off, and every finding gets a little time.
        dask: the cluster that runs the cases, as `conformance.campaign.workers.cluster.reached` takes it; ``None`` for processes of
            this machine.
        baseline: the file of findings that are not new.
    """

    backends: tuple[str, ...]
    cases: int = 2000
    budget: float | None = None
    seed: int = 1
    draw: DrawOptions = field(default_factory=DrawOptions)
    jobs: int = 1
    out: Path = Path("reports")
    command: str = ""
    dask: str | None = None
    judging: Judging = field(default_factory=partial(Judging, Sampling.SOME))
    grid: bool = False
    baseline: Path | None = None

    @cached_property
    def accepted(self) -> tuple[Accepted, ...]:
        """The accepted findings of the baseline.

        Raises:
            RecordError: if its file is none.
        """
        return () if self.baseline is None else read_baseline(self.baseline)

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The points of the grid; they take some seconds to find. A slow engine is asked for every value, and others for every pair."""
        if not self.grid:
            return ()
        return tuple(grid(self.draw.ops, self.draw.without, VALUES if slowness(self.backends) > 1 else WANTED))

    @property
    def total(self) -> int:
        """How many cases there are, drawn and enumerated."""
        return self.cases + len(self.points)

    @cached_property
    def halves(self) -> tuple[tuple[str, ...], ...]:
        """The backends of eager scripts and those of programs, where cases of both are drawn."""
        if not self.draw.mixed:
            return (self.backends,)
        static = tuple(name for name in self.backends if registration(name).static)
        return tuple(name for name in self.backends if name not in static), static

    def half(self, index: int) -> tuple[str, ...]:
        """Return the backends that case ``index`` is run on."""
        return self.halves[self._is_program(index) if self.draw.mixed else 0]

    def alike(self, one: int, other: int) -> bool:
        """Whether two cases are of the same half, so that one process may run both."""
        return self._is_program(one) is self._is_program(other) and (one < self.cases) is (other < self.cases)

    def _is_program(self, index: int) -> bool:
        return index < self.cases and is_program(index, self.draw)

    def case_at(self, index: int) -> Case:
        """Return the case of an index, drawn or enumerated."""
        return case_of(self.seed, index, self.draw) if index < self.cases else self.points[index - self.cases].case()

    @property
    def record(self) -> Path:
        """Where the record is written."""
        return self.out / "run.ndjson"


def prepare(options: Options) -> None:
    """Refuse files that are broken, and make the folder of the results: before anything runs, which may take minutes.

    Raises:
        DeviationError: if an entry of a known deviation is broken.
        RecordError: if the shares or the baseline are.
        OSError: if one cannot be read, or the folder not be made.
    """
    known(), read_shares(), options.accepted
    options.out.mkdir(parents=True, exist_ok=True)


def header_of(options: Options, backends: tuple[BackendRecord, ...]) -> Header:
    """Write the header; ``backends``: as they describe themselves in a worker."""
    return Header(
        schema=SCHEMA,
        suite=__version__,
        command=options.command,
        seed=options.seed,
        cases=options.total,
        grid=len(options.points),
        lanes=tuple(options.draw.lanes),
        ops=None if options.draw.ops is None else tuple(options.draw.ops),
        ops_not_offered=not_offered(),
        odds=odds_of(options.draw),
        jobs=options.jobs,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        environment=environment(),
        backends=backends,
        budget=options.budget,
        judging=options.judging,
        baseline="" if options.baseline is None else str(options.baseline),
        profile=options.draw.profile,
    )

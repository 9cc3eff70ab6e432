"""A chunk: a range of cases for one worker, with the files by which the parent learns what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.generate.scripts import DrawOptions, case_of
from conformance.laws.judging import Judging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Case
    from conformance.generate.grid import Point
    from conformance.judge.verdict import Bucket
    from reference_impl.dialects.conventions import Conventions, OpenChoice


@dataclass(frozen=True, slots=True)
class Death:
    """How a backend ended its process.

    Attributes:
        bucket: whether it crashed, or never came back.
        law: the law under which that was, or the canary, if one was being tried. `conformance.campaign.workers.watchdog.OURS` says that
            it was this suite that never came back.
        frame: in which function of the framework that was (`conformance.campaign.workers.last_words`).
        own: whether it was surely this case, because no other had run in that process; else a case before it may have damaged the
            process.
    """

    bucket: Bucket
    law: str
    frame: str
    own: bool = True

    @property
    def is_native(self) -> bool:
        """Whether the frame is one of the framework itself, which another fault hardly shares; those of Python many do."""
        return "::" in self.frame


@dataclass(frozen=True)
class Chunk:
    """The cases from ``start`` to ``stop``: those of a seed and a draw, those of the grid, or the given ones.

    Attributes:
        name: that of its files in ``folder``.
        points: the points of the grid, by index.
        patience: the seconds of computing after which a case is set aside. ``None``: a case may take as long as ``judging`` says, and
            then it is known to hang.
        set_aside: the indices of the cases that took longer.
        until: when no more cases are started, by the clock of `time.monotonic`.
        deaths: the indices at which a process died once already.
        fatal_backends: by index, which backends take the process down there, or seem to, and how.
        killed: how often the worker of this chunk was killed before a case was under way.
        settled: the open choices of which nobody asks whether a case shows them.
        expected: the conventions that are expected in the place of those that were measured.
        ahead: how many cases of these backends a worker may expect after it; ``None`` where nobody knows.
    """

    backends: tuple[str, ...]
    folder: str
    name: str
    start: int
    stop: int
    judging: Judging = field(default_factory=Judging)
    seed: int = 0
    draw: DrawOptions = field(default_factory=DrawOptions)
    cases: tuple[Case, ...] | None = None
    points: dict[int, Point] = field(default_factory=dict)
    patience: float | None = None
    until: float | None = None
    set_aside: tuple[int, ...] = ()
    fatal_backends: dict[int, dict[str, Death]] = field(default_factory=dict)
    deaths: dict[int, int] = field(default_factory=dict)
    settled: frozenset[OpenChoice] = frozenset()
    expected: Conventions | None = None
    killed: int = 0
    ahead: int | None = None

    @property
    def owns_first_death(self) -> bool:
        """Whether a death at the first case is its own: it died before, or is alone in its process."""
        return self.start in self.deaths or self.start + 1 == self.stop

    def case_at(self, index: int) -> Case:
        """Return the case of an index: one of the grid, one that was given, or one that is drawn."""
        if index in self.points:
            return self.points[index].case()
        return case_of(self.seed, index, self.draw) if self.cases is None else self.cases[index]

    def wipe(self) -> None:
        """Remove what a child said before it died: the next one has said nothing yet."""
        for path in (self.progress, self.words, self.watchdog):
            path.unlink(missing_ok=True)

    @property
    def records(self) -> Path:
        """Where the records are appended."""
        return Path(self.folder) / f"{self.name}.ndjson"

    @property
    def progress(self) -> Path:
        """Where the case and backend under way are noted."""
        return Path(self.folder) / f"{self.name}.progress"

    @property
    def words(self) -> Path:
        """Where what is printed goes, the stack of a dying process included."""
        return Path(self.folder) / f"{self.name}.words"

    @property
    def watchdog(self) -> Path:
        """Where the watchdog writes before it ends a process that hangs."""
        return Path(self.folder) / f"{self.name}.hang"


def chunk_of(cases: Sequence[Case], backends: tuple[str, ...], folder: str | Path, judging: Judging | None = None) -> Chunk:
    """Return a chunk of these cases."""
    return Chunk(backends, str(folder), "given", 0, len(cases), judging or Judging(), cases=tuple(cases))

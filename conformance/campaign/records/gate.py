"""The records of what a gate checks before its campaign."""

from __future__ import annotations

import msgspec

from conformance.campaign.records.clauses import ClauseRow


class ClausesRecord(msgspec.Struct, frozen=True, tag_field="kind", tag="clauses"):
    """The clause table; ``faults``: where the suite itself is at fault."""

    rows: tuple[ClauseRow, ...]
    faults: tuple[str, ...]


class SweepRecord(msgspec.Struct, frozen=True):
    """What became of the special points of a backend.

    ``points`` counts places by bucket, ``deviations`` those that are known by entry, ``failures`` has a line for every case that
    diverges, with the first places.
    """

    backend: str
    cases: int
    points: dict[str, int]
    deviations: dict[str, int]
    failures: tuple[str, ...]


class PointsRecord(msgspec.Struct, frozen=True, tag_field="kind", tag="points"):
    """The sweep of the special points."""

    swept: tuple[SweepRecord, ...]


class ScoreRecord(msgspec.Struct, frozen=True):
    """How the mutants of a sort fared: ``median`` and ``worst`` number of cases until one was found out."""

    sort: str
    total: int
    killed: int
    equivalent: int
    median: float
    worst: int


class SurvivorRecord(msgspec.Struct, frozen=True):
    """A mutant that was not found out; ``reason``: why none could, if it is equivalent to the right engine."""

    id: str
    sort: str
    what: str
    reason: str


class MutantsRecord(msgspec.Struct, frozen=True, tag_field="kind", tag="mutants"):
    """The measured power of the suite: its mutation score.

    ``host``: the engine that carried the conditional faults; ``grid``: whether wrong rules were hunted through the grid first.
    """

    cases: int
    seed: int
    seconds: float
    share: float
    scores: tuple[ScoreRecord, ...]
    survivors: tuple[SurvivorRecord, ...]
    host: str
    grid: bool = False

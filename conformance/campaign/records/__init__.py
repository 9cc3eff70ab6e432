"""The records of a run: lines of JSON, each a struct that says its ``kind``, from the worker that judged to the page that shows it.

A record outlives the process and the version that wrote it. Were it a dictionary, each of its readers would spell the keys by hand, and
an old or broken one would fail somewhere in the middle of a page. So the writer takes nothing but these structs, and the reader gives
back nothing else: what does not fit is refused with file, line and reason. ``docs/record.schema.json`` has the schema.

A file without its footer is the record of a run that did not end; it cannot be read as a result.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

import msgspec

from conformance.backends import Repeatable
from conformance.campaign.records.accepted import AcceptedRecord
from conformance.campaign.records.fingerprint import Fingerprint
from conformance.campaign.records.gate import ClausesRecord, MutantsRecord, PointsRecord
from conformance.campaign.records.grid import GridRecord, Met
from conformance.campaign.records.shares import DrawnRecord, ShareRecord
from conformance.campaign.records.verdicts import MismatchRecord, VerdictRecord
from conformance.case.case import Case
from conformance.generate.profiles import Profile
from conformance.judge.dispute import Blame
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging, Sampling
from conformance.laws.relation import Status

SCHEMA = 3
"""Written into the header; a record of another schema is refused."""

BARE = "bare "
"""Before the name of a backend among the seconds of a case: how long its steps take with nobody looking."""
PROCESSES = "processes "
"""Before the way in which processes ended among the seconds of a run: what they cost beside the cases that they ran."""


class RecordError(ValueError):
    """A run record that cannot be used; the message has the place and the reason."""


class RunVerdict(StrEnum):
    """What a run as a whole says; it is no result where too few of its cases were compared."""

    CONFORMS = "conforms"
    DIVERGES = "diverges"
    NO_RESULT = "no_result"
    SUITE_ERROR = "suite_error"


class ExitReason(StrEnum):
    """Why a run that ended started no more cases: all were done, or the time was up."""

    CASES = "cases"
    BUDGET = "budget"


class BackendRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A backend as it describes itself (`conformance.backends.BackendInfo`).

    Attributes:
        conventions: those from which the reference starts for it.
        orders: the highest order of derivative of each op that it offers (`conformance.ops.orders`).
    """

    name: str
    version: str
    dialect: str
    not_offered: dict[str, str]
    cpu: str = ""
    title: str = ""
    repeatable: Repeatable = "bitwise"
    conventions: str = ""
    orders: dict[str, int] = {}


class Header(msgspec.Struct, frozen=True, tag_field="kind", tag="header"):
    """What was run, and all that is needed to go on with it; the first line of a record.

    Attributes:
        cases: how many there are; the last ``grid`` of them are those of the grid.
        lanes, ops: to which the drawing was limited; all ops for ``None``.
        ops_not_offered: which ops the suite itself leaves out, and why.
        odds: the odds of the generator, by name.
        budget: the seconds after which the run ends; ``None`` for no end.
        baseline: the file of accepted findings; empty if there is none.
        profile: what kind of scripts was drawn.
    """

    schema: int
    suite: str
    command: str
    seed: int
    cases: int
    lanes: tuple[str, ...]
    ops: tuple[str, ...] | None
    ops_not_offered: dict[str, str]
    jobs: int
    started: str
    environment: dict[str, str]
    backends: tuple[BackendRecord, ...]
    odds: dict[str, float] = {}
    budget: float | None = None
    judging: Judging = Judging(Sampling.SOME)
    grid: int = 0
    baseline: str = ""
    profile: Profile = "usual"


class NullRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A null pair on a case (`conformance.judge.nulls.Null`); ``detail``: what differs, of a false alarm."""

    pair: str
    dtype: str
    values: int
    alarm: bool
    near_kink: bool
    detail: str | None = None


class CaseRecord(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="case"):
    """One case on all backends.

    Attributes:
        order: the highest order of derivative in it.
        rich: whether it exercises much (`conformance.case.exercise.Exercise`).
        seconds: how long the backends, the reference and the judges took.
        poisoned: whether the process that ran it no longer differentiates, or has read memory that is not its own.
        laws: by backend, how each law that was tried ended.
        case: the case itself, where something failed.
        deaths: how many workers died at this case, which did no harm when it ran alone.
        grid: what the case is in the grid, if it belongs to it.
        since: the index of the first case that its process ran, where something failed.
    """

    index: int
    id: str
    lane: str
    order: int
    rich: bool
    verdicts: dict[str, VerdictRecord]
    seconds: dict[str, float]
    poisoned: bool
    nulls: tuple[NullRecord, ...]
    laws: dict[str, dict[str, Status]] = {}
    case: Case | None = None
    deaths: int = 0
    grid: GridRecord | None = None
    since: int | None = None


class StepRecord(msgspec.Struct, frozen=True):
    """A step in words, with what was expected and what was observed."""

    text: str
    expected: str
    actual: str


class LawRecord(msgspec.Struct, frozen=True):
    """A law that was tried on a call (``step``, as `case.place` records it), and what came of it."""

    law: str
    step: int
    status: Status
    detail: str


class Again(StrEnum):
    """Whether what failed once fails in a fresh process: alone, after other cases, never, or that it was not asked to the end."""

    ALONE = "alone"
    AFTER = "after others"
    NEVER = "never"
    UNASKED = "unasked"


class FindingRecord(msgspec.Struct, frozen=True, tag_field="kind", tag="finding"):
    """All failures of one fingerprint, shown by one case that was shrunk.

    Attributes:
        count: how many cases failed like this.
        index: which of them was shrunk.
        ops: the ops of the shrunk case.
        blame: who is wrong; ``None`` if nobody could be asked.
        shrink_rounds: in how many rounds each pass made the case smaller.
        again: whether the case, as it stands here, failed like this in a fresh process.
        before: the cases that had to run before it in that process.
        since: the index of the first case that ran in the process of ``index``, if that is known.
        also_at: where the same fault shows, too: other ops whose results have the same wrong dtype or that raise the same error, or
            other choices that changed in the same way.
        suspects: ops that are in all these cases, with the share of other cases that have them.
        in_some: those of ``ops`` that some of the cases do without.
        failed: what the suite itself failed to do while it wrote this finding, a line each time.
    """

    id: str
    fingerprint: Fingerprint
    backend: str
    bucket: Bucket
    at: str
    count: int
    index: int
    ops: tuple[str, ...]
    case: Case
    mismatch: MismatchRecord | None
    blame: Blame | None
    steps: tuple[StepRecord, ...]
    replay: str
    script: str
    shrink_rounds: dict[str, int]
    again: Again = Again.ALONE
    before: tuple[Case, ...] = ()
    since: int | None = None
    also_at: tuple[str, ...] = ()
    suspects: dict[str, float] = {}
    in_some: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class NullSummary(msgspec.Struct, frozen=True):
    """All null comparisons of a run.

    Attributes:
        per_million: the upper bound on false alarms in a million comparisons.
        pairs: how many comparisons there were, by pair and dtype.
    """

    comparisons: int
    alarms: int
    near_kink: int
    per_million: float
    pairs: dict[str, dict[str, int]]


class DeviationRecord(msgspec.Struct, frozen=True):
    """A known deviation that a run showed.

    Attributes:
        reason: why it is accepted.
        finding: the evidence.
        wrong_values: what its wrong values are.
        share: in how many cases it was measured to show.
        unpromised: whether no document says what is right there.
    """

    reason: str
    finding: str
    wrong_values: str
    share: ShareRecord | None = None
    unpromised: bool = False


class Footer(msgspec.Struct, frozen=True, tag_field="kind", tag="footer"):
    """The sums of a run that ended; the last line of a record.

    Attributes:
        jobs: over how many worker processes the cases went, so that ``jobs * seconds["wall"]`` seconds were there to be spent.
        unreproduced_deaths: how many workers died at cases that did no harm when they ran alone.
        ledger: by backend, how many cases ended in each bucket.
        counts: what was compared in them.
        ratios: by backend and step, how many cases lie in each decade of error over bound.
        worst: by backend, the largest error over bound that was accepted, at which step and in which case.
        bare: by backend, the mean seconds of a case with nobody looking, from a sample.
        processes: how many processes were used up, by the way in which they ended; ``seconds`` says what each way cost beside the
            cases.
        grid: by backend, op, and order with layout (`cell_of`), how many cases met what.
        drawn: by backend, the drawn cases and the known deviations that they showed.
        followed: by backend, which open choices were decided otherwise than expected, and in how many cases.
        lacking: by backend, for which words of what it does not offer nothing was compared, and in how many cases.
        findings: how many new ones there are.
        accepted: those of the baseline that were met.
        broken: what is not as it should be beside the cases, a line each; it turns a run red as a finding does.
    """

    verdict: RunVerdict
    exit_reason: ExitReason
    reasons: tuple[str, ...]
    cases: int
    rich: int
    bounded: int
    unreproduced_deaths: int
    lanes: dict[str, int]
    orders: dict[str, int]
    ledger: dict[str, dict[str, int]]
    counts: dict[str, dict[str, int]]
    deviations: dict[str, dict[str, int]]
    laws: dict[str, dict[str, dict[str, int]]]
    ratios: dict[str, dict[str, dict[str, int]]]
    worst: dict[str, tuple[float, str, str]]
    nulls: NullSummary
    findings: int
    jobs: int
    seconds: dict[str, float]
    bare: dict[str, float]
    processes: dict[str, int]
    not_offered: dict[str, dict[str, str]]
    deviation_info: dict[str, DeviationRecord]
    grid: dict[str, dict[str, dict[str, dict[Met, int]]]] = {}
    drawn: dict[str, DrawnRecord] = {}
    followed: dict[str, dict[str, int]] = {}
    lacking: dict[str, dict[str, int]] = {}
    accepted: tuple[AcceptedRecord, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the run is no result although it ended; of one that diverges the findings are the reasons."""
        return self.reasons if self.verdict in (RunVerdict.NO_RESULT, RunVerdict.SUITE_ERROR) else ()


class Interruption(msgspec.Struct, frozen=True, tag_field="kind", tag="interrupted"):
    """The last line of a run that something stopped, in the place of the footer that it must not have; a signal, or an error."""

    reason: str


Record: TypeAlias = Header | CaseRecord | FindingRecord | ClausesRecord | PointsRecord | MutantsRecord | Footer | Interruption

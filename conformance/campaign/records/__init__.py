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
    """A backend as it describes itself (`conformance.backends.BackendInfo`); ``conventions``: those it starts from.

    ``orders``: for each op that it offers the highest order of its derivative (`conformance.ops.orders`).
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
    """What was run, and all that is needed to go on with it; the first line.

    ``cases``: how many there are, of which the last ``grid`` are those of the grid; ``odds``: those of the generator, by name;
    ``ops``: those alone, ``None`` for all; ``budget``: in seconds, ``None`` for no end; ``baseline``: the file of what is accepted;
    ``profile``: what was drawn.
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

    ``order``: the highest of its derivatives; ``laws``: by backend, how each law that was tried ended; ``case``: the case itself, where
    something failed; ``deaths``: how many workers died at it and not again when it ran alone. ``poisoned``: the process that ran it no
    longer differentiates, or has read memory that is not its own. ``grid``: what the case is in the grid, if it is one of it.
    ``since``: the index of the first case that its process ran, where something failed.
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
    """All failures of one fingerprint, shown by a case that was shrunk.

    ``count``: how many cases failed so, of which ``index`` is the one that was shrunk; ``shrink_rounds``: in how many rounds each pass
    made it smaller. ``blame``: who is wrong; ``None`` if nobody could be asked. ``again``: whether the case, as it stands here, failed
    so in a fresh process; ``before``: the cases that it took before it there; ``since``: the index of the first case that ran in the
    process of ``index``, if that is known. ``also_at``: the other ops of which results have the same wrong dtype, or that raise the
    same error, or the other choices that changed in the same way. ``suspects``: ops that are in all these cases, with the share of
    others that have them; ``in_some``: those of ``ops`` that some of the cases do without. ``failed``: where the suite itself failed
    while it wrote this, a line each time.
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
    """All null comparisons of a run. ``per_million``: the bound on false alarms; ``pairs``: comparisons by pair and dtype."""

    comparisons: int
    alarms: int
    near_kink: int
    per_million: float
    pairs: dict[str, dict[str, int]]


class DeviationRecord(msgspec.Struct, frozen=True):
    """A known deviation that a run showed: why it is accepted, its evidence, what its wrong values are, its share as measured.

    ``unpromised``: no document says what is right there.
    """

    reason: str
    finding: str
    wrong_values: str
    share: ShareRecord | None = None
    unpromised: bool = False


class Footer(msgspec.Struct, frozen=True, tag_field="kind", tag="footer"):
    """The sums of a run that ended; the last line.

    ``jobs``: over how many worker processes the cases went, so that ``jobs * seconds["wall"]`` was there to be spent; ``bare``: by
    backend, the mean seconds of a case with nobody looking, from a sample; ``processes``: by the way in which they ended, how many
    processes were used up, and ``seconds`` has what each way cost beside the cases.
    ``unreproduced_deaths``: of workers, at cases that did no harm when they ran alone. ``ratios``: by backend and step, how many cases
    in each decade of error over bound; ``grid``: by backend, op, and order with layout (`cell_of`), how many cases met what;
    ``worst``: by backend, the largest that was accepted, at which step and in which case; ``drawn``: by backend; ``followed``: by
    backend, open choices that were decided otherwise than expected, in how many cases; ``lacking``: by backend, for what it does not
    offer nothing was compared, in how many cases. ``findings``: the new ones; ``accepted``: those of the baseline; ``broken``: what
    beside the cases is not as it should be, a line each, which makes a verdict red like a finding.
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

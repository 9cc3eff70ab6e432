"""The trial of one case: it is run on the reference and on every backend, judged, tried by laws, and recorded."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from conformance.backends import Backend, BackendInfo, answer
from conformance.campaign.records import BARE, CaseRecord
from conformance.campaign.records.grid import GridRecord, Met
from conformance.campaign.records.recording import met_of, null_record, verdict_record
from conformance.campaign.workers.deaths import endless, settled_death
from conformance.campaign.workers.examination import ailment_in
from conformance.campaign.workers.watchdog import OURS
from conformance.case.exercise import Exercise, exercise_of
from conformance.compare.following import under
from conformance.compare.promise import Promise
from conformance.deviations.entries import listed
from conformance.judge.canary import BIRD, Ailment, read_past_its_end
from conformance.judge.judgement import fault, judged
from conformance.judge.nulls import Agreed, compare_nulls
from conformance.judge.verdict import EXPLAINED, FAILING, Bucket, Verdict, observe
from conformance.laws.judging import Judging, Sampling, apply_laws, statuses
from conformance.laws.relation import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from conformance.campaign.records.verdicts import VerdictRecord
    from conformance.campaign.workers.chunk import Death
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.generate.grid import Point
    from conformance.judge.nulls import Null
    from conformance.laws.registry import Tried
    from reference_impl.dialects.conventions import Conventions, OpenChoice


SAMPLED = 16
"""Of so many cases one is run again with nobody looking: what the frameworks alone need, against which a run is measured."""

NOTHING = Exercise({}, shared=False, accumulates=False, refused=False)
"""What a case exercises of which that is not known."""


def run_case(
    case: Case,
    backends: Sequence[Backend],
    judging: Judging | None = None,
    fatal_backends: Mapping[str, Death] | None = None,
    entering: Callable[[str], None] = lambda _: None,
    *,
    index: int = 0,
    point: Point | None = None,
    settled: Collection[OpenChoice] = (),
    expected: Conventions | None = None,
) -> CaseRecord:
    """Run one case on the reference and on every backend, and write its record.

    ``fatal_backends`` are not run: they take the process down, if the case is known to do so by itself. Where another case may have
    done it, one that deviates as it is known to, down to the native frame in which it dies, needs no second death for a proof, and any
    other is run again. ``entering`` is told each backend before it runs, and each law, or the canary, before it is tried. Where laws
    alone judge, the reference is asked only whether a known deviation shows, if the backend has any. ``point``: what the case is in the
    grid; ``settled``: open choices of which nobody asks whether the case shows them; ``expected``: the conventions from which the
    case starts in the place of those that were measured.
    """
    trial = _Trial(case, judging or Judging(), entering, expected)
    for engine in backends:
        trial.of(engine, (fatal_backends or {}).get(engine.info.name), settled)
    nulls = [] if OURS in {death.law for death in (fatal_backends or {}).values()} else trial.nulls(backends[0].info)
    if index % SAMPLED == 0 and not trial.poisoned:
        trial.seconds.update(_bare(case, [one.backend for one in trial.agreed.values()], entering))
    failed = trial.failed() or any(null.alarm for null in nulls)
    return CaseRecord(
        index,
        case.id,
        case.lane,
        trial.facts.highest if trial.facts else 0,
        trial.facts.exercises_much if trial.facts else False,
        trial.verdicts,
        trial.seconds,
        trial.poisoned,
        tuple(map(null_record, nulls)),
        trial.laws,
        trial.shown if failed else None,
        grid=None if point is None else GridRecord(point.op, dict(point.row), trial.met),
    )


class _Trial:
    """A case on its way through the backends, and what came of each; ``shown``: the case that shows what failed."""

    def __init__(self, case: Case, judging: Judging, entering: Callable[[str], None], expected: Conventions | None) -> None:
        self.case, self.judging, self.entering, self.expected = case, judging, entering, expected
        self.shown = case
        self.seconds = {"reference": 0.0, "judge": 0.0, "laws": 0.0}
        self.verdicts: dict[str, VerdictRecord] = {}
        self.laws: dict[str, dict[str, Status]] = {}
        self.agreed: dict[str, Agreed] = {}
        self.promises: list[Promise] = []
        self.met: dict[str, Met] = {}
        self.poisoned = False
        self.facts: Exercise | None = None

    def of(self, engine: Backend, death: Death | None, settled: Collection[OpenChoice]) -> None:
        """Run the case on a backend, unless a death of it is known, and judge what it answers."""
        case, judging, entering, name = self.case, self.judging, self.entering, engine.info.name
        if death is not None and death.law == OURS:
            self.verdicts[name] = verdict_record(case, endless(death), self.facts or NOTHING)
            return
        entering(f"{name} {OURS}")
        with _clock(self.seconds, "reference"):
            promise = _promise(case, engine, judging, self.expected)
            if promise is not None:
                self.promises.append(promise)
                self.facts = self.facts or exercise_of(case, promise.outcome)
        if (on_death := settled_death(case, engine, death, entering)) is not None:
            self.verdicts[name] = verdict_record(case, on_death, self.facts or NOTHING)
            return
        entering(name)
        with _clock(self.seconds, name):
            actual = answer(engine, case)
        facts = self.facts = self.facts or exercise_of(case, actual)
        with _clock(self.seconds, "judge"):
            ailment = None if promise is None else _ailment(case, actual, engine, judging, entering)
            self.poisoned |= ailment is not None or (promise is not None and read_past_its_end(promise.outcome, actual))
            entering(f"{name} {OURS}")
            verdict = _judged(promise, actual, judging, ailment)
            if promise is not None and judging.observing and ailment is None:
                observe(promise, actual, verdict, settled)
        if not self.poisoned:
            with _clock(self.seconds, "laws"):
                verdict, tried = _with_laws(case, engine, actual, verdict, judging, entering)
            self.poisoned = any(t.answer.status is Status.POISONED for t in tried)
            if tried:
                self.laws[name] = statuses(tried, verdict)
        self.verdicts[name] = verdict_record(case, verdict, facts)
        self.met[name] = met_of(facts, actual, verdict)
        if verdict.bucket is Bucket.AGREED:
            self.agreed[name] = Agreed(engine, actual, under(promise, verdict.followed) if promise and verdict.followed else promise)

    def nulls(self, info: BackendInfo) -> list[Null]:
        """Compare right answers with right answers; where one of them turns out to be wrong, that is what the case shows."""
        judging, kept = self.judging, []
        self.entering(f"{info.name} {OURS}")
        with _clock(self.seconds, "nulls"):
            if self.poisoned or judging.laws_only or judging.nulls is Sampling.NONE or not judging.looks_closer(self.case):
                return []
            for null in compare_nulls(self.case, info, self.agreed, self.promises, every=judging.nulls is Sampling.EVERY):
                if not null.alarm or null.pair.variant is None:
                    kept.append(null)
                    continue
                other, engine = null.pair.variant(self.case), self.agreed[null.pair.backend].backend
                verdict = judged(Promise(other, engine.info), answer(engine, other))
                if verdict.bucket is Bucket.AGREED:
                    kept.append(null)
                elif verdict.bucket in FAILING and not self.failed():
                    self.shown = other
                    self.verdicts[engine.info.name] = verdict_record(other, verdict, self.facts or NOTHING)
        return kept

    def failed(self) -> bool:
        """Whether some backend did."""
        return any(v.bucket in FAILING for v in self.verdicts.values())


def _bare(case: Case, engines: Sequence[Backend], entering: Callable[[str], None]) -> dict[str, float]:
    """Run a case with nobody looking; return the seconds of each engine that can tell."""
    seconds = {}
    for engine in engines:
        if (alone := getattr(engine, "bare_seconds", None)) is not None:
            entering(engine.info.name)
            seconds[BARE + engine.info.name] = alone(case)
    return seconds


@contextmanager
def _clock(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Add the time that is spent inside to a clock."""
    started = perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + perf_counter() - started


def _promise(case: Case, engine: Backend, judging: Judging, expected: Conventions | None) -> Promise | None:
    """Return what the reference promises; ``None`` where it is not asked, because laws alone judge."""
    if judging.laws_only and not listed(engine.info):
        return None
    if not judging.observing:
        return Promise(case, engine.info)
    dialect = engine.info.dialect
    unheld = dialect.conventions.unheld() if expected is None else expected
    return Promise(case, replace(engine.info, dialect=replace(dialect, conventions=unheld)))


def _ailment(case: Case, actual: Outcome, engine: Backend, judging: Judging, entering: Callable[[str], None]) -> Ailment | None:
    entering(f"{engine.info.name} {BIRD}")
    return ailment_in(case, actual, engine, judging.canary)


def _judged(promise: Promise | None, actual: Outcome, judging: Judging, ailment: Ailment | None) -> Verdict:
    """Judge an outcome, before any law is tried; where laws alone judge, nothing counts but a known deviation."""
    try:
        verdict = Verdict(Bucket.NOTHING_COMPARED) if promise is None else judged(promise, actual, ailment)
    except Exception as error:  # noqa: BLE001 - as above: a refusal that poisons and cannot be explained
        return fault(error)
    if judging.laws_only and verdict.bucket not in EXPLAINED:
        return Verdict(Bucket.NOTHING_COMPARED)
    return verdict


def _with_laws(
    case: Case, engine: Backend, actual: Outcome, verdict: Verdict, judging: Judging, entering: Callable[[str], None]
) -> tuple[Verdict, list[Tried]]:
    """Return the verdict after the laws, and the laws that were tried."""
    try:
        return apply_laws(case, engine, actual, verdict, judging, lambda law: entering(f"{engine.info.name} {law}"))
    except Exception as error:  # noqa: BLE001 - as above: a law that cannot be tried
        return fault(error), []

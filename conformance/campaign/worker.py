"""What a worker process does: draw, run, judge and record a range of cases.

Every record is appended to the chunk's own file as soon as it is judged, and a progress file says which case and which backend is
under way. So when a framework takes the process down, the parent knows which case did it and loses nothing else.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec

from conformance.backends import Backend, BackendError, open_backend
from conformance.backends.reference import reference
from conformance.campaign.watch import alarm, note, progress_file, set_alarm
from conformance.coverage import covered
from conformance.deviations import label, listed
from conformance.facts import Facts, facts_of
from conformance.generate.scripts import Plan, case_of
from conformance.judge.audit import audit, is_due
from conformance.judge.compare import AFTER_ALL, Mismatch
from conformance.judge.health import healthy_after, read_past_its_end
from conformance.judge.nulls import compare_nulls
from conformance.judge.verdict import FAILING, Bucket, Verdict, judge, verdict_of
from conformance.laws.judging import NONE, apply_laws, statuses
from conformance.laws.registry import cases_of
from conformance.laws.relation import Status
from conformance.outcome import Raised

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.case import Case
    from conformance.laws.registry import Tried
    from conformance.outcome import Outcome

POISONED = 77
"""Exit code of a worker whose framework no longer differentiates: its last case is recorded, the rest goes to a fresh process."""


@dataclass(frozen=True)
class Chunk:
    """A range of cases for one worker.

    ``deaths``: at which case indices a worker died once already; ``lost``: the backends that are known to take the process down
    there, with the bucket. ``laws``: which are tried (`conformance.laws.judging`); ``alone``: nothing else judges.
    """

    seed: int
    start: int
    stop: int
    plan: Plan
    backends: tuple[str, ...]
    folder: str
    timeout: float
    cases: tuple[Case, ...] | None = None
    lost: dict[int, dict[str, str]] = field(default_factory=dict)
    deaths: dict[int, int] = field(default_factory=dict)
    name: str = ""
    every_null: bool = False
    laws: str = NONE
    alone: bool = False

    @property
    def records(self) -> Path:
        """Where the records are appended."""
        return Path(self.folder) / f"{self.name}.ndjson"

    @property
    def progress(self) -> Path:
        """Where the case and backend under way are noted."""
        return Path(self.folder) / f"{self.name}.progress"

    @property
    def watchdog(self) -> Path:
        """Where the watchdog writes before it ends a process that hangs."""
        return Path(self.folder) / f"{self.name}.hang"


NOTHING = Facts({}, shared=False, accumulates=False, refused=False)

_opened: dict[str, Backend] = {}


def silence() -> None:
    """Send what frameworks print (warnings, C++ stacks of a dying process) nowhere; what matters is in the records."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def backend(name: str) -> Backend:
    """Open a backend once per process."""
    if name not in _opened:
        _opened[name] = open_backend(name)
    return _opened[name]


def run_chunk(chunk: Chunk) -> None:
    """Run a chunk to its end, or die trying; the records are in its file either way."""
    opened = [backend(name) for name in chunk.backends]
    encode = msgspec.json.Encoder().encode
    with chunk.records.open("ab", buffering=0) as out, progress_file(chunk.progress) as progress, alarm(chunk.watchdog):
        for index in range(chunk.start, chunk.stop):
            started = perf_counter()
            case = case_of(chunk.seed, index, chunk.plan) if chunk.cases is None else chunk.cases[index]
            drawn = perf_counter()
            set_alarm(chunk.timeout)
            record = run_case(
                case,
                opened,
                chunk.lost.get(index, {}),
                partial(note, progress, index),
                every_null=chunk.every_null,
                laws=chunk.laws,
                alone=chunk.alone,
            )
            set_alarm(0)
            record["index"] = index
            if index in chunk.deaths and index not in chunk.lost:
                record["deaths"] = chunk.deaths[index]
            record["seconds"]["generate"] = drawn - started
            record["seconds"]["all"] = perf_counter() - started
            out.write(encode(record) + b"\n")
            if record["poisoned"]:
                os._exit(POISONED)
    chunk.progress.unlink(missing_ok=True)
    chunk.watchdog.unlink(missing_ok=True)


def run_case(
    case: Case,
    backends: list[Backend],
    lost: dict[str, str],
    entering: Callable[[str], None] = lambda _: None,
    *,
    every_null: bool = False,
    laws: str = NONE,
    alone: bool = False,
) -> dict[str, Any]:
    """Run one case on the reference and on every backend, and write its record.

    ``entering`` is told each backend before it runs, and each law before it is tried. ``every_null``: judge every null pair, not just
    one. ``laws``: which are tried; ``alone``: they judge, and the reference is asked only whether a known deviation shows, where the
    backend has any.
    """
    seconds: dict[str, float] = {"reference": 0.0, "judge": 0.0, "laws": 0.0}
    lawful: dict[str, dict[str, str]] = {}
    verdicts: dict[str, Any] = {}
    poisoned = False
    facts: Facts | None = None
    agreed: dict[str, tuple[Backend, Outcome]] = {}
    for engine in backends:
        info = engine.info
        clock = perf_counter()
        expected = None if alone and not listed(info) else reference(info.dialect, info.not_offered).run(case)
        if expected is not None:
            facts = facts or facts_of(case, expected)
        seconds["reference"] += perf_counter() - clock
        if info.name in lost:
            verdicts[info.name] = verdict_record(case, fatal(case, engine, lost[info.name], entering), facts or NOTHING)
            continue
        entering(info.name)
        ran = perf_counter()
        actual = engine.run(case)
        seconds[info.name] = perf_counter() - ran
        facts = facts or facts_of(case, actual)
        sane = expected is None or healthy_after(actual, engine)
        poisoned |= not sane or (expected is not None and read_past_its_end(expected, actual))
        clock = perf_counter()
        verdict, tried, spent = _verdict(
            case, engine, expected, actual, healthy=sane, laws=NONE if poisoned else laws, alone=alone, entering=entering
        )
        poisoned |= any(t.answer.status is Status.POISONED for t in tried)
        verdicts[info.name] = verdict_record(case, verdict, facts)
        if tried:
            lawful[info.name] = statuses(tried, verdict)
        if verdict.bucket is Bucket.AGREED:
            agreed[info.name] = engine, actual
        seconds["laws"] += spent
        seconds["judge"] += perf_counter() - clock - spent
    record: dict[str, Any] = {
        "kind": "case",
        "id": case.id,
        "lane": case.lane,
        "order": facts.highest if facts else 0,
        "rich": facts.rich if facts else False,
        "verdicts": verdicts,
        "seconds": seconds,
        "poisoned": poisoned,
    }
    if lawful:
        record["laws"] = lawful
    clock = perf_counter()
    nulls = [] if poisoned or alone else compare_nulls(case, backends[0].info, agreed, every=every_null)
    record["nulls"] = [null.record() for null in nulls]
    seconds["nulls"] = perf_counter() - clock
    if any(v["bucket"] in FAILING for v in verdicts.values()) or any(null.alarm for null in nulls):
        record["case"] = case
    return record


def judged(case: Case, engine: Backend, expected: Outcome, actual: Outcome, *, healthy: bool) -> Verdict:
    """Judge an outcome; ``healthy``: whether the engine still differentiated correctly after what it refused."""
    try:
        verdict = judge(case, engine.info, expected, actual)
        wrong = audit(case, engine.info) if verdict.bucket is Bucket.AGREED and is_due(case) else None
    except Exception as error:  # noqa: BLE001 - a fault of the suite costs one case, and is no verdict on the engine
        return _fault(error)
    if wrong is not None:
        return replace(verdict, bucket=Bucket.HARNESS_ERROR, mismatch=Mismatch(AFTER_ALL, "oracle", "step", "right", "wrong", wrong))
    if healthy or verdict.mismatch is not None:
        return verdict
    step = next(i for i, o in enumerate(actual.observations) if isinstance(o, Raised))
    found = Mismatch(step, "poison", "step", "intact", "broken", "after this refusal the process differentiates wrongly")
    return verdict_of(case, engine.info, found, verdict)


def _verdict(
    case: Case,
    engine: Backend,
    expected: Outcome | None,
    actual: Outcome,
    *,
    healthy: bool,
    laws: str,
    alone: bool,
    entering: Callable[[str], None],
) -> tuple[Verdict, list[Tried], float]:
    """Return the verdict, the laws that were tried, and the seconds that they took."""
    try:
        verdict = Verdict(Bucket.NOTHING_COMPARED) if expected is None else judged(case, engine, expected, actual, healthy=healthy)
        if alone and verdict.bucket is not Bucket.KNOWN_DEVIATION:
            verdict = Verdict(Bucket.NOTHING_COMPARED)
        clock = perf_counter()
        verdict, tried = apply_laws(case, engine, actual, verdict, laws, lambda law: entering(f"{engine.info.name} {law}"))
        return verdict, tried, perf_counter() - clock
    except Exception as error:  # noqa: BLE001 - as above: a law that cannot be tried
        return _fault(error), [], 0.0


def _fault(error: Exception) -> Verdict:
    return Verdict(Bucket.HARNESS_ERROR, Mismatch(AFTER_ALL, "harness", "step", "judged", type(error).__name__, str(error)))


def fatal(case: Case, engine: Backend, lost: str, entering: Callable[[str], None]) -> Verdict:
    """Return the verdict on a case that takes the process down; ``lost``: the bucket, and the law that was tried if it was one.

    Then a known deviation may explain a case of the law's trial; the case itself runs once more to make it.
    """
    bucket, _, law = lost.partition(" ")
    detail = ("the process died" if bucket == Bucket.CRASHED else "no end in sight") + (f", under the law {law}" if law else "")
    found = Mismatch(AFTER_ALL, "crash", law or "step", "computed", bucket, detail)
    cases = [case]
    if law:
        entering(engine.info.name)
        cases += cases_of(law, case, engine, engine.run(case))
    for one in cases:
        verdict = verdict_of(one, engine.info, found, Verdict(Bucket(bucket)))
        if verdict.deviation:
            return verdict
    return Verdict(Bucket(bucket), found)


def verdict_record(case: Case, verdict: Verdict, facts: Facts) -> dict[str, Any]:
    """Write a verdict, with what was compared up to the first difference."""
    found = verdict.mismatch
    counts = verdict.counts.copy()
    for number in verdict.steps:
        counts.update(covered(case.steps[number], facts.order_at(number)))
        if number in facts.orders:
            counts[f"order {facts.orders[number]}"] += 1
    record: dict[str, Any] = {"bucket": verdict.bucket, "counts": counts}
    if verdict.bounded:
        record["bounded"] = True
    if verdict.ratios:
        record["ratios"] = {step: ratio if isfinite(ratio) else None for step, ratio in verdict.ratios.items()}
    if found is not None:
        record["mismatch"] = {
            "step": found.step,
            "at": label(case, found.step),
            "kind": found.kind,
            "where": found.where,
            "expected": found.expected,
            "actual": found.actual,
            "detail": found.detail,
        }
    if verdict.deviation:
        record["deviation"] = verdict.deviation
    if verdict.deviations:
        record["deviations"] = verdict.deviations
    return record


def describe_backend(name: str) -> dict[str, Any]:
    """Open a backend and write down its facts, or why it cannot be opened."""
    try:
        info = backend(name).info
    except BackendError as error:
        return {"error": str(error)}
    return {
        "name": info.name,
        "version": info.version,
        "dialect": info.dialect.name,
        "not_offered": dict(info.not_offered),
    }

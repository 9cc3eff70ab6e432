"""What a worker process does: draw, run, judge and record a range of cases.

Every record is appended to the chunk's own file as soon as it is judged, and a progress file says which case and which backend is
under way. So when a framework takes the process down, the parent knows which case did it and loses nothing else.
"""

from __future__ import annotations

import faulthandler
import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec

from conformance.backends import Backend, BackendError, open_backend
from conformance.backends.reference import reference
from conformance.case import Case, Input
from conformance.coverage import covered
from conformance.deviations import label
from conformance.facts import facts_of
from conformance.generate.scripts import Plan, case_of
from conformance.judge.compare import AFTER_ALL, Mismatch
from conformance.judge.nulls import compare_nulls
from conformance.judge.verdict import FAILING, Bucket, Verdict, judge, verdict_of
from conformance.outcome import Raised
from conformance.steps import Backward, Grad, Op
from conformance.texts import observation_text, step_text
from reference_impl import Category

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends import BackendInfo
    from conformance.facts import Facts
    from conformance.outcome import Outcome

POISONED = 77
"""Exit code of a worker whose framework no longer differentiates: its last case is recorded, the rest goes to a fresh process."""

CANARY = Case(
    (Input("x", (2,), (2.0, 3.0)),),
    (
        Op("mul", ("x", "x"), ("y",)),
        Op("sum", ("y",), ("z",), {"axis": None, "keepdims": False}),
        Grad(("z",), ("x",), ("g",), retain_graph=True),
        Backward(("z",)),
    ),
    "exact",
)


@dataclass(frozen=True)
class Chunk:
    """A range of cases for one worker.

    ``deaths``: at which case indices a worker died once already; ``lost``: the backends that are known to take the process down
    there, with the bucket.
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
    progress = os.open(chunk.progress, os.O_RDWR | os.O_CREAT)
    with chunk.records.open("ab", buffering=0) as out, chunk.watchdog.open("wb", buffering=0) as watchdog:
        for index in range(chunk.start, chunk.stop):
            started = perf_counter()
            case = case_of(chunk.seed, index, chunk.plan) if chunk.cases is None else chunk.cases[index]
            drawn = perf_counter()
            faulthandler.dump_traceback_later(chunk.timeout, exit=True, file=watchdog)
            record = run_case(case, opened, chunk.lost.get(index, {}), partial(note, progress, index), every_null=chunk.every_null)
            faulthandler.cancel_dump_traceback_later()
            record["index"] = index
            if index in chunk.deaths and index not in chunk.lost:
                record["deaths"] = chunk.deaths[index]
            record["seconds"]["generate"] = drawn - started
            record["seconds"]["all"] = perf_counter() - started
            out.write(encode(record) + b"\n")
            if record["poisoned"]:
                os._exit(POISONED)
    os.close(progress)
    chunk.progress.unlink(missing_ok=True)
    chunk.watchdog.unlink(missing_ok=True)


def note(progress: int, index: int, name: str) -> None:
    """Say which case and backend are under way."""
    os.pwrite(progress, f"{index} {name:<200}\n".encode(), 0)


def run_case(
    case: Case,
    backends: list[Backend],
    lost: dict[str, str],
    entering: Callable[[str], None] | None = None,
    *,
    every_null: bool = False,
) -> dict[str, Any]:
    """Run one case on the reference and on every backend, and write its record; ``entering`` hears before each backend runs.

    ``every_null``: judge every null pair, not just one.
    """
    seconds: dict[str, float] = {"reference": 0.0, "judge": 0.0}
    verdicts: dict[str, Any] = {}
    poisoned = False
    facts: Facts | None = None
    agreed: dict[str, tuple[Backend, Outcome]] = {}
    for engine in backends:
        info = engine.info
        clock = perf_counter()
        expected = reference(info.dialect, info.not_offered).run(case)
        facts = facts or facts_of(case, expected)
        seconds["reference"] += perf_counter() - clock
        if info.name in lost:
            verdicts[info.name] = verdict_record(case, fatal(case, info, lost[info.name]), facts)
            continue
        if entering is not None:
            entering(info.name)
        ran = perf_counter()
        actual = engine.run(case)
        seconds[info.name] = perf_counter() - ran
        sane = not any(isinstance(o, Raised) for o in actual.observations) or healthy(engine)
        poisoned |= not sane
        poisoned |= _read_past_its_end(expected, actual)
        clock = perf_counter()
        try:
            verdict = _judged(case, engine, expected, actual, healthy=sane)
        except Exception as error:  # noqa: BLE001 - a fault of the suite costs one case, and is no verdict on the engine
            found = Mismatch(AFTER_ALL, "harness", "step", "judged", type(error).__name__, str(error))
            verdict = Verdict(Bucket.HARNESS_ERROR, found)
        verdicts[info.name] = verdict_record(case, verdict, facts)
        if verdict.bucket is Bucket.AGREED:
            agreed[info.name] = engine, actual
        seconds["judge"] += perf_counter() - clock
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
    clock = perf_counter()
    nulls = [] if poisoned else compare_nulls(case, backends[0].info, agreed, every=every_null)
    record["nulls"] = [null.record() for null in nulls]
    seconds["nulls"] = perf_counter() - clock
    if any(v["bucket"] in FAILING for v in verdicts.values()) or any(null.alarm for null in nulls):
        record["case"] = case
    return record


def _judged(case: Case, engine: Backend, expected: Outcome, actual: Outcome, *, healthy: bool) -> Verdict:
    verdict = judge(case, engine.info, expected, actual)
    if healthy or verdict.mismatch is not None:
        return verdict
    step = next(i for i, o in enumerate(actual.observations) if isinstance(o, Raised))
    found = Mismatch(step, "poison", "step", "intact", "broken", "after this refusal the process differentiates wrongly")
    return verdict_of(case, engine.info, found, verdict)


def fatal(case: Case, info: BackendInfo, bucket: str) -> Verdict:
    """Return the verdict on a case that takes the process down."""
    found = Mismatch(AFTER_ALL, "crash", "step", "computed", bucket, "the process died" if bucket == "crashed" else "no end in sight")
    verdict = verdict_of(case, info, found, Verdict(Bucket(bucket)))
    return verdict if verdict.deviation else Verdict(Bucket(bucket), found)


def _read_past_its_end(expected: Outcome, actual: Outcome) -> bool:
    """Whether a seed or gradient of the wrong shape was taken: memory may be damaged, so nothing more may be concluded here."""
    return any(
        isinstance(e, Raised) and e.category in (Category.SEED_SHAPE, Category.CALLBACK_RESULT) and not isinstance(a, Raised)
        for e, a in zip(expected.observations, actual.observations, strict=True)
    )


def healthy(engine: Backend) -> bool:
    """Run the canary: whether the engine, after whatever it refused, still differentiates correctly."""
    with suppress(Exception):
        seen = engine.run(CANARY)
        expected = reference(engine.info.dialect, engine.info.not_offered).run(CANARY)
        return judge(CANARY, engine.info, expected, seen).bucket is Bucket.AGREED
    return False


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


def explain_case(case: Case, name: str) -> dict[str, Any]:
    """Run a case on one backend and write it down step by step, expected beside actual, with the verdict."""
    engine = backend(name)
    expected = reference(engine.info.dialect, engine.info.not_offered).run(case)
    actual = engine.run(case)
    verdict = verdict_record(case, judge(case, engine.info, expected, actual), facts_of(case, expected))
    steps = [
        {
            "text": step_text(step),
            "expected": observation_text(case, step, e),
            "actual": observation_text(case, step, a),
        }
        for step, e, a in zip(case.steps, expected.observations, actual.observations, strict=True)
    ]
    return {"steps": steps, "verdict": verdict}

"""The sweep of the special points: every op at every point on a backend, and what became of each.

A packed case that agrees is settled. One that does not is cut into its places, so that one known deviation hides nothing beside it.
Places that differ in the same way (which numbers are finite, zero, infinite or NaN on either side) are judged by the first of them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.campaign.records.gate import SweepRecord
from conformance.campaign.workers.backend_cache import backend as open_in_process
from conformance.case.outcome import Computed
from conformance.case.place import END
from conformance.case.prose import counted
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.compare.rounding import are_near
from conformance.generate.special_points import COPIES, cases_of, is_packed, single
from conformance.judge.verdict import FAILING, Bucket, Verdict, judge
from conformance.ops import catalogue
from conformance.ops.dtypes import is_floating

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.backends import Backend
    from conformance.campaign.workers.pool import Heard, Workers
    from conformance.case.case import Case
    from conformance.case.outcome import Observation, Outcome


AT_ONCE = 8
"""How many ops share a process."""
SHOWN = 3
"""How many groups of places a line about a case shows."""


def sweep(
    backends: Sequence[str], workers: Workers, ops: Sequence[str] | None = None, heard: Heard = lambda _: None
) -> Iterator[SweepRecord]:
    """Run ops (``None``: all) at their special points on every backend; one that takes its process down is judged case by case.

    ``heard`` hears of each op on each backend.
    """
    for name in backends:
        cases = 0
        points: Counter[str] = Counter()
        deviations: Counter[str] = Counter()
        failures: list[str] = []
        asked = list(ops or catalogue())
        swept = workers.calls(sweep_op, [[name, op] for op in asked], at_once=AT_ONCE, good=lambda part: not part.failures)
        for op, answer in zip(asked, swept, strict=True):
            heard(1)
            part = answer or _judged_as_in_a_campaign(name, op, workers)
            cases += part.cases
            points.update(part.points)
            deviations.update(part.deviations)
            failures += part.failures
        yield SweepRecord(name, cases, points, deviations, tuple(failures))


def _judged_as_in_a_campaign(name: str, op: str, workers: Workers) -> SweepRecord:
    """Judge the cases of an op that took its process down, each as a whole: a campaign knows a death by its native frame."""
    titled = list(cases_of(op, by_backward="step:grad" in workers.describe(name).not_offered))
    verdicts = [record.verdicts[name] for record in workers.judged([case for _, case in titled], name)]
    failing = [(title, case, verdict) for (title, case), verdict in zip(titled, verdicts, strict=True) if verdict.bucket in FAILING]
    failures = tuple(f"{name}: {title} {_attributes(case)}: {verdict.bucket}" for title, case, verdict in failing)
    known = Counter(verdict.deviation for verdict in verdicts if verdict.deviation)
    return SweepRecord(name, len(titled), Counter(verdict.bucket for verdict in verdicts), known, failures)


def page(swept: Sequence[SweepRecord], *, as_json: bool) -> str:
    """Write what was swept as text or JSON."""
    if as_json:
        return msgspec.json.format(msgspec.json.encode(swept)).decode()
    lines = []
    for record in swept:
        lines.append(line_of(record))
        lines += [f"  known deviation {name}: {counted(count, 'point')}" for name, count in sorted(record.deviations.items())]
        lines += [f"  diverges: {line}" for line in record.failures]
    return "\n".join(lines)


def line_of(record: SweepRecord) -> str:
    """Say in one line what became of the points of a backend."""
    buckets = ", ".join(f"{count} {bucket.replace('_', ' ')}" for bucket, count in sorted(record.points.items()))
    return f"{record.backend}: {counted(record.cases, 'case')}, {counted(sum(record.points.values()), 'point')}: {buckets}"


def sweep_op(name: str, op: str) -> SweepRecord:
    """Run one op at its special points on one backend, in this process."""
    engine = open_in_process(name)
    cases = 0
    points: Counter[str] = Counter()
    deviations: Counter[str] = Counter()
    failures = []
    for title, case in cases_of(op, by_backward="step:grad" in engine.info.not_offered):
        cases += 1
        failing = []
        for part, count, verdict in _verdicts(engine, case, packed=is_packed(op)):
            points[verdict.bucket] += count
            if verdict.deviation:
                deviations[verdict.deviation] += count
            elif verdict.bucket in FAILING:
                where = "" if part is case else _place(part)
                failing.append(f"{where}: {verdict.mismatch.detail if verdict.mismatch else ''} ({count} such places)")
        if failing:
            more = f"; and {len(failing) - SHOWN} more groups of places" if len(failing) > SHOWN else ""
            failures.append(f"{name}: {title} {_attributes(case)}: {'; '.join(failing[:SHOWN])}{more}")
    return SweepRecord(name, cases, points, deviations, tuple(failures))


def _verdicts(engine: Backend, case: Case, *, packed: bool) -> Iterator[tuple[Case, int, Verdict]]:
    """Yield verdicts, each with how many places it is about and the case that it is on."""
    promise, actual = Promise(case, engine.info), _answers(engine, case)
    length = case.inputs[0].shape[0] if packed else 1
    if not packed or Comparer(promise).run(actual).mismatch is None:
        yield case, length, judge(promise, actual)
        return
    alike = _alike(promise.outcome, actual, length)
    agreed = length - sum(map(len, alike))
    if agreed:
        yield case, agreed, Verdict(Bucket.AGREED)
    for places in alike:
        part = single(case, places[0])
        promised = promise.of(part)
        verdict = judge(promised, _answers(engine, part))
        if (
            verdict.bucket is Bucket.DIVERGED
            and verdict.mismatch
            and verdict.mismatch.step not in (0, END)
            and _is_no_number(promised.outcome)
        ):
            verdict.bucket = Bucket.UNDEFINED
        yield part, len(places), verdict


def _answers(engine: Backend, case: Case) -> Outcome:
    with np.errstate(all="ignore"):
        return engine.run(case)


def _is_no_number(expected: Outcome) -> bool:
    """Whether the function itself is NaN at a place, so that nothing is promised of its derivatives; its value is."""
    made = expected.observations[0]
    value = made.values[0] if isinstance(made, Computed) else None
    return value is not None and bool(np.isnan(value.array).any())


def _attributes(case: Case, *, of_a_place: bool = False) -> dict[str, Any]:
    """Return the attributes of the op, but for those that have an entry for each place; or these alone, of one place."""
    length = case.inputs[0].shape[:1]
    given: dict[str, Any] = case.steps[0].attrs  # type: ignore[union-attr]
    listed = {name: a[0] for name, a in given.items() if isinstance(a, list) and (len(a),) == length}
    return listed if of_a_place else {name: a for name, a in given.items() if name not in listed}


def _place(part: Case) -> str:
    """Return what is special at a place: the numbers of its operands, and its part of the attributes."""
    of_operands = [f"{i.name} = {_numbers(i.data)}" for i in part.inputs if i.differentiable]
    return ", ".join([*of_operands, *(f"{name} = {a}" for name, a in _attributes(part, of_a_place=True).items())])


def _numbers(data: Sequence[Any]) -> str:
    words = [f"{x:.9g}" if isinstance(x, float) else str(x) for x in data[: len(data) // COPIES or 1]]
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]"


def _alike(expected: Outcome, actual: Outcome, length: int) -> list[list[int]]:
    """Group the places that differ by how they do: which numbers are finite, zero, infinite or NaN. The first speaks for its group."""
    words: list[list[bytes]] = [[] for _ in range(length)]
    differs = np.zeros(length, bool)
    for e, a in zip(expected.observations, actual.observations, strict=True):
        if not isinstance(e, Computed) or not isinstance(a, Computed):
            differs[:] |= _word(e) != _word(a)
            continue
        for x, y in zip((*e.values, *(e.state or ())), (*a.values, *(a.state or ())), strict=True):
            if x is None or y is None or x.array.shape != y.array.shape or x.array.shape[:1] != (length,):
                differs[:] |= x is not y
                continue
            near = are_near(x.array, y.array) if is_floating(x.array.dtype) else x.array == y.array
            unlike = ~near.reshape(length, -1).all(axis=1)
            differs |= unlike
            for place in np.flatnonzero(unlike):
                words[place].append(_kinds(x.array[place]) + _kinds(y.array[place]))
    groups: dict[tuple[bytes, ...], list[int]] = {}
    for place in np.flatnonzero(differs):
        groups.setdefault(tuple(words[place]), []).append(int(place))
    return list(groups.values())


def _word(seen: Observation) -> str:
    return f"{type(seen).__name__} {getattr(seen, 'category', '')}"


def _kinds(numbers: Any) -> bytes:
    kinds = np.where(np.isnan(numbers), 4, np.where(np.isinf(numbers), 2 + (numbers > 0), numbers == 0))
    return bytes(np.ravel(kinds).astype(np.uint8))

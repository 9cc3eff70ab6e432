"""Whether known deviations hide only themselves: each is exceeded in the case of its finding, and every excess must be a divergence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from time import perf_counter

import msgspec

from conformance.backends import answer
from conformance.campaign.worker import backend
from conformance.case.place import END
from conformance.compare.compare import Comparer
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.deviations.entries import CRASH, known
from conformance.deviations.explain import excuse
from conformance.judge.verdict import AGREEING, Bucket, Verdict, judge, verdict_of
from conformance.laws.judging import KIND
from conformance.mutants.excess import ELSEWHERE, excesses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.case.case import Case
    from conformance.case.outcome import Outcome

EXCEEDED = 3
"""At so many differences of a case that an entry explains it is exceeded."""


class Exceeded(msgspec.Struct, frozen=True):
    """An entry and what was done beyond it: ``tried`` are all excesses by name, ``excused`` those that the entry hid."""

    entry: str
    tried: tuple[str, ...]
    excused: tuple[str, ...]
    seconds: float = 0.0


def exceed(case: Case, name: str, entry: str) -> Exceeded:
    t = perf_counter()
    engine = backend(name)
    promise = Promise(case, engine.info)
    deviation = next(d for d in known() if d.id == entry)
    tried: list[str] = []
    excused: list[str] = []
    if {*deviation.kinds} - {CRASH}:
        actual = answer(engine, case)
        for words, verdict in _verdicts(promise, actual, entry):
            if verdict.bucket in (*AGREEING, Bucket.NOTHING_COMPARED): continue
            tried.append(words)
            if verdict.bucket is not Bucket.DIVERGED:
                excused.append(f"{words}: {','.join(verdict.deviations) if verdict.deviations != (entry,) else 'SELF'}")
    if CRASH in deviation.kinds:
        for words, bucket in (("another frame", Bucket.CRASHED), ("no end", Bucket.TIMED_OUT)):
            found = Mismatch(END, CRASH, "step", "computed", bucket, f"the process died: {ELSEWHERE}")
            tried.append(words)
            if verdict_of(promise, found, Verdict(bucket)).deviation: excused.append(words)
    return Exceeded(entry, tuple(tried), tuple(excused), perf_counter() - t)


def _verdicts(promise: Promise, actual: Outcome, entry: str) -> Iterator[tuple[str, Verdict]]:
    known_here = Comparer(promise).run(actual, excuse(promise)).known
    places = {(f.kind, f.expected, f.actual): f for f, name in reversed(known_here) if name == entry}
    for found in [*places.values()][:EXCEEDED]:
        for words, changed in excesses(promise, actual, found):
            yield f"{found.kind}, {words}", judge(promise, changed)

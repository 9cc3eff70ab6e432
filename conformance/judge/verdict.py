"""Verdicts: one bucket of the ledger for every case and backend.

Exactly one, so that the buckets sum to the cases generated and nothing passes by not being counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.compare.compare import Comparer
from conformance.compare.kinks import SUBGRADIENT, SecondLook, agrees_on_a_reachable_branch
from conformance.compare.mismatch import Mismatch
from conformance.deviations.explain import UNDEFINED, excuse, explain

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome
    from conformance.compare.compare import Comparison
    from conformance.compare.promise import Promise


class Bucket(StrEnum):
    """Where a case can end, for one backend. The buckets sum to the cases generated."""

    AGREED = "agreed"
    SAME_ERROR = "same_error"
    DIVERGED = "diverged"
    KNOWN_DEVIATION = "known_deviation"
    NOT_OFFERED = "not_offered"
    NEAR_KINK = "near_kink"
    UNDEFINED = "undefined"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    HARNESS_ERROR = "harness_error"
    NOTHING_COMPARED = "nothing_compared"


COMPARED = (Bucket.AGREED, Bucket.SAME_ERROR, Bucket.DIVERGED, Bucket.KNOWN_DEVIATION)
"""The buckets of cases that were really compared."""

AGREEING = (Bucket.AGREED, Bucket.SAME_ERROR, Bucket.NOT_OFFERED)
"""The buckets of cases in which nothing differs."""

FAILING = (Bucket.DIVERGED, Bucket.TIMED_OUT, Bucket.CRASHED, Bucket.HARNESS_ERROR)
"""The buckets that are findings."""


@dataclass
class Verdict:
    """One case on one backend.

    ``mismatch`` is the difference that nobody knows, or else the first known deviation, or the first undefined number; ``deviations``
    are the ids of the entries of all known deviations that the case showed, and ``deviation`` is that of ``mismatch``; ``steps`` are
    the numbers of the steps that agreed; ``ratios`` the largest error over bound by what a step is called, where a bound was computed.
    """

    bucket: Bucket
    mismatch: Mismatch | None = None
    deviation: str | None = None
    bounded: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    ratios: dict[str, float] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    deviations: tuple[str, ...] = ()


def judge(promise: Promise, actual: Outcome) -> Verdict:
    """Compare what an engine answered with what was promised, and choose the bucket.

    A case that nobody can run is a fault of whoever wrote it, the suite if it was drawn; that two refuse it is no agreement.
    """
    if promise.impossible is not None:
        number, why = promise.impossible
        return Verdict(Bucket.HARNESS_ERROR, Mismatch(number, "harness", "step", "a step that can be run", "none", why))
    known = excuse(promise)
    compared = Comparer(promise).run(actual, known)
    excused = [(mismatch, entry) for mismatch, entry in compared.known if entry != UNDEFINED]
    seen = tuple(dict.fromkeys(entry for _, entry in excused))
    bucket, found = _bucket(compared, seen), compared.mismatch
    verdict = Verdict(bucket, found, None, compared.bounded, compared.counts, compared.ratios, compared.steps, seen)
    if found is not None and found.kind == "value":
        if compared.near_kink and agrees_on_a_reachable_branch(promise, actual, known) is not False:
            verdict.bucket = Bucket.NEAR_KINK
        elif SecondLook(promise, found).is_subgradient:
            verdict.mismatch = replace(found, actual=SUBGRADIENT)
    elif bucket is Bucket.KNOWN_DEVIATION:
        verdict.mismatch, verdict.deviation = excused[0]
    elif bucket is Bucket.UNDEFINED:
        verdict.mismatch = compared.known[0][0]
    return verdict


def _bucket(compared: Comparison, deviations: tuple[str, ...]) -> Bucket:
    counts = compared.counts
    if compared.mismatch is not None:
        return Bucket.DIVERGED
    if compared.known:
        return Bucket.KNOWN_DEVIATION if deviations else Bucket.UNDEFINED
    if counts["calls"] and (counts["gradients"] or counts["absent"]):
        return Bucket.AGREED
    if counts["errors"]:
        return Bucket.SAME_ERROR
    return Bucket.NOT_OFFERED if counts["not_offered"] else Bucket.NOTHING_COMPARED


def verdict_of(promise: Promise, found: Mismatch, so_far: Verdict) -> Verdict:
    """Return the verdict on a mismatch that did not come from `Comparer`: a crash, a poisoned process, a broken law."""
    entry = explain(promise, found)
    if entry is None:
        return replace(so_far, bucket=Bucket.DIVERGED, mismatch=found)
    seen = tuple(dict.fromkeys([*so_far.deviations, entry.id]))
    return replace(so_far, bucket=Bucket.KNOWN_DEVIATION, mismatch=found, deviation=entry.id, deviations=seen)

"""Verdicts: one bucket of the ledger for every case and backend."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.deviations import explain
from conformance.judge import kinks
from conformance.judge.compare import Comparer, Mismatch

if TYPE_CHECKING:
    from conformance.backends import BackendInfo
    from conformance.case import Case
    from conformance.outcome import Outcome


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

    ``deviation`` is the id of the entry that explains a known deviation, ``steps`` the numbers of the steps that agreed.
    """

    bucket: Bucket
    mismatch: Mismatch | None = None
    deviation: str | None = None
    bounded: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    steps: list[int] = field(default_factory=list)


def judge(case: Case, info: BackendInfo, expected: Outcome, actual: Outcome) -> Verdict:
    """Compare two outcomes and choose the bucket."""
    compared = Comparer(case, info).run(expected, actual)
    found = compared.mismatch
    counts = compared.counts
    if found is not None:
        verdict = verdict_of(case, info, found, Verdict(Bucket.DIVERGED, found, None, compared.bounded, counts, compared.steps))
        if verdict.deviation is None and found.kind == "value":
            return _second_look(case, info, expected, actual, verdict, near_kink=compared.near_kink)
        return verdict
    if counts["calls"] and (counts["gradients"] or counts["absent"]):
        bucket = Bucket.AGREED
    elif counts["errors"]:
        bucket = Bucket.SAME_ERROR
    elif counts["not_offered"]:
        bucket = Bucket.NOT_OFFERED
    else:
        bucket = Bucket.NOTHING_COMPARED
    return Verdict(bucket, None, None, compared.bounded, counts, compared.steps)


def _second_look(case: Case, info: BackendInfo, expected: Outcome, actual: Outcome, verdict: Verdict, *, near_kink: bool) -> Verdict:
    """Ask what else a number that differs could be: right on a branch that rounding reaches, undefined, or another subgradient."""
    found = verdict.mismatch
    if found is None:
        return verdict
    if near_kink and kinks.agrees_on_a_reachable_branch(case, info, actual) is not False:
        verdict.bucket = Bucket.NEAR_KINK
    elif kinks.is_undefined(case, info, found, expected, actual):
        verdict.bucket = Bucket.UNDEFINED
    elif kinks.is_subgradient(case, info, found, actual):
        return verdict_of(case, info, replace(found, actual=kinks.SUBGRADIENT), verdict)
    return verdict


def verdict_of(case: Case, info: BackendInfo, found: Mismatch, so_far: Verdict) -> Verdict:
    """Return the verdict on a mismatch: a known deviation, or a divergence."""
    entry = explain(info, case, found)
    bucket = Bucket.DIVERGED if entry is None else Bucket.KNOWN_DEVIATION
    return Verdict(bucket, found, None if entry is None else entry.id, so_far.bounded, so_far.counts, so_far.steps)

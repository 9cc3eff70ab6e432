"""From what the judges say to what is recorded: the one place in which a verdict, a null pair and a law become records."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from conformance.campaign.records import LawRecord, NullRecord
from conformance.campaign.records.coverage import covered, key_of_op
from conformance.campaign.records.grid import Met
from conformance.campaign.records.verdicts import MismatchRecord, VerdictRecord
from conformance.case.outcome import Computed, NotOffered, Raised
from conformance.case.place import recorded
from conformance.case.queries import label
from conformance.judge.verdict import FAILING, Bucket

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.case.case import Case
    from conformance.case.exercise import Exercise
    from conformance.case.outcome import Outcome
    from conformance.compare.mismatch import Mismatch
    from conformance.judge.nulls import Null
    from conformance.judge.verdict import Verdict
    from conformance.laws.registry import Tried


def verdict_record(case: Case, verdict: Verdict, facts: Exercise) -> VerdictRecord:
    """Write a verdict, with what was compared up to the first difference."""
    counts = verdict.counts.copy()
    counts.update(_derivatives(verdict, facts))
    for number in verdict.steps:
        for key in covered(case, number, facts.order_at(number)):
            counts[key] += 1
        if number in facts.orders:
            counts[f"order {facts.orders[number]}"] += 1
    return VerdictRecord(
        verdict.bucket,
        counts,
        verdict.bounded,
        {step: ratio if isfinite(ratio) else None for step, ratio in verdict.ratios.items()},
        None if verdict.mismatch is None else _mismatch_record(case, verdict.mismatch),
        verdict.deviation,
        verdict.deviations,
        {str(choice): option for choice, option in verdict.followed.items()},
        {str(choice): options for choice, options in verdict.observed.items()},
        tuple(map(str, verdict.asked)),
        verdict.lacking,
    )


def _derivatives(verdict: Verdict, facts: Exercise) -> Iterator[str]:
    """Yield for each gradient that agrees the keys of the ops on whose derivatives it hangs; one that is absent shows no derivative."""
    for number, values in verdict.gradients.items():
        for value in values:
            yield from (key_of_op(op, order) for op, order in facts.ops.get(number, {}).get(value, {}).items())


def met_of(facts: Exercise, actual: Outcome, verdict: Verdict) -> Met:
    """Say what became of the highest order: the best that is true of one of its calls, or that one before them was refused."""
    if verdict.bucket in FAILING:
        return Met.DIVERGED
    agreed = set(verdict.steps)
    seen = [(number in agreed, actual.observations[number]) for number, order in facts.orders.items() if order == facts.highest]
    if any(agrees and isinstance(found, Computed) for agrees, found in seen):
        return Met.AGREED
    if verdict.deviations:
        return Met.KNOWN
    if any(isinstance(actual.observations[number], Raised) for number in facts.orders if number in agreed):
        return Met.REFUSED
    return Met.NOT_OFFERED if any(isinstance(found, NotOffered) for _, found in seen) else Met.NOTHING


def _mismatch_record(case: Case, found: Mismatch) -> MismatchRecord:
    at = label(case, found.step)
    ratio = found.ratio if isfinite(found.ratio) else None
    words = found.kind, found.where, found.expected, found.actual, found.detail
    return MismatchRecord(recorded(found.step), at, *words, found.name, ratio)


def null_record(null: Null) -> NullRecord:
    """Write a null pair."""
    near_kink = null.verdict.bucket is Bucket.NEAR_KINK
    detail = null.verdict.mismatch.detail if null.alarm and null.verdict.mismatch is not None else None
    return NullRecord(null.pair.id, null.dtype, null.verdict.counts["values"], null.alarm, near_kink, detail)


def law_record(tried: Tried) -> LawRecord:
    """Write a law that was tried."""
    return LawRecord(tried.law, recorded(tried.step), tried.answer.status, tried.answer.detail)

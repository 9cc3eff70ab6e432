"""Verdicts: one bucket of the ledger for every case and backend.

Exactly one, so that the buckets sum to the cases generated and nothing passes by not being counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.case.place import END
from conformance.case.queries import upstream_of
from conformance.case.steps import Call, results
from conformance.compare.compare import Comparer
from conformance.compare.following import REFUSALS, asked, changed, decisive, follow, under
from conformance.compare.kinks import SUBGRADIENT, SecondLook, agrees_on_a_reachable_branch
from conformance.compare.mismatch import Mismatch
from conformance.deviations.entries import known
from conformance.deviations.explain import UNDEFINED, excuse, explain, scripts_instead
from reference_impl.dialects.conventions import COMPUTED, Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.compare.comparison import Comparison
    from conformance.compare.promise import Promise
    from reference_impl.dialects.conventions import OpenChoice


CONVENTION = "convention"
"""The kind of a difference from what was measured of the same release, where nobody promises anything."""


class Bucket(StrEnum):
    """Where a case can end, for one backend. The buckets sum to the cases generated."""

    AGREED = "agreed"
    SAME_ERROR = "same_error"
    DIVERGED = "diverged"
    KNOWN_DEVIATION = "known_deviation"
    UNPROMISED = "unpromised"
    NOT_OFFERED = "not_offered"
    NEAR_KINK = "near_kink"
    UNDEFINED = "undefined"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    HARNESS_ERROR = "harness_error"
    NOTHING_COMPARED = "nothing_compared"


COMPARED = (Bucket.AGREED, Bucket.SAME_ERROR, Bucket.DIVERGED, Bucket.KNOWN_DEVIATION, Bucket.UNPROMISED)
"""The buckets of cases that were really compared."""

AGREEING = (Bucket.AGREED, Bucket.SAME_ERROR, Bucket.UNPROMISED, Bucket.NOT_OFFERED)
"""The buckets of cases in which nothing differs that anybody promises."""

EXPLAINED = (Bucket.KNOWN_DEVIATION, Bucket.UNPROMISED)
"""The buckets of cases in which all that differs is known, broken promises or not."""

FAILING = (Bucket.DIVERGED, Bucket.TIMED_OUT, Bucket.CRASHED, Bucket.HARNESS_ERROR)
"""The buckets that are findings."""


@dataclass
class Verdict:
    """One case on one backend.

    Attributes:
        mismatch: the difference that nobody knows, or else the first known deviation, or else the first undefined number.
        deviation: the id of the entry that ``mismatch`` is known by.
        deviations: those of all known deviations that the case showed.
        steps: the numbers of the steps that agreed.
        gradients: for each call, the values whose gradient came and agreed, whatever became of the others.
        bounded: whether a bound was derived.
        ratios: the largest error over bound, by what a step is called.
        followed: the open choices that were decided otherwise than was expected, each with its option.
        observed: the open choices that the case shows to be decided as expected, with the options that it does not tell apart. Only if
            somebody looked (`observe`).
        asked: all open choices that the case asks. Only if somebody looked.
        supposed: the open choices that had to be taken otherwise to see what is known of an answer, which does not show how they are
            decided.
        lacking: of a case that is not offered, the words of `not_offered` for which nothing was compared.
    """

    bucket: Bucket
    mismatch: Mismatch | None = None
    deviation: str | None = None
    bounded: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    ratios: dict[str, float] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    deviations: tuple[str, ...] = ()
    followed: Mapping[OpenChoice, str] = field(default_factory=dict)
    observed: Mapping[OpenChoice, tuple[str, ...]] = field(default_factory=dict)
    asked: Collection[OpenChoice] = ()
    supposed: Mapping[OpenChoice, str] = field(default_factory=dict)
    gradients: Mapping[int, Collection[str]] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()


def judge(promise: Promise, actual: Outcome, *, following: bool = True) -> Verdict:
    """Compare what an engine answered with what was promised, and choose the bucket.

    ``following``: where nothing is promised, what the engine did is what is expected of it from there on; see `compare.following`.
    A case that no engine can run is a fault of its author, or of the suite if it was drawn; that both sides refuse it is no agreement.
    """
    if promise.impossible is not None:
        number, why = promise.impossible
        return Verdict(Bucket.HARNESS_ERROR, Mismatch(number, "harness", "step", "a step that can be run", "none", why))
    compared = Comparer(promise).run(actual, excuse(promise))
    followed: Mapping[OpenChoice, str] = {}
    supposed: Mapping[OpenChoice, str] = {}
    given, differs = promise, compared.mismatch
    if following and differs is not None:
        promise, compared, followed = follow(promise, actual, excuse, scripts_instead, compared)
        supposed = _unsettled(followed, differs, compared) if compared.mismatch is None else {}
        followed = {choice: option for choice, option in followed.items() if choice not in supposed}
    excused = [(mismatch, entry) for mismatch, entry in compared.known if entry != UNDEFINED]
    seen = tuple(dict.fromkeys(entry for _, entry in excused))
    bucket, found = _bucket(compared, seen), compared.mismatch
    agreed = compared.counts, compared.ratios, compared.steps
    verdict = Verdict(bucket, found, None, compared.bounded, *agreed, seen, followed, supposed=supposed, gradients=compared.gradients)
    if found is None and (broken := changed(given, followed)):
        verdict.bucket, verdict.mismatch = Bucket.DIVERGED, _change(given, broken[0], followed, differs)
    elif found is not None and found.kind == "value":
        if compared.near_kink and agrees_on_a_reachable_branch(promise, actual, excuse) is not False:
            verdict.bucket = Bucket.NEAR_KINK
        elif SecondLook(promise, found).is_subgradient:
            verdict.mismatch = replace(found, actual=SUBGRADIENT)
            verdict.bucket = Bucket.NEAR_KINK if promise.info.kinks == "any" else bucket
    elif bucket in EXPLAINED:
        verdict.mismatch, verdict.deviation = excused[0]
    elif bucket is Bucket.UNDEFINED:
        verdict.mismatch = compared.known[0][0]
    elif bucket is Bucket.NOT_OFFERED:
        verdict.lacking = lacking(promise.case, promise.info.not_offered)
    return verdict


def lacking(case: Case, not_offered: Collection[str]) -> tuple[str, ...]:
    """Return the words of what the calls of a case need, or what their operands were made by, and is not offered."""
    calls = [number for number, step in enumerate(case.steps) if isinstance(step, Call)]
    behind = upstream_of(case.steps, [name for number in calls for name in case.names_used[number]])
    needed = [number for number, step in enumerate(case.steps) if number in calls or not behind.isdisjoint(results(step))]
    return tuple(dict.fromkeys(word for number in needed for word in case.needs[number] if word in not_offered))


def observe(promise: Promise, actual: Outcome, verdict: Verdict, settled: Collection[OpenChoice]) -> None:
    """Enter into a verdict the open choices that the case asks, and which of them, but for those that are settled, it shows.

    What it shows is that they are decided as expected.
    """
    if verdict.mismatch is None or verdict.bucket in EXPLAINED:
        taken = under(promise, {**verdict.followed, **verdict.supposed})
        choices = asked(taken)
        verdict.asked = choices.keys()
        unsettled = {choice: option for choice, option in choices.items() if choice not in settled}
        verdict.observed = decisive(taken, actual, excuse, unsettled)


def _unsettled(followed: Mapping[OpenChoice, str], differs: Mismatch, compared: Comparison) -> dict[OpenChoice, str]:
    """Return the options that were taken and that the answer does not show.

    A pass need not have come to the node that should refuse it. It may be refused by another one with as good a reason: which of the
    two is ready first nobody promises, and in Paddle the addresses of nodes decide it. It may end at one that is known to fail. And
    where a derivative is not offered, it may do something else that is known to be wrong.
    """
    refusing = REFUSALS.get(differs.expected)
    known = [found for found, _ in compared.known if found.step == differs.step]
    knowingly = any(refusing is Kind.OFFERED or (found.kind == "error" and found.actual != COMPUTED) for found in known)
    if differs.actual not in REFUSALS and not knowingly:
        return {}
    return {choice: option for choice, option in followed.items() if choice.kind is refusing and option == COMPUTED}


def _change(promise: Promise, choice: OpenChoice, followed: Mapping[OpenChoice, str], differs: Mismatch | None) -> Mismatch:
    """Say where an engine does something else than the release that it is, where nobody promises anything."""
    (backend, version), known = promise.info.dialect.conventions.release, promise.info.dialect.conventions.options[choice]
    detail = f"{choice}: {followed[choice]}; measured of {backend} {version}: {known}"
    return Mismatch(END if differs is None else differs.step, CONVENTION, "step", known, followed[choice], detail)


def _bucket(compared: Comparison, deviations: tuple[str, ...]) -> Bucket:
    counts = compared.counts
    if compared.mismatch is not None:
        return Bucket.DIVERGED
    if compared.known:
        return bucket_of_known(deviations) if deviations else Bucket.UNDEFINED
    if counts["calls"] and (counts["gradients"] or counts["absent"]):
        return Bucket.AGREED
    if counts["errors"]:
        return Bucket.SAME_ERROR
    return Bucket.NOT_OFFERED if counts["not_offered"] else Bucket.NOTHING_COMPARED


def bucket_of_known(deviations: Collection[str]) -> Bucket:
    """Return the bucket of a case all of whose differences are known."""
    unpromised = {entry.id for entry in known() if entry.unpromised}
    return Bucket.UNPROMISED if unpromised.issuperset(deviations) else Bucket.KNOWN_DEVIATION


def verdict_of(promise: Promise, found: Mismatch, so_far: Verdict) -> Verdict:
    """Return the verdict on a mismatch that did not come from `Comparer`: a crash, a poisoned process, a broken law."""
    entry = explain(promise, found)
    if entry is None:
        return replace(so_far, bucket=Bucket.DIVERGED, mismatch=found)
    seen = tuple(dict.fromkeys([*so_far.deviations, entry.id]))
    return replace(so_far, bucket=bucket_of_known(seen), mismatch=found, deviation=entry.id, deviations=seen)

"""Judgement: the verdict on a case in a run, with all that may speak against it beside the comparison.

`judge` compares. Around it stands what holds for every case of a run: a share of the agreeing cases is audited, a canary that died
afterwards makes the case a finding, and an exception of the suite itself costs this one case and is no verdict on the engine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.case.outcome import Raised
from conformance.case.place import END
from conformance.compare.mismatch import POISON, Mismatch
from conformance.judge.audit import audit, is_due
from conformance.judge.verdict import FAILING, Bucket, Verdict, judge, verdict_of

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome
    from conformance.compare.promise import Promise
    from conformance.judge.canary import Ailment


def judged(promise: Promise, actual: Outcome, ailment: Ailment | None = None) -> Verdict:
    """Judge an outcome; ``ailment``: what a canary died of that ran afterwards, because something was refused."""
    try:
        verdict = judge(promise, actual)
        wrong = audit(promise) if verdict.bucket is Bucket.AGREED and is_due(promise.case) else None
    except Exception as error:  # noqa: BLE001 - a fault of the suite costs one case, and is no verdict on the engine
        return fault(error)
    if wrong is not None:
        return replace(verdict, bucket=Bucket.HARNESS_ERROR, mismatch=Mismatch(END, "oracle", "step", "right", "wrong", wrong))
    if ailment is None or verdict.bucket in FAILING:
        return verdict
    return _poisoned(promise, actual, verdict, ailment)


def _poisoned(promise: Promise, actual: Outcome, verdict: Verdict, ailment: Ailment) -> Verdict:
    """Return the verdict on a case after which the engine differentiates wrongly.

    Which of its refusals did the damage is not known here. So each is tried, the unexpected ones first: if one of them is known to do
    damage, that is it.
    """
    refused, promised = (
        {i: seen.category for i, seen in enumerate(outcome.observations) if isinstance(seen, Raised)}
        for outcome in (actual, promise.outcome)
    )
    unasked = [i for i in refused if i not in promised]
    otherwise = [i for i, category in refused.items() if category != promised.get(i)]
    said = f"after this case, in which something was refused, {ailment.op} is differentiated wrongly: {ailment.detail}"
    verdicts = [
        verdict_of(promise, Mismatch(step, POISON, ailment.family, "intact", "broken", said), verdict)
        for step in dict.fromkeys([*unasked, *otherwise, *refused])
    ]
    return next((known for known in verdicts if known.bucket not in FAILING), verdicts[0])


def fault(error: Exception, kept_from: str = "judged") -> Verdict:
    """Return the verdict on a case that an error of the suite kept from being judged, or from being drawn in the first place."""
    return Verdict(Bucket.HARNESS_ERROR, Mismatch(END, "harness", "step", kept_from, type(error).__name__, str(error)))

"""What is concluded from deaths: the verdicts on cases that are known to end their process, or never to come to an end.

Such a case is not run again where that shows nothing new. Example: the second derivative of a division takes Paddle down, and the
native frame says that it is the known way; the verdict is that of the entry, and costs no further process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.place import END
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.deviations.entries import CRASH, is_framed
from conformance.judge.canary import BIRD
from conformance.judge.verdict import Bucket, Verdict, verdict_of
from conformance.laws.registry import LAWS, cases_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends import Backend
    from conformance.campaign.records.verdicts import VerdictRecord
    from conformance.campaign.workers.chunk import Death
    from conformance.case.case import Case


def endless(death: Death) -> Verdict:
    """Return the verdict on a case that took this suite longer than a case may take."""
    detail = f"no end in sight of what the reference and the judge do: {death.frame}"
    return Verdict(Bucket.HARNESS_ERROR, Mismatch(END, "harness", "step", "judged", death.bucket, detail))


def is_of_death(verdict: VerdictRecord) -> bool:
    """Whether a verdict is on a case that ended its process, or never came to an end."""
    return verdict.mismatch is not None and verdict.mismatch.kind == CRASH


def settled_death(case: Case, engine: Backend, death: Death | None, entering: Callable[[str], None]) -> Verdict | None:
    """Return the verdict on a case that is known to take the process down; ``None`` where it has to be run."""
    if death is None:
        return None
    verdict = _verdict_on_death(case, engine, death, entering)
    return verdict if death.own or (death.is_native and is_framed(verdict.deviation)) else None


def _verdict_on_death(case: Case, engine: Backend, death: Death, entering: Callable[[str], None]) -> Verdict:
    """Return the verdict on a case that takes the process down.

    If that was under a law, a known deviation may explain a case of the law's trial; the case itself runs once more to make it.
    """
    crashed = death.bucket is Bucket.CRASHED
    happened = "the process died" if crashed else "no end in sight"
    under = {"": "", BIRD: ", in a canary, after what was refused"}.get(death.law, f", under the law {death.law}")
    detail = f"{happened}{under}: {death.frame}"
    found = Mismatch(END, CRASH, death.law or "step", "computed", death.bucket, detail)
    cases = [case]
    if death.law in LAWS:
        entering(engine.info.name)
        cases += cases_of(death.law, case, engine, engine.run(case))
    for one in cases:
        verdict = verdict_of(Promise(one, engine.info), found, Verdict(death.bucket))
        if verdict.deviation:
            return verdict
    return Verdict(death.bucket, found)

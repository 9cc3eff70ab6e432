"""Laws in a campaign: which are tried on a case, and what a broken one does to the verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.case.steps import results
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.deviations.entries import LAW
from conformance.generate.sources import FastSource
from conformance.judge.verdict import EXPLAINED, Bucket, Verdict, bucket_of_known, verdict_of
from conformance.laws.registry import LAWS, try_laws
from conformance.laws.relation import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.laws.registry import Tried

SHARE = 2
"""One case in `SHARE` is tried by a law."""
LARGE = 100
"""Results of a case that is large, as no usual one is; a step that has none counts as one."""
TIMEOUT = 5.0
"""Seconds for one case on all backends with their judges, unless every law is tried."""
LAWS_TIMEOUT = 20.0
"""Seconds for a case by every law, which are some thirty scripts."""


def times_as_large(case: Case) -> int:
    """Return how many times as large as any usual case this one may be.

    It may take as many times as long, and as many times as rarely do laws and null pairs look at it, which run a case a few times over.
    """
    return 1 + sum(max(1, len(results(step))) for step in case.steps) // LARGE


class Sampling(StrEnum):
    """Which laws a case is tried by: none; one, on every `SHARE`-th case; every law, on every call.

    And which null pairs that fit it are judged: none, one, or every one.
    """

    NONE = "none"
    SOME = "some"
    EVERY = "all"


@dataclass(frozen=True, slots=True)
class Judging:
    """How a campaign judges each of its cases.

    ``law``: the id of one law that is tried on every call, in place of what ``laws`` says; ``laws_only``: nothing but laws judges;
    ``nulls``: how many of the null pairs that fit a case are judged; ``timeout``: how many seconds all backends and judges together
    may take for one case, before the process is ended; ``sample``: null pairs, and laws unless all are tried, look at one case in
    ``sample``; ``canary``: which family of ops is asked after a refusal, see `conformance.judge.canary.ailment_after`; ``observing``:
    whether to find out, of every open choice that a case asks, if the case shows its option.
    """

    laws: Sampling = Sampling.NONE
    law: str = ""
    laws_only: bool = False
    nulls: Sampling = Sampling.SOME
    timeout: float = TIMEOUT
    sample: int = 1
    canary: str = ""
    observing: bool = False

    def looks_closer(self, case: Case) -> bool:
        """Whether a case is one of the sample that laws and null pairs look at."""
        return int(case.id, 16) // SHARE % (self.sample * times_as_large(case)) == 0


TRIED = (Bucket.AGREED, Bucket.SAME_ERROR, Bucket.DIVERGED, Bucket.NOTHING_COMPARED)
"""Verdicts after which laws are tried: what is known to deviate already would only say so again."""

RANK = (Status.BROKEN, Status.KNOWN, Status.UNSETTLED, Status.HELD)


def apply_laws(
    case: Case,
    engine: Backend,
    outcome: Outcome,
    verdict: Verdict,
    judging: Judging,
    entering: Callable[[str], None] = lambda _: None,
) -> tuple[Verdict, list[Tried]]:
    """Try laws on a case that was judged; what they say counts where nothing differed so far.

    A broken law makes the verdict a divergence, or a known deviation; one that held agrees, where nothing else was compared.
    ``entering`` hears of each law before it is tried.
    """
    if verdict.bucket not in TRIED:
        return verdict, []
    tried = _try(case, engine, outcome, judging, entering)
    if verdict.mismatch is not None:
        return verdict, tried
    for status in (Status.BROKEN, Status.KNOWN):
        for one in tried:
            if one.answer.status is status:
                found = Mismatch(one.step, LAW, one.law, "held", "broken", one.answer.detail)
                return _verdict(case, engine, found, verdict, one.answer.deviation), tried
    if verdict.bucket is Bucket.NOTHING_COMPARED and any(one.answer.status is Status.HELD for one in tried):
        verdict.bucket = Bucket.AGREED
    return verdict, tried


def _try(case: Case, engine: Backend, outcome: Outcome, judging: Judging, entering: Callable[[str], None]) -> list[Tried]:
    if judging.law:
        return try_laws(case, engine, outcome, [judging.law], entering)
    match judging.laws:
        case Sampling.NONE:
            return []
        case Sampling.EVERY:
            return try_laws(case, engine, outcome, list(LAWS), entering)
        case Sampling.SOME:
            drawn = int(case.id, 16)
            shuffled = FastSource(drawn, 0).shuffled(list(LAWS))
            return (
                []
                if drawn % SHARE or not judging.looks_closer(case)
                else try_laws(case, engine, outcome, shuffled, entering, at_most=1)
            )


def _verdict(case: Case, engine: Backend, found: Mismatch, so_far: Verdict, deviation: str) -> Verdict:
    if not deviation:
        return verdict_of(Promise(case, engine.info), found, so_far)
    return replace(so_far, bucket=bucket_of_known([deviation]), mismatch=found, deviation=deviation)


def statuses(tried: list[Tried], verdict: Verdict) -> dict[str, Status]:
    """Return the status of each law that was tried: the worst, over the calls; broken is known where the verdict is."""
    known = verdict.bucket in EXPLAINED
    worst: dict[str, Status] = {}
    for status in reversed(RANK):
        said = Status.KNOWN if known and status is Status.BROKEN else status
        worst.update({one.law: said for one in tried if one.answer.status is status})
    return worst

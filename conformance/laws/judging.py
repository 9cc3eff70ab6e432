"""Laws in a campaign: which are tried on a case, and what a broken one does to the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.generate.source import FastSource
from conformance.judge.compare import Mismatch
from conformance.judge.verdict import Bucket, Verdict, verdict_of
from conformance.laws.registry import LAWS, try_laws
from conformance.laws.relation import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends import Backend
    from conformance.case import Case
    from conformance.laws.registry import Tried
    from conformance.outcome import Outcome

NONE, SOME, EVERY = "none", "some", "every"
"""Which laws are tried: none; one, on every `SHARE`-th case; all on every call. The id of a law: that one on every call."""

SHARE = 2
TRIED = (Bucket.AGREED, Bucket.SAME_ERROR, Bucket.DIVERGED, Bucket.NOTHING_COMPARED)
"""Verdicts after which laws are tried: what is known to deviate already would only say so again."""

KIND = "law"
RANK = (Status.BROKEN, Status.KNOWN, Status.UNSETTLED, Status.HELD)


def apply_laws(
    case: Case,
    engine: Backend,
    outcome: Outcome,
    verdict: Verdict,
    which: str,
    entering: Callable[[str], None] = lambda _: None,
) -> tuple[Verdict, list[Tried]]:
    """Try laws on a case that was judged; what they say counts where nothing differed so far.

    A broken law makes the verdict a divergence, or a known deviation; one that held agrees, where nothing else was compared.
    ``entering`` hears of each law before it is tried.
    """
    if which == NONE or verdict.bucket not in TRIED:
        return verdict, []
    tried = _try(case, engine, outcome, which, entering)
    if verdict.mismatch is not None:
        return verdict, tried
    for status in (Status.BROKEN, Status.KNOWN):
        for one in tried:
            if one.answer.status is status:
                found = Mismatch(one.step, KIND, one.law, "held", "broken", one.answer.detail)
                return _verdict(case, engine, found, verdict, one.answer.deviation), tried
    if verdict.bucket is Bucket.NOTHING_COMPARED and any(one.answer.status is Status.HELD for one in tried):
        verdict.bucket = Bucket.AGREED
    return verdict, tried


def _try(case: Case, engine: Backend, outcome: Outcome, which: str, entering: Callable[[str], None]) -> list[Tried]:
    if which != SOME:
        return try_laws(case, engine, outcome, list(LAWS) if which == EVERY else [which], entering)
    drawn = int(case.id, 16)
    if drawn % SHARE:
        return []
    return try_laws(case, engine, outcome, FastSource(drawn, 0).shuffled(list(LAWS)), entering, at_most=1)


def _verdict(case: Case, engine: Backend, found: Mismatch, so_far: Verdict, deviation: str) -> Verdict:
    if not deviation:
        return verdict_of(case, engine.info, found, so_far)
    return replace(so_far, bucket=Bucket.KNOWN_DEVIATION, mismatch=found, deviation=deviation)


def statuses(tried: list[Tried], verdict: Verdict) -> dict[str, str]:
    """Return the status of each law that was tried: the worst, over the calls; broken is known where the verdict is."""
    known = verdict.bucket is Bucket.KNOWN_DEVIATION
    found: dict[str, str] = {}
    for status in reversed(RANK):
        word = Status.KNOWN if known and status is Status.BROKEN else status
        found.update({one.law: str(word) for one in tried if one.answer.status is status})
    return found

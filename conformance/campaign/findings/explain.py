"""What a worker tells about one case: step by step, expected beside actual, which laws held, and who is wrong."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from conformance.backends import BackendError, answer
from conformance.campaign.records import CaseRecord, LawRecord, StepRecord
from conformance.campaign.records.recording import law_record, verdict_record
from conformance.campaign.records.verdicts import MismatchRecord, VerdictRecord
from conformance.campaign.workers.backend_cache import backend, servers_restarted
from conformance.campaign.workers.examination import ailment_in
from conformance.campaign.workers.nursery import DeathError, forked
from conformance.campaign.workers.trial import run_case
from conformance.case.exercise import exercise_of
from conformance.case.prose import observation_text, step_text
from conformance.compare.mismatch import POISON
from conformance.compare.promise import Promise
from conformance.deviations.entries import LAW
from conformance.judge.blame import blame
from conformance.judge.dispute import Blame, Opinion, Vote
from conformance.judge.judgement import judged
from conformance.judge.poison import blame_of_poison
from conformance.judge.verdict import Bucket, Verdict
from conformance.laws.judging import Judging, apply_laws
from conformance.laws.registry import broken_laws
from conformance.laws.votes import blame_of_law

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.judge.dispute import Dispute
    from conformance.laws.registry import Tried


class Explanation(msgspec.Struct, frozen=True):
    """A case on one backend: its steps, expected beside actual, the verdict, and the laws that were tried."""

    steps: tuple[StepRecord, ...]
    verdict: VerdictRecord
    laws: tuple[LawRecord, ...]


def explain_case(case: Case, name: str, judging: Judging | None = None, before: Sequence[Case] = ()) -> Explanation:
    """Run a case on one backend and write it down step by step; where laws alone judge, nothing else is expected than what came.

    ``before``: cases that run before it in this process, with nobody looking.
    """
    judging = judging or Judging()
    engine = backend(name)
    for earlier in before:
        engine.run(earlier)
    actual = answer(engine, case)
    promise = Promise(case, engine.info, actual if judging.laws_only else None)
    ailment = None if judging.laws_only else ailment_in(case, actual, engine, judging.canary)
    verdict = Verdict(Bucket.NOTHING_COMPARED) if judging.laws_only else judged(promise, actual, ailment)
    tried: list[Tried] = []
    if ailment is None:  # a damaged process would break any law
        verdict, tried = apply_laws(case, engine, actual, verdict, judging)
    observed = zip(case.steps, promise.outcome.observations, actual.observations, strict=True)
    return Explanation(
        tuple(StepRecord(step_text(s), observation_text(case, s, e), observation_text(case, s, a)) for s, e, a in observed),
        verdict_record(case, verdict, exercise_of(case, promise.outcome)),
        tuple(map(law_record, tried)),
    )


def run_after(before: Sequence[Case], case: Case, name: str, judging: Judging) -> CaseRecord:
    """Run cases on a backend, in this process and with nobody judging them, and then the one that is recorded."""
    engine = backend(name)
    for earlier in before:
        engine.run(earlier)
    return run_case(case, [engine], judging)


def blame_case(cases: tuple[Case, ...], name: str, others: tuple[str, ...], judging: Judging | None = None) -> Blame | None:
    """Say who is wrong where the last of some cases differs, by the votes of those that can be opened here.

    ``None`` if nothing differs.
    """
    *before, case = cases
    engine = backend(name)
    try:
        found = _found(cases, name, judging or Judging())
        if found is not None and found.kind == POISON:
            return blame_of_poison(cases, engine, found.where, forked)
        opened = list(_opened(others))
        for earlier in before:
            engine.run(earlier)
        if found is not None and found.kind == LAW:
            return blame_of_law(case, engine, found.where, opened)
        return blame(case, engine, opened, [by_laws])
    except DeathError as death:
        vote = Vote("its process", Opinion.WRONG, Opinion.SILENT, f"ends in this case ({death.exit_code}), which nothing promises")
        return Blame("accused", (vote,), "not named: a process that ended shows no cotangents")
    except Exception as error:  # noqa: BLE001 - a vote that fails is said in the finding, and costs nothing else
        return Blame("unclear", (), f"not named: the vote failed: {type(error).__name__}: {error}")


def _found(cases: tuple[Case, ...], name: str, judging: Judging) -> MismatchRecord | None:
    """Return what differs, found out in a process of its own: nothing is left of it where the votes are cast."""
    *before, case = cases
    with servers_restarted():
        explained: Explanation = forked(explain_case, [case, name, judging, before])
    return explained.verdict.mismatch


def _opened(names: Sequence[str]) -> Iterator[Backend]:
    for name in names:
        with suppress(BackendError):
            yield backend(name)


def by_laws(dispute: Dispute) -> Vote:
    """Vote by the laws: an engine that contradicts itself is wrong; that it does not proves nothing."""
    broken = broken_laws(dispute.case, dispute.accused)
    reason = "; ".join(f"breaks {law}: {how}" for law, how in broken.items()) or "breaks no law on this case"
    return Vote("laws", Opinion.WRONG if broken else Opinion.SILENT, Opinion.SILENT, reason)

"""What a worker tells about one case: step by step, expected beside actual, which laws held, and who is wrong."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from conformance.backends import BackendError
from conformance.backends.reference import reference
from conformance.campaign.worker import backend, verdict_record
from conformance.facts import facts_of
from conformance.judge.blame import Blame, Opinion, Vote, blame
from conformance.judge.verdict import Bucket, Verdict, judge
from conformance.laws.judging import NONE, apply_laws
from conformance.laws.registry import broken_laws
from conformance.texts import observation_text, step_text

if TYPE_CHECKING:
    from conformance.case import Case
    from conformance.judge.blame import Dispute


def explain_case(case: Case, name: str, laws: str = NONE, alone: bool = False) -> dict[str, Any]:
    """Run a case on one backend and write it down step by step, expected beside actual, with the verdict and the laws that were tried.

    ``alone``: nothing is expected, and laws alone judge.
    """
    engine = backend(name)
    actual = engine.run(case)
    expected = actual if alone else reference(engine.info.dialect, engine.info.not_offered).run(case)
    so_far = Verdict(Bucket.NOTHING_COMPARED) if alone else judge(case, engine.info, expected, actual)
    judged, tried = apply_laws(case, engine, actual, so_far, laws)
    verdict = verdict_record(case, judged, facts_of(case, expected))
    steps = [
        {
            "text": step_text(step),
            "expected": observation_text(case, step, e),
            "actual": observation_text(case, step, a),
        }
        for step, e, a in zip(case.steps, expected.observations, actual.observations, strict=True)
    ]
    told = [{"law": t.law, "step": t.step, "status": t.answer.status, "detail": t.answer.detail} for t in tried]
    return {"steps": steps, "verdict": verdict, "laws": told}


def blame_case(case: Case, name: str, others: tuple[str, ...]) -> dict[str, Any] | None:
    """Say who is wrong where a case differs, by the votes of those that can be opened here; ``None`` if nothing differs."""
    opened = []
    for other in others:
        with suppress(BackendError):
            opened.append(backend(other))
    try:
        found = blame(case, backend(name), opened, [by_laws])
    except Exception as error:  # noqa: BLE001 - a vote that fails is said in the finding, and costs nothing else
        found = Blame("unclear", (), f"not named: the vote failed: {type(error).__name__}: {error}")
    return None if found is None else asdict(found)


def by_laws(dispute: Dispute) -> Vote:
    """Vote by the laws: an engine that contradicts itself is wrong; that it does not proves nothing."""
    broken = broken_laws(dispute.case, dispute.accused)
    reason = "; ".join(f"breaks {law}: {how}" for law, how in broken.items()) or "breaks no law on this case"
    return Vote("laws", Opinion.WRONG if broken else Opinion.SILENT, Opinion.SILENT, reason)

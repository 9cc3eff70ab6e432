"""Who is wrong where a law is broken.

An engine that breaks a law contradicts itself, and no reference is needed to say so, unless the law asks too much: then the reference
breaks it as well, and the suite is at fault. The place is the first wrong node in the cases of the law, since the law differentiates
more than the script that it was tried on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.reference import reference
from conformance.case.place import END
from conformance.case.queries import label
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.judge.blame import LAW_ITSELF, who
from conformance.judge.dispute import Blame, Opinion, Vote, silent
from conformance.judge.localisation import first_node
from conformance.laws.known import Broken
from conformance.laws.registry import LAWS, settle, try_laws
from conformance.laws.relation import Status
from conformance.laws.subject import ObservedCase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.laws.registry import Tried


def blame_of_law(case: Case, accused: Backend, law: str, others: Sequence[Backend] = ()) -> Blame:
    """Try a law that an engine broke on a case again: on that engine, on the reference, and on every other backend."""
    votes = tuple(_votes(case, accused, law, others))
    return Blame(who(votes), votes, _node(case, accused, law))


def _votes(case: Case, accused: Backend, law: str, others: Sequence[Backend]) -> Iterator[Vote]:
    info = accused.info
    mine, right = _try(case, accused, law), _try(case, reference(info.dialect, info.not_offered), law)
    if mine is None or mine.answer.status is not Status.BROKEN:
        yield silent(LAW_ITSELF, f"{law} is not broken again: {'nothing to compare' if mine is None else mine.answer.status}")
        return
    of_reference = {Status.BROKEN: Opinion.WRONG, Status.HELD: Opinion.RIGHT}.get(_status(right), Opinion.SILENT)
    said = {Opinion.WRONG: "breaks it, too: it asks too much, or", Opinion.RIGHT: "keeps it", Opinion.SILENT: "does not settle it"}
    more = " the reference has the same fault" if of_reference is Opinion.WRONG else ""
    reason = f"{law} ({LAWS[law].statement}): {mine.answer.detail}; the reference {said[of_reference]}{more}"
    yield Vote(LAW_ITSELF, Opinion.WRONG, of_reference, reason)
    for other in others:
        match _status(_try(case, other, law)):
            case Status.HELD:
                yield Vote(other.info.name, Opinion.WRONG, Opinion.SILENT, "keeps the law on this case")
            case Status.BROKEN:
                yield Vote(other.info.name, Opinion.RIGHT, Opinion.SILENT, "breaks the law on this case, too")
            case status:
                yield silent(other.info.name, f"the law is {status} on this case")


def _try(case: Case, backend: Backend, law: str) -> Tried | None:
    """Return the trial that says most: a broken one, or else one that held."""
    tried = try_laws(case, backend, backend.run(case), [law])
    order = [Status.BROKEN, Status.KNOWN, Status.HELD]
    return min(tried, key=lambda one: order.index(one.answer.status) if one.answer.status in order else len(order), default=None)


def _status(tried: Tried | None) -> Status:
    return Status.EMPTY if tried is None else tried.answer.status


def _node(case: Case, accused: Backend, law: str) -> str:
    """Name the first wrong node in the cases of the trial that is broken, or say why none is named."""
    outcome = accused.run(case)
    for at, trial in LAWS[law].trials(ObservedCase(case, outcome, accused.info, list(LAWS).index(law))):
        if settle(trial, case, accused, outcome, Broken(law, at))[0].status is not Status.BROKEN:
            continue
        asked_of = "the whole script" if at is END else f"step {at} ({label(case, at)})"
        for asked in trial.cases:
            promise = Promise(asked, accused.info)
            found = next(Comparer(promise).differences(accused.run(asked)), None)
            if found is not None:
                return f"in a case of the law, tried on {asked_of}: {first_node(promise, accused, found).words}"
        return f"not named: in the cases of the law, tried on {asked_of}, each number is right by itself, and their relation fails"
    return "not named: the law is not broken again"

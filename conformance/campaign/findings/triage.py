"""Triage: failures of one cause are one finding.

A wrong rule shows at `grad` and at `backward`, in results, in ``.grad``, in hooks and in laws, each with a fingerprint of its own; and
two wrong rules may share a fingerprint. So for every case with a wrong number, a wrong shape, an absent gradient or an exception that
nobody expected the op is determined at which the difference begins, and all that begins at the same op is one finding. Example: with
wrong rules of ``tanh`` and ``exp`` there are two findings, which name the two ops, and not five that name neither.

Where that cannot be told (an in-place update gives a value two places in the graph), or where a law is broken, the op is determined
again when the case has been reduced: if it is the op of another finding then, the two are one.

A choice that nobody promises may turn out otherwise than it was measured, because the rule of an op changed. But where it does so for
many ops at once, it is the call that changed, and that is one finding. Example: a `backward` of two roots that forgets to free the
graph shows at every op that would have refused to run again. So it is with an error that many ops raise themselves.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.campaign.workers.backend_cache import backend
from conformance.compare.compare import Comparer
from conformance.compare.following import REFUSALS
from conformance.compare.promise import Promise
from conformance.deviations.entries import LAW
from conformance.deviations.explain import excuse
from conformance.judge.localisation import begins_at_a_rule, first_node
from conformance.judge.verdict import CONVENTION, Bucket
from reference_impl.dialects.conventions import COMPUTED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from conformance.campaign.records.fingerprint import Fingerprint
    from conformance.campaign.records.tally import Failure, Tally
    from conformance.campaign.workers.pool import Workers
    from conformance.case.case import Case

PATIENCE = 5.0
"""Seconds in which it is found out where one begins."""
AT_ONCE = 64
"""How many are asked before the clock is looked at."""
MANY = 3
"""Of so many ops a choice of one kind has to change in one way, or as many have to raise one error, to be one matter."""


def triaged(tally: Tally, workers: Workers, until: float | None) -> dict[Fingerprint, Failure]:
    """Return the failures by cause, as far as it can be told and there is time; their counts add up to what they were."""
    kept = [(fingerprint, one) for fingerprint, failures in tally.failing.items() for one in failures]
    asked = [(fingerprint, one) for fingerprint, one in kept if _begins_at_a_rule(fingerprint)]
    begins = dict(_places(asked, workers, until))
    wide = _widespread(tally.failing)
    causes: dict[object, tuple[Fingerprint, Failure]] = {}
    for fingerprint, one in kept:
        _count(causes, _named(fingerprint._replace(op=begins.get((fingerprint, one.index), "")), wide), one)
    for fingerprint, failure in tally.failures.items():
        if more := failure.count - len(tally.failing[fingerprint]):  # than were kept
            _count(causes, _named(fingerprint, wide), replace(failure, count=more))
    found = dict(causes.values())
    for fingerprint in list(found):
        if (cause := next((one for one in wide if _is_refused_for(fingerprint, one)), None)) is not None:
            found[cause] = replace(found[cause], count=found[cause].count + found.pop(fingerprint).count)
    return found


def _widespread(fingerprints: Iterable[Fingerprint]) -> set[Fingerprint]:
    """Return the choices that turned out otherwise for many ops, and the errors that many raise, each as it is of any op."""
    ops: dict[Fingerprint, set[str]] = {}
    for fingerprint in fingerprints:
        if (of_any := fingerprint.of_any_op) != fingerprint:
            ops.setdefault(of_any, set()).add(fingerprint.shown_by)
    return {fingerprint for fingerprint, shown in ops.items() if len(shown) >= MANY}


def _named(fingerprint: Fingerprint, wide: Collection[Fingerprint]) -> Fingerprint:
    return of_any if (of_any := fingerprint.of_any_op) in wide else fingerprint


def _is_refused_for(fingerprint: Fingerprint, wide: Fingerprint) -> bool:
    """Whether a pass is refused, or not refused, for the reason that a choice is about which many ops have changed."""
    if wide.kind != CONVENTION:
        return False
    kind, option = wide.message.split(": ")
    word = fingerprint.expected if option == COMPUTED else fingerprint.actual
    return (fingerprint.backend, fingerprint.kind) == (wide.backend, "error") and REFUSALS.get(word) == kind


def _count(causes: dict[object, tuple[Fingerprint, Failure]], fingerprint: Fingerprint, failure: Failure) -> None:
    """Count a failure to what begins at the same op, or has its fingerprint; the smallest case gives the fingerprint."""
    if (before := causes.get(fingerprint.cause)) is not None:
        fingerprint = before[0] if before[1].size < failure.size else fingerprint
        failure = failure.joined(before[1])
    causes[fingerprint.cause] = fingerprint, failure


def is_open(fingerprint: Fingerprint) -> bool:
    """Whether it is worth asking again where a failure begins, when its case is smaller."""
    is_law = fingerprint.bucket is Bucket.DIVERGED and fingerprint.kind == LAW
    return not fingerprint.op and (is_law or _begins_at_a_rule(fingerprint))


def _begins_at_a_rule(fingerprint: Fingerprint) -> bool:
    return fingerprint.bucket is Bucket.DIVERGED and begins_at_a_rule(fingerprint.kind, fingerprint.expected, fingerprint.actual)


def absorbed(found: dict[Fingerprint, Failure], fingerprint: Fingerprint, op: str) -> Fingerprint:
    """Count a failure to the one that begins at the same op, if there is one; return the fingerprint to which it counts now."""
    failure = found.pop(fingerprint)
    cause = next((f for f in found if (f.backend, f.op) == (fingerprint.backend, op)), fingerprint._replace(op=op))
    found[cause] = replace(found[cause], count=found[cause].count + failure.count) if cause in found else failure
    return cause


def _places(
    asked: list[tuple[Fingerprint, Failure]], workers: Workers, until: float | None
) -> Iterator[tuple[tuple[Fingerprint, int], str]]:
    for start in range(0, len(asked), AT_ONCE):
        if until is not None and time.monotonic() > until:
            return
        some = asked[start : start + AT_ONCE]
        answers = workers.calls(begins_at, [(one.case, fingerprint.backend) for fingerprint, one in some], PATIENCE)
        yield from (((fingerprint, one.index), op) for (fingerprint, one), op in zip(some, answers, strict=True) if op)


def begins_at(case: Case, name: str) -> str:
    """Return the op at which the first difference of a case begins, or the first that is the same call; empty where nobody can tell."""
    with suppress(Exception):  # what cannot be localised is reported all the same
        engine = backend(name)
        promise = Promise(case, engine.info)
        found = Comparer(promise).run(engine.run(case), excuse(promise)).mismatch
        op = "" if found is None else first_node(promise, engine, found).op
        return engine.info.alike.get(op, op)
    return ""

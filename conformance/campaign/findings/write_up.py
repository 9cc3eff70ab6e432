"""Findings: of every fingerprint one case, shrunk, explained step by step, with the votes on who is wrong.

A case failed in a process that had run others before it, so it is asked again in a fresh one, and so is what came of it in the end.
Where it does not fail alone, what its process had run goes before it and is reduced with it; where it does not fail then either, the
finding says so.

Shrinking can take as long as it is given, so the time that is left is dealt out: to each finding an equal share of what those before it
left over. A fault of the suite in here costs a part of one finding, never the run, and the finding says what failed.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.backends.registry import registration, voters
from conformance.backends.repro import printers
from conformance.campaign.findings.explain import blame_case, explain_case
from conformance.campaign.findings.shrink import SECONDS, ShrinkResult, fails_after, shrink_case
from conformance.campaign.findings.suspects import in_some, suspects, usual_shares
from conformance.campaign.findings.triage import PATIENCE, absorbed, begins_at, is_open
from conformance.campaign.records import Again, FindingRecord
from conformance.campaign.records.fingerprint import chosen
from conformance.campaign.workers.pool import CALL_TIMEOUT
from conformance.case.files import encode
from conformance.case.steps import Op
from conformance.compare.mismatch import Mismatch
from conformance.judge.reproduction import reproduction
from conformance.judge.verdict import CONVENTION, Bucket
from conformance.laws.judging import times_as_large

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from conformance.campaign.findings.explain import Explanation
    from conformance.campaign.records.accepted import Accepted
    from conformance.campaign.records.fingerprint import Fingerprint
    from conformance.campaign.records.tally import Failure, Tally
    from conformance.campaign.records.verdicts import MismatchRecord
    from conformance.campaign.workers.pool import Workers
    from conformance.case.case import Case
    from conformance.judge.dispute import Blame
    from conformance.laws.judging import Judging

T = TypeVar("T")

SHRUNK_AT_MOST = 40
"""How many findings have their case shrunk, the most frequent first."""
LEAST = 0.5
"""Seconds for which a case is shrunk although the time is up, and for which voters are waited for."""
ALONE = 10.0
"""Seconds for which the votes are waited for that need no other engine, at least."""
MESSAGE = 200
"""How many characters of the message are told where the suite failed."""


@dataclass(frozen=True)
class Writing:
    """What all findings of a run are written with.

    Attributes:
        workers: they run the cases.
        judges: a worker that has imported all backends that vote.
        until: when to end, by the clock of `time.monotonic`.
        case_at: returns the case of an index of the run's ``cases``, to find again what a process had run.
        accepting: returns the accepted finding that a failure is one of.
        failed: what the suite failed to do meanwhile, by finding.
    """

    workers: Workers
    judges: Workers
    backends: Sequence[str]
    judging: Judging
    out: Path
    until: float | None = None
    case_at: Callable[[int], Case] | None = None
    cases: int = 0
    accepting: Callable[[Fingerprint], Accepted | None] = lambda _: None
    failed: defaultdict[Fingerprint, list[str]] = field(default_factory=lambda: defaultdict(list))

    @cached_property
    def usual(self) -> dict[str, float]:
        """In which share of the cases of the run each op is."""
        return usual_shares(self.case_at, self.cases) if self.case_at and self.cases else {}

    def share(self, among: int = 1) -> float:
        """Return the seconds for one of so many things that are still to be done, without end where there is none."""
        return math.inf if self.until is None else max(0.0, self.until - time.monotonic()) / among


def findings(tally: Tally, writing: Writing, begins: Callable[[int], None] = lambda _: None) -> Iterator[FindingRecord]:
    """Write up one case of every fingerprint, shrunk; the files of the cases go to ``cases/``.

    The findings of which it could not be told yet at which op they begin come first, since they may turn out to belong to others.
    ``begins`` is told the number of each finding as its shrinking begins.
    """
    ready: dict[Fingerprint, list[ShrinkResult]] = {}
    ranked = [item for item in tally.ranked() if not writing.accepting(item[0])]
    reducible = sorted(ranked[:SHRUNK_AT_MOST], key=lambda item: not is_open(item[0]))
    for number, (fingerprint, failure) in enumerate(reducible):
        begins(number + 1)
        seconds = min(SECONDS, max(LEAST, writing.share(2 * (len(reducible) - number))))  # the other half is for the votes
        forms = _forms(fingerprint, failure, writing, seconds)
        named, others = fingerprint, tally.failures.keys() - {fingerprint}
        if is_open(fingerprint):
            failed = writing.failed[fingerprint]
            op = _unless_it_fails(failed, writing.workers.call, begins_at, forms[0].case, fingerprint.backend, timeout=PATIENCE)
            named = absorbed(tally.failures, fingerprint, op) if op else fingerprint
            if named != fingerprint:
                writing.failed[named] += writing.failed.pop(fingerprint)
        if named not in others:
            ready[named] = forms
    tally.set_aside(writing.accepting)
    ranked = tally.ranked()
    for number, (fingerprint, failure) in enumerate(ranked):
        forms = ready.get(fingerprint) or _forms(fingerprint, failure, writing, 0.0)
        yield finding(fingerprint, failure, forms, writing, writing.share(len(ranked) - number))


def _forms(fingerprint: Fingerprint, failure: Failure, writing: Writing, seconds: float) -> list[ShrinkResult]:
    """Return the smallest cases that fail, and the case as it was drawn, each with what must run before it."""
    failed = writing.failed[fingerprint]
    before = _unless_it_fails(failed, _history, fingerprint, failure, writing) or ()
    small = whole = ShrinkResult((*before, failure.case), {})
    if fingerprint.bucket is not Bucket.TIMED_OUT:  # each candidate would cost the time-out again
        shrunk = _unless_it_fails(failed, shrink_case, writing.workers, failure.case, fingerprint, writing.judging, seconds, before)
        small = shrunk or small
    return [form for form in (small, whole) if form is small or form.cases != small.cases]


def _history(fingerprint: Fingerprint, failure: Failure, writing: Writing) -> tuple[Case, ...]:
    """Return what must run before a case so that it fails: nothing if it fails alone, or if what ran before it makes no difference."""
    judging = fingerprint.judging(writing.judging)  # where the process dies, the case has died in a fresh one already
    if fingerprint.ends_processes or fails_after(writing.workers, (failure.case,), fingerprint, judging):
        return ()
    before = tuple(_ran_before(failure, writing))
    return before if before and fails_after(writing.workers, (*before, failure.case), fingerprint, judging) else ()


def _ran_before(failure: Failure, writing: Writing) -> Iterator[Case]:
    """Yield what the process of a failure had run: the cases before it, and its own, where another arrangement of that failed."""
    if failure.since is None or writing.case_at is None:
        return
    yield from (writing.case_at(index) for index in range(failure.since, failure.index))
    own = writing.case_at(failure.index)
    if own.id != failure.case.id:
        yield own


def ask_blame(
    workers: Workers,
    cases: tuple[Case, ...],
    name: str,
    backends: Sequence[str],
    seconds: float = CALL_TIMEOUT,
    judging: Judging | None = None,
) -> Blame | None:
    """Ask who is wrong about the last of some cases: every voter that is installed, and the eager backends of the run.

    A voter may die of the case itself, or take longer than these seconds (it may have to be imported first), so without an answer the
    rest is asked alone. ``None`` if the process died then, too.
    """
    others = tuple(dict.fromkeys(other for other in [*backends, *voters()] if other != name and not registration(other).static))
    voted = workers.call(blame_case, cases, name, others, judging, timeout=seconds)
    return voted or workers.call(blame_case, cases, name, (), judging, timeout=min(seconds + ALONE, CALL_TIMEOUT))


def finding(
    fingerprint: Fingerprint, failure: Failure, forms: Sequence[ShrinkResult], writing: Writing, seconds: float
) -> FindingRecord:
    """Write one finding, in some seconds: where none are left, what hangs is not asked again.

    ``forms``: the smallest cases, and others that are written instead where these do not fail in a fresh process, as may be when
    candidates had others for company.
    """
    backend, judging = fingerprint.backend, fingerprint.judging(writing.judging)
    blamed, failed = None, writing.failed[fingerprint]
    small, explained, again = forms[0], None, Again.UNASKED
    if seconds or fingerprint.bucket is not Bucket.TIMED_OUT:
        small, explained, again = _shown_again(fingerprint, forms, writing, seconds)
        patience = min(CALL_TIMEOUT, LEAST + seconds)
        blamed = _unless_it_fails(failed, ask_blame, writing.judges, small.cases, backend, writing.backends, patience, judging)
    case = small.case
    mismatch = None if explained is None else explained.verdict.mismatch
    shown = mismatch or failure.mismatch
    printer = backend if registration(backend).script else printers()[0]
    script = _unless_it_fails(failed, reproduction, case, printer, mismatch and difference(mismatch), blamed) or ""
    paths = " ".join(path.as_posix() for path in _written(small.cases, writing.out / "cases", fingerprint.id))
    ops = tuple(sorted({step.op for step in case.steps if isinstance(step, Op)}))
    also_at = _elsewhere(fingerprint, failure, shown)
    return FindingRecord(
        id=fingerprint.id,
        fingerprint=fingerprint,
        backend=backend,
        bucket=fingerprint.bucket,
        at=fingerprint.at or (shown.at if shown else ""),
        count=failure.count,
        index=failure.index,
        ops=ops,
        case=case,
        mismatch=shown,
        blame=blamed,
        steps=() if explained is None else explained.steps,
        replay=f"conformance replay {paths} --backend {backend}",
        script=script,
        shrink_rounds=small.rounds,
        again=again,
        before=small.cases[:-1],
        since=failure.since,
        also_at=also_at,
        suspects={} if fingerprint.op or not writing.usual else suspects(failure, writing.usual),
        in_some=() if fingerprint.op or also_at else in_some(failure, ops),
        failed=tuple(failed),
    )


def _elsewhere(fingerprint: Fingerprint, failure: Failure, shown: MismatchRecord | None) -> tuple[str, ...]:
    """Return where else the same wrong dtype shows, or the same error, or which other choices changed like the one that is shown."""
    if shown is None or not (fingerprint.kind in ("dtype", CONVENTION) or fingerprint.is_of_any_op):
        return ()
    return tuple(sorted(failure.at - {chosen(shown) if fingerprint.kind == CONVENTION else shown.at}))


def _shown_again(
    fingerprint: Fingerprint, forms: Sequence[ShrinkResult], writing: Writing, seconds: float
) -> tuple[ShrinkResult, Explanation | None, Again]:
    """Return the first form that fails in a fresh process, explained step by step; where none does, the last one."""
    judging, failed = fingerprint.judging(writing.judging), writing.failed[fingerprint]
    for form in forms:
        *before, case = form.cases
        patience = min((1 + sum(map(times_as_large, form.cases))) * judging.timeout, LEAST + seconds)
        asked = explain_case, case, fingerprint.backend, judging, before
        explained = _unless_it_fails(failed, writing.workers.call, *asked, timeout=patience)
        again = _again(fingerprint, explained, form, waited=patience > judging.timeout)
        if again is not Again.NEVER:
            break
    return form, explained, again


def difference(found: MismatchRecord) -> Mismatch:
    """Return a difference of a record, without what is not recorded of it."""
    return Mismatch(found.place, found.kind, found.where, found.expected, found.actual, found.detail, found.name)


def _again(fingerprint: Fingerprint, explained: Explanation | None, form: ShrinkResult, *, waited: bool) -> Again:
    """Say what a fresh process showed: one that dies, or hangs as long as it is waited for, has no answer."""
    if explained is None:
        same = fingerprint.bucket is Bucket.CRASHED or (waited and fingerprint.bucket is Bucket.TIMED_OUT)
        return Again.ALONE if same else Again.UNASKED
    if not fingerprint.is_shown_by(explained.verdict):
        return Again.NEVER
    return Again.AFTER if len(form.cases) > 1 else Again.ALONE


def _written(cases: tuple[Case, ...], folder: Path, name: str) -> list[Path]:
    """Write the files of a finding, and return them in the order in which they are replayed."""
    folder.mkdir(exist_ok=True)
    paths = [*(folder / f"{name}-before-{number}.json" for number in range(1, len(cases))), folder / f"{name}.json"]
    for path, case in zip(paths, cases, strict=True):
        path.write_text(encode(case) + "\n")
    return paths


def _unless_it_fails(failed: list[str], function: Callable[..., T], *arguments: Any, **options: Any) -> T | None:
    """Call a function; ``None`` if it raises, and a line about that is added to what ``failed``."""
    try:
        return function(*arguments, **options)
    except Exception as error:  # noqa: BLE001 - whatever the suite does wrong costs a part of one finding
        task = arguments[0] if callable(arguments[0]) else function
        failed.append(f"{task.__name__}: {type(error).__name__}: {' '.join(str(error).split())[:MESSAGE]}")
    return None

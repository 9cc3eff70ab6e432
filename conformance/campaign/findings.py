"""Findings: of every fingerprint one case, shrunk, explained step by step, with the votes on who is wrong.

Shrinking can take as long as it is given, so the time that is left is dealt out: to each finding an equal share of what those before it
left over. A fault of the suite in here costs a part of one finding, never the run.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.backends.registry import registration, voters
from conformance.backends.repro import printers, script
from conformance.campaign.explain import blame_case, explain_case
from conformance.campaign.pool import CALL_TIMEOUT
from conformance.campaign.records import FindingRecord
from conformance.campaign.shrink import SECONDS, ShrinkResult, shrink_case
from conformance.case.files import encode
from conformance.case.steps import Op
from conformance.judge.verdict import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from conformance.campaign.fingerprint import Fingerprint
    from conformance.campaign.pool import Workers
    from conformance.campaign.tally import Failure, Tally
    from conformance.case.case import Case
    from conformance.judge.blame import Blame
    from conformance.laws.judging import Judging

T = TypeVar("T")

SHRUNK_AT_MOST = 40
"""How many findings have their case shrunk, the most frequent first."""
LEAST = 0.5
"""Seconds for which a case is shrunk although the time is up, and for which voters are waited for."""
ALONE = 10.0
"""Seconds for which the votes are waited for that need no other engine, at least."""


@dataclass(frozen=True)
class Writing:
    """How findings are written: with these workers, on these backends, to this folder; ``until`` by the clock of `time.monotonic`.

    ``judges``: a worker that has imported all who vote.
    """

    workers: Workers
    judges: Workers
    backends: Sequence[str]
    judging: Judging
    out: Path
    until: float | None = None

    def share(self, among: int = 1) -> float:
        """Return the seconds for one of so many things that are still to be done, without end where there is none."""
        return math.inf if self.until is None else max(0.0, self.until - time.monotonic()) / among


def findings(tally: Tally, writing: Writing, begins: Callable[[int], None] = lambda _: None) -> Iterator[FindingRecord]:
    """Shrink one case of every fingerprint and write it up; its case file goes to ``cases/``. ``begins`` hears the number of each."""
    ranked = tally.ranked()
    shrunk = min(len(ranked), SHRUNK_AT_MOST)
    for number, (fingerprint, failure) in enumerate(ranked):
        begins(number + 1)
        small = ShrinkResult(failure.case, {})
        if number < shrunk and fingerprint.bucket is not Bucket.TIMED_OUT:  # each candidate would cost the time-out again
            seconds = min(SECONDS, max(LEAST, writing.share(2 * (shrunk - number))))  # the other half is for the votes
            small = _unless_it_fails(shrink_case, writing.workers, failure.case, fingerprint, writing.judging, seconds) or small
        yield finding(fingerprint, failure, small, writing, writing.share(len(ranked) - number))


def ask_blame(workers: Workers, case: Case, name: str, chosen: Sequence[str], seconds: float = CALL_TIMEOUT) -> Blame | None:
    """Ask who is wrong: every voter that is installed, and the eager backends of the run; ``None`` if the process died.

    A voter may die of the case itself, or take longer than these seconds (it may have to be imported first), so without an answer the
    rest is asked alone.
    """
    others = tuple(dict.fromkeys(other for other in [*chosen, *voters()] if other != name and not registration(other).static))
    voted = workers.call(blame_case, case, name, others, timeout=seconds)
    return voted or workers.call(blame_case, case, name, (), timeout=min(seconds + ALONE, CALL_TIMEOUT))


def finding(fingerprint: Fingerprint, failure: Failure, small: ShrinkResult, writing: Writing, seconds: float) -> FindingRecord:
    """Write one finding, in some seconds: where none are left, what hangs is not asked again."""
    case, backend, workers = small.case, fingerprint.backend, writing.workers
    folder = writing.out / "cases"
    folder.mkdir(exist_ok=True)
    path = folder / f"{fingerprint.id}.json"
    path.write_text(encode(case) + "\n")
    judging = fingerprint.judging(writing.judging)
    explained = blamed = None
    if seconds or fingerprint.bucket is not Bucket.TIMED_OUT:
        explained = _unless_it_fails(
            workers.call, explain_case, case, backend, judging, timeout=min(2 * judging.timeout, LEAST + seconds)
        )
        blamed = _unless_it_fails(ask_blame, writing.judges, case, backend, writing.backends, min(CALL_TIMEOUT, LEAST + seconds))
    mismatch = None if explained is None else explained.verdict.mismatch
    return FindingRecord(
        id=fingerprint.id,
        backend=backend,
        bucket=fingerprint.bucket,
        at=fingerprint.at,
        count=failure.count,
        index=failure.index,
        ops=tuple(sorted({step.op for step in case.steps if isinstance(step, Op)})),
        case=case,
        mismatch=mismatch or failure.mismatch,
        blame=blamed,
        steps=() if explained is None else explained.steps,
        replay=f"conformance replay {path.as_posix()} --backend {backend}",
        script=_unless_it_fails(script, case, backend if registration(backend).script else printers()[0]) or "",
        shrink_rounds=small.rounds,
    )


def _unless_it_fails(function: Callable[..., T], *arguments: Any, **options: Any) -> T | None:
    """Call a function; ``None`` if it raises."""
    with suppress(Exception):
        return function(*arguments, **options)
    return None

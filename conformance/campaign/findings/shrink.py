"""Shrinking: delta debugging of a failing case, down to one that a person can check by hand.

A drawn case has dozens of steps, of which a failure needs a few. The passes of `conformance.campaign.findings.reductions` propose
smaller cases. In each round the candidates of all of them are judged, and the smallest that fails with the same fingerprint is kept, so
that no other fault takes the place of the first, and so that a number that is far off stays so: what ends as a few roundings convinces
nobody. The rounds end where no candidate fails. The candidates of a round run in a worker process, so a case that takes the process
down is shrunk the same way as any other.

What fails only after other cases of its process is shrunk with them, as a sequence: first there are fewer, then they are smaller. Each
candidate then has a process of its own, or one would be the history of the next.

The idea is that of A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE Transactions on Software
Engineering 28 (2002).
"""

from __future__ import annotations

import functools
import itertools
import tempfile
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from conformance.campaign.findings.explain import run_after
from conformance.campaign.findings.large_reductions import coarser
from conformance.campaign.findings.reductions import PASSES, WHATEVER_THE_LENGTH
from conformance.campaign.records.fingerprint import is_gross
from conformance.campaign.workers.chunk import chunk_of
from conformance.campaign.workers.pool import CALL_TIMEOUT
from conformance.case.files import CaseError, check
from conformance.case.queries import ops_in
from conformance.case.steps import InPlace
from conformance.laws.judging import times_as_large

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.campaign.records import CaseRecord
    from conformance.campaign.records.fingerprint import Fingerprint
    from conformance.campaign.workers.pool import Workers
    from conformance.case.case import Case
    from conformance.laws.judging import Judging

ROUNDS = 60
"""At most; each costs a worker's time for some tens of candidates."""
SECONDS = 20.0
"""After which a case is left as large as it is, unless more are granted: one whose candidates hang would take hours."""
FEW = 3
"""Of more cases none is made smaller before there are fewer."""
FEWER = "drop earlier cases"
BATCH = 8
"""How many candidates of a large case are looked at at a time: to make one takes as long as it is large."""
AT_ONCE = 8
"""How many candidates a worker gets at once; one, where each that fails costs a process."""


class ShrinkResult(NamedTuple):
    """The smallest cases that were found, and in how many rounds each pass made them smaller, by its words.

    The last of ``cases`` is the one that fails; those before it run before it, in its process.
    """

    cases: tuple[Case, ...]
    rounds: dict[str, int]

    @property
    def case(self) -> Case:
        """The case that fails."""
        return self.cases[-1]


def shrink_case(
    workers: Workers, case: Case, fingerprint: Fingerprint, judging: Judging, seconds: float = SECONDS, before: tuple[Case, ...] = ()
) -> ShrinkResult:
    """Shrink a case that fails with this fingerprint, as long as it fails with the same and ``seconds`` are not spent.

    Where a number is off by a hundred times its bound or more, one is in the end, too. ``before``: the cases that must run before it,
    in the same process.
    """
    until = time.monotonic() + seconds
    rounds: Counter[str] = Counter()
    cases = (*before, case)
    sought = _Sought(fingerprint, fingerprint.judging(judging))
    if seconds > 0 and fingerprint.kind == "value":
        sought = sought._replace(gross=_fails_after(workers, cases, sought._replace(gross=True)))
    left, width = ROUNDS, len(case.steps)
    while left:
        smallest = _smallest_failing(workers, cases, sought, until, width)
        if smallest is None:
            break
        cases, width = smallest.cases, 2 * smallest.width or 1
        rounds[smallest.words] += 1
        left -= not smallest.width  # halves of halves come to an end by themselves
    return ShrinkResult(cases, dict(rounds))


class _Sought(NamedTuple):
    """What a candidate must show, judged like this, to be kept; ``gross``: a number that is off by far more than its bound, too."""

    fingerprint: Fingerprint
    judging: Judging
    gross: bool = False

    def is_shown_by(self, record: CaseRecord) -> bool:
        verdict = record.verdicts[self.fingerprint.backend]
        return self.fingerprint.is_shown_by(verdict) and (is_gross(verdict) or not self.gross)


class _Candidate(NamedTuple):
    """``width``: how many steps at once are gone from a large case."""

    words: str
    cases: tuple[Case, ...]
    width: int = 0


def _smallest_failing(workers: Workers, cases: tuple[Case, ...], sought: _Sought, until: float, widest: int) -> _Candidate | None:
    """Return a small candidate that fails, if one is smaller than the cases.

    Of large cases a few candidates are looked at at a time, from those of which most is gone (at most ``widest`` steps) to others.
    """
    if times_as_large(cases[-1]) == 1:
        return _smallest_of(workers, cases, _candidates(cases), sought, until)
    coarse = _coarse_candidates(cases, widest)
    while time.monotonic() <= until and (some := list(itertools.islice(coarse, BATCH))):
        if smallest := _smallest_of(workers, cases, some, sought, until):
            return smallest
    return None


def _coarse_candidates(cases: tuple[Case, ...], widest: int) -> Iterator[_Candidate]:
    *before, case = cases
    yield from (_Candidate(FEWER, (*kept, case)) for kept in _fewer(tuple(before)))
    for reduced in coarser(case, widest):
        if _valid(reduced.case):
            yield _Candidate(reduced.words, (*before, reduced.case), reduced.width)
    for one in WHATEVER_THE_LENGTH:
        yield from (_Candidate(one.words, (*before, other)) for other in filter(_valid, one.candidates(case)))


def _smallest_of(
    workers: Workers, cases: tuple[Case, ...], candidates: Iterable[_Candidate], sought: _Sought, until: float
) -> _Candidate | None:
    """Return the smallest candidate that fails, if one is smaller than the cases; they are asked in the order of their size."""
    op = sought.fingerprint.op
    proposed: dict[tuple[Case, ...], _Candidate] = {}
    for candidate in candidates:
        if (not op or op in ops_in(candidate.cases[-1])) and _size(candidate.cases) < _size(cases):
            proposed.setdefault(candidate.cases, candidate)
    smaller = sorted(proposed.values(), key=lambda candidate: _size(candidate.cases))
    at_once = workers.jobs * (1 if sought.fingerprint.ends_processes else AT_ONCE)
    for start in range(0, len(smaller), at_once):
        if time.monotonic() > until:
            return None
        some = smaller[start : start + at_once]
        for candidate, failed in zip(some, _fail(workers, [c.cases for c in some], sought, until), strict=True):
            if failed:
                return candidate
    return None


def _fail(workers: Workers, sequences: list[tuple[Case, ...]], sought: _Sought, until: float) -> list[bool]:
    """Say of each sequence whether its last case fails as is sought; none is started after ``until``."""
    if all(len(cases) == 1 for cases in sequences):
        return _fail_alone(workers, [cases[-1] for cases in sequences], sought, until)
    return [_fails_after(workers, cases, sought) if time.monotonic() <= until else False for cases in sequences]


def fails_after(workers: Workers, cases: tuple[Case, ...], fingerprint: Fingerprint, judging: Judging) -> bool:
    """Whether the last of some cases fails with the fingerprint, after the others in one fresh process."""
    return _fails_after(workers, cases, _Sought(fingerprint, judging))


def _fails_after(workers: Workers, cases: tuple[Case, ...], sought: _Sought) -> bool:
    *before, case = cases
    patience = sought.judging.timeout * sum(map(times_as_large, cases))
    record = workers.call(run_after, before, case, sought.fingerprint.backend, sought.judging, timeout=min(patience, CALL_TIMEOUT))
    return record is not None and sought.is_shown_by(record)


def _fail_alone(workers: Workers, cases: list[Case], sought: _Sought, until: float) -> list[bool]:
    """Say of each case whether it fails as is sought; all workers are dealt some, and none is started after ``until``."""
    backends = (sought.fingerprint.backend,)
    with tempfile.TemporaryDirectory() as folder:
        hands = [cases[i :: workers.jobs] for i in range(workers.jobs)]
        chunks = [
            replace(chunk_of(hand, backends, folder, sought.judging), name=f"hand {i}", until=until) for i, hand in enumerate(hands)
        ]
        failing = {
            (hand, record.index) for hand, records in enumerate(workers.run(chunks)) for record in records if sought.is_shown_by(record)
        }
    return [(i % workers.jobs, i // workers.jobs) in failing for i in range(len(cases))]


def _size(cases: tuple[Case, ...]) -> tuple[int, ...]:
    return len(cases), *map(sum, zip(*map(size_of, cases), strict=True))


@functools.lru_cache(maxsize=4096)
def size_of(case: Case) -> tuple[int, int, int, int, int]:
    """Order cases by how much there is to read, and to follow: of two with as many steps that which writes less in place is smaller."""
    written = sum(isinstance(step, InPlace) for step in case.steps)
    numbers = sum(len(i.data) for i in case.inputs)
    digits = sum(len(repr(x)) for i in case.inputs for x in i.data)
    return len(case.steps), written, len(case.inputs), numbers, len(msgspec.json.encode(case)) + digits


def _valid(case: Case) -> bool:
    try:
        check(case)
    except CaseError:
        return False
    return bool(case.steps)


def _candidates(cases: tuple[Case, ...]) -> Iterator[_Candidate]:
    *before, case = cases
    yield from (_Candidate(FEWER, (*kept, case)) for kept in _fewer(tuple(before)))
    for place in range(len(cases)) if len(cases) <= FEW else ():
        for one in PASSES:
            smaller = filter(_valid, one.candidates(cases[place]))
            yield from (_Candidate(one.words, (*cases[:place], other, *cases[place + 1 :])) for other in smaller)


def _fewer(before: tuple[Case, ...]) -> Iterator[tuple[Case, ...]]:
    """Keep none, then a run of cases, and leave out a run, from one case to half of them."""
    if not before:
        return
    yield ()
    width = 1
    while width <= max(1, len(before) // 2):
        for start in range(0, len(before), width):
            yield before[start : start + width]
            yield (*before[:start], *before[start + width :])
        width *= 2

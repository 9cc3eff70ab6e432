"""Whether known deviations hide only themselves: each is exceeded in the case of its finding, and every excess must be a divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from conformance.backends import answer
from conformance.campaign.workers.backend_cache import backend
from conformance.case.place import END
from conformance.compare.compare import Comparer
from conformance.compare.mismatch import POISON, Mismatch
from conformance.compare.promise import Promise
from conformance.deviations.elements import BEYOND
from conformance.deviations.entries import CRASH, known
from conformance.deviations.explain import excuse
from conformance.judge.verdict import AGREEING, Bucket, Verdict, judge, verdict_of
from conformance.mutants.displaced import afterwards, beside, displaced
from conformance.mutants.excess import ELSEWHERE, excesses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.compare.comparison import Comparison
    from conformance.deviations.entries import Deviation

EXCEEDED = 3
"""At so many different differences of a case an entry is exceeded."""
NO_EXCESS = (*AGREEING, Bucket.NOTHING_COMPARED)
"""Where nothing differs any more, nothing was done beyond the entry."""

SAID = {"absent instead": "absent", "computed instead": "computed"}
"""What an excess does, and the word of an entry that says just that of its engine."""

BEHIND_THE_END = ("value: a little beside", "value: another factor")
"""The excesses by which nothing changes but elements that are wrong."""


class Exceeded(msgspec.Struct, frozen=True):
    """An entry, and what was done beyond it: ``tried`` are all excesses by name, ``excused`` those that were hidden, with by what.

    ``shown``: whether it showed in each of the cases, and nothing beside it that nobody knows, so that a judge would say so, too.
    """

    entry: str
    shown: bool
    tried: tuple[str, ...]
    excused: dict[str, tuple[str, ...]]


def excuses(exceeded: Exceeded) -> list[str]:
    """Say what of an excess was hidden, by which entries, and why these say no more."""
    said = []
    for words, by in exceeded.excused.items():
        reasons = (f"{name} ({_named(name).unpredictable or 'which gives no reason'})" for name in by)
        said.append(f"{exceeded.entry}: {words}: excused by {', '.join(reasons)}")
    return said


def overreaches(exceeded: Exceeded) -> list[str]:
    """Say what was hidden by an entry that has no reason for it: one that is not unpredictable, or that says what wrong numbers are.

    One that says that they are what lies behind the end of a memory says nothing of those.
    """
    said = []
    for words, by in exceeded.excused.items():
        bold = [one.id for one in map(_named, by) if not one.unpredictable or _tells(one, words)]
        if bold or not by:
            said.append(f"{exceeded.entry}: an engine that does more ({words}) is excused by {', '.join(bold) or 'nobody'}")
    return said


def _tells(entry: Deviation, words: str) -> bool:
    """Whether an entry says what the numbers are that an excess changes."""
    behind = words in BEHIND_THE_END and not BEYOND.isdisjoint(entry.signature)
    return bool(entry.signature) and words.startswith("value: ") and not behind


def unexceeded(exceeded: Exceeded) -> str:
    """Say of an entry of which nothing was tried why that is so."""
    damages = {*_named(exceeded.entry).kinds} == {POISON}
    why = (
        "what it damages shows in later cases, so its answer has nothing to change"
        if damages
        else "no difference that the comparison of its case goes on after is told by it, so there is nothing to change"
    )
    return f"{exceeded.entry}: {why}"


def exceed(cases: Sequence[Case], name: str, entry: str) -> Exceeded:
    """Have a backend exceed an entry in these cases, and say what of it was taken for a known deviation."""
    deviation = _named(entry)
    looks = [_look(case, backend(name), deviation) for case in cases]
    judged = [found for look in looks for found in _judged(look, deviation)]
    tried = dict.fromkeys(words for words, _, _ in judged)
    excused = {words: by for words, v, by in judged if v.bucket is not Bucket.DIVERGED}
    return Exceeded(entry, all(look.shows(entry) for look in looks), tuple(tried), excused)


class _Look(NamedTuple):
    """What an engine answered in a case, and how that compares; nothing where it is not run."""

    promise: Promise
    seen: tuple[Outcome, Comparison] | None

    def shows(self, entry: str) -> bool:
        """Whether an entry tells a difference, and there is none that nobody tells."""
        return self.seen is not None and self.seen[1].mismatch is None and any(name == entry for _, name in self.seen[1].known)


def _look(case: Case, engine: Backend, deviation: Deviation) -> _Look:
    """Run a case and compare; one of crashes alone is not run, since it would take the process down."""
    promise = Promise(case, engine.info)
    if {*deviation.kinds} == {CRASH}:
        return _Look(promise, None)
    actual = answer(engine, case)
    return _Look(promise, (actual, Comparer(promise).run(actual, excuse(promise))))


def _named(name: str) -> Deviation:
    return next(entry for entry in known() if entry.id == name)


def _judged(look: _Look, deviation: Deviation) -> Iterator[tuple[str, Verdict, tuple[str, ...]]]:
    """Yield every excess in a case with its verdict, and the entries that it is taken for."""
    promise, seen = look
    if CRASH in deviation.kinds:
        for bucket in (Bucket.CRASHED, Bucket.TIMED_OUT):
            found = Mismatch(END, CRASH, "step", "computed", bucket, f"the process died: {ELSEWHERE}")
            verdict = verdict_of(promise, found, Verdict(bucket))
            yield f"crash: {bucket} elsewhere", verdict, verdict.deviations
    if seen is None:
        return
    actual, compared = seen
    explained = (found for found, name in compared.known if name == deviation.id)
    places: dict[tuple[str, str, str], Mismatch] = {}
    for found in explained:
        places.setdefault((found.kind, found.expected, found.actual), found)
    for found in [*places.values()][:EXCEEDED]:
        for elsewhere, moved in displaced(deviation, promise, actual, found):
            verdict = judge(elsewhere, moved)
            if verdict.bucket not in NO_EXCESS:
                yield f"{found.kind}: where its condition does not hold", verdict, verdict.deviations
        for elsewhere, moved in beside(promise, actual, found):
            yield f"{found.kind}: in a call about other tensors", (verdict := judge(elsewhere, moved)), verdict.deviations
        for later, moved in afterwards(promise, actual, found):
            yield f"{found.kind}: a later call about other tensors", (verdict := judge(later, moved)), verdict.deviations
        for words, changed in excesses(promise, actual, found):
            verdict = judge(promise, changed)
            by = () if verdict.bucket is Bucket.DIVERGED else _taken_for(promise, changed, found)
            said = words in SAID and any(SAID[words] in _named(name).actual for name in by)
            hidden = verdict.bucket not in NO_EXCESS and not said and (by or _differs(promise, changed, found))
            if verdict.bucket is Bucket.DIVERGED or hidden:
                yield f"{found.kind}: {words}", verdict, by or verdict.deviations


def _taken_for(promise: Promise, changed: Outcome, found: Mismatch) -> tuple[str, ...]:
    """Return the entries that explain what differs at the step of a difference; others may show elsewhere in the case."""
    known_there = (name for other, name in Comparer(promise).run(changed, excuse(promise)).known if other.step == found.step)
    return tuple(dict.fromkeys(known_there))


def _differs(promise: Promise, changed: Outcome, found: Mismatch) -> bool:
    """Whether anything but what is promised is at the step of a difference; it may count as a consequence of what was before."""
    if found.step is END:
        return True
    right, seen = promise.outcome.observations[found.step], changed.observations[found.step]
    return any(True for _ in Comparer(promise).observation(found.step, right, seen))

"""Which known deviation a broken law shows.

Mostly one of the answers is known to be wrong by itself. But where two answers to one script differ in their last bits, each is right.
What nobody promises there, such as the order in which a pass begins with its outputs, may be written into the script; an entry says
so with what comes ``instead``. Then the engine itself is asked these scripts, which it must answer alike each time, and each of the
two answers must be that to one of them, to the last bit.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING

from conformance.case.files import is_right
from conformance.case.outcome import Computed, Outcome, Raised
from conformance.case.steps import results
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS
from conformance.deviations.entries import LAW, about, listed
from conformance.judge.verdict import judge
from conformance.laws.relation import Evidence, Status
from conformance.laws.script import Alike

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.backends import Backend, BackendInfo
    from conformance.case.case import Case
    from conformance.case.outcome import Observation
    from conformance.case.place import StepNumber
    from conformance.deviations.counterfactuals.calls import Variant
    from conformance.deviations.entries import Deviation
    from conformance.laws.subject import Trial


MOST = 100
"""How many scripts are tried for one answer: each order of four outputs, in four calls."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A law that may be broken, and the call that it is tried on, or `END`."""

    law: str
    step: StepNumber


def known_deviation(broken: Broken, trial: Trial, outcomes: Sequence[Outcome], backend: Backend) -> str:
    """Return the known deviation that explains a broken law, or nothing; for a backend without entries nothing is run."""
    info = backend.info
    if not listed(info):
        return ""
    asked = [*zip(trial.cases, outcomes, strict=True)]
    for case, actual in asked:
        found = judge(Promise(case, info), actual).deviation
        if found:
            return found
    for entry in about(info, LAW):
        differs = Mismatch(broken.step, LAW, broken.law, "held", "broken", "")
        described = entry.instead and all(entry.matches(info, case, differs) for case in trial.cases)
        if described and all(_is_answer(entry, case, actual, backend) for case, actual in asked):
            return entry.id
    return ""


def _is_answer(entry: Deviation, case: Case, actual: Outcome, backend: Backend) -> bool:
    """Whether an engine answers the same where a script says what it leaves open, at each step in one of the ways of the entry.

    Where that takes too many scripts it is not known, and so it is no excuse.
    """
    turns = iter(range(MOST))

    def follows(script: Case, begin: int) -> bool:
        if next(turns, None) is None:
            return False
        choices = ((number, way) for number in range(begin, len(script.steps)) for way in _choices(entry, script, number))
        number, ways = next(itertools.groupby(choices, key=itemgetter(0)), (len(script.steps), None))
        once, again = backend.run(script), backend.run(script)
        same = all(_same(*two, number, backend.info) for two in ((case, actual, script, once), (script, once, script, again)))
        return same and (ways is None or any(follows(way, moved + 1) for _, (way, moved) in ways if isinstance(moved, int)))

    return follows(case, 0)


def _choices(entry: Deviation, script: Case, number: int) -> Iterator[Variant]:
    every = (way for words in entry.instead for way in COUNTERFACTUALS[words](script, number, entry.above))
    yield from (way for way in every if is_right(way[0]))


def _same(case: Case, actual: Outcome, script: Case, seen: Outcome, number: int, info: BackendInfo) -> bool:
    """Whether two outcomes are the same before a step of the second script, which has the steps of the first one and some between."""
    own = {name for step in case.steps for name in results(step)}
    added = {name for step in script.steps for name in results(step)} - own
    kept = [i for i, step in enumerate(script.steps) if added.isdisjoint(results(step))]
    end = number == len(script.steps)
    there = [_without_calls_of(added, seen.observations[i]) for i in kept if i < number]
    one = replace(actual, observations=actual.observations[: len(there)], final=actual.final if end else ())
    other = Outcome(there, seen.final if end else ())
    alike = Alike(tuple((i, i) for i in range(len(there))), bitwise=True, events=True)
    return alike.settle(Evidence((case, case), (one, other), info)).status is not Status.BROKEN


def _without_calls_of(names: set[str], seen: Observation) -> Observation:
    if not isinstance(seen, Computed | Raised):
        return seen
    return replace(seen, events=tuple(event for event in seen.events if event.name not in names))

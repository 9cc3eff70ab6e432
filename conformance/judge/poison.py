"""Who is wrong where a canary died: the evidence, and which refusal did it.

That an engine differentiates wrongly after a refusal is damage only if it does not do so anyway. So the canaries are run in a process
in which nothing was refused, and then in one for each refusal, behind the script up to there: the first that kills one is the place,
unless the steps before it do so without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from conformance.case.outcome import Raised
from conformance.case.queries import label
from conformance.case.rewrite import with_steps
from conformance.judge.blame import who
from conformance.judge.canary import ailment_of
from conformance.judge.dispute import Blame, Opinion, Vote, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.judge.canary import Ailment

    Fresh: TypeAlias = Callable[[Callable[..., Any], Sequence[Any]], Any]
    """Calls a function in a fresh process and returns what that returned."""


def blame_of_poison(cases: Sequence[Case], accused: Backend, family: str, fresh: Fresh) -> Blame:
    """Ask the canaries of a family in fresh processes: before anything is refused, and after each refusal of the last of some cases."""
    *before, case = cases
    voter = f"canaries of the family {family}"
    ill: Ailment | None = fresh(_ill, ((), accused, family))
    if ill is not None:
        reason = f"{ill.op} is differentiated wrongly in a process that refused nothing, too, so that is no damage: {ill.detail}"
        return _blame(Vote(voter, Opinion.WRONG, Opinion.SILENT, reason), f"{ill.op}, by itself")
    if before and (ill := fresh(_ill, (before, accused, family))) is not None:
        reason = f"right in a fresh process; after the cases before this one {ill.op} is wrong: {ill.detail}"
        return _blame(Vote(voter, Opinion.WRONG, Opinion.SILENT, reason), "the cases before it, which leave the engine damaged")
    refused = [n for n, seen in enumerate(fresh(_observations, (cases, accused))) if isinstance(seen, Raised)]
    for number in refused:
        upto = (*before, with_steps(case, case.steps[: number + 1]))
        if (ill := fresh(_ill, (upto, accused, family))) is not None:
            place = f"step {number} ({label(case, number)})"
            calm = (*before, with_steps(case, case.steps[:number]))
            if number and (earlier := fresh(_ill, (calm, accused, family))) is not None:
                reason = f"{earlier.op} is wrong before the refusal at {place} already, so that is not what does it: {earlier.detail}"
                return _blame(Vote(voter, Opinion.WRONG, Opinion.SILENT, reason), f"the steps before {place}")
            said = f"right in a process that refused nothing; after the refusal at {place} {ill.op} is wrong: {ill.detail}"
            return _blame(Vote(voter, Opinion.WRONG, Opinion.SILENT, said), f"{place}, whose refusal leaves the engine damaged")
    steps = ", ".join(map(str, refused)) or "none"
    reason = f"right in a fresh process, also after each refusal of this case (steps: {steps})"
    return _blame(silent(voter, reason), "not named: no refusal of this case does the damage in a fresh process")


def _blame(vote: Vote, node: str) -> Blame:
    return Blame(who([vote]), (vote,), node)


def _observations(cases: Sequence[Case], engine: Backend) -> Any:
    return [engine.run(case) for case in cases][-1].observations


def _ill(cases: Sequence[Case], engine: Backend, family: str) -> Ailment | None:
    for case in cases:
        engine.run(case)
    return ailment_of(family, engine)

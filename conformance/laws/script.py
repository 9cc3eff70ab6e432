"""Metamorphic relations of whole scripts: what changes nothing, and what is never changed."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.case.outcome import Blocked, Computed, NotOffered, Raised
from conformance.case.place import END
from conformance.case.rewrite import dead_branch, with_steps
from conformance.case.steps import Call, Detach, Drop, Op, results, uses
from conformance.laws.relation import Answer, Evidence, Place, Same, Status
from conformance.laws.subject import ObservedCase, Trial, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.case.outcome import Observation
    from conformance.case.steps import Step
    from conformance.laws.relation import Relation


@dataclass(frozen=True, slots=True)
class Alike:
    """Two runs answer alike: ``pairs`` are the numbers of steps that belong together; ``bitwise``: to the last bit.

    ``events``: whether the calls of hooks are compared; their order belongs to the order in which the graph was built. What a pass had
    reached before it failed nobody promises, and in Paddle it depends on where the nodes lie in memory: which hooks it had called, and
    what it had left in ``.grad``, where it stays.
    """

    pairs: tuple[tuple[int, int], ...]
    bitwise: bool = False
    events: bool = False

    def settle(self, evidence: Evidence) -> Answer:
        """Say whether it holds."""
        unsettled, failed = None, False
        for one, other in self.pairs:
            a, b = evidence.outcomes[0].observations[one], evidence.outcomes[1].observations[other]
            if _word(a) != _word(b):
                return Answer(Status.BROKEN, f"step {one}: {_word(a)} once, {_word(b)} once")
            failed |= self.events and isinstance(a, Raised) and a.state is not None
            for relation in self._relations(one, other, a, grads=not failed):
                answer = relation.settle(evidence)
                if answer.status is Status.BROKEN:
                    return Answer(Status.BROKEN, f"step {one}: {answer.detail}")
                unsettled = answer if answer.status is Status.UNSETTLED else unsettled
            if self.events and isinstance(a, Computed) and isinstance(b, Computed):
                calls = [[(e.name, e.recording) for e in seen.events] for seen in (a, b)]
                if calls[0] != calls[1]:
                    return Answer(Status.BROKEN, f"step {one}: calls {calls[0]} once, {calls[1]} once")
        left = range(0 if failed else len(evidence.outcomes[0].final))
        final = [Same(Place(0, END, i), Place(1, END, i), self.bitwise) for i in left]
        answer = settle_all(final, evidence)
        if answer.status is Status.BROKEN:
            return Answer(Status.BROKEN, f"at the end: {answer.detail}")
        return unsettled or Answer(Status.HELD)

    def _relations(self, one: int, other: int, seen: Observation, *, grads: bool) -> Iterable[Relation]:
        values = range(len(seen.values)) if isinstance(seen, Computed) else ()
        yield from (Same(Place(0, one, i), Place(1, other, i), self.bitwise) for i in values)
        state = seen.state if grads and isinstance(seen, Computed | Raised) else None
        for i in range(len(state or ())):
            yield Same(Place(0, one, i, "grad"), Place(1, other, i, "grad"), self.bitwise)


def _word(seen: Observation) -> str:
    match seen:
        case Raised():
            return str(seen.category)
        case Computed():
            return "computed"
        case NotOffered() | Blocked():
            return "not tried"


@dataclass(frozen=True, slots=True)
class Untouched:
    """No elements of any value changed, but by the steps that change elements."""

    def settle(self, evidence: Evidence) -> Answer:
        """Say whether it holds."""
        changed = [name for outcome in evidence.outcomes for name in outcome.mutated]
        return Answer(Status.BROKEN, f"elements of {', '.join(changed)} changed") if changed else Answer(Status.HELD)


def settle_all(relations: Sequence[Relation], evidence: Evidence) -> Answer:
    """Settle relations together: broken if one is, unsettled if one is, held if one is; else empty."""
    answers = [r.settle(evidence) for r in relations]
    for status in (Status.BROKEN, Status.UNSETTLED, Status.HELD):
        found = next((a for a in answers if a.status is status), None)
        if found is not None:
            return found
    return Answer(Status.EMPTY)


def nothing_is_mutated(observed: ObservedCase) -> Trial | None:
    """Demand that operands, inputs and seeds have after every call the elements that they had before."""
    calls = [s for s in observed.case.steps if isinstance(s, Call)]
    return Trial((observed.case,), (Untouched(),)) if calls else None


def repeatable(observed: ObservedCase) -> Trial:
    """Demand that the same script gives the same numbers, refusals and, until a pass is refused, calls of hooks and ``.grad``.

    The same to the last bit, unless the engine says of itself that it is repeatable only as far as rounding goes.
    """
    every = tuple((i, i) for i in range(len(observed.case.steps)))
    return Trial((observed.case, observed.case), (Alike(every, bitwise=observed.info.repeatable == "bitwise", events=True),))


def dead_branches(observed: ObservedCase) -> Trial | None:
    """Demand that a branch that no call reaches changes nothing.

    It does not apply to a script with a `Drop`: that observes whether the value lives on, and a branch keeps it alive.
    Source: dead code as in V. Le, M. Afshari and Z. Su, "Compiler validation via equivalence modulo inputs", PLDI 2014.
    """
    case = observed.case
    tracked = {name for name, value in shown(observed, len(case.steps)).items() if value.requires_grad}
    if any(isinstance(s, Drop) for s in case.steps):
        return None
    source = observed.source()
    steps: list[Step] = []
    pairs = []
    for number, step in enumerate(case.steps):
        pairs.append((number, len(steps)))
        steps.append(step)
        grown = [n for n in (*results(step), *(n for _, n in uses(step))) if n in tracked] if isinstance(step, Op | Detach) else []
        if grown:
            steps.append(dead_branch(source.choice(grown), f"law_dead_{len(steps)}"))
    if len(steps) == len(case.steps):
        return None
    return Trial((case, with_steps(case, steps)), (Alike(tuple(pairs)),))


def build_order(observed: ObservedCase) -> Trial | None:
    """Demand that ops that do not need each other may be applied in any order.

    It does not apply where a call is refused: the order of the pass follows the order of building, and decides what a refused call
    has accumulated before it stops.
    """
    case = observed.case
    if any(isinstance(o, Raised) for o in observed.outcome.observations):
        return None
    order: list[int] = []
    run: list[int] = []
    for number, step in enumerate(case.steps):
        if isinstance(step, Op | Detach):
            run.append(number)
            continue
        order += [*_latest_first(case.steps, run), number]
        run = []
    order += _latest_first(case.steps, run)
    if order == sorted(order):
        return None
    moved = with_steps(case, (case.steps[i] for i in order))
    return Trial((case, moved), (Alike(tuple(sorted((i, place) for place, i in enumerate(order)))),))


def _latest_first(steps: Sequence[Step], run: Sequence[int]) -> list[int]:
    """Order steps so that each comes after those that it needs, and otherwise the last one first."""
    makers = {name: i for i in run for name in results(steps[i])}
    needed = {i: {makers[name] for _, name in uses(steps[i]) if name in makers} for i in run}
    users: dict[int, list[int]] = {}
    for i, before in needed.items():
        for maker in before:
            users.setdefault(maker, []).append(i)
    waits = {i: len(before) for i, before in needed.items()}
    ready = [-i for i, count in waits.items() if count == 0]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        order.append(-heapq.heappop(ready))
        for user in users.get(order[-1], ()):
            waits[user] -= 1
            if waits[user] == 0:
                heapq.heappush(ready, -user)
    return order

"""Taint: what may be a consequence of a known deviation.

After a known deviation the comparison goes on, since one known bug must not hide another. But what is computed from a wrong number is
wrong, too, and is no second finding. So each deviation taints what it may have touched, and a later difference there is set aside;
what cannot be a consequence is judged like any other difference.

Tainted are what was computed from a deviating value (*values*), the ``.grad`` slots that it may have reached (*slots*), and calls that
walk over a node that a deviating call walked over (*nodes*): which node is at fault, and what state it is in, is unknown. Leaves are no
nodes, so a new graph over the same inputs is clean. A gradient that should be a constant, and is none, has a graph:
what is made of it (*linked*) leads to all that the call was given. Where the script does not tell, the taint is the larger.

A refusal taints no more than a wrong answer at the same step, even where the error comes from inside the engine: an op that raises has
no result, and a call reaches what its roots were made of. Only after one that is known to leave the process damaged may *everything* be
wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.aliases import Aliases, lying_in
from conformance.case.outcome import Computed, Raised
from conformance.case.place import END, StepNumber
from conformance.case.queries import twins
from conformance.case.steps import Backward, Call, ClearGrad, Grad, Hook, InPlace, RetainGrad, results, uses

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from conformance.case.case import Case
    from conformance.case.outcome import Observation
    from conformance.case.steps import Step
    from conformance.compare.mismatch import Mismatch


class Taint:
    """What the known deviations of one case may have touched; steps are taken in order.

    ``off``: the steps that agree because rounding may carry their numbers as far as they are off. A wrong number may hide in that, and
    what is made of such a result need not have as much room.
    """

    def __init__(self, case: Case, off: Collection[int] = ()) -> None:
        self.case = case
        self.off = off
        self.values: set[str] = set()
        self.slots: set[str] = set()
        self.nodes: set[int] = set()
        self.steps: set[int] = set()
        self.linked: set[str] = set()
        self._parents: dict[str, set[str]] = {}
        self._makers: dict[str, set[int]] = {}
        self.everything = False
        self._entered = 0

    def advance(self, place: StepNumber) -> None:
        """Take all steps before a step into account, and see whether the step as a whole is tainted."""
        number = len(self.case.steps) if place is END else place
        while self._entered < number:
            if self._entered in self.off:
                self._reach(self._entered)
            self._pass(self._entered, self.case.steps[self._entered])
            self._entered += 1
        if number < len(self.case.steps):
            self._reach(number)

    def _reach(self, number: int) -> None:
        """See whether a step is given what is tainted."""
        step = self.case.steps[number]
        names, makers = self._cone(step)
        if not self.values.isdisjoint({*names, *(name for _, name in uses(step))}) or not self.nodes.isdisjoint(makers):
            self.steps.add(number)

    def covers(self, found: Mismatch) -> bool:
        """Whether a difference may be a consequence of a known deviation.

        That a tensor was changed is told of a whole case, and not of a step.
        """
        if found.kind == "mutation":
            return found.name in self.values
        if found.step in self.steps or self.everything:
            return True
        step = None if found.step is END else self.case.steps[found.step]
        if isinstance(step, Backward) and found.where == "step":  # what was to be added to may not be what it should
            return not self.slots.isdisjoint(self._cone(step)[0])
        return found.name in (self.slots if found.where == "grad" else self.values)

    def mark(self, found: Mismatch, *seen: Observation) -> None:
        """Taint what a deviation may have touched; ``seen``: what was observed of its step, on both sides.

        A ``.grad`` that was wrong before is wrong after every later step as well, which says nothing of that step, unless the step was
        to clear it.
        """
        to_clear = found.step is not END and isinstance(self.case.steps[found.step], ClearGrad)
        if found.where == "grad" and found.name in self.slots and found.step not in self.steps and not to_clear:
            return
        if found.kind == "mutation":
            self._mark_mutation(found.name)
        elif found.step is END:
            self.slots.add(found.name)
        elif isinstance(self.case.steps[found.step], Call):
            self._mark_call(found.step)
            if (found.kind, found.actual) == ("flag", "requires_grad"):
                self.linked.update(results(self.case.steps[found.step]))
            if found.where == "grad":
                self.slots.add(found.name)
        elif found.where == "grad":
            self.slots.add(found.name)
            self.steps.add(found.step)
        else:
            step = self.case.steps[found.step]
            events = {e.name for o in seen if isinstance(o, Computed | Raised) for e in o.events}
            changed = {step.tensor} if hasattr(step, "tensor") else set()
            self.values.update(self._alike({*events, *changed, *results(step)}, found.step + 1))
            self.slots.update(changed)
            self.steps.add(found.step)

    def _mark_mutation(self, name: str) -> None:
        """Whoever changed a value may hold its memory: its views, and the ``.grad`` that calls fed with it."""
        changed = lying_in(self._alike([name], len(self.case.steps)), self.case.steps)
        self.values |= changed
        for step in self.case.steps:
            if isinstance(step, Call) and not changed.isdisjoint(name for _, name in uses(step)):
                self.slots |= self._cone(step)[0]

    def _mark_call(self, number: int) -> None:
        step = self.case.steps[number]
        names, makers = self._cone(step)
        self.steps.add(number)
        self.nodes |= makers
        self.slots |= names | {sibling for maker in makers for sibling in results(self.case.steps[maker])}
        same = twins(self.case.steps[:number])  # a ``.grad`` is that of a tensor, whatever its name
        self.slots |= {name for name, first in same.items() if first in names} | {same[name] for name in names if name in same}
        self.values.update(results(step))

    def _pass(self, number: int, step: Step) -> None:
        """Note who came from whom, and what a tainted step passes on."""
        shared = self._alike([step.tensor], number) if isinstance(step, InPlace) else set()
        used = {name for field, name in uses(step) if field != "tensor_returned"}
        linked = not self.linked.isdisjoint({*used, *results(step)})
        if linked:
            self.linked.update(results(step))
        if linked or not (isinstance(step, Grad) and not step.create_graph):
            for name in (*results(step), *shared):
                self._parents.setdefault(name, set()).update(used)
                self._makers.setdefault(name, set()).add(number)
        if isinstance(step, Hook) and step.tensor_returned is not None:
            self._parents.setdefault(step.tensor, set()).add(step.tensor_returned)
        if number in self.steps:
            self.values.update((*results(step), *shared))
            if isinstance(step, Call):
                self._mark_call(number)
            elif isinstance(step, ClearGrad | RetainGrad):
                self.slots.add(step.tensor)
        elif isinstance(step, ClearGrad) and step.to == "none":
            self.slots.discard(step.tensor)

    def _cone(self, step: Step) -> tuple[set[str], set[int]]:
        """Return the values that the roots of a call were made of, the roots too, and the steps that made them."""
        if not isinstance(step, Call):
            return set(), set()
        names: set[str] = set()
        left = list(step.roots)
        while left:
            name = left.pop()
            if name not in names:
                names.add(name)
                left.extend(self._parents.get(name, ()))
        return names, {number for name in names for number in self._makers.get(name, ())}

    def _alike(self, names: Iterable[str], number: int) -> set[str]:
        aliases = Aliases(self.case.steps[:number])
        return {member for name in names for member in (name, *aliases.members(name))}

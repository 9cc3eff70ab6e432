"""What a known deviation may have touched: its shadow.

After a known deviation the comparison goes on. A later difference that may be a consequence of it is no second finding: it lies in
the shadow. What cannot be a consequence is judged like any other difference.

The shadow falls on what was computed from a deviating value (*values*), on ``.grad`` slots that it may have reached (*slots*), and on
calls that walk over a node that a deviating call walked over (*nodes*): which node is at fault, and what state it is in, is unknown.
Leaves are no nodes, so a new graph over the same inputs is in the light. Where the script does not tell, the shadow is the larger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.aliases import Aliases
from conformance.outcome import Computed, Raised
from conformance.steps import AppendBackward, Backward, ClearGrad, Grad, Hook, InPlace, RetainGrad, results, uses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.case import Case
    from conformance.judge.compare import Mismatch
    from conformance.outcome import Observation
    from conformance.steps import Step

CALLS = (AppendBackward, Backward, Grad)
ROOTS = ("outputs", "tensors", "loss")


class Shadow:
    """The shadow of the known deviations of one case; steps are entered in order."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.values: set[str] = set()
        self.slots: set[str] = set()
        self.nodes: set[int] = set()
        self.steps: set[int] = set()
        self._parents: dict[str, set[str]] = {}
        self._makers: dict[str, set[int]] = {}
        self.everything = False
        self._entered = 0

    def enter(self, number: int) -> None:
        """Take all steps before a step into account, and see whether the shadow falls on the step as a whole; -1: after all steps."""
        number = number if number >= 0 else len(self.case.steps)
        while self._entered < number:
            self._pass(self._entered, self.case.steps[self._entered])
            self._entered += 1
        if number == len(self.case.steps):
            return
        step = self.case.steps[number]
        names, makers = self._behind(step)
        if not self.values.isdisjoint({*names, *(name for _, name in uses(step))}) or not self.nodes.isdisjoint(makers):
            self.steps.add(number)

    def falls_on(self, found: Mismatch) -> bool:
        """Whether a difference may be a consequence of a known deviation."""
        if found.step in self.steps or self.everything:
            return True
        step = None if found.step < 0 else self.case.steps[found.step]
        if isinstance(step, Backward) and found.where == "step":  # what was to be added to may not be what it should
            return not self.slots.isdisjoint(self._behind(step)[0])
        return found.name in (self.slots if found.where == "grad" else self.values)

    def cast(self, found: Mismatch, *seen: Observation) -> None:
        """Add the shadow of a deviation; ``seen``: what was observed of its step, on both sides."""
        if (found.expected, found.actual) == ("computed", "unmapped"):  # an error inside may leave mode and graph in any state
            self.everything = True
        if found.kind == "mutation":
            self._cast_mutation(self._family(found.name.split(", "), len(self.case.steps)))
        elif found.step < 0:
            self.slots.add(found.name)
        elif isinstance(self.case.steps[found.step], CALLS):
            self._cast_call(found.step)
            if found.where == "grad":
                self.slots.add(found.name)
        elif found.where == "grad":
            self.slots.add(found.name)
            self.steps.add(found.step)
        else:
            step = self.case.steps[found.step]
            events = {e.name for o in seen if isinstance(o, Computed | Raised) for e in o.events}
            changed = {step.tensor} if hasattr(step, "tensor") else set()
            self.values.update(self._family({*events, *changed, *results(step)}, found.step + 1))
            self.slots.update(changed)
            self.steps.add(found.step)

    def _cast_mutation(self, changed: set[str]) -> None:
        """Whoever changed these values may hold their memory: the ``.grad`` that calls fed with them."""
        self.values |= changed
        for step in self.case.steps:
            if isinstance(step, CALLS) and not changed.isdisjoint(name for _, name in uses(step)):
                self.slots |= self._behind(step)[0]

    def _cast_call(self, number: int) -> None:
        step = self.case.steps[number]
        names, makers = self._behind(step)
        self.steps.add(number)
        self.nodes |= makers
        self.slots |= names | {sibling for maker in makers for sibling in results(self.case.steps[maker])}
        self.values.update(results(step))

    def _pass(self, number: int, step: Step) -> None:
        """Note who came from whom, and what a step in the shadow passes on."""
        family = self._family([step.tensor], number) if isinstance(step, InPlace) else set()
        used = {name for field, name in uses(step) if field != "tensor_returned"}
        if not (isinstance(step, Grad) and not step.create_graph):
            for name in (*results(step), *family):
                self._parents.setdefault(name, set()).update(used)
                self._makers.setdefault(name, set()).add(number)
        if isinstance(step, Hook) and step.tensor_returned is not None:
            self._parents.setdefault(step.tensor, set()).add(step.tensor_returned)
        if number in self.steps:
            self.values.update((*results(step), *family))
            if isinstance(step, CALLS):
                self._cast_call(number)
            elif isinstance(step, ClearGrad | RetainGrad):
                self.slots.add(step.tensor)
        elif isinstance(step, ClearGrad) and step.to == "none":
            self.slots.discard(step.tensor)

    def _behind(self, step: Step) -> tuple[set[str], set[int]]:
        """Return the values that the roots of a call were made of, the roots too, and the steps that made them."""
        if not isinstance(step, CALLS):
            return set(), set()
        names: set[str] = set()
        left = [name for field, name in uses(step) if field in ROOTS]
        while left:
            name = left.pop()
            if name not in names:
                names.add(name)
                left.extend(self._parents.get(name, ()))
        return names, {number for name in names for number in self._makers.get(name, ())}

    def _family(self, names: Iterable[str], number: int) -> set[str]:
        aliases = Aliases(self.case.steps[:number])
        return {member for name in names for member in (name, *aliases.members(name))}

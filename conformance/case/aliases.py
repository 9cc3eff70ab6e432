"""Which values of a script share memory, as far as its steps tell.

An in-place update changes every value in the same memory, so a script that updates something must know who that is. Results of view
ops and detached values share the memory of their operand; but not always do both frameworks promise it. PyTorch documents `expand` and
the ops with several results as views, where Paddle copies, or where a write is refused; and reshaping shares memory only if the layout
of the operand allows it. Such a result *may alias* its operand, and nobody should depend on whether it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.steps import Backward, Custom, Detach, Grad, InPlace, Op, Step, results, uses
from conformance.ops import catalogue
from conformance.ops.spec import Memory
from reference_impl import DIALECTS, OPS
from reference_impl.dialects.conventions import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def _tabulated(name: str) -> bool:
    return all(d.conventions.covers(Kind.KEPT, d.spelled.get(name, name)) for d in DIALECTS.values())


TABULATED = frozenset(name for name in OPS if _tabulated(name))
"""Ops of which is known, for each framework, what they keep for their gradients."""


COMPLEX_VIEWS = ("real", "imag", "conj", "as_real", "as_complex")
"""Ops that PyTorch lists as views; the catalogue does not say so, since complex tensors are not written in place yet."""


def lies_in(step: Step) -> str | None:
    """Return in whose memory the results of a step may lie, in one framework or another."""
    if isinstance(step, Op) and (catalogue()[step.op].memory is not Memory.OWN or step.op in COMPLEX_VIEWS):
        return step.operands[0]
    return step.tensor if isinstance(step, Detach) else None


def lying_in(names: Iterable[str], steps: Iterable[Step]) -> set[str]:
    """Return these values and all that may lie in their memory, views of views included."""
    found = set(names)
    for step in steps:
        if lies_in(step) in found:
            found.update(results(step))
    return found


def sharing_with(names: Iterable[str], steps: Sequence[Step]) -> set[str]:
    """Return these values and all that may lie in the same memory: what they are views of, and the other views of that."""
    owners = set(names)
    for step in reversed(steps):
        base = lies_in(step)
        if base is not None and not owners.isdisjoint(results(step)):
            owners.add(base)
    return lying_in(owners, steps)


class Aliases:
    """The views of a script: for each the ``parent`` and the step that made it.

    ``may_alias``: values that may or may not share the memory of their operand; ``saves_unknown``: values that some step keeps for its
    gradient, or may keep, where nobody knows which.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.parent: dict[str, tuple[str, Op | Detach]] = {}
        self.may_alias: set[str] = set()
        self.saves_unknown: set[str] = set()
        self._layouts: set[str] = set()
        for step in steps:
            self._add(step)

    def _add(self, step: Step) -> None:
        match step:
            case Op() if (row := catalogue()[step.op]).views:
                base = step.operands[0]
                self.parent.update(dict.fromkeys(step.results, (base, step)))
                if row.memory not in (Memory.KEEPS_LAYOUT, Memory.RESHAPES) or base in self._layouts:
                    self._layouts.update(step.results)
                if row.memory is Memory.DOUBTFUL or step.no_grad or (row.memory is Memory.RESHAPES and base in self._layouts):
                    self.may_alias.update(step.results)
            case Op():
                if step.op not in TABULATED or catalogue()[step.op].memory.may_be_operand:
                    self.saves_unknown.update((*step.operands, *step.results))
                if not self._layouts.isdisjoint(step.operands):
                    self._layouts.update(step.results)
            case Detach():
                self.parent[step.results[0]] = (step.tensor, step)
                if step.tensor in self._layouts:
                    self._layouts.add(step.results[0])
            case InPlace() if step.op not in TABULATED:
                self.saves_unknown.update((step.tensor, *step.operands))
            case Custom():
                self.saves_unknown.update((*step.operands, *step.results))
            case Grad() | Backward() if step.create_graph:
                self.saves_unknown.update(name for _, name in uses(step))
                self.saves_unknown.update(getattr(step, "results", ()))
            case Grad():
                self._layouts.update(step.results)
            case _:
                pass

    def root(self, name: str) -> str:
        """Follow view ops and ``detach`` to the value that owns the memory."""
        while name in self.parent:
            name = self.parent[name][0]
        return name

    def base(self, name: str) -> str:
        """Follow view ops, but not ``detach``, to the value that owns the history."""
        while name in self.parent and isinstance(self.parent[name][1], Op):
            name = self.parent[name][0]
        return name

    def members(self, name: str) -> list[str]:
        """Return every value in the same memory, the owner first."""
        root = self.root(name)
        return [root, *(other for other in self.parent if self.root(other) == root)]

    def above(self, name: str) -> list[str]:
        """Return a value, what it is a view of, what that is a view of, and so on."""
        found = [name]
        while found[-1] in self.parent and isinstance(self.parent[found[-1]][1], Op):
            found.append(self.parent[found[-1]][0])
        return found

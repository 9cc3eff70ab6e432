"""Who shares memory with whom in a script, as far as its steps tell.

Results of view ops and detached values share the memory of their operand. Where the frameworks differ in that, or leave it open, a
link is *doubtful*: PyTorch documents `expand` and the ops with several results as views, which Paddle copies or which refuse a write;
reshaping shares where it can, which depends on the layout of the operand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.steps import Backward, Custom, Detach, Grad, InPlace, Op, Step, uses
from reference_impl import DIALECTS, OPS
from reference_impl.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Sequence

VIEWS = frozenset(name for name, op in OPS.items() if isinstance(op, Primitive) and op.views)
SEVERAL = frozenset(name for name in VIEWS if OPS[name].several)  # type: ignore[attr-defined]
DOUBTFUL = SEVERAL | {"expand"}
RESHAPING = frozenset({"reshape", "view", "flatten"})
KEEPS_LAYOUT = RESHAPING | {"squeeze", "unsqueeze", "getitem_int"}


def _tabulated(name: str) -> bool:
    return all(dialect.spelled.get(name, name) in dialect.saves for dialect in DIALECTS.values())


TABULATED = frozenset(name for name in OPS if _tabulated(name))
"""Ops of which it is known, for every framework, what they keep for their gradients."""


class Aliases:
    """The links of a script: ``parent`` and the step that made each view, and what is known of each value."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.parent: dict[str, tuple[str, Op | Detach]] = {}
        self.doubtful: set[str] = set()
        self.unsettled: set[str] = set()
        self._layouts: set[str] = set()
        for step in steps:
            self._add(step)

    def _add(self, step: Step) -> None:
        match step:
            case Op() if step.op in VIEWS:
                base = step.operands[0]
                self.parent.update(dict.fromkeys(step.results, (base, step)))
                if step.op not in KEEPS_LAYOUT or base in self._layouts:
                    self._layouts.update(step.results)
                if step.op in DOUBTFUL or step.no_grad or (step.op in RESHAPING and base in self._layouts):
                    self.doubtful.update(step.results)
            case Op():
                if step.op not in TABULATED or step.op == "contiguous":  # of what is contiguous already it is the tensor itself
                    self.unsettled.update((*step.operands, *step.results))
                if not self._layouts.isdisjoint(step.operands):
                    self._layouts.update(step.results)
            case Detach():
                self.parent[step.results[0]] = (step.tensor, step)
                if step.tensor in self._layouts:
                    self._layouts.add(step.results[0])
            case InPlace() if step.op not in TABULATED:
                self.unsettled.update((step.tensor, *step.operands))
            case Custom():
                self.unsettled.update((*step.operands, *step.results))
            case Grad() | Backward() if step.create_graph:
                self.unsettled.update(name for _, name in uses(step))
                self.unsettled.update(getattr(step, "results", ()))
            case Grad():
                self._layouts.update(step.results)
            case _:
                pass

    def root(self, name: str) -> str:
        """Return the owner of the memory in which a value lies."""
        while name in self.parent:
            name = self.parent[name][0]
        return name

    def base(self, name: str) -> str:
        """Return the end of a value's views: the owner of its history, which a detached value has of its own."""
        while name in self.parent and isinstance(self.parent[name][1], Op):
            name = self.parent[name][0]
        return name

    def members(self, name: str) -> list[str]:
        """Return every value in the same memory, the owner first."""
        root = self.root(name)
        return [root, *(other for other in self.parent if self.root(other) == root)]

    def above(self, name: str) -> list[str]:
        """Return the values of which a value is a view, itself first."""
        found = [name]
        while found[-1] in self.parent and isinstance(self.parent[found[-1]][1], Op):
            found.append(self.parent[found[-1]][0])
        return found

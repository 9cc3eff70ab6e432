"""Ways: whether anything leads from what is differentiated to what is asked for, by the script alone.

Ops lead to their operands. What a derivative depends on is a matter of how its formula is written, so a way through one is no proof;
but it is linear in its seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.case.queries import label, records
from conformance.case.steps import Grad, results, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.case.case import Case


@dataclass(frozen=True)
class Way:
    """What lies between a root and a value: nothing where there is no way."""

    names: tuple[str, ...] = ()
    """The root, the steps, and the value."""
    derived: bool = False
    """Whether a derivative was met."""
    cut: str = ""
    """A step that cuts a way."""

    @property
    def words(self) -> str:
        """The way in words."""
        return " <- ".join(self.names)


def way_to(case: Case, number: int, roots: tuple[str, ...], name: str) -> Way:
    """Return a way from a root down to a value over the steps before ``number``."""
    ways: dict[str, tuple[str, ...]] = {root: (root,) for root in roots}
    derived, cut = False, ""
    for i in reversed(range(number)):
        step = case.steps[i]
        reached = next((made for made in results(step) if made in ways), None)
        if reached is None:
            continue
        if not records(step):
            cut = f"step {i} ({label(case, i)})"
            continue
        derived |= isinstance(step, Grad)
        for _, used in uses(step):
            ways.setdefault(used, (*ways[reached], f"step {i} ({label(case, i)})"))
    return Way((*ways[name], name) if name in ways else (), derived, cut)


def linear_in(case: Case, number: int, call: Grad, name: str) -> Iterator[str]:
    """Yield the seeds in which the gradient of ``name`` by a call is linear: those of the roots from which a way leads to it."""
    for root, seed in zip(call.outputs, call.grad_outputs or (), strict=False):
        if seed is not None and seed not in (call.constants or ()):
            way = way_to(case, number, (root,), name)
            if way.names and not way.derived:
                yield seed

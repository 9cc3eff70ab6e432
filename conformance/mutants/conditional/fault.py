"""A conditional fault: a sentence of a part, a condition and an effect, each of which is looked up by its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.mutants.conditional import conditions_of_calls, conditions_of_ops, effects_of_calls, effects_of_ops, effects_of_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.mutants.conditional.moment import Moment

CALLS = ("grad", "backward")
AND = " and "
ATTACHED = ("hook", "remove_hook", "retain_grad", "toggle", "detach", "clear_grad", "in_place", "custom", "no_grad")
"""The parts of an engine that are no ops: calls of autograd, and what a user attaches to tensors or changes."""


@dataclass(frozen=True)
class ConditionalFault:
    """A fault in three words.

    Attributes:
        part: the op, or the part of the engine, that is wrong.
        condition: where; it may be several, with "and" between them.
        effect: what happens there.
        needs: what an engine must offer so that the condition can hold (`conformance.case.steps.parameters`); ``""``: nothing.
        equivalent: why it cannot change anything observable, where it cannot.
    """

    part: str
    condition: str
    effect: str
    needs: str = ""
    equivalent: str = ""

    @property
    def id(self) -> str:
        """Its name, without spaces."""
        return "-".join(re.sub(r"\W+", "_", words) for words in (self.part, self.condition, self.effect))

    @property
    def what(self) -> str:
        """What is wrong, in one line."""
        return f"{self.part}: {self.effect} ({self.condition})"

    @property
    def order(self) -> int:
        """The lowest order of the derivatives that it makes wrong."""
        return effects_of_ops.ORDERS.get(self.effect, 1)

    @property
    def of_op(self) -> bool:
        """Whether it is a fault of an op."""
        return self.part not in CALLS + ATTACHED

    @property
    def of_unbounded(self) -> bool:
        """Whether it shows in scripts with infinities and NaN alone."""
        return self.effect in effects_of_calls.OF_UNBOUNDED

    def holds(self, at: Moment) -> bool:
        """Whether the condition holds at a moment of its part."""
        if self.of_op and not (at.script.writes if self.effect in effects_of_ops.OF_MEMORY else at.flows):
            return False
        known = vocabulary(self.part)
        return all(known[words](at) for words in self.condition.split(AND))

    def answer(self, at: Moment, right: Callable[..., Any]) -> Any:
        """Answer what is asked at a moment, wrongly if the condition holds there."""
        return self.happen(at, right) if at.part == self.part and self.holds(at) else right()

    def happen(self, at: Moment, right: Callable[..., Any]) -> Any:
        """Answer what is asked at a moment in which the condition holds."""
        if self.of_op:
            return effects_of_ops.EFFECTS[self.effect](at, right())
        return (effects_of_calls.OF_CALLS if self.part in CALLS else effects_of_tensors.OF_TENSORS)[self.effect](at, right)


def vocabulary(part: str) -> Mapping[str, Callable[[Moment], bool]]:
    """Return the conditions of a part of the engine, by their words."""
    if part in CALLS:
        return conditions_of_calls.OF_CALLS
    return conditions_of_calls.OF_TENSORS if part in ATTACHED else conditions_of_ops.CONDITIONS


def rows(parts: str, conditions: str, effect: str, needs: str = "") -> Iterator[ConditionalFault]:
    """Yield a fault for each of the parts, with spaces between them, and each of the conditions, with bars between them."""
    for condition in conditions.split(" | "):
        for part in parts.split():
            yield ConditionalFault(part, condition, effect, needs)

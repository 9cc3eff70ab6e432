"""What a case exercises: orders of derivatives, sharing, accumulation, refusals, and the parameters that its calls pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.outcome import Computed, Raised
from conformance.steps import AppendBackward, Backward, Custom, Detach, Grad, InPlace, Op

if TYPE_CHECKING:
    from conformance.case import Case
    from conformance.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Facts:
    """``orders``: for each autograd call (by step number) the order of derivative that it computes."""

    orders: dict[int, int]
    shared: bool
    accumulates: bool
    refused: bool

    @property
    def highest(self) -> int:
        """The highest order that some call computes."""
        return max(self.orders.values(), default=0)

    def order_at(self, number: int) -> int:
        """Return the order of the call at a step; of another step, the highest order of the calls that follow."""
        return self.orders.get(number) or max((order for n, order in self.orders.items() if n > number), default=0)

    @property
    def rich(self) -> bool:
        """Whether the case has a second or higher derivative, an accumulation, a shared sub-graph or an expected refusal."""
        return self.highest >= 2 or self.shared or self.accumulates or self.refused


def facts_of(case: Case, expected: Outcome) -> Facts:
    """Read the facts off a case and the outcome that the reference expects."""
    depth: dict[str, int] = {}
    orders: dict[int, int] = {}
    operands: list[str] = []
    passes = 0
    for number, step in enumerate(case.steps):
        match step:
            case Op() | Custom():
                below = 0 if step.no_grad else max((depth.get(n, 0) for n in step.operands), default=0)
                depth.update(dict.fromkeys(step.results, below))
                operands.extend(step.operands)
            case Grad():
                orders[number] = 1 + max((depth.get(n, 0) for n in step.outputs), default=0)
                depth.update(dict.fromkeys(step.results, orders[number] if step.create_graph else 0))
            case AppendBackward():
                orders[number] = 1 + depth.get(step.loss, 0)
                depth.update(dict.fromkeys(step.results, orders[number]))
            case Backward():
                orders[number] = 1 + max((depth.get(n, 0) for n in step.tensors), default=0)
                passes += isinstance(expected.observations[number], Computed)
            case InPlace() if not step.no_grad:
                depth[step.tensor] = max(depth.get(n, 0) for n in (step.tensor, *step.operands))
            case Detach():
                depth[step.results[0]] = 0
            case _:
                pass
    return Facts(
        orders,
        shared=len(set(operands)) < len(operands),
        accumulates=passes >= 2,
        refused=any(isinstance(o, Raised) for o in expected.observations),
    )

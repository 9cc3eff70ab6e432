"""What a case exercises: orders of derivatives, sharing, accumulation and refusals.

A campaign of a million cases that each differentiate one product once proves little. So every record says what its case exercises,
and the summary how many cases exercise much. For example, ``y = mul(x, x)`` shares ``x``, and a second `Backward` from ``y``
accumulates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.case.differentiated import Differentiated, differentiated
from conformance.case.outcome import Computed, Raised
from conformance.case.steps import AppendBackward, Backward, Custom, Detach, Edge, Grad, InPlace, Op, results

if TYPE_CHECKING:
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Exercise:
    """What a case exercises.

    Attributes:
        orders: for each autograd call, by step number, the order of derivative that it computes.
        shared: whether some value is used more than once.
        accumulates: whether two passes accumulate into ``.grad``.
        refused: whether the reference refuses a step.
        ops: for each call, what it differentiates.
    """

    orders: dict[int, int]
    shared: bool
    accumulates: bool
    refused: bool
    ops: dict[int, Differentiated] = field(default_factory=dict)

    @property
    def highest(self) -> int:
        """The highest order that some call computes."""
        return max(self.orders.values(), default=0)

    def order_at(self, number: int) -> int:
        """Return the order of the call at a step; of another step, the highest order of the calls that follow."""
        return self.orders.get(number) or max((order for n, order in self.orders.items() if n > number), default=0)

    @property
    def exercises_much(self) -> bool:
        """Whether the case has a second or higher derivative, an accumulation, a shared sub-graph or an expected refusal."""
        return self.highest >= 2 or self.shared or self.accumulates or self.refused


def orders_of(case: Case) -> tuple[dict[int, int], dict[str, int]]:
    """Return the order of every autograd call, by step number, and of the derivative that each value was computed from, by name."""
    depth: dict[str, int] = {}
    orders: dict[int, int] = {}
    for number, step in enumerate(case.steps):
        match step:
            case Op() | Custom():
                below = 0 if step.no_grad else max((depth.get(n, 0) for n in step.operands), default=0)
                depth.update(dict.fromkeys(step.results, below))
            case Grad() | AppendBackward() | Backward():
                orders[number] = 1 + max((depth.get(n, 0) for n in step.roots), default=0)
                recorded = isinstance(step, AppendBackward) or step.create_graph
                depth.update(dict.fromkeys(results(step), orders[number] if recorded else 0))
            case InPlace() if not step.no_grad:
                depth[step.tensor] = max(depth.get(n, 0) for n in (step.tensor, *step.operands))
            case Edge():
                depth[step.results[0]] = depth.get(step.tensor, 0)
            case Detach():
                depth[step.results[0]] = 0
            case _:
                pass
    return orders, depth


def exercise_of(case: Case, expected: Outcome) -> Exercise:
    """Read what a case exercises off its script and the outcome that the reference expects."""
    operands = [name for step in case.steps if isinstance(step, Op | Custom) for name in step.operands]
    pairs = zip(case.steps, expected.observations, strict=True)
    return Exercise(
        orders_of(case)[0],
        shared=len(set(operands)) < len(operands),
        accumulates=sum(isinstance(step, Backward) and isinstance(seen, Computed) for step, seen in pairs) >= 2,
        refused=any(isinstance(o, Raised) for o in expected.observations),
        ops=differentiated(case),
    )

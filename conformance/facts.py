"""What a case exercises: orders of derivatives, sharing, accumulation, refusals, and the parameters that its calls pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.outcome import Computed, Raised
from conformance.steps import AppendBackward, Backward, Custom, Detach, Grad, InPlace, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def parameters_passed(step: AppendBackward | Backward | Grad) -> Iterator[str]:
    """Yield each parameter of a call with the value that it is given, in words."""
    if isinstance(step, AppendBackward):
        for name in ("parameter_list", "no_grad_set", "callbacks"):
            yield f"append_backward {name}={'given' if getattr(step, name) else 'unset'}"
        return
    call = "grad" if isinstance(step, Grad) else "backward"
    seeds = step.grad_outputs if isinstance(step, Grad) else step.grad_tensors
    form = "unset" if seeds is None else "partly None" if None in seeds else "given"
    yield f"{call} seeds={form}"
    yield f"{call} retain_graph={'unset' if step.retain_graph is None else step.retain_graph}"
    yield f"{call} create_graph={step.create_graph}"
    if isinstance(step, Grad):
        yield f"grad allow_unused={'unset' if step.allow_unused is None else step.allow_unused}"
        yield f"grad only_inputs={step.only_inputs}"
        yield f"grad no_grad_vars={'unset' if step.no_grad_vars is None else 'given'}"
        yield f"grad materialize_grads={step.materialize_grads}"
        yield f"grad is_grads_batched={step.is_grads_batched}"
    else:
        yield f"backward inputs={'unset' if step.inputs is None else 'given'}"
        yield f"backward dump_backward_graph_path={'given' if step.dump_backward_graph else 'unset'}"
    yield f"{call} form={step.form or 'list'}"
    if step.no_grad:
        yield f"{call} inside no_grad"

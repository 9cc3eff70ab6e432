"""Cases and outcomes in words: for the terminal, the report and reproductions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.outcome import Blocked, Computed, NotOffered, Raised
from conformance.steps import (
    AppendBackward,
    Backward,
    ClearGrad,
    Custom,
    Detach,
    Edge,
    Grad,
    Hook,
    InPlace,
    Op,
    RemoveHook,
    RetainGrad,
    Toggle,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case import Case, Input
    from conformance.outcome import Event, Observation, State, Value
    from conformance.steps import Step

SHOWN = 12


def input_text(entry: Input) -> str:
    """Write an input as an assignment."""
    flag = "" if entry.differentiable else ", constant"
    return f"{entry.name} = {entry.dtype}{list(entry.shape)} {_numbers(entry.array())}{flag}"


def step_text(step: Step) -> str:
    """Write a step as a call."""
    region = "  (no_grad)" if getattr(step, "no_grad", False) else ""
    match step:
        case Op():
            attrs = [f"{k}={v}" for k, v in step.attrs.items()]
            return f"{', '.join(step.results)} = {step.op}({', '.join([*step.operands, *attrs])}){region}"
        case InPlace():
            attrs = [f"{k}={v}" for k, v in step.attrs.items()]
            return f"{step.tensor}.{step.op}_({', '.join([*step.operands, *attrs])}){region}"
        case Custom():
            inner = "; ".join(map(step_text, step.forward)) or "nothing"
            outer = "; ".join(map(step_text, step.backward)) or "nothing"
            pulled = f"backward({', '.join([*step.saved, *step.cotangents])}): {outer} -> {_names(step.gradients)}"
            made = f"{', '.join(step.results)} = custom({', '.join(step.operands)})"
            return f"{made} with forward: {inner} -> {_names(step.outputs)}, {pulled}{region}"
        case Backward():
            passed = _passed(step, [f for f in step.__struct_fields__ if f not in ("tensors", "no_grad")])
            return f"backward({', '.join([_names(step.tensors), *passed])}){region}"
        case Grad():
            skipped = ("outputs", "inputs", "results", "only_inputs", "no_grad")
            passed = _passed(step, [f for f in step.__struct_fields__ if f not in skipped])
            passed += [] if step.only_inputs else ["only_inputs=False"]
            call = ", ".join([_names(step.outputs), _names(step.inputs), *passed])
            return f"{', '.join(step.results)} = grad({call}){region}"
        case AppendBackward():
            passed = _passed(step, ["parameter_list", "no_grad_set", "callbacks", "by_name"])
            return f"{', '.join(step.results)} = append_backward({', '.join([step.loss, *passed])})"
        case ClearGrad():
            return f"clear_grad({step.tensor}, to={step.to})"
        case Detach():
            return f"{step.results[0]} = detach({step.tensor})"
        case RetainGrad():
            return f"retain_grad({step.tensor})"
        case Toggle():
            return f"{step.tensor}.requires_grad = {step.requires_grad}"
        case Hook():
            returned = {"scaled": f"g * {step.factor}", "tensor": step.tensor_returned}.get(
                step.returns, step.returns.replace("_", " ")
            )
            return f"{step.results[0]} = hook({step.tensor}) returning {returned}"
        case RemoveHook():
            return f"remove({step.hook})"
        case Edge():
            return f"{step.results[0]} = gradient_edge({step.tensor})"


def _names(names: Sequence[str | None]) -> str:
    return f"[{', '.join('None' if n is None else n for n in names)}]"


def _passed(step: Step, fields: Sequence[str]) -> list[str]:
    found = []
    for name in fields:
        value = getattr(step, name)
        if value is None or (value is False and name not in {"retain_graph", "allow_unused"}):
            continue
        found.append(f"{name}={_names(value) if isinstance(value, tuple) else value}")
    return found


def _numbers(array: np.ndarray[Any, Any]) -> str:
    return np.array2string(array, threshold=SHOWN, precision=8, separator=", ").replace("\n", "")


def value_text(value: Value | None) -> str:
    """Write a tensor: dtype, shape, elements, whether it requires a gradient."""
    if value is None:
        return "None"
    flag = " requires_grad" if value.requires_grad else ""
    return f"{value.array.dtype}{list(value.array.shape)} {_numbers(value.array)}{flag}"


def _state_text(case: Case, state: State | None) -> str:
    if state is None:
        return ""
    return "; ".join(f"{n}.grad = {value_text(v)}" for n, v in zip(case.watched, state, strict=True))


def _events_text(events: Sequence[Event]) -> str:
    return "; ".join(f"{e.name} saw {value_text(e.value)}{', recording' if e.recording else ''}" for e in events)


def observation_text(case: Case, step: Step, seen: Observation) -> str:
    """Write what was observed at a step."""
    match seen:
        case Computed():
            names = (step.tensor,) if isinstance(step, InPlace | Toggle) else getattr(step, "results", ())
            parts = [f"{n} = {value_text(v)}" for n, v in zip(names, seen.values, strict=False)]
            return "; ".join(filter(None, [_events_text(seen.events), *parts, _state_text(case, seen.state)])) or "done"
        case Raised():
            refusal = f"refused: {seen.category} ({' '.join(seen.message.split())[:200]})"
            return "; ".join(filter(None, [_events_text(seen.events), refusal, _state_text(case, seen.state)]))
        case NotOffered():
            return f"not offered: {seen.reason}"
        case Blocked():
            return f"not tried: {seen.missing} is missing"

"""Cases and outcomes in words: for the terminal, the report and reproductions."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case import steps
from conformance.case.outcome import Blocked, Computed, NotOffered, Raised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Case, Input
    from conformance.case.outcome import Event, Observation, State, Value

SHOWN = 12
MESSAGE = 200


def counted(number: int, noun: str, several: str = "") -> str:
    """Say how many, as in ``1 case`` and ``2 cases``; ``several``: the plural of a noun that takes more than an s."""
    return f"{number} {noun if number == 1 else several or f'{noun}s'}"


def percent(part: float, whole: float) -> str:
    """Write a share, rounded down: what is not everything never reads as 100 %."""
    if not whole:
        return "-"
    share = math.floor(1000 * part / whole + 1e-9) / 10
    return "100 %" if part == whole else f"{share:.1f} %"


def input_text(input_: Input) -> str:
    """Write an input as an assignment."""
    flag = ("" if input_.differentiable else ", constant") + (", strided" if input_.strided is True else "")
    return f"{input_.name} = {input_.dtype}{list(input_.shape)} {_numbers(input_.array())}{flag}"


def step_text(step: steps.Step) -> str:
    """Write a step as a call; a custom function has a line for its forward and one for its backward, each begun by a tab."""
    region = "  (no_grad)" if getattr(step, "no_grad", False) else ""
    match step:
        case steps.Op():
            return f"{', '.join(step.results)} = {step.op}({', '.join([*step.operands, *options_of(step)])}){region}"
        case steps.InPlace():
            return f"{step.tensor}.{step.op}_({', '.join([*step.operands, *options_of(step)])}){region}"
        case steps.Custom():
            saved = [f"saves {', '.join(step.saved)}"] if step.saved else []
            forward = "; ".join([*map(step_text, step.forward), *saved, f"returns {', '.join(step.outputs)}"])
            backward = "; ".join([*map(step_text, step.backward), f"returns {', '.join(map(str, step.gradients))}"])
            return (
                f"{', '.join(step.results)} = custom({', '.join(step.operands)}){region}\n\tforward: {forward}"
                f"\n\tbackward({', '.join([*step.saved, *step.cotangents])}): {backward}"
            )
        case steps.Backward():
            passed = _passed(step, [f for f in step.__struct_fields__ if f not in ("tensors", "no_grad")])
            return f"backward({', '.join([_names(step.tensors), *passed])}){region}"
        case steps.Grad():
            skipped = ("outputs", "inputs", "results", "no_grad")
            passed = _passed(step, [f for f in step.__struct_fields__ if f not in skipped])
            call = ", ".join([_names(step.outputs), _names(step.inputs), *passed])
            return f"{', '.join(step.results)} = grad({call}){region}"
        case steps.AppendBackward():
            passed = _passed(step, ["parameter_list", "no_grad_set", "callbacks", "by_name"])
            return f"{', '.join(step.results)} = append_backward({', '.join([step.loss, *passed])})"
        case steps.ClearGrad():
            return f"clear_grad({step.tensor}, to={step.to})"
        case steps.Detach():
            return f"{step.results[0]} = detach({step.tensor})"
        case steps.RetainGrad():
            return f"retain_grad({step.tensor})"
        case steps.SetRequiresGrad():
            return f"{step.tensor}.requires_grad = {step.requires_grad}"
        case steps.Hook():
            return f"{step.results[0]} = hook({step.tensor}) {', '.join(options_of(step))}"
        case steps.RemoveHook():
            return f"remove({step.hook})"
        case steps.Edge():
            return f"{step.results[0]} = gradient_edge({step.tensor})"
        case steps.Drop():
            return f"del {step.tensor}"


def _names(names: Sequence[str | None]) -> str:
    return f"[{', '.join('None' if n is None else n for n in names)}]"


def options_of(step: steps.Step) -> list[str]:
    """Say what a step is given besides values; what is left at its default is not said."""
    match step:
        case steps.Op() | steps.InPlace():
            return [f"{name}={value}" for name, value in step.attrs.items()]
        case steps.Custom():
            parts = {"forward": step.forward, "backward": step.backward}
            return [f"{part}: {', '.join(op.op for op in ops) or 'no op'}" for part, ops in parts.items()]
        case steps.Hook():
            returned = {"scaled": f"g * {step.factor}", "tensor": step.tensor_returned, "error": "an error"}
            return [f"returning {returned.get(step.returns, step.returns.replace('_', ' '))}"]
        case steps.ClearGrad():
            return [f"to={step.to}"]
        case _:
            return _passed(step, [f for f in step.__struct_fields__ if f not in (*step.NAMES, "results", "no_grad")])


def _passed(step: steps.Step, fields: Sequence[str]) -> list[str]:
    given = [(name, getattr(step, name)) for name in fields]
    left_out = _defaults(type(step))
    return [f"{n}={_names(v) if isinstance(v, tuple) else v}" for n, v in given if n not in left_out or v is not left_out[n]]


@cache
def _defaults(kind: type[steps.Step]) -> dict[str, Any]:
    return {f.name: f.default for f in msgspec.structs.fields(kind) if f.default is not msgspec.NODEFAULT}


def _numbers(array: np.ndarray[Any, Any]) -> str:
    shown = np.array2string(array, threshold=SHOWN, separator=", ", formatter={"float_kind": lambda number: f"{number:.9g}"})
    return " ".join(shown.split())


def value_text(value: Value | None) -> str:
    """Write a tensor: dtype, shape, elements, whether it requires a gradient."""
    if value is None:
        return "None"
    if value.unreadable:
        return f"unreadable ({' '.join(value.unreadable.split())[:MESSAGE]})"
    flag = " requires_grad" if value.requires_grad else ""
    return f"{value.array.dtype}{list(value.array.shape)} {_numbers(value.array)}{flag}"


def _state_text(case: Case, state: State | None) -> str:
    if state is None:
        return ""
    return "; ".join(f"{n}.grad = {value_text(v)}" for n, v in zip(case.watched, state, strict=True))


def _event_text(case: Case, step: steps.Step, event: Event) -> str:
    """Write a call of a hook or of a custom backward, another name that an in-place step changed, or what else was noted."""
    value = f"{value_text(event.value)}{', while recording' if event.recording else ''}"
    if any(event.name in steps.results(s) for s in case.steps if isinstance(s, steps.Hook | steps.Custom)):
        return f"{event.name} saw {value}"
    if isinstance(step, steps.AppendBackward):
        return f"callback at {event.name}"
    if isinstance(step, steps.InPlace):
        return f"also {event.name} = {value}"
    return event.name if event.value is None else f"{event.name}: {value}"


def observation_text(case: Case, step: steps.Step, seen: Observation) -> str:
    """Write what was observed at a step."""
    match seen:
        case Computed():
            names = steps.observed(step)
            return _told(case, step, seen, [f"{n} = {value_text(v)}" for n, v in zip(names, seen.values, strict=False)])
        case Raised():
            return _told(case, step, seen, [f"refused: {seen.category} ({' '.join(seen.message.split())[:MESSAGE]})"])
        case NotOffered():
            return f"not offered: {seen.reason}"
        case Blocked():
            return f"not tried: {seen.missing} is missing"


def _told(case: Case, step: steps.Step, seen: Computed | Raised, answer: list[str]) -> str:
    events = [_event_text(case, step, event) for event in seen.events]
    return "; ".join(filter(None, [*events, *answer, _state_text(case, seen.state)])) or "done"

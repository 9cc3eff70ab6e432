"""What no engine of a run offers is not asked for in a script.

It is left out of a script that was drawn, so that scripts are drawn the same for all engines. Hooks, flags that are set later and the
like go; a custom function is applied op by op, and what is written in place is computed out of place. Of a small engine nearly every
case is compared then, which else would end at the first step that it does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.case.rewrite import rename
from conformance.case.steps import (
    Backward,
    ClearGrad,
    Custom,
    Drop,
    Edge,
    Grad,
    Hook,
    InPlace,
    Op,
    RemoveHook,
    RetainGrad,
    SetRequiresGrad,
    kind,
    results,
    uses,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from conformance.case.steps import Step

BATCHED = "is_grads_batched"
"""The parameter that cannot be left out: seeds have another shape with it."""
PARAMETERS: Mapping[type, Mapping[str, str]] = {
    call: {field: word for field, word in call.PARAMETERS.items() if field != BATCHED} for call in (Backward, Grad)
}
"""The parameters that are left out of each call, with the words under which they are not offered."""
BY_PARAMETER = tuple(word for words in PARAMETERS.values() for word in words.values())
NO_GRAD = "no_grad"
LEFT_OUT = (
    "step:hook",
    "step:remove_hook",
    "step:retain_grad",
    "step:toggle",
    "step:clear_grad",
    "step:drop",
    "step:custom",
    "step:in_place",
    NO_GRAD,
)
"""What every framework offers, so that it is left out of scripts for small engines alone."""


def as_offered(steps: list[Step], without: Collection[str]) -> list[Step]:
    """Return the steps of a script without what nobody offers."""
    names: dict[str, str] = {}
    gone: set[str] = set()
    found: list[Step] = []
    for number, drawn in enumerate(steps):
        step = _plainer(rename(drawn, names), without)
        if f"step:{kind(step)}" not in without:
            if gone.isdisjoint(name for _, name in uses(step)):
                found.append(step)
            continue
        match step:
            case Hook() | RemoveHook() | RetainGrad() | SetRequiresGrad() | ClearGrad() | Drop():
                gone.update(results(step))
            case Edge():
                names[step.results[0]] = step.tensor
            case Custom():
                found += _op_by_op(step)
            case InPlace():
                op = Op(step.op, (step.tensor, *step.operands), (f"{step.tensor}_{number}",), step.attrs, step.no_grad)
                names |= {name: op.results[0] for _, name in uses(drawn) if names.get(name, name) == step.tensor}
                found.append(op)
            case _:
                found.append(step)
    return found


def _plainer(step: Step, without: Collection[str]) -> Step:
    """Leave out of a step which parameters nobody has."""
    lacking = {field for field, word in PARAMETERS.get(type(step), {}).items() if word in without}
    if NO_GRAD in without:
        lacking.add(NO_GRAD)
    if "no_grad_vars" in lacking and getattr(step, "form", None) == "set":
        lacking.add("form")  # nothing else may be handed over as a set
    return msgspec.structs.replace(
        step, **{field.name: field.default for field in msgspec.structs.fields(step) if field.name in lacking}
    )


def _op_by_op(step: Custom) -> Iterator[Op]:
    """Yield the ops of the forward of a custom function, which have rules of their own."""
    names = {name: f"{step.results[0]}_{name}" for op in step.forward for name in op.results}
    names |= {output: result for output, result in zip(step.outputs, step.results, strict=True) if output in names}
    for op in step.forward:
        yield msgspec.structs.replace(rename(op, names), no_grad=step.no_grad)
    for output, result in zip(step.outputs, step.results, strict=True):
        if output not in names:  # it is an operand that is returned as well
            yield Op("clone", (output,), (result,), no_grad=step.no_grad)

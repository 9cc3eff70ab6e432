"""Short texts about cases and findings."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

from conformance import texts
from conformance.steps import Backward, ClearGrad, Detach, Grad, Op, results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case import Input
    from conformance.steps import Step

TOKEN = re.compile(r"\s+|[\[\](){},;:=]|[^\s\[\](){},;:=]+")
MOST_TOKENS = 600
DEFAULTS = {"retain_graph": None, "create_graph": False, "allow_unused": None, "only_inputs": True, "materialize_grads": False}
HAPPENED = {"diverged": "diverges", "crashed": "crashes", "timed_out": "does not come back"}


def shape_of(entry: Input) -> str:
    """Return dtype and shape, as in ``float32[2, 3]``."""
    return f"{entry.dtype}{list(entry.shape)}"


def flags_of(step: Step) -> Iterator[str]:
    """Yield what a step is given besides values, in words; what is left at its default is not said."""
    if isinstance(step, Op):
        yield from (f"{name}={value}" for name, value in step.attrs.items())
    for name, default in DEFAULTS.items():
        value = getattr(step, name, default)
        if value is not default:
            yield f"{name}={value}"
    if isinstance(step, ClearGrad):
        yield f"to {step.to}"
    if getattr(step, "no_grad", False):
        yield "in no_grad"


def step_text(step: Step) -> str:
    """Write a step as a call."""
    arguments: list[str] = []
    match step:
        case Op():
            name, arguments = step.op, list(step.operands)
        case Grad():
            name, arguments = "grad", [_names(step.outputs), _names(step.inputs)]
            arguments += [f"grad_outputs={_names(step.grad_outputs)}"] if step.grad_outputs is not None else []
            arguments += [f"no_grad_vars={_names(step.no_grad_vars)}"] if step.no_grad_vars is not None else []
        case Backward():
            name, arguments = "backward", [_names(step.tensors)]
            arguments += [f"grad_tensors={_names(step.grad_tensors)}"] if step.grad_tensors is not None else []
            arguments += [f"inputs={_names(step.inputs)}"] if step.inputs is not None else []
        case ClearGrad():
            name, arguments = "clear_grad", [step.tensor]
        case Detach():
            name, arguments = "detach", [step.tensor]
        case _:
            return texts.step_text(step)
    made = ", ".join(results(step))
    return f"{made + ' = ' if made else ''}{name}({', '.join([*arguments, *flags_of(step)])})"


def _names(names: Sequence[str | None]) -> str:
    return f"[{', '.join(map(str, names))}]"


def headline(finding: dict[str, Any]) -> str:
    """Say who and where."""
    at = str(finding.get("at", ""))
    place = "after the last step" if at == "end" else f"at {at.removeprefix('op:')}" if at else ""
    bucket = str(finding.get("bucket", ""))
    return f"{finding.get('backend', '?')} {HAPPENED.get(bucket, bucket)} {place}".strip()


def summary(finding: dict[str, Any]) -> str:
    """Say what differs."""
    found = finding.get("mismatch")
    if not found:
        return {
            "crashed": "the process died; nothing to compare",
            "timed_out": "the time was up; nothing to compare",
        }.get(str(finding.get("bucket")), "no mismatch recorded")
    where = value_name(found) or {"result": "the result", "grad": ".grad"}.get(str(found.get("where")), "")
    what = f"{found.get('kind', '?')}{' of ' if where else ''}{where}"
    if found.get("kind") == "value":
        return f"wrong {what}"
    return f"{what}: expected {found.get('expected', '?')}, actual {found.get('actual', '?')}"


def value_name(found: dict[str, Any]) -> str:
    """Return the name of the value that differs, if the detail of the mismatch begins with one."""
    if found.get("where") not in ("result", "grad"):
        return ""
    name = re.match(r"([\w.]+)(?=: |$)", str(found.get("detail", "")))
    return name[1] if name else ""


def marked(expected: str, actual: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Cut two texts into parts, each with whether the other text lacks it."""
    left, right = TOKEN.findall(expected), TOKEN.findall(actual)
    if expected == actual or not expected or not actual or len(left) + len(right) > MOST_TOKENS:
        return [(expected, False)], [(actual, False)]
    parts: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    for tag, i, j, k, m in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        differs = tag != "equal"
        for side, tokens in zip(parts, (left[i:j], right[k:m]), strict=True):
            text = "".join(tokens)
            blank = len(text) - len(text.lstrip())  # a marked blank would be a coloured box that says nothing
            side.extend((t, d) for t, d in ((text[:blank], False), (text[blank:], differs)) if t)
    return parts

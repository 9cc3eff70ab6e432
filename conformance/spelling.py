"""Python text that reproductions of scripts and of programs share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case import Input
    from conformance.steps import Op


def array_text(entry: Input) -> str:
    """Write an input's elements as a NumPy array."""
    return f"np.array({entry.numbers()!r}, dtype={entry.dtype!r}).reshape({entry.shape!r})"


def op_text(step: Op, framework: str) -> str:
    """Write an op as an assignment to its results."""
    op = catalogue()[step.op]
    target = ", ".join(step.results) + ("," if len(step.results) > 1 else "")
    first = "[0]" if op.several and len(step.results) == 1 else ""
    return f"{target} = {op.text(framework, list(step.operands), step.attrs)}{first}"


def list_text(names: Sequence[str | None] | None, form: str | None = None) -> str:
    """Write a list of names, in a form of `conformance.steps`."""
    if names is None:
        return "None"
    text = ", ".join(str(n) for n in names)
    forms = {"bare": text, "tuple": f"({text},)", "set": f"{{{text}}}", "iterator": f"iter([{text}])"}
    return forms.get(form or "", f"[{text}]")

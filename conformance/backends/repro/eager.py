"""The skeleton of a reproduction that runs step by step: the steps in order, each tried, and what is to be seen printed after it.

What a framework is asked to write is the protocol `Printer`; everything else is the same for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from conformance.backends.repro.python_text import op_text
from conformance.case import steps

if TYPE_CHECKING:
    from conformance.backends.calls import Spelling
    from conformance.case.case import Case, Input


class Printer(Protocol):
    """What a reproduction asks of a framework: how a person writes each thing that a script can say. Tensors are given by name.

    Attributes:
        title: what the script is for, as its first line says.
        imports: the line that imports the framework.
        flag: the attribute of a tensor that says whether gradients flow to it, ``requires_grad`` or ``stop_gradient``.
        no_grad: an expression that opens a region where nothing is recorded.
        another_dtype: an expression that is the cotangent ``g`` in another dtype.
        spelling: how it writes ops.
    """

    title: str
    imports: str
    flag: str
    no_grad: str
    another_dtype: str
    spelling: Spelling

    def leaf(self, entry: Input) -> str:
        """Return an expression that makes an input."""

    def backward(self, step: steps.Backward) -> str:
        """Return the call of ``backward``."""

    def grad(self, step: steps.Grad) -> str:
        """Return the call of ``grad``."""

    def custom(self, step: steps.Custom) -> list[str]:
        """Return the lines that define a custom function and apply it."""

    def clear_grad(self, tensor: str, to: str) -> str:
        """Return a statement that makes ``.grad`` absent or zero."""

    def detach(self, tensor: str) -> str:
        """Return an expression of the elements without history."""

    def retain_grad(self, tensor: str) -> str:
        """Return a statement that asks a computed tensor to keep its ``.grad``."""

    def toggle(self, tensor: str, requires_grad: bool) -> str:
        """Return a statement that sets whether a tensor requires a gradient."""

    def hook(self, tensor: str, function: str) -> str:
        """Return an expression that registers a hook and is its handle."""

    def remove_hook(self, handle: str) -> str:
        """Return a statement that removes a hook by its handle."""

    def edge(self, tensor: str, name: str) -> str:
        """Return a statement that binds the gradient edge of a tensor to a name, or says that there is none."""

    def grad_of(self, tensor: str) -> str:
        """Return an expression of what a tensor holds as its gradient."""


def eager_script(case: Case, printer: Printer) -> str:
    """Write the script; it prints every result, every ``.grad`` and every exception step by step, and the inputs afterwards."""
    lines = [
        f'"""Case {case.id}, for {printer.title}."""',
        "import numpy as np",
        printer.imports,
        "",
        "nan, inf = float('nan'), float('inf')",
        *(f"{entry.name} = {printer.leaf(entry)}" for entry in case.inputs),
        "",
    ]
    retains = any(isinstance(step, steps.RetainGrad) for step in case.steps)
    for number, step in enumerate(case.steps):
        body = _body(step, printer)
        if getattr(step, "no_grad", False):
            body = [f"with {printer.no_grad}:", *(f"    {line}" for line in body)]
        names = () if isinstance(step, steps.NO_VALUE) else steps.observed(step)
        flag = printer.flag
        shown = [f'    print("{number}: {n} =", {n}, "{flag} =", getattr({n}, "{flag}", None))' for n in names]
        if isinstance(step, steps.Backward | steps.ClearGrad) or (isinstance(step, steps.Grad) and retains):
            shown += [f'    print("{number}: {n}.grad =", {printer.grad_of(n)})' for n in case.watched]
        lines += [
            "try:",
            *(f"    {line}" for line in body),
            *shown,
            "except Exception as error:",
            f'    print("{number}:", type(error).__name__, error)',
        ]
    dropped = {step.tensor for step in case.steps if isinstance(step, steps.Drop)}
    lines += [f'print("after: {entry.name} =", {entry.name})' for entry in case.inputs if entry.name not in dropped]
    return "\n".join(lines) + "\n"


def _body(step: steps.Step, printer: Printer) -> list[str]:
    match step:
        case steps.Op():
            return [op_text(step, printer.spelling)]
        case steps.InPlace():
            return [printer.spelling.text(step.op, [step.tensor, *step.operands], step.attrs, in_place=True)]
        case steps.Custom():
            return printer.custom(step)
        case steps.Backward():
            return [printer.backward(step)]
        case steps.Grad():
            target = f"{', '.join(step.results)}, = " if step.results else ""
            return [f"{target}{printer.grad(step)}"]
        case steps.AppendBackward():
            return ["raise NotImplementedError('append_backward belongs to static programs')"]
        case steps.ClearGrad():
            return [printer.clear_grad(step.tensor, step.to)]
        case steps.Detach():
            return [f"{step.results[0]} = {printer.detach(step.tensor)}"]
        case steps.RetainGrad():
            return [printer.retain_grad(step.tensor)]
        case steps.SetRequiresGrad():
            return [printer.toggle(step.tensor, step.requires_grad)]
        case steps.Hook():
            return _hook(step, printer)
        case steps.RemoveHook():
            return [printer.remove_hook(step.hook)]
        case steps.Edge():
            return [printer.edge(step.tensor, step.results[0])]
        case steps.Drop():
            held = [f"held = weakref.ref({step.tensor})", f"del {step.tensor}"]
            return ["import weakref", *held, f'print("{step.tensor} lives on:", held() is not None)']


def _hook(step: steps.Hook, printer: Printer) -> list[str]:
    name = step.results[0]
    body = {
        "nothing": "return None",
        "scaled": f"return g * {step.factor}",
        "tensor": f"return {step.tensor_returned}",
        "another_dtype": f"return {printer.another_dtype}",
        "error": f"raise RuntimeError({name!r})",
    }[step.returns]
    return [
        f"def called_{name}(g):",
        f'    print("    {name} saw", g)',
        f"    {body}",
        f"{name} = {printer.hook(step.tensor, f'called_{name}')}",
    ]

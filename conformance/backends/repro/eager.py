"""The skeleton of a reproduction that runs step by step: the steps in order, as a person would write them, then what is promised.

What a framework is asked to write is the protocol `Printer`; everything else is the same for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from conformance.backends.repro.claims import Wording, assertions, constants, copies
from conformance.backends.repro.python_text import op_text
from conformance.case import steps
from conformance.case.place import END

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.backends.calls import Spelling
    from conformance.backends.repro.claims import Promised, Refusal
    from conformance.case.case import Case, Input


class Printer(Wording, Protocol):
    """What a reproduction asks of a framework: how a person writes each thing that a script can say. Tensors are given by name.

    Attributes:
        title: what the script is for, as its first line says.
        imports: the line that imports the framework.
        no_grad: an expression that opens a region where nothing is recorded.
        recording: an expression that says whether ops are recorded.
        another_dtype: an expression that is the cotangent ``g`` in another dtype.
        spelling: how it writes ops.
    """

    title: str
    imports: str
    no_grad: str
    recording: str
    another_dtype: str
    spelling: Spelling

    def leaf(self, entry: Input) -> str:
        """Return an expression that makes an input."""

    def backward(self, step: steps.Backward) -> str:
        """Return the call of ``backward``."""

    def grad(self, step: steps.Grad) -> str:
        """Return the call of ``grad``."""

    def custom(self, step: steps.Custom, seen: Sequence[str]) -> list[str]:
        """Return the lines that define a custom function and apply it; ``seen``: what its backward does first."""

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


def eager_script(case: Case, printer: Printer, promised: Promised) -> str:
    """Write the script; it comes to its end where the promise is kept, and raises an ``AssertionError`` where it is not."""
    lines = [f"{entry.name} = {printer.leaf(entry)}" for entry in case.inputs]
    lines += copies(promised, -1, printer)
    lists = {"saw": promised.looks_at("hook"), "ran": promised.looks_at("function")}
    lines += [f"{name} = []" for name, used in lists.items() if used]
    lines.append("")
    for number, step in enumerate(case.steps):
        if number in promised.left_out and (promised.step is END or number < promised.step):
            lines.append(f"# Step {number} is left out: {promised.left_out[number]}.")
        if not promised.runs(number):
            continue
        if number == promised.step:
            lines += [f"{name}.clear()" for name, used in lists.items() if used and _calls_before(case, number)]
            lines += [f"# {line}" for line in promised.says]
        lines += _step(number, step, printer, promised)
        lines += copies(promised, number, printer)
    if promised.step is END:
        lines += [f"# {line}" for line in promised.says]
    lines += assertions(promised, printer)
    return "\n".join(
        [f'"""Case {case.id}, for {printer.title}."""', "import numpy as np", printer.imports, "", *constants(lines), *lines, ""]
    )


def _calls_before(case: Case, number: int) -> bool:
    return any(isinstance(step, steps.Call) for step in case.steps[:number])


def _step(number: int, step: steps.Step, printer: Printer, promised: Promised) -> list[str]:
    body = _body(step, printer, promised)
    if getattr(step, "no_grad", False):
        body = [f"with {printer.no_grad}:", *indented(body)]
    if number not in promised.refused:
        return body
    return list(refused(body, steps.results(step), promised.refusal if number == promised.step else None))


def indented(lines: Sequence[str]) -> list[str]:
    """Return lines one level deeper."""
    return [f"    {line}" for line in lines]


def refused(body: Sequence[str], results: Sequence[str], asserted: Refusal | None) -> Iterator[str]:
    """Yield the lines of a step that is promised to be refused; ``asserted``: the claim that it is, if the script is about that."""
    yield from ("try:", *indented(body), "except Exception as error:", '    print("refused:", error)')
    if asserted is not None:
        said = repr(f"{asserted.reason}: that must be refused, but it runs")
        given = f' + f", and gives {{[{", ".join(results)}]}}"' if results else ""
        yield from ("else:", f"    raise AssertionError({said}{given})")


def _body(step: steps.Step, printer: Printer, promised: Promised) -> list[str]:
    match step:
        case steps.Op():
            return [op_text(step, printer.spelling)]
        case steps.InPlace():
            return [printer.spelling.text(step.op, [step.tensor, *step.operands], step.attrs, in_place=True)]
        case steps.Custom():
            keeps = promised.looks_at("function")
            cotangents = zip(step.results, step.cotangents, strict=True)
            return printer.custom(step, [_kept("ran", n, c, printer) for n, c in cotangents] if keeps else [])
        case steps.Backward():
            return [*(["import tempfile"] if step.dump_backward_graph else []), printer.backward(step)]
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
            return _hook(step, printer, keeps=promised.looks_at("hook"))
        case steps.RemoveHook():
            return [printer.remove_hook(step.hook)]
        case steps.Edge():
            return [printer.edge(step.tensor, step.results[0])]
        case steps.Drop():
            held = [f"held = weakref.ref({step.tensor})", f"del {step.tensor}"]
            return ["import weakref", *held, f'print("{step.tensor} lives on:", held() is not None)']


def _kept(into: str, name: str, cotangent: str, printer: Printer) -> str:
    return f"{into}.append(({name!r}, {printer.array(cotangent)}, {printer.recording}))"


def _hook(step: steps.Hook, printer: Printer, *, keeps: bool) -> list[str]:
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
        *([f"    {_kept('saw', name, 'g', printer)}"] if keeps else []),
        f"    {body}",
        f"{name} = {printer.hook(step.tensor, f'called_{name}')}",
    ]

"""Standalone reproductions: a case as a script for one framework that imports that framework and NumPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case import Backward, ClearGrad, Detach, Grad, Op
from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case import Case, Input, Step

FRAMEWORKS = ("torch", "paddle")


def script(case: Case, framework: str) -> str:
    """Write the script; it prints every result, every ``.grad`` and every exception step by step, and the inputs afterwards."""
    lines = [
        f'"""Case {case.id}, for {framework}."""',
        "import numpy as np",
        f"import {framework}",
        "",
        "nan, inf = float('nan'), float('inf')",
        *(_leaf(entry, framework) for entry in case.inputs),
        "",
    ]
    for number, step in enumerate(case.steps):
        body = _body(step, framework)
        if getattr(step, "no_grad", False):
            body = [f"with {framework}.no_grad():", *(f"    {line}" for line in body)]
        names = getattr(step, "results", ())
        flag = "requires_grad" if framework == "torch" else "stop_gradient"
        shown = [f'    print("{number}: {n} =", {n}, "{flag} =", getattr({n}, "{flag}", None))' for n in names]
        if isinstance(step, Backward | ClearGrad):
            shown = [f'    print("{number}: {n}.grad =", {n}.grad)' for n in case.watched]
        lines += [
            "try:",
            *(f"    {line}" for line in body),
            *shown,
            "except Exception as error:",
            f'    print("{number}:", type(error).__name__, error)',
        ]
    lines += [f'print("after: {entry.name} =", {entry.name})' for entry in case.inputs]
    return "\n".join(lines) + "\n"


def _leaf(entry: Input, framework: str) -> str:
    data = [float(x) for x in entry.data]
    array = f"np.array({data!r}, dtype={entry.dtype!r}).reshape({entry.shape!r})"
    if framework == "torch":
        return f"{entry.name} = torch.from_numpy({array}).requires_grad_({entry.differentiable})"
    return f"{entry.name} = paddle.to_tensor({array}, stop_gradient={not entry.differentiable})"


def _body(step: Step, framework: str) -> list[str]:
    match step:
        case Op():
            call = catalogue()[step.op].text(framework, list(step.operands), step.attrs)
            target = ", ".join(step.results) + ("," if len(step.results) > 1 else "")
            single = len(step.results) == 1 and step.op in ("split", "chunk", "unbind")
            return [f"{target} = {call}" + ("[0]" if single else "")]
        case Backward():
            seeds = _list(step.grad_tensors)
            options = _given(retain_graph=step.retain_graph, create_graph=step.create_graph or None)
            inputs = [] if step.inputs is None else [f"inputs={_list(step.inputs)}"]
            return [f"{framework}.autograd.backward({', '.join([_list(step.tensors), seeds, *options, *inputs])})"]
        case Grad():
            module = "torch.autograd" if framework == "torch" else "paddle"
            options = _given(
                retain_graph=step.retain_graph,
                create_graph=step.create_graph or None,
                only_inputs=None if step.only_inputs else False,
                allow_unused=step.allow_unused,
                materialize_grads=step.materialize_grads or None,
            )
            cut = [] if step.no_grad_vars is None else [f"no_grad_vars={_list(step.no_grad_vars)}"]
            call = ", ".join([_list(step.outputs), _list(step.inputs), _list(step.grad_outputs), *options, *cut])
            return [f"{', '.join(step.results)}, = {module}.grad({call})"]
        case ClearGrad():
            if framework == "paddle":
                return [f"{step.tensor}.clear_gradient({step.to == 'zero'})"]
            zero = f"torch.zeros_like({step.tensor}.grad) if {step.tensor}.grad is not None else None"
            return [f"{step.tensor}.grad = {'None' if step.to == 'none' else zero}"]
        case Detach():
            return [f"{step.results[0]} = {step.tensor}.detach()"]


def _list(names: Sequence[str | None] | None) -> str:
    return "None" if names is None else f"[{', '.join(str(n) for n in names)}]"


def _given(**options: bool | None) -> list[str]:
    return [f"{name}={value}" for name, value in options.items() if value is not None]

"""Standalone reproductions: a case as a script for one framework that imports that framework and NumPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops import catalogue
from conformance.repro_programs import program_script
from conformance.spelling import array_text, list_text, op_text
from conformance.steps import (
    NO_VALUE,
    AppendBackward,
    Backward,
    ClearGrad,
    Custom,
    Detach,
    Drop,
    Edge,
    Grad,
    Hook,
    InPlace,
    Op,
    RemoveHook,
    RetainGrad,
    Toggle,
    results,
)

if TYPE_CHECKING:
    from conformance.case import Case, Input
    from conformance.steps import Flag, Step

PROGRAMS = ("paddle-static", "paddle-static-legacy")
FRAMEWORKS = ("torch", "paddle", *PROGRAMS)


def script(case: Case, framework: str) -> str:
    """Write the script; it prints every result, every ``.grad`` and every exception step by step, and the inputs afterwards."""
    if framework in PROGRAMS:
        return program_script(case, framework)
    lines = [
        f'"""Case {case.id}, for {framework}."""',
        "import numpy as np",
        f"import {framework}",
        "",
        "nan, inf = float('nan'), float('inf')",
        *(_leaf(entry, framework) for entry in case.inputs),
        "",
    ]
    retains = any(isinstance(step, RetainGrad) for step in case.steps)
    for number, step in enumerate(case.steps):
        body = _body(step, framework)
        if getattr(step, "no_grad", False):
            body = [f"with {framework}.no_grad():", *(f"    {line}" for line in body)]
        names = () if isinstance(step, NO_VALUE) else (step.tensor,) if isinstance(step, InPlace | Toggle) else results(step)
        flag = "requires_grad" if framework == "torch" else "stop_gradient"
        shown = [f'    print("{number}: {n} =", {n}, "{flag} =", getattr({n}, "{flag}", None))' for n in names]
        if isinstance(step, Backward | ClearGrad) or (isinstance(step, Grad) and retains):
            shown += [f'    print("{number}: {n}.grad =", {n}.grad)' for n in case.watched]
        lines += [
            "try:",
            *(f"    {line}" for line in body),
            *shown,
            "except Exception as error:",
            f'    print("{number}:", type(error).__name__, error)',
        ]
    dropped = {step.tensor for step in case.steps if isinstance(step, Drop)}
    lines += [f'print("after: {entry.name} =", {entry.name})' for entry in case.inputs if entry.name not in dropped]
    return "\n".join(lines) + "\n"


def _leaf(entry: Input, framework: str) -> str:
    array = array_text(entry)
    if framework == "torch":
        return f"{entry.name} = torch.from_numpy({array}).requires_grad_({entry.differentiable})"
    return f"{entry.name} = paddle.to_tensor({array}, stop_gradient={not entry.differentiable})"


def _body(step: Step, framework: str) -> list[str]:
    flag = "requires_grad" if framework == "torch" else "stop_gradient"
    match step:
        case Op():
            return [op_text(step, framework)]
        case InPlace():
            return [catalogue()[step.op].text(framework, [step.tensor, *step.operands], step.attrs, in_place=True)]
        case Custom():
            return _custom(step, framework)
        case Backward():
            return [_backward(step, framework)]
        case Grad():
            return [_grad(step, framework)]
        case AppendBackward():
            return ["raise NotImplementedError('append_backward belongs to static programs')"]
        case ClearGrad():
            if framework == "paddle":
                return [f"{step.tensor}.clear_gradient({step.to == 'zero'})"]
            zero = f"torch.zeros_like({step.tensor}.grad) if {step.tensor}.grad is not None else None"
            return [f"{step.tensor}.grad = {'None' if step.to == 'none' else zero}"]
        case Detach():
            return [f"{step.results[0]} = {step.tensor}.detach()"]
        case RetainGrad():
            return [f"{step.tensor}.retain_grad{'s' if framework == 'paddle' else ''}()"]
        case Toggle():
            return [f"{step.tensor}.{flag} = {step.requires_grad is (framework == 'torch')}"]
        case Hook():
            return _hook(step, framework)
        case RemoveHook():
            return [f"{step.hook}.remove()"]
        case Edge():
            return [f"{step.results[0]} = torch.autograd.graph.get_gradient_edge({step.tensor})"]
        case Drop():
            held = [f"held = weakref.ref({step.tensor})", f"del {step.tensor}"]
            return ["import weakref", *held, f'print("{step.tensor} lives on:", held() is not None)']


def _backward(step: Backward, framework: str) -> str:
    options = _given(retain_graph=step.retain_graph, create_graph=step.create_graph or None)
    options += [] if step.inputs is None else [f"inputs={list_text(step.inputs, step.form)}"]
    options += [] if step.grad_variables is None else [f"grad_variables={list_text(step.grad_variables, step.form)}"]
    options += ["dump_backward_graph_path='dump'"] if step.dump_backward_graph else []
    call = ", ".join([list_text(step.tensors, step.form), list_text(step.grad_tensors, step.form), *options])
    return f"{framework}.autograd.backward({call})"


def _grad(step: Grad, framework: str) -> str:
    module = "torch.autograd" if framework == "torch" else "paddle"
    form = None if step.form == "set" else step.form
    options = _given(
        retain_graph=step.retain_graph,
        create_graph=step.create_graph or None,
        only_inputs=None if step.only_inputs else False,
        allow_unused=step.allow_unused,
        materialize_grads=step.materialize_grads or None,
        is_grads_batched=step.is_grads_batched or None,
    )
    cut = [] if step.no_grad_vars is None else [f"no_grad_vars={list_text(step.no_grad_vars, step.form)}"]
    lists = [list_text(step.outputs, form), list_text(step.inputs, form), list_text(step.grad_outputs, form)]
    target = f"{', '.join(step.results)}, = " if step.results else ""
    return f"{target}{module}.grad({', '.join([*lists, *options, *cut])})"


def _hook(step: Hook, framework: str) -> list[str]:
    name = step.results[0]
    dtype = "g.double() if g.dtype == torch.float32 else g.float()"
    if framework == "paddle":
        dtype = "g.cast('float64' if g.dtype == paddle.float32 else 'float32')"
    body = {
        "nothing": "return None",
        "scaled": f"return g * {step.factor}",
        "tensor": f"return {step.tensor_returned}",
        "another_dtype": f"return {dtype}",
        "error": f"raise RuntimeError({name!r})",
    }[step.returns]
    return [
        f"def called_{name}(g):",
        f'    print("    {name} saw", g)',
        f"    {body}",
        f"{name} = {step.tensor}.register_hook(called_{name})",
    ]


def _custom(step: Custom, framework: str) -> list[str]:
    base = "torch.autograd.Function" if framework == "torch" else "paddle.autograd.PyLayer"
    saved = "ctx.saved_tensors" if framework == "torch" else "ctx.saved_tensor()"
    unpacked = [f"        {', '.join(step.saved)}, = {saved}"] if step.saved else []
    many = len(step.outputs) > 1
    operands = [f"{name}_{i}" if name in step.operands[:i] else name for i, name in enumerate(step.operands)]
    marked = [name for name in dict.fromkeys(step.operands) if name in step.outputs] if framework == "paddle" else []
    gradients = ", ".join(str(n) for n in step.gradients)
    return [
        f"class Function({base}):",
        "    @staticmethod",
        f"    def forward(ctx, {', '.join(operands)}):",
        *(f"        {op_text(op, framework)}" for op in step.forward),
        f"        ctx.save_for_backward({', '.join(step.saved)})",
        *([f"        ctx.mark_not_inplace({', '.join(marked)})"] if marked else []),
        f"        return {', '.join(step.outputs)}",
        "    @staticmethod",
        f"    def backward(ctx, {', '.join(step.cotangents)}):",
        *unpacked,
        *(f'        print("    {n} saw", {c})' for n, c in zip(step.results, step.cotangents, strict=True)),
        *(f"        {op_text(op, framework)}" for op in step.backward),
        f"        return {gradients or '()'}",
        f"{', '.join(step.results)}{',' if many else ''} = Function.apply({', '.join(step.operands)})",
    ]


def _given(**options: Flag | None) -> list[str]:
    return [f"{name}={value}" for name, value in options.items() if value is not None]

"""How a person writes a static program for Paddle: built step by step, run once, and then printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.calls import Spelling
from conformance.backends.repro.python_text import array_text, list_text, op_text
from conformance.case.steps import AppendBackward, Detach, Grad, Op, kind, results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Case, Input
    from conformance.case.steps import Step


def script(case: Case) -> str:
    """Write a case as a script that imports Paddle and NumPy alone."""
    return program_script(case, "paddle-static", Spelling("paddle"))


def program_script(case: Case, title: str, spelling: Spelling, before: Sequence[str] = ()) -> str:
    """Write the script: it builds the program step by step, runs it once and prints every result, or why there is none.

    ``before``: lines that come before all imports.
    """
    fed = [entry for entry in case.inputs if entry.name not in case.parameters]
    lines = [
        f'"""Case {case.id}, for {title}."""',
        *before,
        "import numpy as np",
        "import paddle",
        "",
        "nan, inf = float('nan'), float('inf')",
        "paddle.enable_static()",
        "main, startup = paddle.static.Program(), paddle.static.Program()",
        "fetch = {}",
        "with paddle.static.program_guard(main, startup):",
        *(f"    {line}" for entry in case.inputs for line in _leaf(entry, parameter=entry.name in case.parameters)),
    ]
    for number, step in enumerate(case.steps):
        body = _body(step, spelling)
        if getattr(step, "no_grad", False):
            body = ["with paddle.no_grad():", *(f"    {line}" for line in body)]
        shown = [f"fetch[{name!r}] = {name}" for name in results(step)]
        lines += [
            "    try:",
            *(f"        {line}" for line in [*body, *shown]),
            "    except Exception as error:",
            f'        print("{number}:", type(error).__name__, error)',
        ]
    lines += [
        "    executor = paddle.static.Executor(paddle.CPUPlace())",
        "    executor.run(startup)",
        f"    feed = {{{', '.join(f'{e.name!r}: {array_text(e)}' for e in fed)}}}",
        "    present = {name: made for name, made in fetch.items() if made is not None}",
        "    arrays = executor.run(main, feed=feed, fetch_list=list(present.values()))",
        "for name in fetch:",
        "    array = dict(zip(present, arrays)).get(name)",
        '    print(name, "=", None if array is None else array, "stop_gradient =", getattr(fetch[name], "stop_gradient", None))',
    ]
    return "\n".join(lines) + "\n"


def _leaf(entry: Input, *, parameter: bool) -> list[str]:
    name, facts = entry.name, f"{list(entry.shape)}, {entry.dtype!r}"
    if parameter:
        value = f"paddle.nn.initializer.Assign({array_text(entry)})"
        return [f"{name} = paddle.create_parameter({facts}, {name!r}, default_initializer={value})"]
    return [f"{name} = paddle.static.data({name!r}, {facts})", f"{name}.stop_gradient = {not entry.differentiable}"]


def _body(step: Step, spelling: Spelling) -> list[str]:
    match step:
        case Op():
            return [op_text(step, spelling)]
        case Grad():
            ignored = list_text(step.no_grad_vars, "set")
            lists = ", ".join([list_text(step.outputs), list_text(step.inputs), list_text(step.grad_outputs), ignored])
            return [f"{', '.join(step.results)}, = paddle.static.gradients({lists})"]
        case AppendBackward():
            return _append_backward(step)
        case Detach():
            return [f"{step.results[0]} = {step.tensor}.detach()"]
        case _:
            return [f"raise NotImplementedError({kind(step)!r})"]


def _append_backward(step: AppendBackward) -> list[str]:
    ending = ".name" if step.by_name else ""
    passed = []
    if step.parameter_list is not None:
        passed.append(f"parameter_list=[{', '.join(n + ending for n in step.parameter_list)}]")
    if step.no_grad_set is not None:
        passed.append(f"no_grad_set={{{', '.join(n + ending for n in step.no_grad_set)}}}")
    if step.callbacks:
        passed.append('callbacks=[lambda block, context: print("called back for", context["__current_op_desc__"].type())]')
    return [
        f"pairs = paddle.static.append_backward({', '.join([step.loss, *passed])})",
        'print("parameters:", [parameter.name for parameter, _ in pairs])',
        f"{', '.join(step.results)}, = [gradient for _, gradient in pairs]",
    ]

"""How a person writes a static program for Paddle: built up to a step, run once, and held against what is promised of that step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.backends.calls import Spelling
from conformance.backends.repro.claims import Elements, assertions, constants
from conformance.backends.repro.eager import indented, refused
from conformance.backends.repro.python_text import array_text, list_text, op_text
from conformance.case.place import END
from conformance.case.steps import AppendBackward, Detach, Grad, Op, SetRequiresGrad, kind, results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.backends.repro.claims import Promised
    from conformance.case.case import Case, Input
    from conformance.case.steps import Step


def script(case: Case, promised: Promised) -> str:
    """Write a case as a script that imports Paddle and NumPy alone."""
    return program_script(case, promised, "paddle-static", Spelling("paddle"))


class ProgramWording:
    """`Wording` in which elements are those that the executor fetched."""

    def array(self, tensor: str) -> str:
        return f"arrays[{tensor!r}]"

    def flag(self, tensor: str, requires_grad: bool) -> str:
        return f"{tensor}.stop_gradient is {not requires_grad}"

    def grad_of(self, tensor: str) -> str:
        return f"{tensor}.grad"


def program_script(case: Case, promised: Promised, title: str, spelling: Spelling, before: Sequence[str] = ()) -> str:
    """Write the script: it builds the program up to a step, runs it once, and asserts what is promised of that step.

    ``before``: lines that come before all imports.
    """
    lines = [line for entry in case.inputs for line in _leaf(entry, parameter=entry.name in case.parameters)]
    for number, step in enumerate(case.steps):
        if not promised.runs(number):
            continue
        body = _body(step, spelling, case.parameters)
        if getattr(step, "no_grad", False):
            body = ["with paddle.no_grad():", *indented(body)]
        if number == promised.step:
            lines += [f"# {line}" for line in promised.says]
        if number not in promised.refused:
            lines += body
        elif number == promised.step:  # a program may be refused while it is built or when it runs
            lines += refused([*body, *_run(case, results(step))], results(step), promised.refusal)
        else:
            lines += refused(body, (), None)
    words = ProgramWording()
    ran = tuple(claim for claim in promised.claims if isinstance(claim, Elements))
    lines += assertions(replace(promised, claims=tuple(claim for claim in promised.claims if claim not in ran)), words)
    if promised.refusal is None:
        asserted = tuple(claim.spot.name for claim in promised.claims if isinstance(claim, Elements))
        lines += _run(case, asserted if promised.claims or promised.step is END else results(case.steps[promised.step]))
        lines += assertions(replace(promised, claims=ran), words)
    head = [f'"""Case {case.id}, for {title}."""', *before, "import numpy as np", "import paddle", "", *constants(lines)]
    start = ["paddle.enable_static()", "main, startup = paddle.static.Program(), paddle.static.Program()"]
    return "\n".join([*head, *start, "with paddle.static.program_guard(main, startup):", *indented(lines), ""])


def _run(case: Case, names: Sequence[str]) -> list[str]:
    """Write a run of the program, after which the elements of some variables are known."""
    feed = ", ".join(f"{e.name!r}: {array_text(e)}" for e in case.inputs if e.name not in case.parameters)
    return [
        "executor = paddle.static.Executor(paddle.CPUPlace())",
        "executor.run(startup)",
        f"seen = executor.run(main, feed={{{feed}}}, fetch_list=[{', '.join(names)}])",
        f"arrays = dict(zip({list(names)!r}, seen, strict=True))",
    ]


def _leaf(entry: Input, *, parameter: bool) -> list[str]:
    name, facts = entry.name, f"{list(entry.shape)}, {entry.dtype!r}"
    if parameter:
        value = f"paddle.nn.initializer.Assign({array_text(entry)})"
        return [f"{name} = paddle.create_parameter({facts}, {name!r}, default_initializer={value})"]
    return [f"{name} = paddle.static.data({name!r}, {facts})", f"{name}.stop_gradient = {not entry.differentiable}"]


def _body(step: Step, spelling: Spelling, parameters: Sequence[str]) -> list[str]:
    match step:
        case Op():
            return [op_text(step, spelling)]
        case Grad():
            ignored = list_text(step.no_grad_vars, "set")
            lists = ", ".join([list_text(step.outputs), list_text(step.inputs), list_text(step.grad_outputs), ignored])
            return [f"{', '.join(step.results)}, = paddle.static.gradients({lists})"]
        case AppendBackward():
            return _append_backward(step, parameters)
        case Detach():
            return [f"{step.results[0]} = {step.tensor}.detach()"]
        case SetRequiresGrad():
            return [f"{step.tensor}.stop_gradient = {not step.requires_grad}"]
        case _:
            return [f"raise NotImplementedError({kind(step)!r})"]


def _append_backward(step: AppendBackward, parameters: Sequence[str]) -> list[str]:
    wanted = parameters if step.parameter_list is None else step.parameter_list
    ending = ".name" if step.by_name else ""
    passed = []
    if step.parameter_list is not None:
        passed.append(f"parameter_list=[{', '.join(n + ending for n in step.parameter_list)}]")
    if step.no_grad_set is not None:
        passed.append(f"no_grad_set={{{', '.join(n + ending for n in step.no_grad_set)}}}")
    if step.callbacks:
        passed.append('callbacks=[lambda block, context: called.append(context["__current_op_desc__"].type())]')
    return [
        *(["called = []"] if step.callbacks else []),
        f"pairs = paddle.static.append_backward({', '.join([step.loss, *passed])})",
        "gradients = {parameter.name: gradient for parameter, gradient in pairs}",
        *(f"{result} = gradients.get({name}.name)" for result, name in zip(step.results, wanted, strict=True)),
    ]

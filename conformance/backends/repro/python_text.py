"""Python text that the printers of several frameworks share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.backends.calls import Spelling
    from conformance.case.case import Input
    from conformance.case.steps import Backward, Custom, Flag, Grad, Op

SPELLED = 8
"""Up to so many elements are written one by one although they are all the same."""


def array_text(entry: Input) -> str:
    """Write an input's elements as a NumPy array."""
    array = entry.array()
    if entry.strided is not True:
        return numbers_text(array)
    return f"np.repeat({numbers_text(array.ravel())}, 2)[::2].reshape({entry.shape!r})"


def numbers_text(array: Any) -> str:
    """Write an array; ``nan`` and ``inf`` stand for what they are called."""
    if not array.size:
        return f"np.zeros({array.shape!r}, dtype={str(array.dtype)!r})"
    if array.size > SPELLED and len({number.tobytes() for number in array.ravel()}) == 1:
        return f"np.full({array.shape!r}, {_nested(array.ravel()[0])}, dtype={str(array.dtype)!r})"
    return f"np.array({_nested(array)}, dtype={str(array.dtype)!r})"


def _nested(array: Any) -> str:
    if array.ndim:
        return f"[{', '.join(map(_nested, array))}]"
    number = array[()]
    if np.iscomplexobj(array):  # Python's own form loses the sign of a zero, and is no expression where a part is not finite
        return f"complex({_nested(number.real)}, {_nested(number.imag)})"
    if array.dtype.kind != "f" or np.isnan(number) or array.dtype.type(float(str(number))) == number:
        return str(number)
    return repr(float(number))  # the shortest text of single precision, read as a double and rounded, may be its neighbour


def op_text(step: Op, spelling: Spelling) -> str:
    """Write an op as an assignment to its results."""
    target = ", ".join(step.results) + ("," if len(step.results) > 1 else "")
    first = "[0]" if catalogue()[step.op].multi_output and len(step.results) == 1 else ""
    return f"{target} = {spelling.text(step.op, step.operands, step.attrs)}{first}"


def list_text(names: Sequence[str | None] | None, form: str | None = None) -> str:
    """Write a list of names, in a form of `conformance.case.steps`."""
    if names is None:
        return "None"
    text = ", ".join(str(n) for n in names)
    forms = {"bare": text, "tuple": f"({text},)", "set": f"{{{text}}}", "iterator": f"iter([{text}])"}
    return forms.get(form or "", f"[{text}]")


def backward_text(step: Backward, function: str) -> str:
    """Write a call of ``backward`` with the parameters that the step passes, by the names that they have in every framework."""
    options = _given(retain_graph=step.retain_graph, create_graph=step.create_graph or None)
    options += [] if step.inputs is None else [f"inputs={list_text(step.inputs, step.form)}"]
    options += [] if step.grad_variables is None else [f"grad_variables={list_text(step.grad_variables, step.form)}"]
    options += ["dump_backward_graph_path=tempfile.mkdtemp()"] if step.dump_backward_graph else []
    return f"{function}({', '.join([list_text(step.tensors, step.form), list_text(step.grad_tensors, step.form), *options])})"


def grad_text(step: Grad, function: str) -> str:
    """Write a call of ``grad`` with the parameters that the step passes, by the names that they have in every framework."""
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
    return f"{function}({', '.join([*lists, *options, *cut])})"


def function_text(step: Custom, spelling: Spelling, *, base: str, saved: str, seen: Sequence[str], marks: str = "") -> list[str]:
    """Write a custom function as a class with a static ``forward`` and ``backward``, and the call that applies it.

    ``base``: the class that it extends; ``saved``: what its ``backward`` reads saved tensors from; ``seen``: what that does first;
    ``marks``: the method that is told which operands the forward returns, if there is one.
    """
    unpacked = [f"        {', '.join(step.saved)}, = {saved}"] if step.saved else []
    operands = [f"{name}_{i}" if name in step.operands[:i] else name for i, name in enumerate(step.operands)]
    returned = [name for name in dict.fromkeys(step.operands) if name in step.outputs]
    gradients = ", ".join(str(n) for n in step.gradients)
    return [
        f"class Function({base}):",
        "    @staticmethod",
        f"    def forward(ctx, {', '.join(operands)}):",
        *(f"        {op_text(op, spelling)}" for op in step.forward),
        f"        ctx.save_for_backward({', '.join(step.saved)})",
        *([f"        {marks}({', '.join(returned)})"] if marks and returned else []),
        f"        return {', '.join(step.outputs)}",
        "    @staticmethod",
        f"    def backward(ctx, {', '.join(step.cotangents)}):",
        *unpacked,
        *(f"        {line}" for line in seen),
        *(f"        {op_text(op, spelling)}" for op in step.backward),
        f"        return {gradients or '()'}",
        f"{', '.join(step.results)}{',' if len(step.outputs) > 1 else ''} = Function.apply({', '.join(step.operands)})",
    ]


def _given(**options: Flag | None) -> list[str]:
    return [f"{name}={value}" for name, value in options.items() if value is not None]

"""Cases as JSON files, and what is refused when one is read."""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from conformance.case import steps
from conformance.case.case import NON_FINITE, SCHEMA, Case, content
from conformance.ops import catalogue
from conformance.ops.dtypes import DTYPES, is_complex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from conformance.case.case import Input


class CaseError(ValueError):
    """A case file that is not a case; the message has the place and the reason."""


_decoder = msgspec.json.Decoder(Case)


def encode(case: Case) -> str:
    """Write a case as JSON."""
    return msgspec.json.format(content(case), indent=1).decode()


def decode(text: str | bytes, source: str = "case") -> Case:
    """Read and check a case.

    Raises:
        CaseError: with the source, the place and the reason.
    """
    try:
        case = _decoder.decode(text)
    except msgspec.DecodeError as error:
        msg = f"{source}: {error}"
        raise CaseError(msg) from None
    check(case, source)
    return case


def read(path: Path) -> Case:
    """Read a case file.

    Raises:
        CaseError: if it cannot be read or is no case.
    """
    try:
        return decode(path.read_bytes(), str(path))
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise CaseError(msg) from None


def check(case: Case, source: str = "case") -> None:
    """Refuse a case that breaks a rule of the language.

    Raises:
        CaseError: with the place and the reason.
    """
    for place, reason in _problems(case):
        msg = f"{source}: {place}: {reason}"
        raise CaseError(msg)


def is_right(case: Case) -> bool:
    """Whether a case breaks no rule of the language."""
    return next(_problems(case), None) is None


def _problems(case: Case) -> Iterator[tuple[str, str]]:
    if case.schema != SCHEMA:
        yield "schema", f"is {case.schema}; this version reads {SCHEMA}"
    made: set[str] = set()
    for i, input_ in enumerate(case.inputs):
        if input_.name in made:
            yield f"inputs[{i}].name", f"{input_.name!r} is made twice"
        made.add(input_.name)
        yield from _input_problems(f"inputs[{i}]", input_)
    for i, step in enumerate(case.steps):
        for field, name in steps.uses(step):
            if name not in made:
                yield f"steps[{i}].{field}", f"{name!r} is not made before this step"
        for name in steps.results(step):
            if name in made:
                yield f"steps[{i}].results", f"{name!r} is made twice"
            if not _is_name(name):
                yield f"steps[{i}].results", f"{name!r} is no name; a name is a Python identifier"
            made.add(name)
        yield from _step_problems(f"steps[{i}]", step)
        if isinstance(step, steps.AppendBackward):
            parameters = case.parameters if step.parameter_list is None else step.parameter_list
            if len(step.results) != len(parameters):
                yield f"steps[{i}].results", f"names {len(step.results)} results for {len(parameters)} parameters"
    yield from _handle_problems(case)


def _input_problems(place: str, input_: Input) -> Iterator[tuple[str, str]]:
    if not _is_name(input_.name):
        yield f"{place}.name", f"{input_.name!r} is no name; a name is a Python identifier"
    if input_.dtype not in DTYPES:
        yield f"{place}.dtype", f"{input_.dtype!r} is unknown; allowed are {', '.join(DTYPES)}"
    if any(n < 0 for n in input_.shape):
        yield f"{place}.shape", "has a negative length"
    expected = int(np.prod(input_.shape, dtype=int))
    if len(input_.data) != expected:
        yield f"{place}.data", f"has {len(input_.data)} elements; the shape {list(input_.shape)} needs {expected}"
    for element in input_.data:
        if isinstance(element, tuple) != is_complex(input_.dtype):
            pairs = "pairs of a real and an imaginary part" if is_complex(input_.dtype) else "numbers, not pairs"
            yield f"{place}.data", f"holds {element!r}; the elements of a {input_.dtype} tensor are {pairs}"
        for word in element if isinstance(element, tuple) else (element,):
            if isinstance(word, str) and word not in NON_FINITE:
                yield f"{place}.data", f"{word!r} is no number; allowed words are {', '.join(NON_FINITE)}"


def _handle_problems(case: Case) -> Iterator[tuple[str, str]]:
    """Look for handles that are taken for tensors: an edge stands for one in the calls alone, a hook can only be removed."""
    handles = {s.results[0]: s for s in case.steps if isinstance(s, steps.Hook | steps.Edge) and s.results}
    for i, step in enumerate(case.steps):
        for field, name in () if isinstance(step, steps.Drop) else steps.uses(step):
            handle = handles.get(name)
            if isinstance(handle, steps.Hook) != (field == "hook"):
                yield f"steps[{i}].{field}", f"{name!r} is {'a' if isinstance(handle, steps.Hook) else 'no'} hook"
            taken = isinstance(step, steps.Grad | steps.Backward) and field in (step.ROOTS, step.ASKED)
            if isinstance(handle, steps.Edge) and not taken:
                yield f"steps[{i}].{field}", f"{name!r} is an edge; calls take it as root or input alone"


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _step_problems(place: str, step: steps.Step) -> Iterable[tuple[str, str]]:
    match step:
        case steps.Op():
            yield from _op_problems(place, step.op, len(step.operands), set(step.attrs))
            if not step.results:
                yield f"{place}.results", "names no result"
        case steps.InPlace():
            yield from _op_problems(place, step.op, 1 + len(step.operands), set(step.attrs))
            if step.op in catalogue() and catalogue()[step.op].form is None:
                yield f"{place}.op", f"{step.op} has no form in place; 'conformance ops' lists those that have one"
        case steps.Custom():
            yield from _custom_problems(place, step)
        case steps.Grad() if len(step.results) != len(step.inputs):
            yield f"{place}.results", f"names {len(step.results)} results for {len(step.inputs)} inputs"
        case steps.Backward() if not step.tensors:
            yield f"{place}.tensors", "is empty"
        case steps.Grad() if not step.outputs:
            yield f"{place}.outputs", "is empty"
        case steps.Detach() | steps.Hook() | steps.Edge() if len(step.results) != 1:
            yield f"{place}.results", "names one result"
        case steps.Hook() if (step.returns == "scaled") != (step.factor is not None):
            yield f"{place}.factor", "belongs to a hook that returns 'scaled', and to no other"
        case steps.Hook() if (step.returns == "tensor") != (step.tensor_returned is not None):
            yield f"{place}.tensor_returned", "belongs to a hook that returns 'tensor', and to no other"
        case steps.Backward() | steps.Grad() if step.form == "set" and getattr(step, "no_grad_vars", None) is None:
            yield f"{place}.form", "is 'set' where no_grad_vars are given, and nowhere else"
        case steps.Backward() | steps.Grad() if step.form == "bare":
            for field in step.NAMES:
                if len(getattr(step, field) or ("one",)) != 1:
                    yield f"{place}.{field}", "holds one name where the form is 'bare'"
        case _:
            return


def _op_problems(place: str, name: str, operands: int, attrs: set[str]) -> Iterable[tuple[str, str]]:
    op = catalogue().get(name)
    if op is None:
        yield f"{place}.op", f"{name!r} is unknown; 'conformance ops' lists the known ones"
        return
    if not op.variadic and operands != len(op.operands):
        yield f"{place}.operands", f"{name} takes {', '.join(op.operands)}"
    if attrs != set(op.attrs):
        yield f"{place}.attrs", f"{name} takes {', '.join(op.attrs) or 'no attributes'}"


def _custom_problems(place: str, step: steps.Custom) -> Iterable[tuple[str, str]]:
    if not step.results:
        yield f"{place}.results", "names no result"
    for field in ("outputs", "cotangents"):
        if len(getattr(step, field)) != len(step.results):
            yield f"{place}.{field}", f"holds {len(getattr(step, field))} names for {len(step.results)} results"
    if len(set(step.outputs)) < len(step.outputs):
        yield f"{place}.outputs", "names one value twice: both results would be one tensor"
    scopes = {"forward": set(step.operands), "backward": {*step.saved, *step.cotangents}}
    for field, made in scopes.items():
        for i, inner in enumerate(getattr(step, field)):
            for name in inner.operands:
                if name not in made:
                    yield f"{place}.{field}[{i}].operands", f"{name!r} is not known in the {field} of a custom function"
            yield from _step_problems(f"{place}.{field}[{i}]", inner)
            made.update(inner.results)
    for field, names, scope in (
        ("outputs", step.outputs, "forward"),
        ("saved", step.saved, "forward"),
        ("gradients", step.gradients, "backward"),
    ):
        for name in names:
            if name is not None and name not in scopes[scope]:
                yield f"{place}.{field}", f"{name!r} is not known in the {scope} of a custom function"

"""The case language: a small straight-line autograd program, data and not code.

A `Case` is a list of inputs and a list of steps (see `conformance.steps`). Every value has a name and is made once; a step may use
only names that were made before it. Results of autograd calls are values like any other, so a second derivative is just a `Grad` of
something computed from the result of a `Grad`. A step may fail on an engine; the script goes on, and steps that need what is missing
are blocked.

A case's id is a hash of its content, so the same case has the same id everywhere. Floats round-trip exactly. Defaults are left out of
the JSON only where they are singletons: whether any other value is "the default" would depend on which object it is.
"""

from __future__ import annotations

import functools
import hashlib
import keyword
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
import numpy as np

from conformance.steps import (
    AppendBackward,
    Backward,
    Custom,
    Detach,
    Drop,
    Edge,
    Grad,
    Hook,
    InPlace,
    Op,
    RetainGrad,
    Step,
    Toggle,
    parameters,
    results,
    uses,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SCHEMA = 1
DTYPES = ("float32", "float64", "complex64", "complex128")
_NON_FINITE = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}

Number: TypeAlias = float | str
Element: TypeAlias = Number | tuple[Number, Number]


class CaseError(ValueError):
    """A case file that is not a case; the message has the place and the reason."""


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A leaf. ``data`` lists the elements in row-major order; ``"nan"``, ``"inf"`` and ``"-inf"`` are written as words.

    A complex element is a pair of its real and its imaginary part.
    """

    name: str
    shape: tuple[int, ...]
    data: tuple[Element, ...]
    dtype: str = "float32"
    differentiable: bool = True

    def array(self) -> np.ndarray[Any, Any]:
        """Return the elements as a fresh array."""
        return np.array(self.numbers(), dtype=self.dtype).reshape(self.shape)

    def numbers(self) -> list[complex]:
        """Return the elements as Python numbers."""
        numbers: Any = self.data
        if is_complex(self.dtype):
            return [complex(*map(_number, pair)) for pair in numbers]
        return [_number(x) for x in numbers] if str in map(type, numbers) else list(numbers)


def _number(x: Number) -> float:
    return _NON_FINITE[x] if isinstance(x, str) else x


def is_complex(dtype: str) -> bool:
    """Whether a dtype is that of complex numbers."""
    return dtype.startswith("complex")


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """One script.

    ``lane`` is ``"exact"`` where every number was chosen so that all arithmetic is exact and comparison is bitwise.
    """

    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    lane: Literal["exact", "numeric"] = "numeric"
    schema: int = SCHEMA

    @functools.cached_property
    def id(self) -> str:
        """Hash of the content, 16 hexadecimal digits."""
        return hashlib.blake2b(_encoder.encode(self), digest_size=8).hexdigest()

    @functools.cached_property
    def watched(self) -> tuple[str, ...]:
        """Values whose ``.grad`` is observed: differentiable inputs, and what a step may give a ``.grad``."""
        names = [i.name for i in self.inputs if i.differentiable]
        edges = {s.results[0]: s.tensor for s in self.steps if isinstance(s, Edge)}
        for step in self.steps:
            if isinstance(step, Backward) and step.inputs:
                names.extend(edges.get(name, name) for name in step.inputs)
            elif isinstance(step, RetainGrad | Toggle):
                names.append(step.tensor)
        return tuple(dict.fromkeys(names))

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """Inputs that are parameters of a program: the differentiable ones, where some step appends a backward part."""
        appends = any(isinstance(s, AppendBackward) for s in self.steps)
        return tuple(i.name for i in self.inputs if i.differentiable and appends)

    @functools.cached_property
    def needs(self) -> tuple[tuple[str, ...], ...]:
        """What each step needs of a backend, see `conformance.steps.parameters`; every backend that runs the case asks."""
        return tuple(tuple(parameters(step)) for step in self.steps)

    @functools.cached_property
    def names_used(self) -> tuple[tuple[str, ...], ...]:
        """The names that each step uses."""
        return tuple(tuple(name for _, name in uses(step)) for step in self.steps)

    def __hash__(self) -> int:
        return int(self.id, 16)


_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder(Case)


def data_of(array: Any) -> tuple[Element, ...]:
    """Write an array's elements as the data of an `Input`."""
    if np.iscomplexobj(array):
        return tuple((_word(x.real), _word(x.imag)) for x in np.ravel(array))
    return tuple(_word(x) for x in np.ravel(array))


def _word(x: Any) -> Number:
    return float(x) if np.isfinite(x) else str(float(x))


def encode(case: Case) -> str:
    """Write a case as JSON."""
    return msgspec.json.format(_encoder.encode(case), indent=1).decode()


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


def _problems(case: Case) -> Iterator[tuple[str, str]]:
    if case.schema != SCHEMA:
        yield "schema", f"is {case.schema}; this version reads {SCHEMA}"
    made: set[str] = set()
    for i, entry in enumerate(case.inputs):
        place = f"inputs[{i}]"
        if entry.name in made:
            yield f"{place}.name", f"{entry.name!r} is made twice"
        made.add(entry.name)
        if not _is_name(entry.name):
            yield f"{place}.name", f"{entry.name!r} is no name; a name is a Python identifier"
        if entry.dtype not in DTYPES:
            yield f"{place}.dtype", f"{entry.dtype!r} is unknown; allowed are {', '.join(DTYPES)}"
        if any(n < 0 for n in entry.shape):
            yield f"{place}.shape", "has a negative length"
        expected = int(np.prod(entry.shape, dtype=int))
        if len(entry.data) != expected:
            yield f"{place}.data", f"has {len(entry.data)} elements; the shape {list(entry.shape)} needs {expected}"
        for element in entry.data:
            if isinstance(element, tuple) != is_complex(entry.dtype):
                pairs = "pairs of a real and an imaginary part" if is_complex(entry.dtype) else "numbers, not pairs"
                yield f"{place}.data", f"holds {element!r}; the elements of a {entry.dtype} tensor are {pairs}"
            for word in element if isinstance(element, tuple) else (element,):
                if isinstance(word, str) and word not in _NON_FINITE:
                    yield f"{place}.data", f"{word!r} is no number; allowed words are {', '.join(_NON_FINITE)}"
    for i, step in enumerate(case.steps):
        for field, name in uses(step):
            if name not in made:
                yield f"steps[{i}].{field}", f"{name!r} is not made before this step"
        for name in results(step):
            if name in made:
                yield f"steps[{i}].results", f"{name!r} is made twice"
            if not _is_name(name):
                yield f"steps[{i}].results", f"{name!r} is no name; a name is a Python identifier"
            made.add(name)
        yield from _step_problems(f"steps[{i}]", step)
        if isinstance(step, AppendBackward):
            parameters = case.parameters if step.parameter_list is None else step.parameter_list
            if len(step.results) != len(parameters):
                yield f"steps[{i}].results", f"names {len(step.results)} results for {len(parameters)} parameters"
    yield from _handle_problems(case)


def _handle_problems(case: Case) -> Iterator[tuple[str, str]]:
    """Look for handles that are taken for tensors: an edge stands for one in the calls alone, a hook can only be removed."""
    handles = {s.results[0]: s for s in case.steps if isinstance(s, Hook | Edge) and s.results}
    for i, step in enumerate(case.steps):
        for field, name in () if isinstance(step, Drop) else uses(step):
            handle = handles.get(name)
            if isinstance(handle, Hook) != (field == "hook"):
                yield f"steps[{i}].{field}", f"{name!r} is {'a' if isinstance(handle, Hook) else 'no'} hook"
            if isinstance(handle, Edge) and field not in ("tensors", "outputs", "inputs"):
                yield f"steps[{i}].{field}", f"{name!r} is an edge; calls take it as root or input alone"


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _step_problems(place: str, step: Step) -> Iterable[tuple[str, str]]:
    match step:
        case Op():
            yield from _op_problems(place, step.op, len(step.operands), set(step.attrs))
            if not step.results:
                yield f"{place}.results", "names no result"
        case InPlace():
            yield from _op_problems(place, step.op, 1 + len(step.operands), set(step.attrs))
        case Custom():
            yield from _custom_problems(place, step)
        case Grad() if len(step.results) != len(step.inputs):
            yield f"{place}.results", f"names {len(step.results)} results for {len(step.inputs)} inputs"
        case Backward() if not step.tensors:
            yield f"{place}.tensors", "is empty"
        case Grad() if not step.outputs:
            yield f"{place}.outputs", "is empty"
        case Detach() | Hook() | Edge() if len(step.results) != 1:
            yield f"{place}.results", "names one result"
        case Hook() if (step.returns == "scaled") != (step.factor is not None):
            yield f"{place}.factor", "belongs to a hook that returns 'scaled', and to no other"
        case Hook() if (step.returns == "tensor") != (step.tensor_returned is not None):
            yield f"{place}.tensor_returned", "belongs to a hook that returns 'tensor', and to no other"
        case Backward() | Grad() if step.form == "set" and getattr(step, "no_grad_vars", None) is None:
            yield f"{place}.form", "is 'set' where no_grad_vars are given, and nowhere else"
        case Backward() | Grad() if step.form == "bare":
            for field in step.NAMES:
                if len(getattr(step, field) or ("one",)) != 1:
                    yield f"{place}.{field}", "holds one name where the form is 'bare'"
        case _:
            return


def _op_problems(place: str, name: str, operands: int, attrs: set[str]) -> Iterable[tuple[str, str]]:
    from conformance.ops import catalogue  # the language knows ops by name only; the catalogue is read where it is checked

    op = catalogue().get(name)
    if op is None:
        yield f"{place}.op", f"{name!r} is unknown; 'conformance ops' lists the known ones"
        return
    if not op.variadic and operands != len(op.operands):
        yield f"{place}.operands", f"{name} takes {', '.join(op.operands)}"
    if attrs != set(op.attrs):
        yield f"{place}.attrs", f"{name} takes {', '.join(op.attrs) or 'no attributes'}"


def _custom_problems(place: str, step: Custom) -> Iterable[tuple[str, str]]:
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

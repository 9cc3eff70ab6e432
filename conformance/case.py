"""The case language: a small straight-line autograd program, data and not code.

A `Case` is a list of inputs and a list of steps. Every value has a name and is made once; a step may use only names that were made
before it. Results of autograd calls are values like any other, so a second derivative is just a `Grad` of something computed from
the result of a `Grad`. A step may fail on an engine; the script goes on, and steps that need what is missing are blocked.

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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SCHEMA = 1
DTYPES = ("float32", "float64")
_NON_FINITE = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


class CaseError(ValueError):
    """A case file that is not a case; the message has the place and the reason."""


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A leaf. ``data`` lists the elements in row-major order; ``"nan"``, ``"inf"`` and ``"-inf"`` are written as words."""

    name: str
    shape: tuple[int, ...]
    data: tuple[float | str, ...]
    dtype: str = "float32"
    differentiable: bool = True

    def array(self) -> np.ndarray[Any, Any]:
        """Return the elements as a fresh array."""
        numbers = [_NON_FINITE[x] if isinstance(x, str) else x for x in self.data]
        return np.array(numbers, dtype=self.dtype).reshape(self.shape)


class Op(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag="op", tag_field="kind"):
    """Apply an op of the catalogue. ``no_grad``: inside a region where nothing is recorded."""

    op: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    attrs: dict[str, Any] = {}
    no_grad: bool = False


class Backward(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag="backward", tag_field="kind"):
    """``backward(tensors, grad_tensors, ...)`` with the union of the frameworks' parameters; ``None``: not passed."""

    tensors: tuple[str, ...]
    grad_tensors: tuple[str | None, ...] | None = None
    retain_graph: bool | None = None
    create_graph: bool = False
    inputs: tuple[str, ...] | None = None
    no_grad: bool = False


class Grad(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag="grad", tag_field="kind"):
    """``grad(outputs, inputs, ...)`` with the union of the frameworks' parameters; ``None``: not passed."""

    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    grad_outputs: tuple[str | None, ...] | None = None
    retain_graph: bool | None = None
    create_graph: bool = False
    only_inputs: bool = True
    allow_unused: bool | None = None
    no_grad_vars: tuple[str, ...] | None = None
    materialize_grads: bool = False
    no_grad: bool = False


class ClearGrad(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="clear_grad", tag_field="kind"):
    """Clear ``.grad``: make it absent, or zero."""

    tensor: str
    to: Literal["none", "zero"] = "none"


class Detach(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag="detach", tag_field="kind"):
    """Name a value's elements without its history."""

    tensor: str
    results: tuple[str, ...]


Step: TypeAlias = Op | Backward | Grad | ClearGrad | Detach


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
        """Values whose ``.grad`` is observed: differentiable inputs, and whatever ``backward(inputs=)`` names."""
        names = [i.name for i in self.inputs if i.differentiable]
        for step in self.steps:
            if isinstance(step, Backward) and step.inputs:
                names.extend(step.inputs)
        return tuple(dict.fromkeys(names))

    def __hash__(self) -> int:
        return int(self.id, 16)


_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder(Case)


def data_of(array: Any) -> tuple[float | str, ...]:
    """Write an array's elements as the data of an `Input`."""
    return tuple(float(x) if np.isfinite(x) else str(float(x)) for x in np.ravel(array))


def uses(step: Step) -> Iterator[tuple[str, str]]:
    """Yield every name that a step needs, with the field in which it stands."""
    match step:
        case Op():
            yield from (("operands", n) for n in step.operands)
        case Backward():
            yield from (("tensors", n) for n in step.tensors)
            yield from (("grad_tensors", n) for n in step.grad_tensors or () if n is not None)
            yield from (("inputs", n) for n in step.inputs or ())
        case Grad():
            yield from (("outputs", n) for n in step.outputs)
            yield from (("inputs", n) for n in step.inputs)
            yield from (("grad_outputs", n) for n in step.grad_outputs or () if n is not None)
            yield from (("no_grad_vars", n) for n in step.no_grad_vars or ())
        case ClearGrad():
            yield "tensor", step.tensor
        case Detach():
            yield "tensor", step.tensor


def results(step: Step) -> tuple[str, ...]:
    """Return the names that a step makes."""
    return step.results if isinstance(step, Op | Grad | Detach) else ()


def parameters(step: Step) -> Iterator[str]:
    """Yield the optional parameters that an autograd call passes, as a backend may not offer them."""
    if isinstance(step, Backward):
        if step.create_graph:
            yield "backward.create_graph"
        if step.inputs is not None:
            yield "backward.inputs"
    elif isinstance(step, Grad):
        if step.no_grad_vars is not None:
            yield "no_grad_vars"
        if step.materialize_grads:
            yield "materialize_grads"
    elif isinstance(step, Op):
        yield f"op:{step.op}"


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
        for word in entry.data:
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


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _step_problems(place: str, step: Step) -> Iterable[tuple[str, str]]:
    from conformance.ops import catalogue  # the language knows ops by name only; the catalogue is read where it is checked

    match step:
        case Op():
            op = catalogue().get(step.op)
            if op is None:
                yield f"{place}.op", f"{step.op!r} is unknown; 'conformance ops' lists the known ones"
                return
            if not op.variadic and len(step.operands) != len(op.operands):
                yield f"{place}.operands", f"{step.op} takes {', '.join(op.operands)}"
            if set(step.attrs) != set(op.attrs):
                yield f"{place}.attrs", f"{step.op} takes {', '.join(op.attrs) or 'no attributes'}"
            if not step.results:
                yield f"{place}.results", "names no result"
        case Grad() if len(step.results) != len(step.inputs):
            yield f"{place}.results", f"names {len(step.results)} results for {len(step.inputs)} inputs"
        case Detach() if len(step.results) != 1:
            yield f"{place}.results", "names one result"
        case Backward() if not step.tensors:
            yield f"{place}.tensors", "is empty"
        case Grad() if not step.outputs:
            yield f"{place}.outputs", "is empty"
        case _:
            return

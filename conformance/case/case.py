"""The case language: a small straight-line autograd program, data and not code.

A `Case` is a list of inputs and a list of steps (see `conformance.case.steps`). Every value has a name and is made once; a step may use
only names that were made before it. Results of autograd calls are values like any other, so a second derivative is just a `Grad` of
something computed from the result of a `Grad`. A step may fail on an engine. The script goes on, and a step that needs a missing value
is blocked. For example, in ``y = square(x)``, ``g = grad([y], [x], create_graph=True)``, ``h = grad([g], [x])`` the second call is
blocked if the first is refused.

A case's id is a hash of its content, so the same case has the same id everywhere. Floats round-trip exactly. A field at its default is
omitted from the JSON only if the default is a singleton (``None``, ``True``, ``False``), because msgspec compares defaults by identity.
"""

from __future__ import annotations

import functools
import hashlib
import math
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np

from conformance.case.needs import needs_of
from conformance.case.steps import AppendBackward, Backward, Call, Edge, RetainGrad, SetRequiresGrad, Step, results, uses
from conformance.ops.dtypes import is_complex

SCHEMA = 1
NON_FINITE = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}

Number: TypeAlias = float | str
Element: TypeAlias = Number | tuple[Number, Number]


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A leaf. ``data`` lists the elements in row-major order; ``"nan"``, ``"inf"`` and ``"-inf"`` are written as words.

    A complex element is a pair of its real and its imaginary part. ``strided``: the elements lie apart in memory.
    """

    name: str
    shape: tuple[int, ...]
    data: tuple[Element, ...]
    dtype: str = "float32"
    differentiable: bool = True
    strided: Literal[True] | msgspec.UnsetType = msgspec.UNSET

    def array(self) -> np.ndarray[Any, Any]:
        """Return the elements as a fresh array, which is every second element of a longer one if they are ``strided``."""
        if self.data and self.strided is not True:
            return self.elements.copy()
        flat = self.elements.ravel()
        spread = np.repeat(flat, 2)[::2] if self.strided is True else flat.copy()
        return spread.reshape(self.shape)  # a copy of nothing has no strides

    @functools.cached_property
    def elements(self) -> np.ndarray[Any, Any]:
        """The elements as an array that nobody may write into; kept, since every engine asks for it."""
        elements = np.array(self.numbers(), dtype=self.dtype).reshape(self.shape)
        elements.flags.writeable = False
        return elements

    def numbers(self) -> list[complex]:
        """Return the elements as Python numbers."""
        numbers: Any = self.data
        if is_complex(self.dtype):
            return [complex(*map(_number, pair)) for pair in numbers]
        return [_number(x) for x in numbers] if str in map(type, numbers) else list(numbers)


def _number(x: Number) -> float:
    return NON_FINITE[x] if isinstance(x, str) else x


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
        return hashlib.blake2b(content(self), digest_size=8).hexdigest()

    @functools.cached_property
    def watched(self) -> tuple[str, ...]:
        """Values whose ``.grad`` is observed: differentiable inputs, and values that some step may give one."""
        return tuple(self.givers)

    @functools.cached_property
    def givers(self) -> dict[str, list[int]]:
        """The values whose ``.grad`` is observed, each with the steps that may give it one.

        A differentiable input needs no such step.
        """
        found: dict[str, list[int]] = {i.name: [] for i in self.inputs if i.differentiable}
        inputs = tuple(found)
        edges = {s.results[0]: s.tensor for s in self.steps if isinstance(s, Edge)}
        for number, step in enumerate(self.steps):
            names: tuple[str, ...] = ()
            if isinstance(step, Backward) and step.inputs:
                names = tuple(edges.get(name, name) for name in step.inputs)
            elif isinstance(step, RetainGrad | SetRequiresGrad):
                names = (step.tensor,)
            for name in names:
                if name not in inputs:
                    found.setdefault(name, []).append(number)
        return found

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """Inputs that are parameters of a program: the differentiable ones, where some step appends a backward part."""
        appends = any(isinstance(s, AppendBackward) for s in self.steps)
        return tuple(i.name for i in self.inputs if i.differentiable and appends)

    @functools.cached_property
    def kinds(self) -> frozenset[type]:
        """The kinds of its steps; kept, since many look for what most cases have none of."""
        return frozenset(map(type, self.steps))

    @functools.cached_property
    def computed_seeds(self) -> frozenset[str]:
        """The seeds of calls that some step made. Nobody who looks at the inputs alone sees that one of these is written into."""
        made = {name for step in self.steps for name in results(step)}
        return frozenset(name for step in self.steps if isinstance(step, Call) for name in step.seeds or () if name in made)

    @functools.cached_property
    def needs(self) -> tuple[tuple[str, ...], ...]:
        """What each step needs of a backend (`conformance.case.needs`); kept, since every backend asks for it."""
        return needs_of(self.steps, self.names_used, {entry.name: entry.dtype for entry in self.inputs})

    @functools.cached_property
    def names_used(self) -> tuple[tuple[str, ...], ...]:
        """The names that each step uses."""
        return tuple(tuple(name for _, name in uses(step)) for step in self.steps)

    def prepare(self) -> None:
        """Find out now what every engine asks of a case, so that no process has to that is forked from this one."""
        for fact in ("id", "watched", "kinds", "computed_seeds", "needs", "names_used"):
            getattr(self, fact)
        for entry in self.inputs:
            _ = entry.elements

    def __hash__(self) -> int:
        return int(self.id, 16)


_encoder = msgspec.json.Encoder(order="deterministic")


def content(case: Case) -> bytes:
    """Return the JSON of a case that its id is the hash of."""
    return _encoder.encode(case)


def data_of(array: Any) -> tuple[Element, ...]:
    """Write an array's elements as the data of an `Input`."""
    flat = np.ravel(array)
    if np.iscomplexobj(flat):
        return tuple(zip(_words(flat.real), _words(flat.imag), strict=True))
    return tuple(_words(flat))


def input_of(name: str, array: Any, *, differentiable: bool = False) -> Input:
    """Return an array as an input."""
    return Input(name, np.shape(array), data_of(array), str(array.dtype), differentiable)


def _words(numbers: Any) -> list[Number]:
    if np.isfinite(numbers).all():
        return [*map(float, numbers.tolist())]
    return [x if math.isfinite(x) else str(x) for x in map(float, numbers.tolist())]

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
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
import numpy as np

from conformance.case.steps import (
    AppendBackward,
    Backward,
    Call,
    Edge,
    Grad,
    RetainGrad,
    SetRequiresGrad,
    Step,
    parameters,
    results,
    uses,
)
from conformance.ops.dtypes import is_complex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        flat = self.elements.ravel()
        return (np.repeat(flat, 2)[::2] if self.strided is True else flat.copy()).reshape(
            self.shape
        )  # a copy of nothing has no strides

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
        """The values whose ``.grad`` is observed, with the steps that may give them one; none where it is a differentiable input."""
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
        """The seeds of calls that some step made: no inputs, so that who writes into one is not seen by looking at the inputs."""
        made = {name for step in self.steps for name in results(step)}
        return frozenset(name for step in self.steps if isinstance(step, Call) for name in step.seeds or () if name in made)

    @functools.cached_property
    def needs(self) -> tuple[tuple[str, ...], ...]:
        """What each step needs of a backend; kept, since every backend asks for it.

        That is what it is and has (`conformance.case.steps.parameters`), the dtypes of the inputs that it uses: ``dtype:float64``, and
        `AGAIN`, `BETWEEN` and `ANEW`.
        """
        dtypes = {entry.name: f"dtype:{entry.dtype}" for entry in self.inputs}
        higher = _higher(self.steps, self.names_used) if Grad in self.kinds else {}
        if Backward in self.kinds:
            higher |= _anew(self.steps, self.names_used)
        return tuple(
            (*parameters(step), *dict.fromkeys(dtypes[n] for n in names if n in dtypes), *higher.get(number, ()))
            for number, (step, names) in enumerate(zip(self.steps, self.names_used, strict=True))
        )

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


BETWEEN = "grad.between"
"""What a call needs that asks for the gradient of a gradient by a value which that gradient was itself taken through.

In ``v = sqrt(x)``, ``g = grad(v, x)``, ``grad(g, v)`` a tape answers by the formula that it has for ``g``: ``1 / (2 v)`` depends on
``v``, and ``x ** -0.5 / 2``, the same number, does not. To an engine that differentiates functions it is no question at all. The same
holds of ``grad(g, x, no_grad_vars=v)``, which is 0 by the first formula.
"""


AGAIN = "grad.again"
"""What a call needs that differentiates what another one returned: a second derivative."""


ANEW = "backward.anew"
"""What a pass needs that goes through an op which was recorded before an earlier pass, and took a tensor which that one went through.

In ``y = exp(x)``, ``z = sin(x)``, ``backward(y)``, ``backward(z)`` a tape that clears what is attached to ``x`` loses the ``sin``, too.
"""


def _anew(steps: tuple[Step, ...], used: tuple[tuple[str, ...], ...]) -> dict[int, tuple[str, ...]]:
    """Return which steps, which have ``used`` these names, need `ANEW`, by number."""
    makers = {name: number for number, step in enumerate(steps) for name in results(step)}
    passed: dict[str, int] = {}  # the values that passes went through, with the number of the latest
    found: dict[int, tuple[str, ...]] = {}
    for number, step in enumerate(steps):
        if isinstance(step, Backward):
            through = _made_of(step.roots, makers, used)
            ops = {makers[name] for name in through if name in makers}
            if any(passed.get(operand, -1) > op for op in ops for operand in used[op]):
                found[number] = (ANEW,)
            passed |= dict.fromkeys(through, number)
    return found


def _higher(steps: tuple[Step, ...], used: tuple[tuple[str, ...], ...]) -> dict[int, tuple[str, ...]]:
    """Return which steps, which have ``used`` these names, need `AGAIN` or `BETWEEN`, by number."""
    if sum(isinstance(step, Grad) for step in steps) < 2:
        return {}
    makers = {name: number for number, step in enumerate(steps) for name in results(step)}
    below: dict[int, set[str]] = {}  # what the gradients of a call were made of
    passed: dict[int, set[str]] = {}  # and through what they were taken
    found = {}
    for number, step in enumerate(steps):
        if not isinstance(step, Grad):
            continue
        words: dict[str, set[str]] = {AGAIN: set(), BETWEEN: set()}
        for name in _made_of(step.outputs, makers, used):
            call = makers.get(name, -1)
            if call in below:
                words[AGAIN] |= below[call]
                words[BETWEEN] |= passed[call].union(results(steps[call])) - {name}  # on a tape one may be made of another
        asked = {AGAIN: step.inputs, BETWEEN: (*step.inputs, *(step.no_grad_vars or ()))}
        found[number] = tuple(word for word, names in words.items() if not names.isdisjoint(asked[word]))
        below[number] = _made_of(used[number], makers, used)
        passed[number] = _made_with(step.inputs, below[number], makers, used)
    return found


def _made_of(names: Iterable[str], makers: dict[str, int], used: Sequence[tuple[str, ...]]) -> set[str]:
    """Return what values were made of, with these."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(used[makers[name]] if name in makers else ())
    return found


def _made_with(names: Iterable[str], among: set[str], makers: dict[str, int], used: Sequence[tuple[str, ...]]) -> set[str]:
    """Return which of some values were made with one of these names, which need not be among what was made with them."""
    found: set[str] = set()
    named = set(names)
    for name in sorted((name for name in among if name in makers), key=makers.__getitem__):
        if any(operand in named or operand in found for operand in used[makers[name]]):
            found.add(name)
    return found


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

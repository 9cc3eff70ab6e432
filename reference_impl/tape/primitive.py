"""What a primitive is: a NumPy forward, and one vjp rule for each operand.

The forward takes arrays. A rule takes ``g`` (the cotangent of the output), ``out`` (the output) and the operands, and is written
with primitives. That is the whole secret of higher order: a rule that runs on Tensors is recorded, so its result can be
differentiated again; a rule that runs on plain arrays is just NumPy, which is what first-order calls do.

Positional parameters are the operands, keyword-only ones the attributes (plain data), the function's name is the op's name.
A cotangent has the shape and dtype of its primal. For an op with several outputs ``g`` and ``out`` are tuples; a missing cotangent
is filled with zeros before the rule sees it, unless the rule takes nothing for an answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy import ndarray

from reference_impl.tape.tensor import Mode, Node, Tensor, share

Op = TypeVar("Op", bound=Callable[..., Any])

OPS: dict[str, Callable[..., Any]] = {}
"""Every op by name: the primitives, and the composites made of them. Filled at import, read-only afterwards."""


class Domain(StrEnum):
    """Where the elements of an operand must lie for the op to be defined and smooth enough to be differentiated."""

    POSITIVE = "positive"
    NONZERO = "nonzero"
    DISTINCT = "distinct"
    UNIT = "unit"
    """Between -1 and 1."""
    BEYOND_ONE = "beyond one"
    """Above 1."""
    SHARE = "share"
    """Between 0 and 1."""
    COUNT = "count"
    """Small whole numbers, zero among them."""
    DOMINANT = "dominant"
    """Matrices whose diagonal outweighs the rest, with elements on it that differ in size: of full rank, their spectrum separated."""
    DEFINITE = "definite"
    """The same, with a diagonal that is positive."""
    PIVOTED = "pivoted"
    """Dominant matrices with their rows in another order."""


@dataclass(slots=True)
class _Observation:
    """Where a judge may look at every primitive's operands, attributes and output; what it returns is the output."""

    observer: Callable[[Primitive, list[Any], dict[str, Any], Any], Any] | None = None
    chooser: Callable[[Primitive, list[Any], dict[str, Any], Any], Any] | None = None
    """The same, before the observer, for the primitives that decide a branch: a judge may take another one."""


Observation = _Observation()


@contextmanager
def unobserved() -> Iterator[None]:
    """Have nobody look at what primitives make for the length of a ``with`` block, since no engine computes it."""
    before, Observation.observer = Observation.observer, None
    try:
        yield
    finally:
        Observation.observer = before


class Application(Protocol):
    """An op that was applied, on a tape or in a program: what its rules need to know of it."""

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes that the op was given."""


class Symbol:
    """Stands for an array that is not computed yet.

    An op that meets one is not run, it is recorded; see `reference_impl.static.program`.
    """

    __slots__ = ()

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def record(self, primitive: Primitive, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Record ``primitive(*operands, **attrs)`` and return the symbols of its outputs."""
        raise NotImplementedError


@dataclass(slots=True, eq=False, repr=False)
class Primitive:
    """A differentiable (or piecewise constant) function on arrays; `primitive` makes one.

    Its rules are linear in the cotangent, so where nothing arrived they need not run: nothing leaves.

    Attributes:
        keeping: the operands whose gradient needs saved data (default: all); a freed graph refuses only at nodes that saved some.
        multi_output: the forward returns a tuple of outputs.
        ulps: by how many units in the last place of `error_scale` a correct implementation may be off (0: data movement, exact).
        error_scale: from the output and the operands, what those roundings are relative to, elementwise (default: ``|out|``; for
            sums and products of matrices the sum of the absolute terms).
        summands: from the operands and attributes, how many numbers are accumulated into one element of the output, one rounding each
            (default: one).
        reordered: from the forward, the operands and the attributes, the same output with the terms of every sum taken in the opposite
            order (default: nothing is summed, or the order is part of what the op means). Both orders are right, so a judge that
            tells the two apart raises a false alarm.
        branch_sides: the result is piecewise constant and decides a branch. From the output and the operands: the outputs that it would
            have on either side of the kinks that the operands lie on exactly (none, if it jumps there and no derivative is meant).
            What a rule makes of them are corners of the (Clarke) subdifferential.
        domain: per operand, where its elements must lie.
        views: the output shares memory with the operand.
        fused: the forward is a formula of primitives, and rounds as these do; see `reference_impl.primitives.fused`.
        takes_nothing: of several outputs, the rule is told at which nothing arrived, ``None``, where a formula may have zeros.
        handing: the operands by position, in the order in which a queue is handed their cotangents (default: as they come).
        derivative_of: the op of its nodes and which derivative of that they are, unless they belong to another op's.
    """

    runs_on_nothing: ClassVar[bool] = False

    forward: Callable[..., Any]
    name: str
    keeping: InitVar[Iterable[str] | None] = None
    multi_output: bool = False
    ulps: float = 1.0
    error_scale: Callable[..., Any] | None = None
    summands: Callable[..., float] | None = None
    reordered: Callable[..., Any] | None = None
    branch_sides: Callable[..., Sequence[Any]] | None = None
    domain: Mapping[str, Domain] = field(default_factory=dict)
    views: bool = False
    fused: bool = False
    takes_nothing: bool = False
    handing: tuple[int, ...] = ()
    operands: tuple[str, ...] = field(init=False)
    attrs: tuple[str, ...] = field(init=False)
    variadic: bool = field(init=False)
    saving: frozenset[int] = field(init=False)
    derivative_of: tuple[str, int] = field(init=False)
    rules: list[Callable[..., Any] | None] = field(init=False)

    def __post_init__(self, keeping: Iterable[str] | None) -> None:
        """Read the operands and the attributes off the forward, which may be replaced later."""
        parameters = inspect.signature(self.forward).parameters.values()
        self.operands = tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)
        self.attrs = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
        self.variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        self.saving = frozenset(range(len(self.operands)) if keeping is None else map(self.operands.index, keeping))
        self.derivative_of = (self.name, 0)
        self.rules = [None] * len(self.operands)

    def vjp(self, operand: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register the rule for one operand.

        For a variadic operand the rule takes one more keyword, ``position``: which of the operands it is asked for.
        """
        if operand not in self.operands:
            msg = f"{self.name}: no operand {operand!r} to give a vjp rule to; its operands are {', '.join(self.operands)}"
            raise ValueError(msg)

        def register(rule: Callable[..., Any]) -> Callable[..., Any]:
            self.rules[self.operands.index(operand)] = rule
            return rule

        return register

    def rule(self, position: int) -> Callable[..., Any] | None:
        """Return the vjp rule for the operand at ``position``, or ``None`` if nothing flows there."""
        return self.rules[0] if self.variadic else self.rules[position]

    def saves(self, tracked: Sequence[int]) -> bool:
        """Whether the rules of these operands need saved data."""
        return bool(self.saving) if self.variadic else not self.saving.isdisjoint(tracked)

    def cotangents(self, node: Application, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]) -> list[tuple[int, Any]]:
        """Return what the rules make of ``g``, for those of the operands that are asked for and have one."""
        given, attrs, rules = (g, out, *operands), node.attrs, self.rules
        if self.variadic:
            rule = rules[0]
            return [] if rule is None else [(position, rule(*given, **attrs, position=position)) for position in asked]
        made = []
        for position in asked:
            rule = rules[position]
            if rule is not None:
                made.append((position, rule(*given, **attrs) if attrs else rule(*given)))
        return made

    def __call__(self, *operands: Any, **attrs: Any) -> Any:
        """Compute on arrays (arrays out) or on Tensors (Tensors out, recorded where one of them needs a gradient)."""
        for operand in operands:
            if type(operand) is not ndarray:
                return self._boxed(operands, attrs)
        out = self.forward(*operands, **attrs) if attrs else self.forward(*operands)
        if Observation.observer is None and Observation.chooser is None:
            return out
        return self._observed(list(operands), attrs, out)

    def _observed(self, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        """Return what those who look on make of an output."""
        if self.branch_sides is not None and Observation.chooser is not None:
            out = Observation.chooser(self, arrays, attrs, out)
        return out if Observation.observer is None else Observation.observer(self, arrays, attrs, out)

    def _boxed(self, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Compute where not all operands are arrays."""
        boxed = False
        arrays: list[Any] = []
        tracked: list[int] = []
        rules, variadic = self.rules, self.variadic
        for position, operand in enumerate(operands):
            if type(operand) is Tensor:
                boxed = True
                arrays.append(operand.array)
                if operand.requires_grad and rules[0 if variadic else position] is not None:
                    tracked.append(position)
            elif isinstance(operand, Symbol):
                return operand.record(self, operands, attrs)
            else:
                arrays.append(operand)
        out = self.forward(*arrays, **attrs) if attrs else self.forward(*arrays)
        if Observation.observer is not None or Observation.chooser is not None:
            out = self._observed(arrays, attrs, out)
        if not boxed:
            return out
        node = Node(self, operands, attrs, arrays, tracked, out) if tracked and Mode.recording else None
        if self.multi_output:
            made: Any = tuple([Tensor(o, node is not None, node, slot) for slot, o in enumerate(out)])
        else:
            made = Tensor(out, node is not None, node)
        if self.views and Mode.derivative_of is None:  # outside of vjp rules: cotangents are nobody's memory
            for slot, part in enumerate(made if self.multi_output else (made,)):
                share(part, operands[0], self, attrs, slot)
        return made

    def __repr__(self) -> str:
        return f"Primitive({self.name})"


def primitive(*, saves: Iterable[str] | None = None, **facts: Any) -> Callable[[Callable[..., Any]], Primitive]:
    """Make a primitive of a forward function; see `Primitive` for ``saves`` (there ``keeping``) and the other facts."""

    def make(function: Callable[..., Any]) -> Primitive:
        return register(function.__name__, Primitive(function, function.__name__, saves, **facts))

    return make


def alias(name: str, of: Primitive, **facts: Any) -> Primitive:
    """Make a primitive that computes what another does under a name of its own (frameworks have several names for one thing).

    ``facts``: those of `Primitive` that are not the same.
    """
    made = replace(of, name=name, keeping=[of.operands[i] for i in of.saving], **facts)
    made.rules = of.rules
    return register(name, made)


def composite(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register an op that is made of primitives and needs no rule of its own."""
    return register(function.__name__, function)


def register(name: str, op: Op) -> Op:
    """Enter an op; a second one of the same name is a mistake."""
    if name in OPS:
        msg = f"op {name} is defined twice"
        raise ValueError(msg)
    OPS[name] = op
    return op


def own_transpose(op: Primitive) -> Primitive:
    """Give a linear op that is its own transpose its rule: it is applied to what arrives."""
    op.vjp(op.operands[0])(lambda g, _, __, **attrs: op(g, **attrs))
    return op


def straight_through(op: Primitive) -> Primitive:
    """Give an op the rule for its first operand that what arrives leaves as it is."""
    op.vjp(op.operands[0])(lambda g, *_, **__: g)
    return op


def axes_reversed(forward: Callable[..., Any], *operands: Any, **attrs: Any) -> Any:
    """Turn all axes of the operands around, and those of the output back: the `reordered` of ops that commute with that."""
    return np.flip(forward(*map(np.flip, operands), **attrs))


def shape_of(x: Any) -> tuple[int, ...]:
    """Shape of a Tensor, an array or a Python scalar."""
    return getattr(x, "shape", ())


def array_of(x: Any) -> Any:
    """Return the elements of a Tensor, or the array itself."""
    return x.array if type(x) is Tensor else x


def zeros_like(x: Any) -> Any:
    """Zeros of the shape and dtype of ``x``; a constant."""
    return np.zeros(shape_of(x), x.dtype)

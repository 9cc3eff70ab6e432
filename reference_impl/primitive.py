"""What a primitive is: a NumPy forward, and one vjp rule for each operand.

The forward takes arrays. A rule takes ``g`` (the cotangent of the output), ``out`` (the output) and the operands, and is written
with primitives. That is the whole secret of higher order: a rule that runs on Tensors is recorded, so its result can be
differentiated again; a rule that runs on plain arrays is just NumPy, which is what first-order calls do.

Positional parameters are the operands, keyword-only ones the attributes (plain data), the function's name is the op's name.
A cotangent has the shape and dtype of its primal. For an op with several outputs ``g`` and ``out`` are tuples; a missing cotangent
is filled with zeros before the rule sees it.
"""

from __future__ import annotations

import inspect
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from reference_impl.tensor import Mode, Node, Tensor, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reference_impl.program import Operator

OPS: dict[str, Callable[..., Any]] = {}
"""Every op by name: the primitives, and the composites made of them. Filled at import, read-only afterwards."""


class Domain(StrEnum):
    """Where the elements of an operand must lie for the op to be defined and smooth enough to be differentiated."""

    POSITIVE = "positive"
    NONZERO = "nonzero"
    DISTINCT = "distinct"


class Observation:
    """Where a judge may look at every primitive's operands, attributes and output; what it returns is the output."""

    observer: Callable[[Primitive, list[Any], dict[str, Any], Any], Any] | None = None
    chooser: Callable[[Primitive, list[Any], dict[str, Any], Any], Any] | None = None
    """The same, before the observer, for the primitives that decide a branch: a judge may take another one."""


class Symbol:
    """Stands for an array that is not computed yet. An op that meets one is not run, it is recorded; see `reference_impl.program`."""

    __slots__ = ()

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def record(self, primitive: Primitive, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Record ``primitive(*operands, **attrs)`` and return the symbols of its outputs."""
        raise NotImplementedError


class Primitive:
    """A differentiable (or piecewise constant) function on arrays; see `primitive` for the fields.

    Its rules are linear in the cotangent, so where nothing arrived they need not run: nothing leaves.
    """

    runs_on_nothing = False

    __slots__ = (
        "domain",
        "forward",
        "lineage",
        "magnitude",
        "name",
        "operands",
        "rounds",
        "rules",
        "saving",
        "selects",
        "several",
        "terms",
        "variadic",
        "views",
    )

    def __init__(
        self,
        forward: Callable[..., Any],
        name: str,
        *,
        saves: Iterable[str] | None,
        several: bool,
        rounds: float,
        magnitude: Callable[..., Any] | None,
        terms: Callable[..., float] | None,
        selects: Callable[..., Sequence[Any]] | None,
        domain: dict[str, Domain] | None,
        views: bool,
    ) -> None:
        parameters = inspect.signature(forward).parameters.values()
        self.name = name
        self.lineage = (name, 0)  # of its nodes, unless they belong to the derivative of another op
        self.forward = forward
        self.operands = tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)
        self.variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        self.saving = frozenset(range(len(self.operands))) if saves is None else frozenset(map(self.operands.index, saves))
        self.several = several
        self.rounds = rounds
        self.magnitude = magnitude
        self.terms = terms
        self.selects = selects
        self.domain = domain or {}
        self.views = views
        self.rules: list[Callable[..., Any] | None] = [None] * len(self.operands)

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

    def cotangents(
        self, node: Node | Operator, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]
    ) -> list[tuple[int, Any]]:
        """Return what the rules make of ``g``, for those of the operands that are asked for and have one."""
        attrs, rules = node.attrs, self.rules
        made = []
        for position in asked:
            if self.variadic:
                rule, attrs = rules[0], {**node.attrs, "position": position}
            else:
                rule = rules[position]
            if rule is not None:
                made.append((position, rule(g, out, *operands, **attrs)))
        return made

    def __call__(self, *operands: Any, **attrs: Any) -> Any:
        """Compute on arrays (arrays out) or on Tensors (Tensors out, recorded where one of them needs a gradient)."""
        for operand in operands:
            if type(operand) is not ndarray:
                return self._boxed(operands, attrs)
        out = self.forward(*operands, **attrs)
        if self.selects is not None and Observation.chooser is not None:
            out = Observation.chooser(self, list(operands), attrs, out)
        if Observation.observer is not None:
            out = Observation.observer(self, list(operands), attrs, out)
        return out

    def _boxed(self, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Compute where not all operands are arrays."""
        boxed = False
        arrays: list[Any] = []
        tracked: list[int] = []
        for operand in operands:
            if type(operand) is Tensor:
                boxed = True
                if operand.requires_grad:
                    tracked.append(len(arrays))
                arrays.append(operand.array)
            elif isinstance(operand, Symbol):
                return operand.record(self, operands, attrs)
            else:
                arrays.append(operand)
        out = self.forward(*arrays, **attrs)
        if self.selects is not None and Observation.chooser is not None:
            out = Observation.chooser(self, arrays, attrs, out)
        if Observation.observer is not None:
            out = Observation.observer(self, arrays, attrs, out)
        if not boxed:
            return out
        if tracked and Mode.recording:
            node = Node(self, operands, attrs, arrays, tracked, out)
            made: Any = (
                tuple(Tensor(o, requires_grad=True, node=node, slot=i) for i, o in enumerate(out))
                if self.several
                else Tensor(out, requires_grad=True, node=node)
            )
        else:
            made = tuple(Tensor(o) for o in out) if self.several else Tensor(out)
        if self.views and Mode.lineage is None:  # outside of vjp rules: cotangents are nobody's memory
            for slot, part in enumerate(made if self.several else (made,)):
                share(part, operands[0], self, attrs, slot)
        return made

    def __repr__(self) -> str:
        return f"Primitive({self.name})"


def primitive(
    *,
    saves: Iterable[str] | None = None,
    several: bool = False,
    rounds: float = 1.0,
    magnitude: Callable[..., Any] | None = None,
    terms: Callable[..., float] | None = None,
    selects: Callable[..., Sequence[Any]] | None = None,
    domain: dict[str, Domain] | None = None,
    views: bool = False,
) -> Callable[[Callable[..., Any]], Primitive]:
    """Make a primitive of a forward function.

    Args:
        saves: the operands whose gradient needs saved data (default: all); a freed graph refuses only at nodes that saved some.
        several: the forward returns a tuple of outputs.
        rounds: how many roundings of `magnitude` a correct implementation may be off by (0: data movement, exact).
        magnitude: from the output and the operands, what those roundings are relative to, elementwise (default: ``|out|``; for
            sums and products of matrices the sum of the absolute terms).
        terms: from the operands and attributes, how many numbers are accumulated into one element of the output, one rounding each
            (default: one).
        selects: the result is piecewise constant and decides a branch. From the output and the operands: the outputs that it would have
            on either side of the kinks that the operands lie on exactly (none, if it jumps there and no derivative is meant).
            What a rule makes of them are corners of the (Clarke) subdifferential.
        domain: per operand, where its elements must lie.
        views: the output shares memory with the operand.
    """

    def make(function: Callable[..., Any]) -> Primitive:
        made = Primitive(
            function,
            function.__name__,
            saves=saves,
            several=several,
            rounds=rounds,
            magnitude=magnitude,
            terms=terms,
            selects=selects,
            domain=domain,
            views=views,
        )
        register(made.name, made)
        return made

    return make


def alias(name: str, of: Primitive, *, copies: bool = False) -> Primitive:
    """Make a primitive that computes what another does under a name of its own (frameworks have several names for one thing).

    ``copies``: its output never shares memory with the operand.
    """
    made = Primitive(
        of.forward,
        name,
        saves=(of.operands[i] for i in of.saving),
        several=of.several,
        rounds=of.rounds,
        magnitude=of.magnitude,
        terms=of.terms,
        selects=of.selects,
        domain=of.domain,
        views=of.views and not copies,
    )
    made.rules = of.rules
    register(name, made)
    return made


def composite(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register an op that is made of primitives and needs no rule of its own."""
    register(function.__name__, function)
    return function


def register(name: str, op: Callable[..., Any]) -> None:
    """Enter an op; a second one of the same name is a mistake."""
    if name in OPS:
        msg = f"op {name} is defined twice"
        raise ValueError(msg)
    OPS[name] = op


def shape_of(x: Any) -> tuple[int, ...]:
    """Shape of a Tensor, an array or a Python scalar."""
    return getattr(x, "shape", ())


def array_of(x: Any) -> Any:
    """Return the elements of a Tensor, or the array itself."""
    return x.array if type(x) is Tensor else x


def zeros_like(x: Any) -> Any:
    """Zeros of the shape and dtype of ``x``; a constant."""
    return np.zeros(shape_of(x), x.dtype)

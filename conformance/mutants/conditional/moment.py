"""A moment: what an engine is asked, and what is known by then of the script, of its past, and of that of the process.

Layouts are read off the script: a tensor that a transposition made lies transposed wherever it lies at all. Everything else is looked
at in the engine's own tensors, and only if a condition asks for it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from conformance.case.exercise import orders_of
from conformance.case.queries import upstream
from conformance.case.steps import Edge, InPlace, Op, results
from conformance.ops import catalogue

if TYPE_CHECKING:
    from conformance.backends.interpreter import Engine, EngineTensor, Values
    from conformance.case.case import Case
    from conformance.case.outcome import Value
    from conformance.case.steps import Step


class Seen(NamedTuple):
    """A tensor as conditions see it: its name, the tensor and a look at it; ``made``: the ops that made it, the last one first.

    ``order``: of the derivative that it was computed from, 0 if from none; ``source``: the step that made it, ``None`` for an input.
    """

    name: str
    tensor: EngineTensor
    value: Value
    made: tuple[str, ...]
    order: int
    source: Step | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return np.shape(self.value.array)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return self.value.array.size

    @property
    def dtype(self) -> str:
        """The name of its dtype."""
        return str(self.value.array.dtype)

    @property
    def flows(self) -> bool:
        """Whether it requires a gradient."""
        return self.value.requires_grad


class Script:
    """What is known of a script before it runs: who made what, and of which order each derivative is."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.numbers = {id(step): number for number, step in enumerate(case.steps)}
        self.sources: dict[str, Step] = {name: step for step in case.steps for name in results(step)}
        self.orders, self.depths = orders_of(case)
        self.edges = {name for step in case.steps if isinstance(step, Edge) for name in step.results}

    @cached_property
    def shows_more_than_numbers(self) -> bool:
        """Whether it tells a view from a copy, or sees the nodes of a graph."""
        return self.writes or any(getattr(s, "dump_backward_graph", False) for s in self.case.steps)

    @cached_property
    def writes(self) -> bool:
        """Whether something is changed in place."""
        return any(isinstance(s, InPlace) for s in self.case.steps)

    def made(self, name: str) -> tuple[str, ...]:
        """Return the view ops through which a value was made, the last one first."""
        found = []
        while isinstance(step := self.sources.get(name), Op) and catalogue()[step.op].views:
            found.append(step.op)
            name = step.operands[0]
        return tuple(found)

    def users(self, name: str, before: int | None = None) -> int:
        """Count the ops that use a value, those before a step if one is given."""
        return sum(isinstance(step, Op) and name in step.operands for step in self.case.steps[:before])


@dataclass
class Past:
    """What an engine was asked before, since a script or since the process began.

    ``applied`` counts ops, ``asked`` the calls of every other kind; ``refused`` what was refused; ``graphs`` derivatives with a graph;
    ``passes`` the calls from the same roots, of a script; ``handles``: those of its hooks;
    ``found``: what its last `grad` call returned.
    """

    applied: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    passes: Counter[tuple[str, ...]] = field(default_factory=Counter)
    refused: int = 0
    graphs: int = 0
    handles: list[Any] = field(default_factory=list)
    found: list[EngineTensor | None] = field(default_factory=list)

    def copied(self) -> Past:
        """Return a past that goes on by itself."""
        return Past(self.applied.copy(), self.asked.copy(), self.passes.copy(), self.refused, self.graphs, [*self.handles])


@dataclass
class Moment:
    """What is asked: the ``part`` of the engine, the ``step`` if it is known, and what is given (tensors, by ``names``; ``more``)."""

    part: str
    engine: Engine
    script: Script
    past: Past
    process: Past
    step: Any = None
    given: tuple[EngineTensor, ...] = ()
    names: tuple[str, ...] = ()
    more: tuple[Any, ...] = ()
    values: Values = field(default_factory=dict)

    @property
    def number(self) -> int:
        """The number of the step."""
        return self.script.numbers[id(self.step)]

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of the op."""
        return self.step.attrs  # type: ignore[no-any-return]

    @cached_property
    def operands(self) -> list[Seen]:
        """The tensors that an op, or whatever takes tensors by themselves, is given."""
        return [self._seen(name, tensor) for name, tensor in zip(self.names, self.given, strict=True)]

    @cached_property
    def flows(self) -> bool:
        """Whether a derivative of the op can be asked for, and none but finite numbers are met."""
        engine = self.engine
        return (
            engine.recording()
            and not self.script.shows_more_than_numbers
            and any(x.flows for x in self.operands)
            and all(np.isfinite(x.value.array).all() for x in self.operands)
        )

    @cached_property
    def roots(self) -> list[Seen]:
        """The values that a call differentiates; edges are none."""
        return self._named(self.step.roots)

    @cached_property
    def asked(self) -> list[Seen]:
        """The values whose gradients a call asks for; edges are none."""
        return self._named(self.step.asked or ())

    @cached_property
    def seeds(self) -> list[Seen]:
        """The seeds that a call is given."""
        return self._named(self.step.seeds or ())

    @cached_property
    def reached(self) -> list[Seen]:
        """The values with a ``.grad`` of their own that a call can reach, and that require a gradient."""
        found = (name for name in self.script.case.watched if self.values.get(name) is not None and self.reaches(name))
        return [x for x in self._named(tuple(found)) if x.flows]

    def reaches(self, name: str) -> bool:
        """Whether some root of a call was computed from a value."""
        steps = self.script.case.steps[: self.number]
        return any(name in upstream(steps, root) for root in self.step.roots)

    @property
    def order(self) -> int:
        """The order of the derivative that a call computes."""
        return self.script.orders[self.number]

    def _named(self, names: tuple[str | None, ...]) -> list[Seen]:
        return [self._seen(n, self.values[n]) for n in names if n is not None and n not in self.script.edges]

    def _seen(self, name: str, tensor: EngineTensor) -> Seen:
        script = self.script
        look = self.engine.look(tensor)
        return Seen(name, tensor, look, script.made(name), script.depths.get(name, 0), script.sources.get(name))

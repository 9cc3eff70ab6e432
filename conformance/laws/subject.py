"""What laws are tried on: a call of a case, cut out of its script.

A `Subject` has the inputs and steps that the roots of the call are made from, and nothing else of the script: no hooks, no state, and
every graph retained. So laws build calls of their own upon it, and what a script does to itself on the way is no concern of theirs.
Shapes and flags are those that the engine itself showed.

A call has no subject where its values cannot be made again from inputs by ops and `Grad` steps: after in-place updates and flags that
were turned over, under edges, from custom functions (their backward may be any function of the cotangents), in batched calls, and from
derivatives where a hook answered something.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case import Case, Input, data_of
from conformance.generate.source import FastSource
from conformance.laws.relation import Place
from conformance.outcome import Computed, Value
from conformance.reading import calls
from conformance.steps import AppendBackward, Backward, Detach, Edge, Grad, Hook, InPlace, Op, Toggle, parameters, results, uses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.backends import BackendInfo
    from conformance.generate.source import Source
    from conformance.laws.relation import Relation
    from conformance.outcome import Outcome
    from conformance.steps import Step

FINEST = 64
"""Seeds are multiples of 1 / `FINEST`: sums and differences of them are exact."""
MOST_TARGETS = 3


@dataclass(frozen=True, slots=True)
class Script:
    """A whole case and what the engine answered to it, for one law; ``stream`` tells the choices of one law from those of another."""

    case: Case
    outcome: Outcome
    info: BackendInfo
    stream: int

    def source(self, number: int = -1) -> Source:
        """Return what makes the choices that the law leaves open for a call, or for the script: the same ones every time."""
        return FastSource(int(self.case.id, 16), (self.stream << 32) | (number + 1))


@dataclass(frozen=True, slots=True)
class Trial:
    """The cases that an engine is asked, and how its answers must stand to each other."""

    cases: tuple[Case, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A call of a script, and what its roots are made from.

    ``leaves``: the differentiable inputs above the roots; ``targets``: some of them, and computed values that the call asked for.
    ``above``: for each value what it depends on differentiably, itself included. ``cut``: whether something on the way depends on a
    leaf, and not differentiably. ``seen``: what the engine showed. ``source`` makes the choices that a law leaves open.
    """

    number: int
    script: Script
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    roots: tuple[str, ...]
    leaves: tuple[str, ...]
    targets: tuple[str, ...]
    above: dict[str, frozenset[str]]
    cut: bool
    seen: dict[str, Value]
    source: Source

    def tracked(self, name: str) -> bool:
        """Whether a value depends on a leaf, has elements, and the engine says that it requires a gradient."""
        value = self.seen.get(name)
        return bool(self.above.get(name)) and value is not None and value.requires_grad and value.array.size > 0

    @property
    def lane(self) -> str:
        """The lane of the case."""
        return self.script.case.lane

    def offers(self, step: Step) -> bool:
        """Whether the engine offers a step."""
        return self.script.info.refusal(parameters(step)) is None

    def numbers(self, name: str) -> Any:
        """Draw an array of the shape and dtype of a value, of few bits: a seed, a direction, a weight."""
        array = self.seen[name].array
        data: list[complex] = [self._number() for _ in range(array.size)]
        if array.dtype.kind == "c":
            data = [x + 1j * self._number() for x in data]
        return np.array(data, dtype=array.dtype).reshape(array.shape)

    def _number(self) -> float:
        if self.lane == "exact":
            return self.source.integer(-3, 3) / self.source.choice((1, 2)) or 1.0
        return (self.source.integer(-2 * FINEST, 2 * FINEST) or 1) / FINEST


@dataclass
class Draft:
    """A case in the making, upon a subject."""

    subject: Subject
    inputs: list[Input] = field(init=False)
    steps: list[Step] = field(init=False)

    def __post_init__(self) -> None:
        self.inputs = list(self.subject.inputs)
        self.steps = list(self.subject.steps)

    def name(self) -> str:
        """Return a name that no case has."""
        return f"law_{len(self.inputs)}_{len(self.steps)}"

    def seed(self, array: Any, *, differentiable: bool = False) -> str:
        """Add an input and return its name."""
        name = self.name()
        self.inputs.append(Input(name, array.shape, data_of(array), str(array.dtype), differentiable))
        return name

    def seeds(self, arrays: Sequence[Any]) -> tuple[str, ...]:
        """Add inputs."""
        return tuple(self.seed(array) for array in arrays)

    def grad(self, outputs: tuple[str, ...], inputs: tuple[str, ...], seeds: tuple[str, ...], **flags: Any) -> int:
        """Add a `Grad` step that leaves the graph as it is, unless told otherwise; return its number."""
        results = tuple(f"{self.name()}_{i}" for i in range(len(inputs)))
        options = {"retain_graph": True, "allow_unused": True, **flags}
        self.steps.append(Grad(outputs, inputs, results, seeds, **options))
        return len(self.steps) - 1

    def backward(self, seeds: tuple[str, ...], inputs: tuple[str, ...] | None = None) -> int:
        """Add a `Backward` step from the roots that retains the graph; return its number."""
        self.steps.append(Backward(self.subject.roots, seeds, retain_graph=True, inputs=inputs))
        return len(self.steps) - 1

    def case(self) -> Case:
        """Return what was made."""
        return Case(tuple(self.inputs), tuple(self.steps), self.subject.script.case.lane)

    def grad_of(self, leaf: str, step: int) -> Place:
        """Return the place of a leaf's ``.grad`` after a step."""
        return Place(0, step, [i.name for i in self.inputs if i.differentiable].index(leaf), "grad")


def subjects(script: Script) -> Iterator[Subject]:
    """Yield the subject of every call that has one."""
    for number, step in enumerate(script.case.steps):
        if isinstance(step, Grad | Backward | AppendBackward):
            found = subject_of(script, number)
            if found is not None:
                yield found


def subject_of(script: Script, number: int) -> Subject | None:
    """Cut a call out of a script; ``None`` if it has no subject."""
    case, step = script.case, script.case.steps[number]
    edges = {s.results[0]: s.tensor for s in case.steps if isinstance(s, Edge)}
    asked = (step.loss,) if isinstance(step, AppendBackward) else next(calls([step]))[0]
    seen = shown(script, number)
    roots = tuple(dict.fromkeys(edges.get(n, n) for n in asked))
    steps = _cone(script, number, roots, seen)
    if steps is None or any(n not in seen or not seen[n].requires_grad or not seen[n].array.size for n in roots):
        return None
    needed = {n for s in steps for _, n in uses(s)} | set(roots)
    inputs = tuple(i for i in case.inputs if i.name in needed)
    above, cut = _above(inputs, steps)
    if any(not above[n] for n in roots):
        return None
    reached = frozenset().union(*(above[n] for n in roots))
    leaves = tuple(i.name for i in inputs if i.name in reached and seen[i.name].array.size)
    wanted = dict.fromkeys(edges.get(n, n) for n in getattr(step, "inputs", None) or ())
    inner = [n for n in wanted if n in reached and n not in leaves and n not in roots and n not in _seeds(steps)]
    computed = [n for n in inner if seen[n].requires_grad and seen[n].array.size]
    source = script.source(number)
    chosen = source.shuffled(leaves)[: MOST_TARGETS - min(1, len(computed))]
    targets = (*chosen, *computed[: MOST_TARGETS - len(chosen)])
    if not chosen:
        return None
    return Subject(number, script, inputs, steps, roots, leaves, targets, above, cut, seen, source)


def shown(script: Script, number: int) -> dict[str, Value]:
    """Return what the engine showed of the values that were there before a step."""
    found = {i.name: Value(i.array(), i.differentiable) for i in script.case.inputs}
    for step, observed in zip(script.case.steps[:number], script.outcome.observations[:number], strict=True):
        if isinstance(observed, Computed):
            made = zip(results(step), observed.values, strict=False)
            found.update((name, value) for name, value in made if value is not None and not value.unreadable)
    return found


def _cone(script: Script, number: int, roots: tuple[str, ...], seen: dict[str, Value]) -> tuple[Step, ...] | None:
    earlier = script.case.steps[:number]
    if any(isinstance(s, InPlace) for s in earlier):
        return None
    needed = set(roots)
    steps: list[Step] = []
    for step in reversed(earlier):
        if isinstance(step, Toggle) and step.tensor in needed:
            return None
        if needed.isdisjoint(results(step)):
            continue
        answered = isinstance(step, Grad) and any(isinstance(s, Hook) and s.returns != "nothing" for s in earlier)
        if answered or not _repeatable(step) or any(name not in seen for _, name in uses(step)):
            return None
        needed.update(name for _, name in uses(step))
        steps.append(msgspec.structs.replace(step, retain_graph=True) if isinstance(step, Grad) else step)
    if any(isinstance(s, Toggle) and s.tensor in needed for s in earlier):
        return None
    return tuple(reversed(steps))


def _seeds(steps: Sequence[Step]) -> set[str]:
    """Return the derivatives of values in themselves: each may be its seed, one tensor under two names."""
    own = (s for s in steps if isinstance(s, Grad))
    return {made for s in own for made, asked in zip(s.results, s.inputs, strict=True) if asked in s.outputs}


def _repeatable(step: Step) -> bool:
    if isinstance(step, Grad):
        return not step.is_grads_batched and not (step.no_grad and step.create_graph) and step.form != "iterator"
    return isinstance(step, Op | Detach)


def _above(inputs: Sequence[Input], steps: Sequence[Step]) -> tuple[dict[str, frozenset[str]], bool]:
    nothing: frozenset[str] = frozenset()
    above = {i.name: frozenset([i.name]) if i.differentiable else nothing for i in inputs}
    cut = False
    for step in steps:
        sources = nothing.union(*(above[name] for field, name in uses(step) if field != "no_grad_vars"))
        constant = isinstance(step, Detach) or getattr(step, "no_grad", False) or not getattr(step, "create_graph", True)
        cut |= bool(sources) and (constant or getattr(step, "no_grad_vars", None) is not None)
        above.update((n, nothing if constant or not sources else sources | {n}) for n in results(step))
    return above, cut

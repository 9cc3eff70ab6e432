"""What laws are tried on: a call of a case, cut out of its script.

A law wants to ask about the graph of a call again and again, but a script changes itself on the way: it frees graphs, accumulates,
and calls hooks. So a `Subject` has the inputs and steps that the roots of the call are made from, with every graph retained, and
nothing else of the script. Laws build calls of their own upon it. Shapes and flags are those that the engine itself showed.

A call has no subject where ops and `Grad` steps cannot make its values again from inputs: after in-place updates and changed flags,
under edges, from custom functions (their backward may be any function of the cotangents), in batched calls, and from derivatives where
a hook answered something.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case.case import Case, input_of
from conformance.case.outcome import Computed, Value
from conformance.case.queries import records, twins
from conformance.case.steps import Backward, Call, Detach, Edge, Grad, Hook, InPlace, Op, SetRequiresGrad, parameters, results, uses
from conformance.generate.sources import FastSource
from conformance.laws.relation import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.backends import BackendInfo
    from conformance.case.case import Input
    from conformance.case.outcome import Outcome
    from conformance.case.steps import Step
    from conformance.laws.relation import Relation
    from conformance.ops.sampler import Source

FINEST = 64
"""Seeds are multiples of 1 / `FINEST`: sums and differences of them are exact."""
MOST_TARGETS = 3


@dataclass(frozen=True, slots=True)
class ObservedCase:
    """A case and what the engine answered to it, for one law; each law has a ``stream`` of random choices of its own."""

    case: Case
    outcome: Outcome
    info: BackendInfo
    stream: int

    def source(self, number: int = -1) -> Source:
        """Return a source of choices for a call, or for the whole script (-1): the same choices every time."""
        return FastSource(int(self.case.id, 16), (self.stream << 32) | (number + 1))


@dataclass(frozen=True, slots=True)
class Trial:
    """The cases that an engine runs, and the relations that must hold between its answers."""

    cases: tuple[Case, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A call of a script, and what its roots are made from.

    ``leaves``: the differentiable inputs above the roots; ``targets``: some of them, and computed values that the call asks for.
    ``made_from``: the values that depend on a leaf, each with those of them that it was made from. ``cut``: whether some value between
    leaves and roots is detached or computed under ``no_grad``. ``seen``: the values that the engine showed. ``source`` makes the
    choices that a law leaves open.
    """

    number: int
    observed: ObservedCase
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    roots: tuple[str, ...]
    leaves: tuple[str, ...]
    targets: tuple[str, ...]
    made_from: Mapping[str, tuple[str, ...]]
    cut: bool
    seen: dict[str, Value]
    source: Source

    def tracked(self, name: str) -> bool:
        """Whether a value depends on a leaf, has elements, and the engine says that it requires a gradient."""
        value = self.seen.get(name)
        return name in self.made_from and value is not None and value.requires_grad and value.array.size > 0

    @property
    def lane(self) -> str:
        """The lane of the case."""
        return self.observed.case.lane

    def offers(self, step: Step) -> bool:
        """Whether the engine offers a step."""
        return self.observed.info.refusal(parameters(step)) is None

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
class CaseBuilder:
    """A follow-up case while it is built: the inputs and steps of a subject, and calls that a law adds."""

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
        self.inputs.append(input_of(name, array, differentiable=differentiable))
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

    def gradients(self, seeds: tuple[str, ...]) -> list[Place]:
        """Ask for the gradients of all leaves, by `backward` where the engine has no `grad`; return their places."""
        roots, leaves = self.subject.roots, self.subject.leaves
        if self.subject.offers(Grad(roots, leaves, leaves)):
            number = self.grad(roots, leaves, seeds)
            return [Place(0, number, i) for i in range(len(leaves))]
        self.steps.append(Backward(roots, seeds))
        return [self.grad_of(leaf, len(self.steps) - 1) for leaf in leaves]

    def case(self) -> Case:
        """Return the case."""
        return Case(tuple(self.inputs), tuple(self.steps), self.subject.observed.case.lane)

    def grad_of(self, leaf: str, step: int) -> Place:
        """Return the place of a leaf's ``.grad`` after a step."""
        return Place(0, step, [i.name for i in self.inputs if i.differentiable].index(leaf), "grad")


def subjects(observed: ObservedCase) -> Iterator[Subject]:
    """Yield the subject of every call that has one."""
    every = (subject_of(observed, number) for number in range(len(observed.case.steps)))
    yield from (subject for subject in every if subject is not None)


def subject_of(observed: ObservedCase, number: int) -> Subject | None:
    """Cut a call out of a script; ``None`` if the step is no call, or has no subject."""
    case, call = observed.case, observed.case.steps[number]
    if not isinstance(call, Call):
        return None
    edges = {s.results[0]: s.tensor for s in case.steps if isinstance(s, Edge)}
    seen = shown(observed, number)
    roots = tuple(dict.fromkeys(edges.get(n, n) for n in call.roots))
    steps = _cone(observed, number, roots, seen)
    if steps is None or any(n not in seen or not seen[n].requires_grad or not seen[n].array.size for n in roots):
        return None
    needed = {n for s in steps for _, n in uses(s)} | set(roots)
    inputs = tuple(i for i in case.inputs if i.name in needed)
    made_from, cut = _made_from(inputs, steps)
    if any(n not in made_from for n in roots):
        return None
    reached = _reached(roots, made_from)
    leaves = tuple(i.name for i in inputs if i.name in reached and seen[i.name].array.size)
    wanted = dict.fromkeys(edges.get(n, n) for n in call.asked or ())
    same = twins(steps)  # a tensor that is asked for by two names may be refused
    inner = [n for n in wanted if n in reached and n not in leaves and n not in roots and n not in same]
    computed = [n for n in inner if seen[n].requires_grad and seen[n].array.size]
    source = observed.source(number)
    chosen = source.shuffled(leaves)[: MOST_TARGETS - min(1, len(computed))]
    targets = (*chosen, *computed[: MOST_TARGETS - len(chosen)])
    if not chosen:
        return None
    return Subject(number, observed, inputs, steps, roots, leaves, targets, made_from, cut, seen, source)


def shown(observed: ObservedCase, number: int) -> dict[str, Value]:
    """Return the values that the engine showed before a step, by their names."""
    found = {i.name: Value(i.elements, i.differentiable) for i in observed.case.inputs}
    for step, seen in zip(observed.case.steps[:number], observed.outcome.observations[:number], strict=True):
        if isinstance(seen, Computed):
            made = zip(results(step), seen.values, strict=False)
            found.update((name, value) for name, value in made if value is not None and not value.unreadable)
    return found


def _cone(observed: ObservedCase, number: int, roots: tuple[str, ...], seen: dict[str, Value]) -> tuple[Step, ...] | None:
    earlier = observed.case.steps[:number]
    if any(isinstance(s, InPlace) for s in earlier):
        return None
    needed = set(roots)
    steps: list[Step] = []
    for step in reversed(earlier):
        if needed.isdisjoint(results(step)):
            continue
        answered = isinstance(step, Grad) and any(isinstance(s, Hook) and s.returns != "nothing" for s in earlier)
        if answered or not _repeatable(step) or any(name not in seen for _, name in uses(step)):
            return None
        needed.update(name for _, name in uses(step))
        steps.append(msgspec.structs.replace(step, retain_graph=True) if isinstance(step, Grad) else step)
    if any(isinstance(s, SetRequiresGrad) and s.tensor in needed for s in earlier):
        return None
    return tuple(reversed(steps))


def _repeatable(step: Step) -> bool:
    if isinstance(step, Grad):
        return not step.is_grads_batched and not (step.no_grad and step.create_graph) and step.form != "iterator"
    return isinstance(step, Op | Detach)


def _made_from(inputs: Sequence[Input], steps: Sequence[Step]) -> tuple[dict[str, tuple[str, ...]], bool]:
    """Return the values that depend on a leaf, each with those of them that it was made from, and whether some are cut off."""
    made_from: dict[str, tuple[str, ...]] = {i.name: () for i in inputs if i.differentiable}
    cut = False
    for step in steps:
        sources = tuple(name for field, name in uses(step) if field != "no_grad_vars" and name in made_from)
        constant = not records(step)
        cut |= bool(sources) and (constant or getattr(step, "no_grad_vars", None) is not None)
        made_from.update((n, sources) for n in results(step) if sources and not constant)
    return made_from, cut


def _reached(roots: Iterable[str], made_from: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Return all that values depend on, with these."""
    reached: set[str] = set()
    left = list(roots)
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left.extend(made_from[name])
    return reached

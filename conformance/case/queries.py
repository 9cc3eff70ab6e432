"""Questions about scripts: the steps up to a step, the calls among them, and what a value was computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from conformance.case.outcome import Computed
from conformance.case.place import END, StepNumber
from conformance.case.steps import (
    Backward,
    Call,
    Custom,
    Detach,
    Edge,
    Grad,
    InPlace,
    Op,
    SetRequiresGrad,
    Step,
    kind,
    observed,
    ops,
    results,
    uses,
)
from conformance.ops import catalogue
from conformance.ops.spec import Memory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from conformance.case.case import Case
    from conformance.case.outcome import Observation, Value


def until(case: Case, number: StepNumber) -> Sequence[Step]:
    """Return the steps up to a step, with it; all for `END`."""
    return case.steps if number is END else case.steps[: number + 1]


def call_at(case: Case, number: int) -> Call | None:
    """Return the autograd call that a step is; ``None`` if it is none."""
    step = case.steps[number]
    return step if isinstance(step, Call) else None


def records(step: Step) -> bool:
    """Whether what a step makes may have a history: it is not detached, nor made inside ``no_grad``, nor by a call without a graph."""
    return not (isinstance(step, Detach) or getattr(step, "no_grad", False) or (isinstance(step, Grad) and not step.create_graph))


def upstream(steps: Sequence[Step], name: str, but: Collection[str] = ()) -> set[str]:
    """Return the values that a value was computed from, directly or not, with itself; not through those in ``but``, nor these.

    What was written to a value in place is among them.
    """
    return upstream_of(steps, (name,), but)


def upstream_of(steps: Sequence[Step], names: Iterable[str], but: Collection[str] = ()) -> set[str]:
    """Return the values that any of these were computed from, as `upstream`."""
    wanted = set(names)
    for step in reversed(steps):
        if not wanted.isdisjoint((step.tensor,) if isinstance(step, InPlace) else results(step)):
            wanted.update(used for _, used in uses(step) if used not in but)
    return wanted


def comes_by(case: Case, number: int, names: Iterable[str]) -> bool:
    """Whether a step is a call whose roots are among some values, or were computed from one."""
    call = call_at(case, number)
    return call is not None and not upstream_of(case.steps[:number], call.roots).isdisjoint(names)


def edges(steps: Sequence[Step]) -> dict[str, str]:
    """Return for each edge the tensor whose edge it is."""
    return {step.results[0]: step.tensor for step in steps if isinstance(step, Edge)}


def unwritten_edges(steps: Sequence[Step]) -> dict[str, str]:
    """Return the `edges` of tensors that no step writes to in place, and whose edge therefore stays what it is."""
    written = {step.tensor for step in steps if isinstance(step, InPlace)}
    return {edge: tensor for edge, tensor in edges(steps).items() if tensor not in written}


def derivatives(steps: Iterable[Step]) -> set[str]:
    """Return the gradients that were computed with create_graph."""
    return {name for step in steps if isinstance(step, Grad) and step.create_graph for name in step.results}


def keeps_graph(call: Grad | Backward) -> bool:
    """Whether a call keeps its graph; where ``retain_graph`` does not say it, a call keeps it that has create_graph."""
    return bool(call.create_graph if call.retain_graph is None else call.retain_graph)


def twins(steps: Sequence[Step]) -> dict[str, str]:
    """Return for each name that stands for a tensor with another name the first name of that tensor.

    There are two sorts. The gradient of an output in itself is its seed: both are one number, and in Paddle one tensor. That holds by
    the edge of an output, too, if nothing writes to it. And an op may give its operand back.
    """
    found: dict[str, str] = {}
    of = unwritten_edges(steps)
    for step in steps:
        if isinstance(step, Op) and catalogue()[step.op].memory is Memory.ITSELF:
            found[step.results[0]] = found.get(step.operands[0], step.operands[0])
        if isinstance(step, Grad):
            roots, asked = ([of.get(name, name) for name in names] for names in (step.roots, step.inputs))
            seeds = {found.get(root, root): seed for root, seed in zip(roots, step.seeds or (), strict=False)}
            for name, made in zip(asked, step.results, strict=False):
                seed = seeds.get(found.get(name, name))
                if seed is not None:
                    found[made] = found.get(seed, seed)
    return found


def frozen_seeds(case: Case, number: int) -> set[str]:
    """Return the `own_seeds` of a `grad` call without create_graph, each by its first name; none for any other step."""
    call, same = case.steps[number], twins(case.steps[:number])
    if not isinstance(call, Grad) or call.create_graph:
        return set()
    return own_seeds(call, same)


def own_seeds(call: Grad, same: Mapping[str, str]) -> set[str]:
    """Return the seeds of those outputs of a call that are inputs, too; ``same``: which names stand for others (`twins`)."""
    asked = {same.get(name, name) for name in call.inputs}
    pairs = zip(call.roots, call.seeds or (), strict=False)
    return {same.get(seed, seed) for root, seed in pairs if seed is not None and same.get(root, root) in asked}


def made_by(names: Collection[str], steps: Sequence[Step]) -> set[str]:
    """Return the results of the ops of these names."""
    return {name for step in steps if isinstance(step, Op) and step.op in names for name in step.results}


def ops_in(case: Case) -> tuple[str, ...]:
    """Return the ops that a case uses, those in place and inside custom functions too, each once."""
    steps = (op for step in case.steps for op in ((step,) if isinstance(step, InPlace) else ops(step)))
    return tuple(dict.fromkeys(step.op for step in steps))


def leaves(case: Case) -> set[str]:
    """Return the leaves of a case: its differentiable inputs, and constants that are later said to require a gradient.

    What an op made of a leaf keeps its history when its flag is set again, so it is no leaf. Of a derivative no script tells whether it
    has a history.
    """
    found = {entry.name for entry in case.inputs if entry.differentiable}
    tracked, made = {*found}, set[str]()
    for step in case.steps:
        if isinstance(step, SetRequiresGrad):
            (tracked.add if step.requires_grad else tracked.discard)(step.tensor)
            found.update({step.tensor} & tracked - made)
        elif isinstance(step, Op | InPlace | Custom) and records(step) and not tracked.isdisjoint(name for _, name in uses(step)):
            names = (step.tensor,) if isinstance(step, InPlace) else step.results
            made.update(set(names) - found)
            tracked.update(names)
    return found


def values_of(steps: Iterable[Step], seen: Iterable[Observation]) -> Iterator[tuple[str, Value]]:
    """Yield what steps computed, as far as it was observed, by name; what a step writes to comes once more, as it is then."""
    for step, observation in zip(steps, seen, strict=False):
        if isinstance(observation, Computed):
            yield from ((name, value) for name, value in zip(observed(step), observation.values, strict=False) if value is not None)


def arrays_of(case: Case, seen: Iterable[Observation]) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a script by name: its inputs, and what it computed, as `values_of`."""
    yield from ((entry.name, entry.elements) for entry in case.inputs)
    yield from ((name, value.array) for name, value in values_of(case.steps, seen))


def constants_made(steps: Iterable[Step], given: Iterable[str]) -> set[str]:
    """Return these constants, and what was made of them alone, inside ``no_grad``, by detaching, or as a gradient without a graph."""
    constants = set(given)
    for step in steps:
        match step:
            case Op() | Custom():
                is_one = step.no_grad or constants.issuperset(step.operands)
            case Grad():
                is_one = not step.create_graph
            case _:
                is_one = isinstance(step, Detach)
        if is_one:
            constants.update(results(step))
    return constants


LABELS = frozenset({"end", *(str(step.__struct_config__.tag) for step in get_args(Step))} - {"op"})
"""What `label` may say of a step that is no op."""


def constant_inputs(case: Case) -> set[str]:
    """Return the inputs that need no gradient, from the beginning or since their flag was taken off."""
    stopped = {step.tensor for step in case.steps if isinstance(step, SetRequiresGrad) and not step.requires_grad}
    return {entry.name for entry in case.inputs if not entry.differentiable or entry.name in stopped}


def label(case: Case, step: StepNumber) -> str:
    """Name a step: the op, the call, or ``end`` for the state after the last step."""
    if step is END:
        return "end"
    found = case.steps[step]
    return f"op:{found.op}" if isinstance(found, Op) else kind(found)

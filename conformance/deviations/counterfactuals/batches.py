"""Counterfactuals of batches: what a script would be if ``is_grads_batched`` made one pass over all of its seeds.

PyTorch runs the reverse pass once, on tensors that have one more axis. A gradient that it returns is what it hands on, as with one
seed: what is computed from it depends on all of it, and the derivative of an output in itself is the seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.case.queries import edges, records, upstream_of
from conformance.case.rewrite import CONSTANT, expand_steps, rename
from conformance.case.steps import Custom, Detach, Edge, Grad, Op, SetRequiresGrad, results, uses
from conformance.deviations.conditions.batches import batched_chain
from conformance.deviations.conditions.in_place import shapes_at
from reference_impl import TORCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.place import StepNumber
    from conformance.case.steps import Step
    from conformance.deviations.counterfactuals.calls import Variant


def batched_identities_alone(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a batched derivative of an output in itself be that of a leaf that has the shape of the batch: in one call, the seed."""
    of = edges(case.steps)

    def unbatched(i: int, step: Step) -> list[Step]:
        if not isinstance(step, Grad) or not step.is_grads_batched:
            return [step]
        behind = _alone(step, i, of)
        names = {name: f"{CONSTANT}{name}" for one in behind if isinstance(one, Grad) for name in one.results}
        return [rename(step, names), *behind]

    yield expand_steps(case, number, unbatched)


def _alone(call: Grad, number: int, of: dict[str, str]) -> list[Step]:
    seeds = dict(zip((of.get(name, name) for name in call.outputs), call.grad_outputs or (), strict=False))
    steps: list[Step] = []
    for slot, (asked, result) in enumerate(zip(call.inputs, call.results, strict=True)):
        seed, leaf = seeds.get(of.get(asked, asked)), f"{CONSTANT}{number}_{slot}"
        if seed is not None:
            made = Grad((leaf,), (leaf,), (result,), (seed,), retain_graph=True, create_graph=call.create_graph)
            steps += [Detach(seed, (leaf,)), SetRequiresGrad(leaf, requires_grad=True), made]
    return steps


def batches_in_step(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a batched call with a graph be one call over copies of its graph, one for each seed, that asks for all copies at once.

    What is asked for is stacked, and each copy goes on from its part of the stack, so the gradient of the stack is the batch. The call
    itself stays beside it, since it may be refused, and frees what it went through.
    """

    def in_step(i: int, step: Step) -> Sequence[Step]:
        if not isinstance(step, Grad) or not batched_chain(case, i):
            return [step]
        return [rename(step, {name: f"{CONSTANT}{name}" for name in step.results}), *_over_copies(case, i, step)]

    yield expand_steps(case, number, in_step)


def _over_copies(case: Case, number: int, call: Grad) -> Iterator[Step]:
    before, of = case.steps[:number], edges(case.steps[:number])
    asked, roots = ([of.get(name, name) for name in names] for names in (call.inputs, call.outputs))
    shapes, needed = shapes_at(case, number, TORCH), upstream_of(before, roots)
    copies = range(next(shapes[seed][0] for seed in call.seeds or () if seed is not None))
    parts: dict[str, list[str]] = {}

    def stacked(name: str, of_copies: Sequence[str]) -> Iterator[Step]:
        parts[name] = [f"{CONSTANT}{number}_{name}_part_{i}" for i in copies]
        yield Op("stack", tuple(of_copies), (f"{CONSTANT}{number}_{name}",), {"axis": 0})
        yield from (Op("getitem_int", (f"{CONSTANT}{number}_{name}",), (part,), {"index": i}) for i, part in enumerate(parts[name]))

    made = {name for step in before for name in results(step)}
    for name in dict.fromkeys(name for name in asked if name not in made):
        yield from stacked(name, [name for _ in copies])
    for step in (rename(step, of) for step in before if not isinstance(step, Edge)):
        depends = isinstance(step, Op | Custom | Grad) and records(step) and any(name in parts for _, name in uses(step))
        if depends and not needed.isdisjoint(results(step)):
            kept = msgspec.structs.replace(step, retain_graph=True) if isinstance(step, Grad) else step
            parts.update((name, [f"{CONSTANT}{number}_{name}_{i}" for i in copies]) for name in results(step))
            yield from (rename(kept, {name: of_copies[i] for name, of_copies in parts.items()}) for i in copies)
        for name in (name for name in results(step) if name in asked):
            yield from stacked(name, parts.get(name) or [name for _ in copies])
    pairs = [(root, seed) for root, seed in zip(roots, call.seeds or (), strict=False) if root in parts and seed is not None]
    seeds = {seed: [f"{CONSTANT}{number}_{seed}_seed_{i}" for i in copies] for _, seed in pairs}
    for seed, of_copies in seeds.items():
        yield from (Op("getitem_int", (seed,), (part,), {"index": i}) for i, part in enumerate(of_copies))
    yield msgspec.structs.replace(
        call,
        outputs=tuple(parts[root][i] for root, _ in pairs for i in copies),
        inputs=tuple(f"{CONSTANT}{number}_{name}" for name in asked),
        grad_outputs=tuple(seeds[seed][i] for _, seed in pairs for i in copies),
        retain_graph=True,
        is_grads_batched=False,
    )


OF_BATCHES: dict[str, Callable[[Case, StepNumber, Sequence[str]], Iterator[Variant]]] = {
    "as if batches of identities were single": batched_identities_alone,
    "as if batches ran in step": batches_in_step,
}
"""The counterfactuals of this kind by the words that an entry uses."""

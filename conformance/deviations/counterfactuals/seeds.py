"""Counterfactuals of seeds: what a call answers that should refuse a seed, or takes it for another tensor than it is.

An engine that takes a seed of another shape than its root reads or writes beyond it, so nobody can say what becomes of it. But it
comes to what the root was computed from, and nowhere else: there the call answers what it does with a seed that fits. A seed may keep
a history that was taken off it, or that was never its own, and its memory may be read as numbers of another dtype.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from conformance.case.case import input_of
from conformance.case.place import END, StepNumber
from conformance.case.queries import arrays_of, edges, twins, until
from conformance.case.rewrite import CONSTANT, each_step, replace_step, with_inputs, with_steps
from conformance.case.steps import AppendBackward, Backward, Grad, Op, SetRequiresGrad
from conformance.compare.promise import promised
from conformance.deviations.conditions.calls import names_in_paddle
from conformance.deviations.conditions.in_place import shapes_at
from conformance.deviations.conditions.programs import seeds_that_are_operands
from conformance.deviations.counterfactuals.calls import nothing_freed
from conformance.deviations.counterfactuals.sums import read_as
from conformance.ops.dtypes import SINGLE
from reference_impl import PADDLE, PADDLE_STATIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.case.case import Case, Input
    from conformance.case.steps import Step
    from conformance.deviations.counterfactuals.calls import Variant


def misfitting(case: Case, number: int) -> dict[int, str]:
    """Return the roots whose seeds have another shape, by their positions."""
    call, shapes, of = case.steps[number], shapes_at(case, number, PADDLE), edges(case.steps)
    if not isinstance(call, Grad | Backward):
        return {}
    pairs = enumerate(zip(call.roots, call.seeds or (), strict=False))
    named = ((i, of.get(root, root), seed) for i, (root, seed) in pairs if seed is not None)
    return {i: root for i, root, seed in named if shapes.get(root) != shapes.get(seed)}


def seeds_fitted(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Give every root of a call whose seed has another shape a constant seed that has its shape, with and without what was freed."""
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad | Backward):
        return
    shapes, misfits = shapes_at(case, number, PADDLE), misfitting(case, number)
    dtypes = {entry.name: entry.dtype for entry in case.inputs}
    seeds, fitting = [*(call.seeds or ())], []
    for i, root in misfits.items():
        if root in shapes:
            fitting.append(input_of(f"{CONSTANT}{i}", np.ones(shapes[root], dtypes.get(str(seeds[i]), case.inputs[0].dtype))))
            seeds[i] = fitting[-1].name
    fitted = msgspec.structs.replace(call, **{call.SEEDS[0]: tuple(seeds)})
    other = replace_step(with_inputs(case, (*case.inputs, *fitting)), number, fitted)
    yield other, number
    yield from nothing_freed(other, number, ())


def seeds_with_history(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have every `grad` with a graph take a seed whose flag was taken off as it was before, with its history: one such tensor."""
    for i, off in enumerate(case.steps if number is END else case.steps[:number]):
        if isinstance(off, SetRequiresGrad) and not off.requires_grad:
            kept = Op("clone", (off.tensor,), (f"{CONSTANT}{off.tensor}",))
            seeded = (_seeded(step, {off.tensor: kept.results[0]}) for step in case.steps[i:])
            yield with_steps(case, (*case.steps[:i], kept, *seeded)), number if number is END else number + 1


def returned_seeds_with_history(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have each `grad` with a graph that has a returned seed take the tensor that was the seed first, with its history."""
    calls = (step for step in case.steps if isinstance(step, Grad) and not step.create_graph)
    same, returned = twins(case.steps), {name for call in calls for name in call.results}
    firsts = {name: first for name, first in same.items() if name in returned}
    yield each_step(case, lambda step: _seeded(step, firsts)), number


def _seeded(step: Step, names: Mapping[str, str]) -> Step:
    """Have a `grad` with a graph take other tensors for its seeds."""
    if not isinstance(step, Grad) or not step.create_graph or step.grad_outputs is None:
        return step
    seeds = (name if name is None else names.get(name, name) for name in step.grad_outputs)
    return msgspec.structs.replace(step, grad_outputs=tuple(seeds))


def seeds_read_in_single(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have the memory of a seed of double precision be read as numbers of single precision, as many as the seed has: one constant."""
    calls = (s for s in until(case, number) if isinstance(s, Grad | Backward))
    seeds = {name for call in calls for name in call.seeds or ()}
    for wide in case.inputs:
        if wide.name in seeds and wide.dtype in SINGLE and not wide.differentiable:
            read = input_of(wide.name, read_as(wide.elements, np.dtype(SINGLE[wide.dtype])))
            yield with_inputs(case, (read if i is wide else i for i in case.inputs)), number


def seeds_read_in_their_leaves(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have the memory of a seed of another dtype than its leaf be read as numbers of that: each such seed of the calls, one or all.

    Where it has not enough for all elements, nobody can say what is read in its place: NaN.
    """
    read: list[tuple[int, int, Input]] = []
    for at, call in enumerate(until(case, number)):
        if isinstance(call, Grad | Backward):
            arrays = dict(arrays_of(case, promised(case, PADDLE).observations[:at]))
            of = names_in_paddle(case, at)
            for i, (root, seed) in enumerate(zip(call.roots, call.seeds or (), strict=False)):
                leaf, given = arrays.get(of.get(root, root)), arrays.get(seed or "")
                if leaf is not None and given is not None and leaf.dtype != given.dtype and leaf.shape == given.shape:
                    read.append((at, i, input_of(f"{CONSTANT}{at}_{i}", read_as(given, leaf.dtype))))
    for chosen in [*([one] for one in read), *([read] if len(read) > 1 else [])]:
        seeds = {(at, i): constant.name for at, i, constant in chosen}
        steps = (_with_seeds(step, {i: name for (n, i), name in seeds.items() if n == at}) for at, step in enumerate(case.steps))
        yield with_inputs(with_steps(case, steps), (*case.inputs, *(constant for _, _, constant in chosen))), number


def _with_seeds(step: Step, names: Mapping[int, str]) -> Step:
    if not names or not isinstance(step, Grad | Backward):
        return step
    return msgspec.structs.replace(step, **{step.SEEDS[0]: tuple(names.get(i, seed) for i, seed in enumerate(step.seeds or ()))})


def losses_seeded_in_part(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a backward part start from the first element of its loss with 1; what it starts with from the others nobody can say: NaN."""
    part = None if number is END else case.steps[number]
    if number is END or not isinstance(part, AppendBackward) or not (shape := shapes_at(case, number, PADDLE_STATIC).get(part.loss)):
        return
    weighed = Op("mul", (part.loss, f"{CONSTANT}seed"), (f"{CONSTANT}loss",))
    started = msgspec.structs.replace(part, loss=weighed.results[0])
    for dtype in dict.fromkeys(entry.dtype for entry in case.inputs):
        seed = np.full(shape, np.nan, dtype)
        seed.flat[0] = 1
        yield replace_step(with_inputs(case, (*case.inputs, input_of(weighed.operands[1], seed))), number, weighed, started), number + 1


def seeds_freed(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have seeds of programs that are operands of what made their targets hold what nobody can say: NaN."""
    inputs, steps, arrays = [*case.inputs], [*case.steps], dict(arrays_of(case, promised(case, PADDLE_STATIC).observations))
    for i, step in enumerate(until(case, number)):
        freed = [at for at in seeds_that_are_operands(case, i) if (step.seeds or ())[at] in arrays] if isinstance(step, Grad) else []
        if freed and isinstance(step, Grad):
            seeds = [*(step.seeds or ())]
            for at in freed:
                held = np.full_like(arrays[str(seeds[at])], np.nan)
                inputs.append(input_of(f"{CONSTANT}{i}_{at}_freed", held))
                seeds[at] = inputs[-1].name
            steps[i] = msgspec.structs.replace(step, **{step.SEEDS[0]: tuple(seeds)})
    yield with_steps(with_inputs(case, inputs), steps), number


OF_SEEDS: dict[str, Callable[[Case, StepNumber, Sequence[str]], Iterator[Variant]]] = {
    "as if every seed had the shape of its root": seeds_fitted,
    "as if seeds kept their history": seeds_with_history,
    "as if returned seeds kept their history": returned_seeds_with_history,
    "as if the memory of a seed were read in single precision": seeds_read_in_single,
    "as if seeds were read in the dtypes of their leaves": seeds_read_in_their_leaves,
    "as if a loss were seeded in part": losses_seeded_in_part,
    "as if seeds that are operands were freed": seeds_freed,
}
"""Those of seeds by the words that an entry uses."""

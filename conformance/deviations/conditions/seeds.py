"""Conditions on seeds: which tensor is one, what else it is, and what is made of it afterwards."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.aliases import Aliases
from conformance.case.outcome import Computed, Raised, Value
from conformance.case.queries import (
    call_at,
    constant_inputs,
    constants_made,
    edges,
    frozen_seeds,
    leaves,
    own_seeds,
    twins,
    upstream_of,
    values_of,
)
from conformance.case.rewrite import each_step, interpose, with_steps, without_seeds
from conformance.case.steps import (
    SEED_FIELDS,
    Backward,
    Call,
    Custom,
    Grad,
    Hook,
    InPlace,
    Op,
    SetRequiresGrad,
    observed,
    uses,
)
from conformance.compare.promise import promised
from conformance.deviations.conditions.calls import held_gradient_changed
from conformance.deviations.conditions.registry import condition
from conformance.ops import catalogue
from reference_impl import PADDLE, TORCH, Category

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step

LENDING = frozenset({
    *(name for name, row in catalogue().items() if row.views),
    *("add", "add_scalar", "sub", "rsub_scalar", "sum", "clone", "cast", "contiguous", "pad_constant", "tile", "repeat"),
    *("cat", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack"),
    *("real", "imag", "conj", "complex", "as_real", "as_complex"),
    *("block_diag", "diag_embed", "diag_matrix", "diagflat", "diagonal_scatter", "select_scatter", "slice_scatter"),
    *("meshgrid", "broadcast_tensors"),
    *("index_add", "index_put_accumulate", "scatter_add_to", "scatter_nd_add", "scatter_reduce_sum", "repeat_interleave"),
    *("cartesian_prod", "cumsum", "cumprod", "det", "einsum_single", "frac", "remainder", "positive", "reduce_as", "vander"),
})  # fmt: skip
"""Ops whose gradient may lie in the memory of the cotangent, since nothing is computed for it, or nothing for some shapes."""


def seed_lent_to_leaf(case: Case, number: int) -> bool:
    """Whether a `backward` hands a seed, or what a hook returned, on to a leaf through nothing that must compute something for it."""
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Backward):
        return False
    return not lent_from(before, [name for name, _ in seeds_given(call, before)]).isdisjoint(leaves(case))


def seeds_given(call: Backward, before: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """Yield the roots of a call, each with its seed, and the tensors that have a hook, each with the tensor that this returns."""
    of = edges(before)
    yield from ((of.get(root, root), seed) for root, seed in zip(call.roots, call.seeds or (), strict=False) if seed is not None)
    yield from ((s.tensor, s.tensor_returned) for s in before if isinstance(s, Hook) and s.tensor_returned is not None)


def lent_from(before: Sequence[Step], names: Collection[str]) -> set[str]:
    """Return these values, and all to which what arrives at them may be handed on as it is."""
    lent = {*names}
    for step in reversed(before):
        if not lent.isdisjoint(observed(step)):
            lent.update(lent_by(step))
    return lent


def lent_by(step: Step) -> Collection[str]:
    """Return the values to which the gradient of what a step made may be handed on as it is."""
    if isinstance(step, Custom) or (isinstance(step, Op | InPlace) and step.op in LENDING):
        return step.operands
    return [seed for seed in step.seeds or () if seed is not None] if isinstance(step, Grad) and step.create_graph else ()


@condition
def seed_shape_refused(case: Case, number: int) -> bool:
    """Whether a call has a seed of the wrong shape, where Paddle took an empty list of seeds before it for none.

    Beside another root, that is a seed, too, whose root or itself was made of several losses of smoothed classes: Paddle gives these an
    axis too many.
    """
    taken = case
    if any(isinstance(step, Call) and step.seeds == () for step in case.steps):
        taken = each_step(case, lambda step: without_seeds(step) if isinstance(step, Grad | Backward) and step.seeds == () else step)
    return _seed_misfits(taken, number) or _seed_misfits_smoothed_losses(taken, number)


def _seed_misfits(case: Case, number: int) -> bool:
    seen = promised(case, PADDLE).observations[number]
    return isinstance(seen, Raised) and seen.category is Category.SEED_SHAPE


def _seed_misfits_smoothed_losses(case: Case, number: int) -> bool:
    call = call_at(case, number)
    if call is None or len(call.roots) < 2 or call.seeds is None:
        return False
    ops = [step for step in case.steps[:number] if isinstance(step, Op) and step.op == "cross_entropy_smoothed"]
    losses = [step.results[0] for step in ops if step.attrs["reduction"] == "none" and np.size(step.attrs["target"]) > 1]
    steps = case.steps
    for name in losses:
        steps = interpose(steps, name, Op("unsqueeze", (name,), (f"{name}_of_paddle",), {"axis": -1}))
    return bool(losses) and _seed_misfits(with_steps(case, steps), number + len(losses))


@condition
def more_seeds_than_roots(case: Case, number: int) -> bool:
    """Whether a call has more seeds than roots."""
    call = call_at(case, number)
    return call is not None and call.seeds is not None and len(call.seeds) > len(call.roots)


@condition
def lent_gradient_changed(case: Case, number: int) -> bool:
    """Whether the step adds to, or zeroes, gradients that a `backward` left, and one has handed a seed on to a leaf before."""
    return held_gradient_changed(case, number) and any(seed_lent_to_leaf(case, i) for i in range(number))


@condition
def seed_among_several_roots(case: Case, number: int) -> bool:
    """Whether a call of several roots has a seed: what comes from another one may be added to it."""
    call = call_at(case, number)
    return call is not None and len(call.roots) > 1 and any(name is not None for name in call.seeds or ())


@condition
def no_seeds_in_a_list(case: Case, number: int) -> bool:
    """Whether a call has a list of seeds, and none in it."""
    call = call_at(case, number)
    return call is not None and call.seeds == ()


@condition
def seed_used_again(case: Case, number: int) -> bool:
    """Whether the step uses a constant, or a tensor whose flag was taken off, that was the seed of a call, other than as a seed.

    So it is with a gradient without a graph and with what is made of constants, where that was the seed of an output in itself; and
    then by the name of that output's gradient, too.
    """
    before = case.steps[:number]
    given = {entry.name for entry in case.inputs if not entry.differentiable}
    toggled = {made.tensor for made in before if isinstance(made, SetRequiresGrad) and not made.requires_grad}
    gradients = {name for made in before if isinstance(made, Grad) and not made.create_graph for name in made.results}
    constants = constants_made(before, given) - gradients | toggled
    stopped = constants_made(before, given | toggled) - given
    seeds = {n for s in before if isinstance(s, Call) for n in s.seeds or () if n in constants}
    same = twins(before)
    own = {same.get(n, n) for s in before if isinstance(s, Grad) and s.create_graph for n in own_seeds(s, {}) if n in stopped}
    used = [name for field, name in uses(case.steps[number]) if field not in SEED_FIELDS]
    return any(name in seeds or not own.isdisjoint((name, same.get(name, name))) for name in used)


@condition
def constant_seed_behind(case: Case, number: int) -> bool:
    """Whether a `backward` comes by a derivative that was made with a graph, and whose seed was an input that needs no gradient."""
    step, before = case.steps[number], case.steps[:number]
    if not isinstance(step, Backward):
        return False
    behind = upstream_of(before, step.roots)
    made = (s for s in before if isinstance(s, Grad) and s.create_graph and not behind.isdisjoint(s.results))
    constants, same = constant_inputs(case), twins(before)
    return any(same.get(seed, seed) in constants for s in made for seed in s.seeds or () if seed is not None)


@condition
def hooks_answer_returned(case: Case, number: int) -> bool:
    """Whether the step uses a tensor that a hook gave for a gradient which a `grad` call without a graph returned, or what it makes."""
    hooks = [(i, step) for i, step in enumerate(case.steps[:number]) if isinstance(step, Hook)]
    used = upstream_of(case.steps[:number], (name for _, name in uses(case.steps[number])))
    calls = [(i, s) for i, s in enumerate(case.steps[:number]) if isinstance(s, Grad) and not s.create_graph]
    return any(
        hook.tensor_returned in used and any(i < j and hook.tensor in call.inputs for j, call in calls)
        for i, hook in hooks
        if hook.tensor_returned is not None
    )


@condition
def tracked_seed_handed_on(case: Case, number: int) -> bool:
    """Whether a `grad` call without a graph has a tracked seed and a result of nothing but its elements, or their conjugates.

    A seed is cast to the dtype of its root. One of real numbers whose last axis is of two may be pairs, which have conjugates, too.
    """
    call = case.steps[number]
    if not isinstance(call, Grad) or call.create_graph:
        return False
    known = {entry.name: Value(entry.array(), entry.differentiable) for entry in case.inputs}
    seen, views = promised(case, TORCH).observations, Aliases(case.steps[:number])
    for step, observation in zip(case.steps[:number], seen, strict=False):
        if isinstance(observation, Computed):
            known.update((name, value) for name, value in zip(observed(step), observation.values, strict=False) if value is not None)
            if isinstance(step, InPlace):  # what else lies in the memory that was written
                known.update((event.name, event.value) for event in observation.events if event.value is not None)
        written = known.get(step.tensor) if isinstance(step, InPlace) else None
        if isinstance(step, InPlace) and written is not None and written.requires_grad:  # so does what it is a view of, and its views
            base = views.base(step.tensor)
            known.update((name, replace(value, requires_grad=True)) for name, value in known.items() if views.base(name) == base)
    seeds = [known[name].array for name in call.seeds or () if name in known and known[name].requires_grad]
    here = seen[number]
    made = [value.array for value in here.values if value is not None] if isinstance(here, Computed) else []
    pairs = [(array, _cast(seed, array.dtype)) for array in made for seed in seeds]
    return any(_are_among(_parts(array), [_parts(seed), _parts(_mirrored(seed))]) for array, seed in pairs)


def _are_among(array: Any, numbers: Any) -> bool:
    return bool((np.isin(array, numbers) | (np.isnan(array) & np.isnan(numbers).any())).all())


def _cast(seed: Any, dtype: Any) -> Any:
    """Return a seed in the dtype of a result, which it is cast to if both are real."""
    return seed if np.iscomplexobj(seed) or dtype.kind == "c" else seed.astype(dtype)


def _mirrored(seed: Any) -> Any:
    return seed * np.array([1, -1], seed.dtype) if seed.shape[-1:] == (2,) and not np.iscomplexobj(seed) else np.conj(seed)


def _parts(array: Any) -> Any:
    return np.stack([array.real, array.imag]) if np.iscomplexobj(array) else array


@condition
def seed_beside_its_gradient(case: Case, number: int) -> bool:
    """Whether a call has a result of an earlier `grad` call with a graph and that call's seed, both as roots or as inputs."""
    call = call_at(case, number)
    if call is None:
        return False
    named = {*call.roots, *(call.asked or ())}
    earlier = [s for s in case.steps[:number] if isinstance(s, Grad) and s.create_graph]
    return any(not named.isdisjoint(s.seeds or ()) and not named.isdisjoint(s.results) for s in earlier)


@condition
def twins_together(case: Case, number: int) -> bool:
    """Whether a call has two of a seed and its twins, earlier gradients of outputs in themselves, as roots, or both as inputs."""
    call, same = call_at(case, number), twins(case.steps[:number])
    together = () if call is None else (call.roots, call.asked or ())
    return any(len({same.get(name, name) for name in names}) < len({*names}) for names in together)


@condition
def twin_among_others(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for a seed and its twin, of an earlier call of several outputs or inputs, and names nothing twice."""
    call, same = case.steps[number], twins(case.steps[:number])
    calls = (s for s in case.steps[:number] if isinstance(s, Grad) and s.create_graph and len({*s.outputs, *s.inputs}) > 1)
    made = {name for s in calls for name in s.results}
    asked = call.inputs if isinstance(call, Grad) and len({*call.inputs}) == len(call.inputs) else ()
    return any(name in made and same.get(name) in asked for name in asked)


@condition
def root_itself_seeded_in_other_dtype(case: Case, number: int) -> bool:
    """Whether a `grad` call with a graph asks for all of its outputs, and one of them, a computed one, has a seed of another dtype."""
    call = case.steps[number]
    if not isinstance(call, Grad) or not call.create_graph or not {*call.inputs}.issuperset(call.outputs):
        return False
    given = {entry.name for entry in case.inputs}
    return any(root not in given for root in _seeded_in_other_dtypes(case, number, call))


@condition
def seed_of_other_dtype(case: Case, number: int) -> bool:
    """Whether a call has a seed of another dtype than that of its root."""
    call = call_at(case, number)
    return call is not None and bool(_seeded_in_other_dtypes(case, number, call))


def _seeded_in_other_dtypes(case: Case, number: int, call: Call) -> list[str]:
    """Return the roots of a call whose seeds have other dtypes."""
    known, pairs = _dtypes_before(case, number), zip(call.roots, call.seeds or (), strict=False)
    return [root for root, seed in pairs if seed in known and known[seed] != known.get(root, known[seed])]


def _dtypes_before(case: Case, number: int) -> dict[str, str]:
    known = {entry.name: entry.dtype for entry in case.inputs}
    made = values_of(case.steps[:number], promised(case, PADDLE).observations)
    return known | {name: str(value.array.dtype) for name, value in made}


def narrow_seeds_with_another_part(case: Case, number: int) -> set[str]:
    """Return the seeds of a call with a graph that are of a narrower dtype than their root, and go into something else, too."""
    call = case.steps[number]
    if not isinstance(call, Grad) or not call.create_graph:
        return set()
    known, used = _dtypes_before(case, number), Counter(name for step in case.steps for field, name in uses(step) if field != "inputs")
    pairs = [(root, seed) for root, seed in zip(call.roots, call.seeds or (), strict=False) if seed in known and root in known]
    return {seed for root, seed in pairs if used[seed] > 1 and np.can_cast(known[seed], known[root]) and known[seed] != known[root]}


@condition
def cut_seed_of_root(case: Case, number: int) -> bool:
    """Whether a `grad` call cuts one of its outputs, and somewhere names it by its twin, the gradient of an output in itself."""
    call, same = case.steps[number], twins(case.steps[:number])
    if not isinstance(call, Grad) or call.no_grad_vars is None:
        return False
    cut = {same.get(name, name) for name in call.no_grad_vars} & {same.get(name, name) for name in call.outputs}
    return any(name in same and same[name] in cut for name in (*call.outputs, *call.no_grad_vars, *call.inputs))


@condition
def seeded_by_returned_seed(case: Case, number: int) -> bool:
    """Whether a `grad` call with a graph has a seed that an earlier one, without a graph, returned for an output in itself."""
    call, same = case.steps[number], twins(case.steps[:number])
    if not isinstance(call, Grad) or not call.create_graph:
        return False
    returned = {n for s in case.steps[:number] if isinstance(s, Grad) and not s.create_graph for n in s.results if n in same}
    return not returned.isdisjoint(call.seeds or ())


@condition
def cuts_gradient_of_identity(case: Case, number: int) -> bool:
    """Whether a `grad` call names in ``no_grad_vars`` what an earlier one, without a graph, returned for an output in itself."""
    call, same = case.steps[number], twins(case.steps[:number])
    if not isinstance(call, Grad):
        return False
    cut = {same[name] for name in call.no_grad_vars or () if name in same}
    return any(not cut.isdisjoint(frozen_seeds(case, i)) for i in range(number))


@condition
def seed_of_identity_used(case: Case, number: int) -> bool:
    """Whether the step uses, or a `backward` may reach, the seed of an earlier `grad` call without a graph of an output in itself."""
    before = case.steps[:number]
    same = twins(before)
    used = {same.get(name, name) for name in upstream_of(before, (given for _, given in uses(case.steps[number])))}
    return any(not used.isdisjoint(frozen_seeds(case, i)) for i in range(number))

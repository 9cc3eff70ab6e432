"""Conditions on in-place updates: whose memory is written, and what looked at it before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.aliases import Aliases, lies_in, sharing_with
from conformance.case.outcome import Computed
from conformance.case.queries import comes_by, constants_made, edges, leaves, made_by, upstream, upstream_of, values_of
from conformance.case.rewrite import with_steps
from conformance.case.steps import (
    SEED_FIELDS,
    Backward,
    Detach,
    Grad,
    Hook,
    InPlace,
    Op,
    RetainGrad,
    SetRequiresGrad,
    observed,
    results,
    uses,
)
from conformance.compare.promise import promised
from conformance.deviations.conditions.calls import held_gradient_changed
from conformance.deviations.conditions.registry import condition
from reference_impl import PADDLE, TORCH
from reference_impl.primitives.update import EXPANDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step
    from reference_impl import Dialect

GIVEN = SEED_FIELDS | {"tensor_returned"}
"""The fields of steps in which a script hands a tensor to the engine that it may keep."""

RESHAPING = frozenset({"reshape", "flatten", "ravel", "atleast_1d", "atleast_2d", "atleast_3d"})
"""Ops that `paddle.reshape` does, where there are no axes."""
VIEWED = frozenset({"view", "view_as"})
"""Ops that lay their operand out row by row before they view it."""
ASSIGNMENTS = ("setitem", "setitem_intarray", "setitem_mask")
"""The ops that assign to a part of their first operand, by slices, lists or a mask."""


@condition
def in_place(case: Case, number: int) -> bool:
    """Whether the step changes a tensor in place."""
    return isinstance(case.steps[number], InPlace)


@condition
def writes_triangle(case: Case, number: int) -> bool:
    """Whether the step is triu or tril in place."""
    step = case.steps[number]
    return isinstance(step, InPlace) and step.op in ("triu", "tril")


@condition
def passes_filled_expansion(case: Case, number: int) -> bool:
    """Whether a call comes by an expanded tensor that was filled in place, and recorded, or by what shares its memory."""
    before = case.steps[:number]
    return comes_by(case, number, sharing_with(_filled_expansions(before), before))


def _filled_expansions(before: Sequence[Step]) -> set[str]:
    """Return the expanded tensors that a recorded step filled in place."""
    filled: set[str] = set()
    for i, step in enumerate(before):
        if isinstance(step, InPlace) and step.op == "fill" and not step.no_grad:
            aliases = Aliases(before[:i])
            made = (aliases.parent[name][1] for name in aliases.above(step.tensor) if name in aliases.parent)
            filled.update({step.tensor} if any(isinstance(one, Op) and one.op in EXPANDING for one in made) else ())
    return filled


@condition
def writes_part(case: Case, number: int) -> bool:
    """Whether the step writes to some elements of a tensor in place: those of a mask, or of a slice."""
    step = case.steps[number]
    return isinstance(step, InPlace) and step.op in ("masked_fill", "setitem")


@condition
def shared_written(case: Case, number: int) -> bool:
    """Whether a recorded in-place update changes a view, or a value that has views."""
    step = case.steps[number]
    if not isinstance(step, InPlace) or step.no_grad:
        return False
    aliases = Aliases(case.steps[:number])
    return sum(aliases.base(m) == aliases.base(step.tensor) for m in aliases.members(step.tensor)) > 1


@condition
def leaf_view_written(case: Case, number: int) -> bool:
    """Whether the step changes a view of a leaf in place, of an input or of what was made one."""
    step, before = case.steps[number], with_steps(case, case.steps[:number])
    own = leaves(before)
    return isinstance(step, InPlace) and step.tensor not in own and Aliases(before.steps).base(step.tensor) in own


@condition
def writes_reshaped_scalar(case: Case, number: int) -> bool:
    """Whether the step changes in place what a tensor without axes was reshaped to."""
    step, before = case.steps[number], case.steps[:number]
    if not isinstance(step, InPlace):
        return False
    of, by = Aliases(before).parent.get(step.tensor, ("", None))
    return isinstance(by, Op) and by.op in RESHAPING and of in without_axes(case, number)


@condition
def writes_beside_reshaped_scalar(case: Case, number: int) -> bool:
    """Whether the step changes in place a tensor that is to share its memory with one without axes and what that was reshaped to."""
    step = case.steps[number]
    if not isinstance(step, InPlace):
        return False
    aliases, numbers = Aliases(case.steps[:number]), without_axes(case, number)
    parents = (aliases.parent.get(name, ("", None)) for name in aliases.members(step.tensor))
    return any(isinstance(by, Op) and by.op in RESHAPING and of in numbers for of, by in parents)


@condition
def writes_what_was_laid_out(case: Case, number: int) -> bool:
    """Whether the step changes in place what was viewed of a view, after that was laid out row by row."""
    step = case.steps[number]
    if not isinstance(step, InPlace):
        return False
    parents = Aliases(case.steps[:number]).parent
    of, by = parents.get(step.tensor, ("", None))
    return isinstance(by, Op) and by.op in VIEWED and of in parents


def without_axes(case: Case, number: int) -> set[str]:
    """Return the tensors before a step that have no axes."""
    return {name for name, shape in shapes_at(case, number, PADDLE).items() if shape == ()}


def shapes_at(case: Case, number: int, dialect: Dialect) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors before a step, by their names."""
    known = {entry.name: entry.shape for entry in case.inputs}
    made = values_of(case.steps[:number], promised(case, dialect).observations)
    return known | {name: value.array.shape for name, value in made}


@condition
def seed_or_gradient_written(case: Case, number: int) -> bool:
    """Whether the step changes in place the memory of a seed, of what a hook returned, or of a returned gradient."""
    step, before = case.steps[number], case.steps[:number]
    if not isinstance(step, InPlace):
        return False
    aliases = Aliases(before)
    given = {aliases.root(n) for s in before for field, n in uses(s) if field in GIVEN}
    return aliases.root(step.tensor) in given or gradient_written(case, number)


@condition
def gradient_written(case: Case, number: int) -> bool:
    """Whether the step changes a returned gradient in place, or a view of one."""
    step, before = case.steps[number], case.steps[:number]
    returned = {n for s in before if isinstance(s, Grad) for n in s.results}
    return isinstance(step, InPlace) and Aliases(before).root(step.tensor) in returned


@condition
def gradient_beside_recorded_write(case: Case, number: int) -> bool:
    """Whether the step uses a gradient of a call without a graph of which a recorded update changed a seed, or another gradient.

    A seed may itself be a gradient of such a call, or what a hook returned.
    """
    before = case.steps[:number]
    aliases = Aliases(before)
    hooked = {aliases.root(s.tensor_returned) for s in before if isinstance(s, Hook) and s.tensor_returned is not None}
    used = {aliases.root(name) for _, name in uses(case.steps[number])}
    beside: set[str] = set()
    for call in reversed(before):
        if isinstance(call, Grad) and not call.create_graph and not (used | beside).isdisjoint(call.results):
            beside |= {aliases.root(name) for name in call.grad_outputs or () if name is not None} | {*call.results} | hooked
    written = {aliases.root(s.tensor) for s in before if isinstance(s, InPlace) and not s.no_grad}
    return not written.isdisjoint(beside)


@condition
def view_asked_after_write(case: Case, number: int) -> bool:
    """Whether a call asks for the gradient of a view whose memory an in-place update changed, or of the edge of one."""
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Grad | Backward):
        return False
    aliases = Aliases(before)
    written = {aliases.root(s.tensor) for s in before if isinstance(s, InPlace)}
    views = {n for n, (_, made_by) in aliases.parent.items() if not isinstance(made_by, Detach)}
    of = edges(before)
    asked = (of.get(n, n) for n in call.inputs or ())
    return any(n in views and aliases.root(n) in written for n in asked)


@condition
def comes_by_empty_view(case: Case, number: int) -> bool:
    """Whether a call with a graph comes by an empty result of as_strided, or an empty view whose memory was written.

    The memory may be that of a ``.grad``, which a pass adds to.
    """
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Grad | Backward) or not call.create_graph:
        return False
    aliases = Aliases(before)
    seeds = {name for s in before if isinstance(s, Backward) for name in s.seeds or () if name is not None}
    written = {s.tensor for s in before if isinstance(s, InPlace)}
    if any(held_gradient_changed(case, i) for i in range(number)):
        written |= seeds
    views = sharing_with(written, before) & aliases.parent.keys() | made_by(("as_strided",), before)
    empty = {name for name, shape in shapes_at(case, number, TORCH).items() if 0 in shape}
    return any(not upstream(before, root).isdisjoint(views & empty) for root in call.roots)


@condition
def create_graph_after_in_place(case: Case, number: int) -> bool:
    """Whether a `grad` call with create_graph comes after a recorded in-place update."""
    call = case.steps[number]
    written = any(isinstance(s, InPlace) and not s.no_grad for s in case.steps[:number])
    return isinstance(call, Grad) and call.create_graph and written


@condition
def passes_recorded_write(case: Case, number: int) -> bool:
    """Whether a call comes by the memory of a tensor that a recorded in-place update changed."""
    before = case.steps[:number]
    return comes_by(case, number, sharing_with((s.tensor for s in before if isinstance(s, InPlace) and not s.no_grad), before))


@condition
def hook_on_rewritten_view(case: Case, number: int) -> bool:
    """Whether the step hooks, or retains the gradient of, a view whose memory an in-place update changed."""
    step, before = case.steps[number], case.steps[:number]
    if not isinstance(step, Hook | RetainGrad):
        return False
    aliases = Aliases(before)
    written = {aliases.root(s.tensor) for s in before if isinstance(s, InPlace)}
    return step.tensor in aliases.parent and aliases.root(step.tensor) in written


@condition
def passes_hooked_rewritten_view(case: Case, number: int) -> bool:
    """Whether a call comes by the memory of a view that was hooked, or retains its gradient, after an in-place update changed it."""
    before = case.steps[:number]
    hooked = {s.tensor for i, s in enumerate(before) if isinstance(s, Hook | RetainGrad) and hook_on_rewritten_view(case, i)}
    return comes_by(case, number, sharing_with(hooked, before))


@condition
def hook_on_view_added_to(case: Case, number: int) -> bool:
    """Whether the step hooks a view in whose memory a ``.grad`` may lie, since `backward` was given it as a seed, that was added to.

    A gradient with a graph may be a view of its seed.
    """
    step, before = case.steps[number], case.steps[:number]
    passes = [i for i in range(number) if held_gradient_changed(case, i)]
    if not isinstance(step, Hook | RetainGrad) or not passes:
        return False
    given = {n for s in before[: passes[-1]] if isinstance(s, Backward) for field, n in uses(s) if field in SEED_FIELDS}
    made = (s for s in before if lies_in(s) is not None or (isinstance(s, Grad) and s.create_graph))
    views = {result for s in made for result in results(s)}
    return step.tensor in views and not given.isdisjoint(sharing_with({step.tensor}, before))


@condition
def hooks_base_of_write(case: Case, number: int) -> bool:
    """Whether the step hooks a tensor of which only another one in its memory was made to require a gradient, by a recorded update."""
    step, before = case.steps[number], case.steps[:number]
    if not isinstance(step, Hook):
        return False
    constants, written, aliases = {entry.name for entry in case.inputs if not entry.differentiable}, set[str](), Aliases(before)
    for earlier in before:
        constants = constants_made([earlier], constants)
        if isinstance(earlier, SetRequiresGrad):
            (constants.discard if earlier.requires_grad else constants.add)(earlier.tensor)
        elif isinstance(earlier, InPlace) and not earlier.no_grad and not constants.issuperset((earlier.tensor, *earlier.operands)):
            constants.discard(earlier.tensor)
            written.add(earlier.tensor)
    return step.tensor in constants and aliases.base(step.tensor) in {aliases.base(name) for name in written}


@condition
def adds_to_gradient_of_same_leaf(case: Case, number: int) -> bool:
    """Whether a `backward` comes by a leaf that an earlier one came by."""
    before = case.steps[:number]
    earlier = {name for i, s in enumerate(before) if isinstance(s, Backward) for name in upstream_of(before[:i], s.roots)}
    return isinstance(case.steps[number], Backward) and comes_by(case, number, earlier & leaves(case))


@condition
def hooked_seed_added_to(case: Case, number: int) -> bool:
    """Whether a `backward` adds to the gradients of an earlier one whose seed shares its memory with a view that has a hook."""
    before = case.steps[:number]
    views = {name for s in before if lies_in(s) is not None for name in results(s)}
    hooked = {s.tensor for s in before if isinstance(s, Hook)} & views
    seeds = {name for s in before if isinstance(s, Backward) for name in s.seeds or () if name is not None}
    return isinstance(case.steps[number], Backward) and not seeds.isdisjoint(sharing_with(hooked, before))


@condition
def hooked_view_written(case: Case, number: int) -> bool:
    """Whether the step changes in place the memory of a view that has a hook, or retains its gradient."""
    step, before = case.steps[number], case.steps[:number]
    if not isinstance(step, InPlace):
        return False
    aliases = Aliases(before)
    attached = [s.tensor for s in before if isinstance(s, Hook | RetainGrad) and s.tensor in aliases.parent]
    return any(aliases.root(name) == aliases.root(step.tensor) for name in attached)


@condition
def constant_written(case: Case, number: int) -> bool:
    """Whether the step writes what requires a gradient into a tensor that requires none, in place or by setitem, and records it."""
    step, seen = case.steps[number], promised(case, PADDLE).observations
    assigned = step.operands[0] if isinstance(step, Op) and step.op in ASSIGNMENTS else ""
    written = step.tensor if isinstance(step, InPlace) else assigned
    made = seen[number]
    if not written or not isinstance(made, Computed):
        return False
    tracked = {entry.name: entry.differentiable for entry in case.inputs}
    for earlier, before in zip(case.steps[:number], seen, strict=False):
        if isinstance(before, Computed):
            tracked.update((name, v is not None and v.requires_grad) for name, v in zip(observed(earlier), before.values, strict=False))
    return not tracked.get(written, False) and any(value is not None and value.requires_grad for value in made.values)

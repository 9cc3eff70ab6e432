"""One episode of an eager script: grow the graph, and differentiate it in some way.

An episode calls `backward` or `grad`, once or twice, or differentiates derivatives. Between its parts come state steps, custom
functions and in-place updates, as often as the habits of the script say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.case.differentiated import differentiated
from conformance.case.steps import Backward, Edge, Grad, Op, SetRequiresGrad, results
from conformance.generate.calls import above, build_on_derivatives, draw_cut, draw_roots, draw_seeds, draw_targets
from conformance.generate.custom import draw_custom
from conformance.generate.in_place import draw_in_place
from conformance.generate.state import draw_clear, draw_state
from conformance.ops.sampler import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.steps import Form
    from conformance.generate.sketch import Sketch


@dataclass(frozen=True, slots=True)
class Habits:
    """What one script does, drawn once for all of it: its ops, and how often it does what.

    Attributes:
        deep: whether it differentiates derivatives.
        state, customs: how likely a state step and a custom function are after each op.
        changes: whether it changes tensors in place.
        grads: whether it calls `grad`, which some engine of the run has.
    """

    vocabulary: Sequence[str]
    deep: bool
    state: float
    customs: float
    changes: bool
    grads: bool = True


def grow(s: Sketch, habits: Habits, count: int) -> None:
    """Add ops, and what comes after an op now and then."""
    for _ in range(count):
        s.draw_op(habits.vocabulary)
        if s.source.chance(habits.customs):
            draw_custom(s)
        if s.source.chance(habits.state):
            draw_state(s)
        _change(s, habits)


def _change(s: Sketch, habits: Habits) -> None:
    if habits.changes and s.source.chance(s.odds.scripts.change):
        draw_in_place(s)


def draw_episode(s: Sketch, habits: Habits, *, last: bool) -> None:
    """Add one episode; the last one of a script seldom keeps its graph."""
    source, odds = s.source, s.odds.scripts
    if source.chance(odds.grow_again):
        grow(s, habits, source.integer(*odds.grown))
    _change(s, habits)
    roots = draw_roots(s, s.odds.calls, [d for d in s.values if d.tracked], s.values)
    if source.chance(odds.state_before_call * habits.state):
        draw_state(s)
    if habits.grads and habits.deep and source.chance(odds.second_order):
        _derive(s, habits, roots)
    elif not habits.grads or source.chance(odds.by_backward):
        _backward(s, habits, roots, retain=_retain(s, last=last))
        if source.chance(odds.clear):
            draw_clear(s)
        if source.chance(odds.backward_again):
            _backward(s, habits, roots, retain=_retain(s, last=last))
    else:
        _grad(s, habits, roots, create_graph=source.chance(odds.grad_with_graph), retain=_retain(s, last=last))
        if source.chance(odds.grad_again):
            _grad(s, habits, roots, create_graph=False, retain=_retain(s, last=last))


def draw_missed(s: Sketch, habits: Habits, op: str) -> None:
    """Differentiate what an op made, if no call of the script has: calls take the roots that come, and miss one op of two."""
    if any(op in ops for call in differentiated(s.case()).values() for ops in call.values()):
        return
    made = {name for step in s.steps if isinstance(step, Op) and step.op == op for name in step.results}
    roots = [d for d in s.values if d.name in made and d.tracked]
    if roots and (not habits.grads or s.source.chance(s.odds.scripts.by_backward)):
        _backward(s, habits, [s.source.choice(roots)], retain=_retain(s, last=True))
    elif roots:
        _grad(s, habits, [s.source.choice(roots)], create_graph=False, retain=_retain(s, last=True))


def _derive(s: Sketch, habits: Habits, roots: list[Draft]) -> None:
    """Differentiate, compute with the result, differentiate that; sometimes once more."""
    source, odds = s.source, s.odds.scripts
    for _ in range(2 if source.chance(odds.third_order) else 1):
        gradients = _grad(s, habits, roots, create_graph=True, retain=None if source.chance(odds.retain_by_default) else True)
        before = len(s.values)
        build_on_derivatives(s, habits.vocabulary)
        if not gradients:
            return
        derivatives = [d for d in s.values[before:] if d.tracked] or gradients
        roots = list({d.name: d for d in (source.choice(derivatives) for _ in range(source.choice(odds.derivatives)))}.values())
        if source.chance(odds.summed_derivative) and s.on("sum", roots[0], axis=None, keepdims=False):
            roots = [s.values[-1]]
    if source.chance(odds.by_backward):
        _backward(s, habits, roots, retain=_retain(s, last=True))
    else:
        _grad(s, habits, roots, create_graph=False, retain=_retain(s, last=True))


def _retain(s: Sketch, *, last: bool) -> bool | None:
    odds = s.odds.scripts
    if s.source.chance(odds.no_retain):
        return None
    return s.source.chance(odds.retain_last if last else odds.retain)


def _form(s: Sketch, *lists: tuple[str | None, ...] | None) -> Form | None:
    """Choose how lists are handed over: mostly as lists."""
    odds = s.odds.scripts
    if not s.source.chance(odds.form):
        return None
    bare = all(names is None or len(names) == 1 for names in lists)
    return "bare" if bare and s.source.chance(odds.bare) else "tuple"


def _edges(s: Sketch, habits: Habits, drafts: Sequence[Draft], chance: float) -> tuple[str, ...]:
    """Return the names of values; now and then that of an edge in the place of one, which may have been asked for long before."""
    odds = s.odds.scripts
    names = []
    for draft in drafts:
        name = draft.name
        if draft.tracked and s.source.chance(chance):
            name = s.name("e")
            first = 1 + max((i for i, step in enumerate(s.steps) if draft.name in results(step)), default=-1)
            first += s.steps[first : first + 1] == [SetRequiresGrad(draft.name, True)]  # it has an edge once it is a leaf
            early = s.source.chance(odds.early_edge_before_write if habits.changes else odds.early_edge)
            place = s.source.integer(first, len(s.steps)) if early else len(s.steps)
            s.steps.insert(place, Edge(draft.name, (name,)))
        names.append(name)
    return tuple(names)


def _backward(s: Sketch, habits: Habits, roots: list[Draft], *, retain: bool | None) -> None:
    source, odds = s.source, s.odds.scripts
    inputs = None
    if source.chance(odds.backward_inputs) and not habits.changes:
        inputs = _edges(s, habits, draw_targets(s, s.odds.calls, roots), odds.backward_by_edge)
    tensors = _edges(s, habits, roots, odds.root_by_edge)
    seeds = draw_seeds(s, s.odds.calls, roots, differentiable=False)
    old = source.chance(odds.old_name)
    s.steps.append(
        Backward(
            tensors,
            None if old and not source.chance(odds.both_names) else seeds,
            retain,
            create_graph=source.chance(odds.backward_with_graph),
            inputs=inputs or None,
            no_grad=source.chance(odds.no_grad_call),
            grad_variables=seeds if old else None,
            dump_backward_graph=source.chance(odds.dump),
            form=_form(s, tensors, seeds, inputs),
        )
    )


def _grad(s: Sketch, habits: Habits, roots: list[Draft], *, create_graph: bool, retain: bool | None) -> list[Draft]:
    source, odds = s.source, s.odds.scripts
    targets = draw_targets(s, s.odds.calls, roots)
    create_graph = create_graph and not s.shared_written  # PyTorch differentiates a rewritten view by another op than its own
    allow_unused = True if source.chance(odds.allow_unused) else False if source.chance(odds.forbid_unused) else None
    cut = draw_cut(s, s.odds.calls)
    batch = (source.integer(*odds.batch),) if source.chance(odds.batched) else ()
    inputs = _edges(s, habits, targets, odds.written_by_edge if habits.changes else odds.input_by_edge)
    outputs = _edges(s, habits, roots, odds.root_by_edge)
    seeds = draw_seeds(s, s.odds.calls, roots, differentiable=create_graph, batch=batch)
    names = tuple(s.name("g") for _ in inputs)
    s.steps.append(
        Grad(
            outputs,
            inputs,
            names,
            seeds,
            retain,
            create_graph,
            only_inputs=not source.chance(odds.not_only_inputs),
            allow_unused=allow_unused,
            no_grad_vars=cut,
            materialize_grads=source.chance(odds.materialize),
            no_grad=source.chance(odds.no_grad_call),
            is_grads_batched=bool(batch),
            form="set" if cut and source.chance(odds.cut_as_set) else _form(s, outputs, inputs, seeds, cut),
        )
    )
    reached = above(s, roots, seeds) if create_graph else frozenset()
    gradients = [
        Draft(name, (*batch, *d.shape), d.dtype, None, create_graph, reached | {name} if create_graph else reached, "gradient")
        for name, d in zip(names, targets, strict=True)
    ]
    s.values.extend(gradients)
    return gradients

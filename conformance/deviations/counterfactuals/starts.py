"""Counterfactuals of where a pass starts: what Paddle makes of a `grad` call that asks for one of its own outputs.

Paddle takes the node of an output that is among the inputs, or was made together with one, from those that the pass starts from,
and then all that it does not find in front of every other. So an output may start nothing although something lies below it, and
where nothing starts at all no node runs, and no hook is called: an output has its seed, and what is below has nothing. A pass
that does start comes to some of those nodes on its way. One of them that nothing else is asked for below ends the pass, and has
lost the seed that lay at it, if it is no leaf; one that is never come to has no gradient, and is not refused for that where
something else that is asked for lies below it.

With those that remain the pass begins in the order of a hash table of addresses, so it may be any, and decides in which order the
gradients of one tensor are added.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import msgspec

from conformance.case.place import END, StepNumber
from conformance.case.queries import constant_inputs, leaves, records, upstream, upstream_of
from conformance.case.rewrite import CONSTANT, rename, replace_step, without_root
from conformance.case.steps import Custom, Detach, Grad, Op, SetRequiresGrad, results, uses
from conformance.deviations.conditions.calls import names_in_paddle
from conformance.deviations.conditions.several import made_together
from conformance.deviations.counterfactuals.cuts import RECORDS_NOTHING, last_operand_constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step
    from conformance.deviations.counterfactuals.calls import Variant


UNRECORDED = tuple(sorted(RECORDS_NOTHING - {"diag_embed"}))
"""Of these ops those that Paddle makes a node of, without an edge to the last operand; `diag_embed` has no node."""


def asked_outputs_not_started(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a `grad` call that asks for one of its outputs start as Paddle does.

    What lies below a gradient hangs on the rules that made it: its seeds do, and all that lies above its outputs, or nothing of that,
    or the gradients that its pass made before, or what the ops kept that its pass came by. And where an op has recorded no edge to an
    operand, the pass does not come by it there.
    """
    yield from _not_started(case, number)
    for cut, moved in last_operand_constant(case, number, UNRECORDED):
        yield from _not_started(cut, moved)


def _not_started(case: Case, number: StepNumber) -> Iterator[Variant]:
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad):
        return
    same = names_in_paddle(case, number)
    if {same.get(name, name) for name in call.inputs}.isdisjoint(same.get(name, name) for name in call.outputs):
        return
    before = _recorded(case, number)
    linear = [msgspec.structs.replace(step, outputs=(), inputs=()) if isinstance(step, Grad) else step for step in before]
    kept = ([*_gradients_on_the_way(before, results_too=results_too)] for results_too in (False, True))
    ways = [before, linear, [*_gradients_apart(before)], *kept]
    for steps in (way for i, way in enumerate(ways) if way not in ways[:i]):
        yield _started(case, number, call, steps, same)


def _gradients_apart(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield a `grad` call of several inputs as one for each, that of an input made of those of what was made of this."""
    for i, step in enumerate(steps):
        if not isinstance(step, Grad) or len(step.inputs) < 2:
            yield step
            continue
        of = dict(zip(step.inputs, step.results, strict=True))
        made_of = {name: [other for other in of if other != name and name in upstream(steps[:i], other)] for name in of}
        for name in sorted(of, key=lambda name: len(made_of[name])):
            outputs = (*step.outputs, *(of[other] for other in made_of[name]))
            yield msgspec.structs.replace(step, outputs=outputs, inputs=(name,), results=(of[name],))


def _gradients_on_the_way(steps: Sequence[Step], *, results_too: bool) -> Iterator[Step]:
    """Yield a `grad` call as one that begins with what the ops between its outputs and inputs kept: operands, and perhaps results."""
    for i, step in enumerate(steps):
        if not isinstance(step, Grad):
            yield step
            continue
        above, reached = upstream_of(steps[:i], step.outputs), {*step.inputs}
        kept: dict[str, None] = {}
        for earlier in steps[:i]:
            operands = [name for _, name in uses(earlier)]
            if reached.isdisjoint(operands):
                continue
            reached.update(results(earlier))
            if not above.isdisjoint(results(earlier)):
                kept.update(dict.fromkeys((*operands, *(results(earlier) if results_too else ()))))
        yield msgspec.structs.replace(step, outputs=tuple(kept))


def _recorded(case: Case, number: int) -> list[Step]:
    """Return the steps before a call that record something, with another name for an input where its flag was set only later."""
    before = list(case.steps[:number])
    constant = {entry.name for entry in case.inputs if not entry.differentiable}
    for i, step in enumerate(before):
        if isinstance(step, SetRequiresGrad) and step.requires_grad and step.tensor in constant:
            constant.remove(step.tensor)
            before[:i] = [rename(earlier, {step.tensor: f"{CONSTANT}{step.tensor}_early"}) for earlier in before[:i]]
    return [step for step in before if records(step)]


def _started(case: Case, number: int, call: Grad, before: Sequence[Step], same: Mapping[str, str]) -> Variant:
    asked, roots = ([same.get(name, name) for name in names] for names in (call.inputs, call.outputs))

    def below(name: str, but: Sequence[str] = ()) -> set[str]:
        return {same.get(n, n) for n in upstream(before, name, but)} - {name}

    behind = {root: below(root) for root in roots}
    together = [{same.get(name, name) for name in made} for made in made_together(case.steps[:number])]

    def with_its_node(names: set[str]) -> set[str]:
        return names.union(*(made for made in together if not names.isdisjoint(made)))

    taken = with_its_node({*asked})
    first = [root for root in roots if with_its_node({root}).isdisjoint(set().union(*behind.values()))]
    starts = [root for root in first if root not in taken and not behind[root].isdisjoint(taken)]
    if not starts:
        return _seeds_alone(case, number, call, [root in asked for root in roots], same)
    reached = {name for root in starts for name in below(root, call.constants or ())}
    ends = {name for name in asked if below(name).isdisjoint(asked)}
    stopped = {name for name in ends if name in reached and name not in leaves(case)}
    idle = [i for i, root in enumerate(roots) if root not in starts and (root not in reached or root in stopped)]
    started = functools.reduce(without_root, reversed(idle), call)
    missed = {name for name in asked if name not in reached}
    if missed and missed.isdisjoint(ends):
        started = msgspec.structs.replace(started, allow_unused=True)
    return replace_step(case, number, started), number


def outputs_in_some_order(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a `grad` call of several outputs begin with these in each order: with one node that hands out their seeds.

    Those from which nothing that is asked for is reached are left out: such a node may hand them nothing.
    """
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad) or len(call.seeds or call.outputs) != len(call.outputs):
        return
    same = names_in_paddle(case, number)
    asked = {same.get(name, name) for name in call.inputs}
    behind = [{same.get(n, n) for n in upstream(case.steps[:number], root, call.constants or ())} for root in call.outputs]
    call = functools.reduce(without_root, [i for i in reversed(range(len(behind))) if asked.isdisjoint(behind[i])], call)
    if len(call.outputs) < 2:
        return
    joined = f"{CONSTANT}{number}_joined"
    forward = [Op("sum", call.outputs[:1], (joined,), {"axis": None, "keepdims": False})]
    backward, handed, saved = [], {}, []
    for i, (root, seed) in enumerate(zip(call.outputs, call.seeds or [None] * len(call.outputs), strict=True)):
        own, handed[root] = f"{CONSTANT}{number}_seed_{i}", f"{CONSTANT}{number}_handed_{i}"
        forward += [] if seed else [Op("fill", (root,), (own,), {"value": 1.0})]
        backward.append(Op("mul_scalar", (seed or own,), (handed[root],), {"other": 1.0}))
        saved.append(seed or own)
    for order in _orders(case, number, call.outputs):
        operands = tuple(dict.fromkeys((*order, *filter(None, call.seeds or ()))))
        gradients = tuple(handed.get(name) for name in operands)
        names = tuple(dict.fromkeys(saved))
        one = Custom(operands, (joined,), (*forward,), (joined,), (f"{joined}_cotangent",), gradients, (*backward,), names)
        yield replace_step(case, number, one, msgspec.structs.replace(call, outputs=(joined,), grad_outputs=None)), number + 1


def _orders(case: Case, number: int, outputs: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the orders of outputs that may make a difference, which are those of outputs that come of one tensor."""
    constant = constant_inputs(case)
    groups: list[tuple[set[str], list[str]]] = []
    for root in outputs:
        behind = upstream(case.steps[:number], root) - constant
        near = [group for group in groups if not behind.isdisjoint(group[0])]
        joined = behind.union(*(names for names, _ in near)), [*itertools.chain(*(roots for _, roots in near)), root]
        groups = [*(group for group in groups if group not in near), joined]
    for orders in itertools.product(*(itertools.permutations(roots) for _, roots in groups)):
        yield tuple(itertools.chain(*orders))


def _seeds_alone(case: Case, number: int, call: Grad, kept: Sequence[bool], same: Mapping[str, str]) -> Variant:
    """Have a call be for copies of the outputs that are asked for, which nothing lies below."""
    outputs = dict.fromkeys(same.get(name, name) for name, asked in zip(call.outputs, kept, strict=True) if asked)
    copies = {name: f"{CONSTANT}{name}_{number}_alone" for name in outputs}
    made = [s for name, copy in copies.items() for s in (Detach(name, (copy,)), SetRequiresGrad(copy, requires_grad=True))]
    alone = functools.reduce(without_root, [i for i in reversed(range(len(kept))) if not kept[i]], call)

    def copied(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(copies.get(same.get(name, name), name) for name in names)

    alone = msgspec.structs.replace(alone, outputs=copied(alone.outputs), inputs=copied(alone.inputs))
    return replace_step(case, number, *made, alone), number + len(made)

"""Each op to the third order: a small graph around one op, differentiated three times, with seeds that are differentiated as well.

A random script differentiates twice or three times whatever it has by then, and of four hundred ops few are there. The grid asks for
each order of each op, but of one op alone and in the same few dozen cases every time. Here each op has its turn: it is applied to fresh
values or to what another op made, others may come behind it, and all is asked for that its derivatives depend on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.case.steps import Grad
from conformance.generate.calls import above, draw_seeds
from conformance.generate.odds import CallOdds
from conformance.generate.sketch import Sketch
from conformance.ops.sampler import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Case
    from conformance.generate.odds import Odds
    from conformance.generate.profiles.odds import OrdersOdds
    from conformance.ops.sampler import Source

RIGHT = CallOdds(
    no_seeds_for_single=0.1,
    no_seeds=0.0,
    null_seed_for_single=0.0,
    null_seed=0.0,
    seed_shape=0.0,
    seed_precision=0.0,
    seed_kind=0.0,
    seed_count=0.0,
    shared_seed=0.1,
    existing_seed=0.05,
    computed_seed=0.0,
    tracked_seed=1.0,
)
"""Calls without mistakes, since what is refused at one order has no other."""
TRIES = 4
"""How often the op is tried, whose operands may all be constants, or may not fit."""


def draw_orders(source: Source, odds: Odds, orders: OrdersOdds, op: str, *, exact: bool, dtype: str) -> Case:
    """Draw a graph around an op, and its derivatives."""
    s = Sketch(source, replace(odds, sketch=replace(odds.sketch, constant=orders.constant)), exact=exact, dtype=dtype)
    s.fresh(s.shape())
    for _ in range(source.integer(*orders.before)):
        s.draw_op(orders.beside)
    for _ in range(TRIES):
        if s.add_op(op) and s.values[-1].tracked:
            break
    root = next((d for d in reversed(s.values) if d.tracked), s.values[0])
    for _ in range(source.integer(*orders.after)):
        if s.draw_op(orders.beside) and root.name in s.values[-1].above:
            root = s.values[-1]
    _derive(s, orders, root)
    return s.case()


def _derive(s: Sketch, orders: OrdersOdds, root: Draft) -> None:
    """Differentiate a root, then its gradients, and theirs: at the third order one by one, so that none is hidden by another.

    The first derivative is asked for without a graph, too: with one, an engine may refuse it of an op that has no second derivative.
    """
    _grad(s, orders, [root], create_graph=False)
    first = _grad(s, orders, [root], create_graph=True)
    second = _grad(s, orders, _some(s, orders, first), create_graph=True)
    for gradient in _some(s, orders, second):
        _grad(s, orders, [gradient], create_graph=False)


def _some(s: Sketch, orders: OrdersOdds, drafts: Sequence[Draft]) -> list[Draft]:
    chosen = {d.name for d in (s.source.choice(drafts) for _ in range(s.source.integer(*orders.again)))}
    return [d for d in drafts if d.name in chosen]


def _grad(s: Sketch, orders: OrdersOdds, roots: Sequence[Draft], *, create_graph: bool) -> list[Draft]:
    """Ask for the gradients of all leaves, or as many as are allowed, and keep the graph."""
    reached = frozenset().union(*(root.above for root in roots))
    leaves = [d for d in s.values if d.is_leaf and d.name in reached] or [roots[0]]
    asked = s.source.shuffled(leaves)[: orders.asked]
    seeds = draw_seeds(s, RIGHT, roots, differentiable=create_graph)
    names = tuple(s.name("g") for _ in asked)
    outputs = tuple(root.name for root in roots)
    call = Grad(outputs, tuple(d.name for d in asked), names, seeds, True, create_graph, allow_unused=True)
    s.steps.append(call)
    depends = above(s, roots, seeds) if create_graph else frozenset()
    made = [Draft(n, d.shape, d.dtype, None, create_graph, depends | {n}, "gradient") for n, d in zip(names, asked, strict=True)]
    s.values.extend(made)
    return made

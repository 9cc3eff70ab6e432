"""Each op to the third order: a small graph around a few ops, differentiated three times, with seeds that are differentiated as well.

A random script differentiates twice or three times whatever it has by then, and of four hundred ops few are there. The grid asks for
each order of each op, but of one op alone and in the same few dozen cases every time. Here each op has its turn: it is applied to fresh
values or to what another op made, others may come behind it, and all is asked for that its derivatives depend on. A gradient shows
something of each op that it hangs on, so a few ops have their turn together. What one of them made is differentiated by calls of its
own: where an engine offers no second derivative of one, or is known to give a wrong one, the others are compared all the same.

The first derivatives of all ops come first, and without a graph: with one, an engine may refuse that of an op that has no second
derivative. There a leaf may be asked for alone, since a rule may depend on what is asked for. In a program every gradient is
part of the graph.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.case.steps import Grad, results
from conformance.generate.calls import above, draw_seeds
from conformance.generate.sketch import Sketch
from conformance.ops.sampler import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Case
    from conformance.generate.odds import Odds
    from conformance.generate.profiles.odds import OrdersOdds
    from conformance.ops.sampler import Source

TRIES = 4
"""How often the op is tried, whose operands may all be constants, or may not fit."""


def draw_orders(source: Source, odds: Odds, orders: OrdersOdds, ops: Sequence[str], *, exact: bool, dtype: str, static: bool) -> Case:
    """Draw a graph around a few ops, and its derivatives; ``static``: for programs."""
    constant = orders.constant if source.chance(orders.constants) else 0.0
    sketch = replace(odds.sketch, constant=constant, fresh_operand=orders.fresh_operand)
    s = Sketch(source, replace(odds, sketch=sketch), exact=exact, dtype=dtype)
    s.fresh(s.shape())
    for _ in range(source.integer(*orders.before)):
        s.draw_op(orders.beside)
    made = [roots for op in ops if (roots := _made(s, orders, op))] or [s.values[:1]]
    for roots in made:
        for _ in range(0 if static else source.integer(*orders.first)):
            _grad(s, orders, roots, create_graph=False, alone=source.chance(orders.alone))
    for roots in made:
        _derive(s, orders, roots, static=static)
    return s.case()


def _made(s: Sketch, orders: OrdersOdds, op: str) -> list[Draft]:
    """Apply an op once or more, and others behind it; return what is to be differentiated."""
    roots = [root for _ in range(s.source.integer(*orders.applied)) for root in _applied(s, op)]
    for _ in range(s.source.integer(*orders.after) if roots else 0):
        if s.draw_op(orders.beside) and any(root.name in s.values[-1].above for root in roots):
            roots = [*(root for root in roots if root.name not in s.values[-1].above), s.values[-1]]
    return roots


def _applied(s: Sketch, op: str) -> list[Draft]:
    """Apply an op, and return some of its results."""
    for _ in range(TRIES):
        if s.add_op(op) and s.values[-1].tracked:
            return s.source.subset(s.values[-len(results(s.steps[-1])) :], at_least=1)
    return []


def _derive(s: Sketch, orders: OrdersOdds, roots: Sequence[Draft], *, static: bool) -> None:
    """Differentiate roots, then some of their gradients, and of theirs, one by one, so that none is hidden by another.

    Second derivatives are asked for without a graph, too: with one, an engine may refuse them of an op that has no third derivative.
    Of the second derivatives those in a seed are always differentiated; those of a linear op in its operands are absent, and whether an
    op is linear is for the engine to know.
    """
    first = _grad(s, orders, roots, create_graph=True)
    for gradient in s.source.shuffled(first)[: s.source.integer(*orders.again)]:
        if not static:
            _grad(s, orders, [gradient], create_graph=False)
        second = _grad(s, orders, [gradient], create_graph=True)
        call, seeds = s.steps[-1], {d.name for d in s.values if d.origin == "seed"}
        assert isinstance(call, Grad)  # noqa: S101 - that is what was drawn
        in_seeds = [d for d, asked in zip(second, call.inputs, strict=True) if asked in seeds]
        others = [d for d in second if d not in in_seeds]
        for kind in (in_seeds, others):
            if kind:
                _grad(s, orders, [s.source.choice(kind)], create_graph=False)


def _grad(s: Sketch, orders: OrdersOdds, roots: Sequence[Draft], *, create_graph: bool, alone: bool = False) -> list[Draft]:
    """Ask for the gradients of all leaves, or as many as are allowed, or of one alone, and keep the graph."""
    reached = frozenset().union(*(root.above for root in roots))
    leaves = [d for d in s.values if d.is_leaf and d.name in reached] or [roots[0]]
    asked = s.source.shuffled(leaves)[: 1 if alone else orders.asked]
    seeds = draw_seeds(s, orders.calls, roots, differentiable=create_graph)
    names = tuple(s.name("g") for _ in asked)
    outputs = tuple(root.name for root in roots)
    call = Grad(outputs, tuple(d.name for d in asked), names, seeds, True, create_graph, allow_unused=True)
    s.steps.append(call)
    given = seeds or (None,) * len(roots)
    for name, leaf in zip(names, asked, strict=True):
        over = [number for number, root in enumerate(roots) if leaf.name in root.above]
        depends = above(s, [roots[n] for n in over], [given[n] for n in over]) if create_graph else frozenset()
        s.values.append(Draft(name, leaf.shape, leaf.dtype, None, create_graph, depends | {name}, "gradient"))
    return s.values[-len(names) :]

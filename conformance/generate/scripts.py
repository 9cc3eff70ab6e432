"""Random autograd scripts over random graphs.

A script is a few episodes: grow the graph, then call `backward` or `grad` in some way (once, twice on the same graph, on a graph that
was freed, on derivatives that were computed before), sometimes with state steps in between and sometimes wrongly on purpose. What
habits hide is broken by default: a random subset of the inputs is differentiable, seeds are never just ones, gradients are asked
for a subset, only some outputs of an op are used.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.generate.in_place import draw_in_place
from conformance.generate.sketch import Draft, Sketch
from conformance.generate.source import FastSource
from conformance.ops import catalogue
from conformance.steps import Backward, ClearGrad, Detach, Grad
from reference_impl import DIALECTS
from reference_impl.dialect import UNBOUNDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case import Case
    from conformance.generate.source import Source

LANES = ("exact", "numeric")
CHANGE = 0.3
"""How often a script that changes tensors in place does so, at each place where it may."""


@dataclass(frozen=True)
class Plan:
    """What a campaign draws from: lanes, ops (``None``: all), how long a graph may grow, what part of the cases updates in place."""

    lanes: tuple[str, ...] = LANES
    ops: tuple[str, ...] | None = None
    longest: int = 8
    changing: float = 0.06


def case_of(seed: int, index: int, plan: Plan) -> Case:
    """Draw case ``index`` of a seed; the same on every machine."""
    return draw_case(FastSource(seed, index), plan)


def draw_case(source: Source, plan: Plan) -> Case:
    """Draw a case."""
    exact = source.choice(plan.lanes) == "exact" and bool(_offered(True, False, plan.ops))
    dtype = "float64" if source.chance(0.25) else "float32"
    script = _Script(source, exact=exact, dtype=dtype)
    script.changes = source.chance(plan.changing)
    deep = source.chance(0.55)
    vocabulary = _vocabulary(source, plan, exact=exact, deep=deep)
    script.fresh(script.shape())
    for _ in range(source.integer(0, 1)):
        script.fresh(script.shape())
    script.grow(vocabulary, source.integer(1, plan.longest))
    episodes = source.integer(1, 3)
    for left in reversed(range(episodes)):
        script.episode(vocabulary, deep=deep, last=left == 0)
    return script.case()


@functools.cache
def _offered(exact: bool, deep: bool, ops: tuple[str, ...] | None) -> tuple[str, ...]:
    def fits(name: str) -> bool:
        entry = catalogue()[name]
        orders = [dialect.highest_order.get(name, UNBOUNDED) for dialect in DIALECTS.values()]
        return (entry.exact or not exact) and (not deep or min(orders) >= 2)

    return tuple(name for name in (ops or catalogue()) if fits(name))


def _vocabulary(source: Source, plan: Plan, *, exact: bool, deep: bool) -> list[str]:
    """Draw the few ops that this case may use (swarm testing): a deep case mostly keeps to what can be differentiated twice."""
    offered = _offered(exact, deep and not source.chance(0.1), plan.ops) or _offered(exact, False, plan.ops)
    return [source.choice(offered) for _ in range(source.integer(2, 7))]


class _Script(Sketch):
    changes = False

    def grow(self, vocabulary: Sequence[str], count: int) -> None:
        for _ in range(count):
            self.add_op(self.source.choice(vocabulary), no_grad=self.source.chance(0.04))
            if self.source.chance(0.03):
                self.detach(self.source.choice(self.values))
            if self.changes and self.source.chance(CHANGE):
                draw_in_place(self)

    def detach(self, draft: Draft) -> None:
        name = self.name("d")
        self.steps.append(Detach(draft.name, (name,)))
        self.values.append(Draft(name, draft.shape, draft.dtype, draft.array, False, frozenset()))

    def episode(self, vocabulary: Sequence[str], *, deep: bool, last: bool) -> None:
        source = self.source
        if source.chance(0.3):
            self.grow(vocabulary, source.integer(1, 3))
        if self.changes and source.chance(CHANGE):
            draw_in_place(self)
        roots = self.roots()
        if deep and source.chance(0.75):
            self.derive(vocabulary, roots)
        elif source.chance(0.5):
            self.backward(roots, retain=self.retain(last=last))
            if source.chance(0.35):
                self.clear()
            if source.chance(0.45):
                self.backward(roots, retain=self.retain(last=last))
        else:
            self.grad(roots, create_graph=source.chance(0.1), retain=self.retain(last=last))
            if source.chance(0.25):
                self.grad(roots, create_graph=False, retain=self.retain(last=last))

    def derive(self, vocabulary: Sequence[str], roots: list[Draft]) -> None:
        """Differentiate, compute with the result, differentiate that; sometimes once more."""
        source = self.source
        for _ in range(2 if source.chance(0.15) else 1):
            made = self.grad(roots, create_graph=True, retain=None if source.chance(0.7) else True)
            before = len(self.values)
            for _ in range(source.integer(0, 2)):
                self.add_op(source.choice([*vocabulary, "mul", "mul"]))
            if not made:
                return
            fresh = [d for d in self.values[before:] if d.tracked] or made
            roots = [source.choice(fresh)]
            if source.chance(0.3) and self.on("sum", roots[0], axis=None, keepdims=False):
                roots = [self.values[-1]]
        if source.chance(0.5):
            self.backward(roots, retain=self.retain(last=True))
        else:
            self.grad(roots, create_graph=False, retain=self.retain(last=True))

    def retain(self, *, last: bool) -> bool | None:
        source = self.source
        if source.chance(0.25):
            return None
        return source.chance(0.35 if last else 0.8)

    def roots(self) -> list[Draft]:
        source = self.source
        tracked = [d for d in self.values if d.tracked]
        if not tracked or source.chance(0.02):
            tracked = self.values
        count = 2 if source.chance(0.2) else 1
        roots = [source.choice(tracked[-4:] if source.chance(0.8) else tracked) for _ in range(count)]
        if len({r.name for r in roots}) < len(roots) and not source.chance(0.1):
            roots = roots[:1]
        if source.chance(0.3) and self.on("sum", roots[0], axis=None, keepdims=False):
            roots[0] = self.values[-1]
        return roots

    def seeds(self, roots: list[Draft], *, differentiable: bool) -> tuple[str | None, ...] | None:
        """Draw a seed for every root: none where ones are meant, or one of the wrong number, shape or dtype now and then."""
        source = self.source
        single = all(_count(r.shape) == 1 for r in roots)
        if source.chance(0.5 if single else 0.05):
            return None
        names: list[str | None] = []
        for root in roots:
            if (_count(root.shape) == 1 and source.chance(0.2)) or source.chance(0.02):
                names.append(None)
                continue
            shape, dtype = root.shape, root.dtype
            if source.chance(0.015):
                shape = (*shape, 2) if source.chance(0.5) else shape[1:]
            if source.chance(0.02):
                dtype = "float64" if dtype == "float32" else "float32"
            tracked = differentiable and source.chance(0.3)
            names.append(self.fresh(shape, letter="s", dtype=dtype, differentiable=tracked).name)
        if source.chance(0.015):
            names = names[:-1] if len(names) > 1 else [*names, names[0]]
        return tuple(names)

    def backward(self, roots: list[Draft], *, retain: bool | None) -> None:
        source = self.source
        inputs = None
        if source.chance(0.03) and not self.changes:
            inputs = tuple(d.name for d in self.wanted(roots))
        self.steps.append(
            Backward(
                tuple(r.name for r in roots),
                self.seeds(roots, differentiable=False),
                retain,
                create_graph=source.chance(0.02),
                inputs=inputs or None,
                no_grad=source.chance(0.02),
            )
        )

    def wanted(self, roots: list[Draft]) -> list[Draft]:
        """Choose what to differentiate with respect to: mostly a subset of what the roots depend on."""
        source = self.source
        above = frozenset().union(*(r.above for r in roots))
        reachable = [d for d in self.values if d.name in above]
        leaves = [d for d in reachable if d.name[0] in "xs"]
        pool = leaves if leaves and source.chance(0.75) else reachable
        if not source.chance(0.1):
            names = {r.name for r in roots}
            pool = [d for d in pool if d.name not in names or d.name[0] == "x"] or pool
        if not pool or source.chance(0.04):
            pool = [d for d in self.values if d.tracked or source.chance(0.1)] or self.values
        chosen = [source.choice(pool) for _ in range(source.integer(1, 3))]
        return chosen if source.chance(0.03) else list({d.name: d for d in chosen}.values())

    def grad(self, roots: list[Draft], *, create_graph: bool, retain: bool | None) -> list[Draft]:
        source = self.source
        inputs = self.wanted(roots)
        create_graph = create_graph and not self.shared_written  # PyTorch differentiates a rewritten view by another op than its own
        allow_unused = True if source.chance(0.45) else False if source.chance(0.2) else None
        no_grad_vars = None
        if source.chance(0.03):
            no_grad_vars = tuple({source.choice(self.values).name: None for _ in range(source.integer(1, 2))})
        results = tuple(self.name("g") for _ in inputs)
        self.steps.append(
            Grad(
                tuple(r.name for r in roots),
                tuple(d.name for d in inputs),
                results,
                self.seeds(roots, differentiable=create_graph),
                retain,
                create_graph,
                only_inputs=not source.chance(0.01),
                allow_unused=allow_unused,
                no_grad_vars=no_grad_vars,
                materialize_grads=source.chance(0.02),
                no_grad=source.chance(0.02),
            )
        )
        above = frozenset().union(*(r.above for r in roots)) if create_graph else frozenset()
        made = [
            Draft(name, d.shape, d.dtype, None, create_graph, above | {name} if create_graph else above)
            for name, d in zip(results, inputs, strict=True)
        ]
        self.values.extend(made)
        return made

    def clear(self) -> None:
        leaves = [d for d in self.values if d.name[0] == "x" and d.tracked]
        if leaves:
            self.steps.append(ClearGrad(self.source.choice(leaves).name, self.source.choice(("none", "zero"))))


def _count(shape: tuple[int, ...]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total

"""Random autograd scripts over random graphs.

A script is a few episodes: grow the graph, then call `backward` or `grad` in some way (once, twice on the same graph, on a graph that
was freed, on derivatives that were computed before), sometimes with state steps in between and sometimes wrongly on purpose. What
habits hide is broken by default: a random subset of the inputs is differentiable, seeds are never just ones, gradients are asked
for a subset, only some outputs of an op are used.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from conformance.generate.custom import draw_custom
from conformance.generate.in_place import draw_in_place
from conformance.generate.programs import draw_program
from conformance.generate.sketch import Draft, Sketch
from conformance.generate.source import FastSource
from conformance.generate.state import draw_clear, draw_state
from conformance.ops import catalogue
from conformance.ops.kinds import INEXACT, OTHER_KIND, OTHER_PRECISION, takes
from conformance.steps import Backward, Edge, Grad, results
from reference_impl import DIALECTS, PADDLE_STATIC
from reference_impl.dialect import UNBOUNDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case import Case
    from conformance.generate.source import Source
    from conformance.steps import Form

LANES = ("exact", "numeric")
Kind: TypeAlias = Literal["real", "complex", "static"]
STATE = (0.03, 0.03, 0.25)
"""How likely a state step is after each op: most scripts have few, some have many."""
CURVED = ("elementary", "reduction")
CHANGE = 0.3
"""How often a script that changes tensors in place does so, at each place where it may."""


@dataclass(frozen=True)
class Plan:
    """What a campaign draws from: the lanes and the ops (``None``: all), and how long a graph may grow.

    ``static``: programs. ``customs``: with which probability a custom function follows an op; none does where the ops are given.
    ``changing``: what part of the cases changes tensors in place; ``complexes``: what part has complex tensors.
    """

    lanes: tuple[str, ...] = LANES
    ops: tuple[str, ...] | None = None
    longest: int = 8
    static: bool = False
    customs: float = 0.03
    changing: float = 0.1
    complexes: float = 0.12


def case_of(seed: int, index: int, plan: Plan) -> Case:
    """Draw case ``index`` of a seed; the same on every machine."""
    return draw_case(FastSource(seed, index), plan)


def draw_case(source: Source, plan: Plan) -> Case:
    """Draw a case."""
    kind: Kind = "static" if plan.static else "complex" if source.chance(plan.complexes) else "real"
    if not _offered(False, False, plan.ops, kind):  # the ops that are asked for do not take numbers of this kind
        kind = "real" if kind == "complex" else "complex"
    exact = source.choice(plan.lanes) == "exact" and bool(_offered(True, False, plan.ops, kind))
    dtype = "float64" if source.chance(0.25) else "float32"
    if kind == "complex":
        dtype = OTHER_KIND[dtype]
    deep = source.chance(0.55)
    vocabulary = _vocabulary(source, plan, kind, exact=exact, deep=deep)
    if plan.static:
        return draw_program(source, vocabulary, exact=exact, dtype=dtype, deep=deep, longest=plan.longest)
    script = _Script(source, exact=exact, dtype=dtype)
    script.state = source.choice(STATE)
    script.changes = kind == "real" and source.chance(plan.changing)
    if script.changes and source.chance(0.5):
        script.state = STATE[-1]  # what is attached to a tensor and what is written to it meet
    script.customs = 0.0 if plan.ops else plan.customs
    script.fresh(script.shape())
    for _ in range(source.integer(0, 1)):
        script.fresh(script.shape())
    script.grow(vocabulary, source.integer(1, plan.longest))
    episodes = source.integer(1, 3)
    for left in reversed(range(episodes)):
        script.episode(vocabulary, deep=deep, last=left == 0)
    return script.case()


@functools.cache
def _offered(exact: bool, deep: bool, ops: tuple[str, ...] | None, kind: Kind) -> tuple[str, ...]:
    dialects = (PADDLE_STATIC,) if kind == "static" else tuple(DIALECTS.values())

    def fits(name: str) -> bool:
        entry = catalogue()[name]
        own = entry.family == "complex"
        exactly = entry.exact
        if kind == "complex":
            exactly = exactly and name not in INEXACT
        highest = min(dialect.highest_order.get(name, UNBOUNDED) for dialect in dialects)
        taken = own or takes(name) == "both" if kind == "complex" else not own
        return taken and (exactly or not exact) and (not deep or highest >= 2)

    names = ops or [name for name, entry in catalogue().items() if entry.eager or kind == "static"]
    return tuple(name for name in names if fits(name))


def _vocabulary(source: Source, plan: Plan, kind: Kind, *, exact: bool, deep: bool) -> list[str]:
    """Draw the few ops that this case may use (swarm testing): a deep case mostly keeps to what can be differentiated twice.

    A complex one keeps to fewer, of which most are its own or have factors that a rule must conjugate.
    """
    deep = deep and not source.chance(0.4)
    offered = _offered(exact, deep, plan.ops, kind) or _offered(exact, False, plan.ops, kind)
    if kind != "complex":
        return [source.choice(offered) for _ in range(source.integer(2, 7))]
    own, curved = ([n for n in offered if catalogue()[n].family in families] or offered for families in (("complex",), CURVED))
    return [source.choice(names) for names in (*[offered] * source.integer(1, 3), *[own] * 3, *[curved] * 2)]


class _Script(Sketch):
    state: float = 0.0
    customs: float = 0.0
    changes = False

    def grow(self, vocabulary: Sequence[str], count: int) -> None:
        for _ in range(count):
            self.add_op(self.source.choice(vocabulary), no_grad=self.source.chance(0.04))
            if self.source.chance(self.customs):
                draw_custom(self)
            if self.source.chance(self.state):
                draw_state(self)
            if self.changes and self.source.chance(CHANGE):
                draw_in_place(self)

    def episode(self, vocabulary: Sequence[str], *, deep: bool, last: bool) -> None:
        source = self.source
        if source.chance(0.3):
            self.grow(vocabulary, source.integer(1, 3))
        if self.changes and source.chance(CHANGE):
            draw_in_place(self)
        roots = self.roots()
        if source.chance(2 * self.state):
            draw_state(self)
        if deep and source.chance(0.75):
            self.derive(vocabulary, roots)
        elif source.chance(0.5):
            self.backward(roots, retain=self.retain(last=last))
            if source.chance(0.35):
                draw_clear(self)
            if source.chance(0.45):
                self.backward(roots, retain=self.retain(last=last))
        else:
            self.grad(roots, create_graph=source.chance(0.1), retain=self.retain(last=last))
            if source.chance(0.25):
                self.grad(roots, create_graph=False, retain=self.retain(last=last))

    def derive(self, vocabulary: Sequence[str], roots: list[Draft]) -> None:
        """Differentiate, compute with the result, differentiate that; sometimes once more."""
        source = self.source
        for _ in range(2 if source.chance(0.35) else 1):
            made = self.grad(roots, create_graph=True, retain=None if source.chance(0.7) else True)
            before = len(self.values)
            for _ in range(source.integer(0, 2)):
                self.add_op(source.choice([*vocabulary, "mul", "mul"]))
            if not made:
                return
            fresh = [d for d in self.values[before:] if d.tracked] or made
            roots = list({d.name: d for d in (source.choice(fresh) for _ in range(2 if source.chance(0.2) else 1))}.values())
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

    def seeds(self, roots: list[Draft], *, differentiable: bool, batch: tuple[int, ...] = ()) -> tuple[str | None, ...] | None:
        """Draw a seed for every root: none where ones are meant, or one of the wrong number, shape or dtype now and then."""
        source = self.source
        single = all(math.prod(r.shape) == 1 for r in roots)
        if not batch and source.chance(0.5 if single else 0.05):
            return None
        names: list[str | None] = []
        for root in roots:
            if not batch and ((math.prod(root.shape) == 1 and source.chance(0.2)) or source.chance(0.02)):
                names.append(None)
                continue
            shape, dtype = (*batch, *root.shape), root.dtype
            if source.chance(0.015):
                shape = (*shape, 2) if source.chance(0.5) else shape[1:]
            if source.chance(0.02):
                dtype = OTHER_PRECISION[dtype]
            if self.complex and source.chance(0.04):
                dtype = OTHER_KIND[dtype]
            tracked = differentiable and source.chance(0.5)
            names.append(self.fresh(shape, letter="s", dtype=dtype, differentiable=tracked).name)
        if source.chance(0.015):
            names = names[:-1] if len(names) > 1 else [*names, names[0]]
        return tuple(names)

    def form(self, *lists: tuple[str | None, ...] | None) -> Form | None:
        """Choose how lists are handed over: mostly as lists."""
        if not self.source.chance(0.12):
            return None
        bare = all(given is None or len(given) == 1 for given in lists)
        return "bare" if bare and self.source.chance(0.7) else "tuple"

    def edges(self, drafts: list[Draft], chance: float) -> tuple[str, ...]:
        """Return the names of values; now and then that of an edge in the place of one, which may have been asked for long before."""
        names = []
        for draft in drafts:
            name = draft.name
            if draft.tracked and self.source.chance(chance):
                name = self.name("e")
                made = 1 + max((i for i, step in enumerate(self.steps) if draft.name in results(step)), default=-1)
                early = self.source.chance(0.8 if self.changes else 0.4)  # what is written in between must not move the edge
                place = self.source.integer(made, len(self.steps)) if early else len(self.steps)
                self.steps.insert(place, Edge(draft.name, (name,)))
            names.append(name)
        return tuple(names)

    def backward(self, roots: list[Draft], *, retain: bool | None) -> None:
        source = self.source
        inputs = self.edges(self.wanted(roots), 0.1) if source.chance(0.08) and not self.changes else None
        tensors = self.edges(roots, 0.015)
        seeds = self.seeds(roots, differentiable=False)
        old = source.chance(0.06)
        self.steps.append(
            Backward(
                tensors,
                None if old and not source.chance(0.1) else seeds,
                retain,
                create_graph=source.chance(0.05),
                inputs=inputs or None,
                no_grad=source.chance(0.05),
                grad_variables=seeds if old else None,
                dump_backward_graph=source.chance(0.05),
                form=self.form(tensors, seeds, inputs),
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
        chosen = pool[:6] if source.chance(0.2) else [source.choice(pool) for _ in range(source.integer(1, 3))]
        return chosen if source.chance(0.03) else list({d.name: d for d in chosen}.values())

    def grad(self, roots: list[Draft], *, create_graph: bool, retain: bool | None) -> list[Draft]:
        source = self.source
        wanted = self.wanted(roots)
        create_graph = create_graph and not self.shared_written  # PyTorch differentiates a rewritten view by another op than its own
        allow_unused = True if source.chance(0.45) else False if source.chance(0.2) else None
        cut = None
        if source.chance(0.06):
            cut = tuple({source.choice(self.values).name: None for _ in range(source.integer(1, 2))})
        batch = (source.integer(1, 3),) if source.chance(0.04) else ()
        inputs, outputs = self.edges(wanted, 0.3 if self.changes else 0.02), self.edges(roots, 0.015)
        seeds = self.seeds(roots, differentiable=create_graph, batch=batch)
        names = tuple(self.name("g") for _ in inputs)
        self.steps.append(
            Grad(
                outputs,
                inputs,
                names,
                seeds,
                retain,
                create_graph,
                only_inputs=not source.chance(0.03),
                allow_unused=allow_unused,
                no_grad_vars=cut,
                materialize_grads=source.chance(0.04),
                no_grad=source.chance(0.05),
                is_grads_batched=bool(batch),
                form="set" if cut and source.chance(0.3) else self.form(outputs, inputs, seeds, cut),
            )
        )
        above = frozenset().union(*(r.above for r in roots)) if create_graph else frozenset()
        made = [
            Draft(name, (*batch, *d.shape), d.dtype, None, create_graph, above | {name} if create_graph else above)
            for name, d in zip(names, wanted, strict=True)
        ]
        self.values.extend(made)
        return made

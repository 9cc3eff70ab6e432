"""Random static programs: a graph, gradients of it, and gradients of those.

Nothing is freed and nothing accumulates in a program, so a script is a graph with several `Grad` steps over it: one or two targets,
seeds, ``no_grad_vars``, inputs that do not affect the targets; then ops on the gradients, and their gradients. Now and then a backward
part is appended, somewhere behind its loss, and the differentiable inputs are parameters. Third derivatives are not drawn.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from conformance.generate.sketch import Draft, Sketch
from conformance.steps import AppendBackward, Grad, results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case import Case
    from conformance.generate.source import Source


def draw_program(source: Source, vocabulary: Sequence[str], *, exact: bool, dtype: str, deep: bool, longest: int) -> Case:
    """Draw a case for static backends; ``deep``: mostly with second derivatives."""
    script = _Script(source, exact=exact, dtype=dtype)
    script.fresh(script.shape())
    if source.chance(0.5):
        script.fresh(script.shape())
    script.grow(vocabulary, source.integer(1, longest))
    for _ in range(source.integer(1, 3)):
        script.episode(vocabulary, deep=deep)
    if source.chance(0.12):
        script.append_backward()
    return script.case()


class _Script(Sketch):
    def grow(self, vocabulary: Sequence[str], count: int) -> None:
        for _ in range(count):
            self.add_op(self.source.choice(vocabulary), no_grad=self.source.chance(0.04))

    def episode(self, vocabulary: Sequence[str], *, deep: bool) -> None:
        """Differentiate; sometimes compute with the result and differentiate that, which later episodes do not see."""
        source = self.source
        if source.chance(0.3):
            self.grow(vocabulary, source.integer(1, 2))
        before = list(self.values)
        made = self.gradients(self.targets(before))
        if deep and source.chance(0.75):
            self.values += made
            for _ in range(source.integer(0, 2)):
                self.add_op(source.choice([*vocabulary, "mul", "mul"]))
            fresh = [d for d in self.values[len(before) :] if d.tracked]
            self.gradients(self.targets(fresh))
            known = {d.name for d in before}
            self.values = [d for d in self.values if d.name in known or d.name[0] in "xs"]

    def targets(self, among: list[Draft]) -> list[Draft]:
        source = self.source
        computed = [d for d in among if d.tracked and d.name[0] not in "xs"]
        tracked = computed if computed and not source.chance(0.03) else [d for d in among if d.tracked] or among
        chosen = [source.choice(tracked[-4:] if source.chance(0.8) else tracked) for _ in range(2 if source.chance(0.25) else 1)]
        return list({d.name: d for d in chosen}.values())

    def wanted(self, targets: list[Draft]) -> list[Draft]:
        """Choose inputs of a gradient: mostly some that the targets depend on."""
        source = self.source
        above = frozenset().union(*(d.above for d in targets))
        pool = [d for d in self.values if d.name in above]
        leaves = [d for d in pool if d.name[0] in "xs"]
        pool = leaves if leaves and source.chance(0.7) else pool
        if not source.chance(0.05):
            names = {d.name for d in targets}
            pool = [d for d in pool if d.name not in names] or pool
        if not pool or source.chance(0.08):
            pool = self.values
        chosen = [source.choice(pool) for _ in range(source.integer(1, 3))]
        return chosen if source.chance(0.05) else list({d.name: d for d in chosen}.values())

    def gradients(self, targets: list[Draft]) -> list[Draft]:
        """Add a `Grad` step and return drafts of its results; to eager backends it says that its graph is kept."""
        source = self.source
        inputs = self.wanted(targets)
        no_grad_vars = None
        if source.chance(0.1):
            no_grad_vars = tuple({source.choice(self.values).name: None for _ in range(source.integer(1, 2))})
        seeds = self.seeds(targets)
        made = tuple(self.name("g") for _ in inputs)
        self.steps.append(
            Grad(
                tuple(d.name for d in targets),
                tuple(d.name for d in inputs),
                made,
                seeds,
                create_graph=True,
                allow_unused=True,
                no_grad_vars=no_grad_vars,
            )
        )
        above = frozenset().union(*(d.above for d in targets))
        return [Draft(n, d.shape, d.dtype, None, True, above | {n}) for n, d in zip(made, inputs, strict=True)]

    def seeds(self, targets: list[Draft]) -> tuple[str | None, ...] | None:
        """Draw a seed for every target: none where ones are meant, or one of a wrong number or shape now and then."""
        source = self.source
        if source.chance(0.4 if all(math.prod(d.shape) == 1 for d in targets) else 0.1):
            return None
        names: list[str | None] = []
        for target in targets:
            if source.chance(0.1):
                names.append(None)
                continue
            shape = target.shape
            if source.chance(0.015):
                shape = (*shape, 2) if source.chance(0.5) else shape[1:]
            names.append(self.fresh(shape, letter="s", dtype=target.dtype, differentiable=source.chance(0.97)).name)
        if source.chance(0.015):
            names = names[:-1] if len(names) > 1 else [*names, names[0]]
        return tuple(names)

    def append_backward(self) -> None:
        """Append a backward part with respect to all parameters, or to some."""
        source = self.source
        loss = source.choice([d for d in self.values if d.tracked])
        if source.chance(0.6) and self.on("sum", loss, axis=None, keepdims=False):
            loss = self.values[-1]
        parameters = [entry.name for entry in self.inputs if entry.differentiable]
        parameter_list = no_grad_set = None
        if source.chance(0.3):
            parameter_list = tuple({source.choice(parameters): None for _ in range(source.integer(1, 2))})
        if source.chance(0.2):
            no_grad_set = (source.choice(self.values).name,)
        made = tuple(self.name("p") for _ in (parameters if parameter_list is None else parameter_list))
        place = 1 + max((i for i, s in enumerate(self.steps) if loss.name in results(s)), default=-1)
        inputs = {entry.name for entry in self.inputs}  # a variable of PIR has a name where it is an input
        named = (parameter_list or no_grad_set) is not None and inputs.issuperset(no_grad_set or ()) and source.chance(0.15)
        step = AppendBackward(loss.name, made, parameter_list, no_grad_set, callbacks=source.chance(0.2), by_name=named)
        ready = 1 + max((i for i, s in enumerate(self.steps) if set(no_grad_set or ()) & set(results(s))), default=-1)
        self.steps.insert(source.integer(max(place, ready), len(self.steps)), step)

"""Random static programs: a graph, gradients of it, and gradients of those.

Nothing is freed and nothing accumulates in a program, so a script is a graph with several `Grad` steps over it: one or two targets,
seeds, ``no_grad_vars``, inputs that do not affect the targets; then ops on the gradients, and their gradients. Now and then a backward
part is appended, somewhere behind its loss, and the differentiable inputs are parameters. Or a variable stops gradients from then on,
or lets them flow again, and more gradients are asked for. Third derivatives are not drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.steps import AppendBackward, Grad, results
from conformance.generate.calls import above, build_on_derivatives, draw_cut, draw_roots, draw_seeds, draw_targets
from conformance.generate.state import draw_toggle
from conformance.ops.sampler import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Case
    from conformance.generate.sketch import Sketch


def draw_program(s: Sketch, vocabulary: Sequence[str], *, deep: bool, longest: int) -> Case:
    """Draw a case for static backends; ``deep``: mostly with second derivatives."""
    source, odds = s.source, s.odds.programs
    s.fresh(s.shape())
    if source.chance(odds.second_input):
        s.fresh(s.shape())
    _grow(s, vocabulary, source.integer(1, longest))
    for _ in range(source.integer(*s.odds.scripts.episodes)):
        _episode(s, vocabulary, deep=deep)
    if source.chance(odds.flag_set):
        draw_toggle(s)
        _episode(s, vocabulary, deep=deep)
    if source.chance(odds.append_backward):
        _append_backward(s)
    return s.case()


def _grow(s: Sketch, vocabulary: Sequence[str], count: int) -> None:
    for _ in range(count):
        s.draw_op(vocabulary)


def _episode(s: Sketch, vocabulary: Sequence[str], *, deep: bool) -> None:
    """Differentiate; sometimes compute with the result and differentiate that, which later episodes do not see."""
    source, odds = s.source, s.odds.scripts
    if source.chance(odds.grow_again):
        _grow(s, vocabulary, source.integer(*s.odds.programs.grown))
    before = list(s.values)
    gradients = _gradients(s, _targets(s, before))
    if deep and source.chance(odds.second_order):
        s.values += gradients
        build_on_derivatives(s, vocabulary)
        _gradients(s, _targets(s, [d for d in s.values[len(before) :] if d.tracked]))
        names = {d.name for d in before}
        s.values = [d for d in s.values if d.name in names or d.is_leaf]


def _targets(s: Sketch, among: list[Draft]) -> list[Draft]:
    tracked = [d for d in among if d.tracked]
    return draw_roots(s, s.odds.program_calls, [d for d in tracked if not d.is_leaf], tracked or among)


def _gradients(s: Sketch, targets: list[Draft]) -> list[Draft]:
    """Add a `Grad` step and return drafts of its results; to eager backends it says that its graph is kept."""
    odds = s.odds.program_calls
    inputs = draw_targets(s, odds, targets)
    no_grad_vars = draw_cut(s, odds)
    seeds = draw_seeds(s, odds, targets, differentiable=True)
    names = tuple(s.name("g") for _ in inputs)
    s.steps.append(
        Grad(
            tuple(d.name for d in targets),
            tuple(d.name for d in inputs),
            names,
            seeds,
            create_graph=True,
            allow_unused=True,
            no_grad_vars=no_grad_vars,
        )
    )
    reached = above(s, targets, seeds)
    return [Draft(n, d.shape, d.dtype, None, True, reached | {n}, "gradient") for n, d in zip(names, inputs, strict=True)]


def _append_backward(s: Sketch) -> None:
    """Append a backward part with respect to all parameters, or to some."""
    source, odds = s.source, s.odds.programs
    loss = source.choice([d for d in s.values if d.tracked])
    if source.chance(odds.summed_loss) and s.on("sum", loss, axis=None, keepdims=False):
        loss = s.values[-1]
    parameters = [entry.name for entry in s.inputs if entry.differentiable]
    parameter_list = no_grad_set = None
    if source.chance(odds.parameter_list):
        parameter_list = tuple({source.choice(parameters): None for _ in range(source.integer(*odds.parameters))})
    if source.chance(odds.no_grad_set):
        no_grad_set = (source.choice(s.values).name,)
    names = tuple(s.name("p") for _ in (parameters if parameter_list is None else parameter_list))
    place = 1 + max((i for i, step in enumerate(s.steps) if loss.name in results(step)), default=-1)
    inputs = {entry.name for entry in s.inputs}  # a variable of PIR has a name where it is an input
    named = (parameter_list or no_grad_set) is not None and inputs.issuperset(no_grad_set or ()) and source.chance(odds.by_name)
    step = AppendBackward(loss.name, names, parameter_list, no_grad_set, callbacks=source.chance(odds.callbacks), by_name=named)
    ready = 1 + max((i for i, step in enumerate(s.steps) if set(no_grad_set or ()) & set(results(step))), default=-1)
    s.steps.insert(source.integer(max(place, ready), len(s.steps)), step)

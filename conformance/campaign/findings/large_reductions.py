"""Reductions of large cases: whole runs of steps at once.

The passes of `conformance.campaign.findings.reductions` take away one thing at a time. Of a case of thousands of steps there are
thousands of such candidates in each of thousands of rounds. So of a large case halves are taken away first, then quarters, and so on
(the delta debugging that `conformance.campaign.findings.shrink` names), until it is no longer large: what a run of steps makes is
replaced by what it was made of, or by inputs, or dropped, from sums and lists too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from conformance.campaign.findings.reductions import outcome_of
from conformance.case.case import Case, input_of
from conformance.case.outcome import Computed, Value
from conformance.case.rewrite import prune, rename, replace_step, with_steps, without_root
from conformance.case.steps import Backward, Grad, Op, results, uses
from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from conformance.case.steps import Step

CONTRACT, CUT, DROP = "contract runs of steps", "cut values", "drop steps"
FEW = 4
"""Of more values that a run of steps hands on none is made an input."""


class Reduction(NamedTuple):
    """A smaller case; ``width``: how many steps in a row are gone, ``words``: by which pass."""

    width: int
    words: str
    case: Case


def coarser(case: Case, widest: int) -> Iterator[Reduction]:
    """Yield smaller cases, those first of which most is gone; ``widest``: the width to begin with, at most."""
    made = _made(case)
    width = max(1, min(len(case.steps) // 2, widest))
    yield Reduction(width, DROP, _swept(case))
    while width:
        yield Reduction(width, CUT, _cut(case, width, made))
        for start in range(0, len(case.steps), width):
            run = range(start, min(start + width, len(case.steps)))
            yield Reduction(width, CONTRACT, _contracted(case, run, made))
            yield Reduction(width, DROP, _dropped(case, run))
        yield from (Reduction(width, DROP, smaller) for smaller in _shorter_lists(case, width))
        width //= 2


def _made(case: Case) -> dict[str, Value]:
    """Return what the reference makes of the inputs and the ops."""
    made = {entry.name: Value(entry.array(), entry.differentiable) for entry in case.inputs}
    for step, seen in zip(case.steps, outcome_of(case).observations, strict=True):
        if isinstance(step, Op) and isinstance(seen, Computed):
            made.update((name, value) for name, value in zip(step.results, seen.values, strict=True) if value is not None)
    return made


def _form(name: str, made: Mapping[str, Value]) -> tuple[object, ...]:
    return (made[name].array.shape, made[name].array.dtype) if name in made else (name,)


def _contracted(case: Case, run: range, made: Mapping[str, Value]) -> Case:
    """Leave out the ops of a run; for what they made stands the nearest value of the same form that they made it of, or nothing."""
    names: dict[str, str] = {}
    for number in run:
        step = case.steps[number]
        if isinstance(step, Op):
            operands = [names.get(name, name) for name in step.operands]
            for result in step.results:
                alike = (name for name in operands if _form(name, made) == _form(result, made))
                names[result] = next(alike, operands[0])
    kept = (rename(step, names) for number, step in enumerate(case.steps) if number not in run or not isinstance(step, Op))
    return prune(with_steps(case, kept))


def _cut(case: Case, width: int, made: Mapping[str, Value]) -> Case:
    """Leave out the first ops; what others need of what they made is an input."""
    ops = [step for step in case.steps[:width] if isinstance(step, Op)]
    gone = {name for step in ops for name in step.results}
    kept = [step for number, step in enumerate(case.steps) if number >= width or not isinstance(step, Op)]
    needed = dict.fromkeys(name for step in kept for _, name in uses(step) if name in gone and name in made)
    if len(needed) > FEW:
        return case
    inputs = (input_of(name, made[name].array, differentiable=made[name].requires_grad) for name in needed)
    return prune(Case((*case.inputs, *inputs), tuple(kept), case.lane))


def _dropped(case: Case, run: range) -> Case:
    """Leave out the steps of a run, and what needs them; lists go on without what they made."""
    gone = {name for number in run for name in results(case.steps[number])}
    return prune(with_steps(case, (_without(step, gone) for number, step in enumerate(case.steps) if number not in run)))


def _without(step: Step, gone: Collection[str]) -> Step:
    """Take values from the operands of an op that takes any number, or from the roots of a call."""
    if isinstance(step, Op) and catalogue()[step.op].variadic:
        return msgspec.structs.replace(step, operands=tuple(name for name in step.operands if name not in gone) or step.operands)
    if isinstance(step, Grad | Backward):
        for position in reversed(range(len(step.roots))):
            if step.roots[position] in gone and len(step.roots) > 1:
                step = without_root(step, position)
    return step


def _swept(case: Case) -> Case:
    """Leave out the ops that lead nowhere."""
    kept: list[Step] = []
    used: set[str] = set()
    for step in reversed(case.steps):
        if not isinstance(step, Op) or not used.isdisjoint(step.results):
            kept.append(step)
            used.update(name for _, name in uses(step))
    return prune(with_steps(case, reversed(kept)))


def _shorter_lists(case: Case, width: int) -> Iterator[Case]:
    """Shorten each list of operands or roots by so many at one place."""
    for number, step in enumerate(case.steps):
        if isinstance(step, Op) and catalogue()[step.op].variadic:
            for start in range(0, len(step.operands) - 1, width):
                kept = step.operands[:start] + step.operands[start + width :]
                if kept:
                    yield prune(replace_step(case, number, msgspec.structs.replace(step, operands=kept)))
        elif isinstance(step, Grad | Backward) and len(step.roots) > width:
            shorter = step
            for _ in range(width):
                shorter = without_root(shorter, 0)
            yield replace_step(case, number, shorter)

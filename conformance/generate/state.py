"""Drawing state steps: what a script does to tensors between growing a graph and differentiating it.

Hooks, retained gradients, flags and cleared gradients are mostly drawn where they are allowed, and now and then where an engine must
refuse them or where they have no effect.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from conformance.case.steps import ClearGrad, Hook, Op, RemoveHook, RetainGrad, SetRequiresGrad

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.generate.sketch import Sketch
    from conformance.ops.sampler import Draft


def draw_state(s: Sketch) -> None:
    """Add one state step of some kind; none where nothing fits."""
    DRAWS[s.source.choice(s.odds.state.steps)](s)


def _subject(s: Sketch) -> Draft:
    """Choose a value: mostly one that requires a gradient."""
    tracked = [d for d in s.values if d.tracked]
    return s.source.choice(tracked if tracked and not s.source.chance(s.odds.state.untracked) else s.values)


def draw_hook(s: Sketch) -> None:
    """Register a hook: mostly one that only looks or that scales."""
    source, odds = s.source, s.odds.state
    subject = _subject(s)
    returns = source.choice(odds.hooks)
    name = s.name("h")
    if returns == "scaled":
        s.steps.append(Hook(subject.name, (name,), returns, factor=source.choice(odds.factors)))
    elif returns == "tensor":
        shape = (*subject.shape, 2) if source.chance(odds.returned_shape) else subject.shape
        tracked = source.chance(odds.returned_tracked)
        returned = s.fresh(shape, origin="returned", dtype=subject.dtype, differentiable=tracked)
        s.steps.append(Hook(subject.name, (name,), returns, tensor_returned=returned.name))
    else:
        s.steps.append(Hook(subject.name, (name,), returns))
    others = [n for step in s.steps if isinstance(step, Op) and subject.name in step.results for n in step.results if n != subject.name]
    if others and subject.tracked and source.chance(odds.across_results):  # the order goes across the results of an op
        for again in (source.choice(others), subject.name):
            s.steps.append(Hook(again, (s.name("h"),), "nothing"))


def draw_remove(s: Sketch) -> None:
    """Remove a hook, perhaps a second time."""
    hooks = [step.results[0] for step in s.steps if isinstance(step, Hook)]
    if hooks:
        s.steps.append(RemoveHook(s.source.choice(hooks)))


def draw_retain(s: Sketch) -> None:
    """Ask a value to keep its gradient: mostly a computed one."""
    computed = [d for d in s.values if d.tracked and d.is_computed]
    subject = s.source.choice(computed) if computed and not s.source.chance(s.odds.state.retain_any) else _subject(s)
    s.steps.append(RetainGrad(subject.name))


def draw_toggle(s: Sketch) -> None:
    """Turn a flag over: mostly of a leaf, on or off."""
    source, odds = s.source, s.odds.state
    inputs = [d for d in s.values if d.is_input]
    subject = source.choice(inputs) if inputs and not source.chance(odds.flag_of_any) else source.choice(s.values)
    tracked = not subject.tracked if source.chance(odds.flag_turned) else subject.tracked
    s.steps.append(SetRequiresGrad(subject.name, tracked))
    above = subject.above | {subject.name} if tracked else frozenset()
    s.replace(dataclasses.replace(subject, tracked=tracked, above=above))


def draw_clear(s: Sketch) -> None:
    """Clear the gradient of a leaf."""
    leaves = [d for d in s.values if d.is_input and d.tracked]
    if leaves:
        s.steps.append(ClearGrad(s.source.choice(leaves).name, s.source.choice(("none", "zero"))))


def draw_detach(s: Sketch) -> None:
    """Name a value's elements without its history."""
    s.detach(s.source.choice(s.values))


DRAWS: dict[str, Callable[[Sketch], None]] = {
    "hook": draw_hook,
    "retain": draw_retain,
    "toggle": draw_toggle,
    "clear": draw_clear,
    "detach": draw_detach,
    "remove": draw_remove,
}

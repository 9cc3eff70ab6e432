"""Drawing state steps: what a script does to tensors between growing a graph and differentiating it.

Hooks, retained gradients, flags, cleared gradients: rightly, and now and then where an engine must refuse or where nothing comes of it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from conformance.steps import ClearGrad, Hook, Op, RemoveHook, RetainGrad, Toggle

if TYPE_CHECKING:
    from conformance.generate.sketch import Draft, Sketch

FACTORS = (2.0, -1.0, 0.5, 0.0, -3.0)


def draw_state(s: Sketch) -> None:
    """Add one state step of some kind; none where nothing fits."""
    source = s.source
    draw = source.choice((draw_hook, draw_hook, draw_hook, draw_retain, draw_retain, draw_toggle, draw_clear, draw_detach, draw_remove))
    draw(s)


def _subject(s: Sketch) -> Draft:
    """Choose a value: mostly one that requires a gradient."""
    tracked = [d for d in s.values if d.tracked]
    return s.source.choice(tracked if tracked and not s.source.chance(0.05) else s.values)


def draw_hook(s: Sketch) -> None:
    """Register a hook: mostly one that only looks or that scales."""
    source = s.source
    subject = _subject(s)
    form = source.integer(0, 19)
    name = s.name("h")
    if form < 9:
        s.steps.append(Hook(subject.name, (name,), "nothing"))
    elif form < 15:
        s.steps.append(Hook(subject.name, (name,), "scaled", factor=source.choice(FACTORS)))
    elif form < 18:
        shape = (*subject.shape, 2) if source.chance(0.1) else subject.shape
        returned = s.fresh(shape, letter="r", dtype=subject.dtype, differentiable=source.chance(0.3))
        s.steps.append(Hook(subject.name, (name,), "tensor", tensor_returned=returned.name))
    else:
        s.steps.append(Hook(subject.name, (name,), "another_dtype" if form == 18 else "error"))
    others = [n for step in s.steps if isinstance(step, Op) and subject.name in step.results for n in step.results if n != subject.name]
    if others and subject.tracked and source.chance(0.5):  # the order goes across the results of an op
        for again in (source.choice(others), subject.name):
            s.steps.append(Hook(again, (s.name("h"),), "nothing"))


def draw_remove(s: Sketch) -> None:
    """Remove a hook, perhaps a second time."""
    hooks = [step.results[0] for step in s.steps if isinstance(step, Hook)]
    if hooks:
        s.steps.append(RemoveHook(s.source.choice(hooks)))


def draw_retain(s: Sketch) -> None:
    """Ask a value to keep its gradient: mostly a computed one."""
    computed = [d for d in s.values if d.tracked and d.name[0] == "v"]
    subject = s.source.choice(computed) if computed and not s.source.chance(0.15) else _subject(s)
    s.steps.append(RetainGrad(subject.name))


def draw_toggle(s: Sketch) -> None:
    """Turn a flag over: mostly of a leaf, on or off."""
    source = s.source
    leaves = [d for d in s.values if d.name[0] == "x"]
    subject = source.choice(leaves) if leaves and not source.chance(0.3) else source.choice(s.values)
    wanted = not subject.tracked if source.chance(0.85) else subject.tracked
    s.steps.append(Toggle(subject.name, wanted))
    above = subject.above | {subject.name} if wanted else frozenset()
    s.replace(dataclasses.replace(subject, tracked=wanted, above=above))


def draw_clear(s: Sketch) -> None:
    """Clear the gradient of a leaf."""
    leaves = [d for d in s.values if d.name[0] == "x" and d.tracked]
    if leaves:
        s.steps.append(ClearGrad(s.source.choice(leaves).name, s.source.choice(("none", "zero"))))


def draw_detach(s: Sketch) -> None:
    """Name a value's elements without its history."""
    s.detach(s.source.choice(s.values))

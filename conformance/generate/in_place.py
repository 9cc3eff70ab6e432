"""Drawing in-place updates, right and wrong ones.

Right ones change intermediates before and after they were used, views and their bases, constants, seeds and returned gradients,
inside and outside of ``no_grad``; wrong ones leaves, views of leaves, expanded tensors, one of several views, or make a result that is
wider than the target.

After an update the sketch knows the new elements of every value in the same memory, and what they depend on. A value is left alone
where its consumers keep what no table says, and where the frameworks may differ in who shares its memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.aliases import RESHAPING, SEVERAL, Aliases
from conformance.generate.sketch import GROWING, Draft, broadcasts, lies_in
from conformance.ops import catalogue
from conformance.ops.draws import mask_for
from conformance.ops.in_place import IN_PLACE
from conformance.ops.update import replaced
from conformance.steps import Detach, InPlace, Op
from reference_impl import OPS
from reference_impl.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn

BINARY = ("add", "sub", "mul", "div")
DOMAINS = {"log": "positive", "sqrt": "positive", "rsqrt": "positive"}
GROWING_HERE = GROWING | {"div", "log", "sqrt", "rsqrt", "square", "mul"}


def draw_in_place(script: Sketch) -> bool:
    """Add one in-place update; return whether one fitted."""
    source = script.source
    known = {d.name: d for d in script.values}
    aliases = Aliases(script.steps)
    leaves = {entry.name for entry in script.inputs if entry.differentiable}
    wrong = source.chance(0.12)
    targets = [d for d in script.values if (_refused if wrong else _settled)(d, aliases, known)]
    if not targets:
        return False
    if not wrong and source.chance(0.8):
        targets = [d for d in targets if aliases.base(d.name) not in leaves] or targets
    alone = [d for d in targets if len(aliases.members(d.name)) == 1]
    target = source.choice(alone if alone and not wrong and source.chance(0.3) else targets)
    leaf = aliases.base(target.name) in leaves
    doubtful = target.name in aliases.doubtful
    no_grad = not wrong and source.chance(0.95 if leaf else 0.15)
    drawn = _drawn(script, target, aliases)
    if drawn is None or (doubtful and drawn[0] == "setitem"):
        return False
    name, operands, attrs = drawn
    script.steps.append(InPlace(name, target.name, tuple(d.name for d in operands), attrs, no_grad))
    script.shared_written |= len(aliases.members(target.name)) > 1
    recorded = not no_grad and (target.tracked or any(d.tracked for d in operands))
    if doubtful or (recorded and leaf):
        _forget(script, aliases.members(target.name))
    elif _shape_of(name, target, operands) == target.shape:
        _Update(script, aliases, target, operands).apply(_computed(name, target, operands, attrs), recorded=recorded)
    return True


def _settled(draft: Draft, aliases: Aliases, known: dict[str, Draft]) -> bool:
    members = aliases.members(draft.name)
    if 0 in draft.shape or any(m in aliases.doubtful or m in aliases.unsettled or m not in known for m in members):
        return False
    # Paddle copies where a shape without axes is reshaped, or the other way round.
    links = [(m, *aliases.parent[m]) for m in members if m in aliases.parent]
    reshaped = [(m, base) for m, base, made_by in links if isinstance(made_by, Op) and made_by.op in RESHAPING]
    return all(known[m].shape and known[base].shape for m, base in reshaped)


def _refused(draft: Draft, aliases: Aliases, known: dict[str, Draft]) -> bool:
    """Whether an update is refused by one of the frameworks, for whom the value is."""
    if 0 in draft.shape or not draft.tracked or any(m in aliases.unsettled or m not in known for m in aliases.members(draft.name)):
        return False
    _, made_by = aliases.parent.get(draft.name, ("", None))
    if made_by is None:
        return draft.name[0] == "x"
    if not isinstance(made_by, Op) or made_by.no_grad:
        return False
    larger = draft.name in known and made_by.op == "expand" and len(draft.shape) > len(known[made_by.operands[0]].shape)
    return larger or made_by.op in SEVERAL or aliases.base(draft.name)[0] == "x"


def _drawn(script: Sketch, target: Draft, aliases: Aliases) -> tuple[str, list[Draft], dict[str, Any]] | None:
    """Draw an op that fits the target, its other operands and its attributes."""
    source = script.source
    offered = [n for n in IN_PLACE if catalogue()[n].exact or not script.exact]
    name = source.choice((*BINARY, "setitem")) if source.chance(0.4) else source.choice(offered)
    if name not in offered or (target.array is None and name in GROWING_HERE):
        return None
    if name in DOMAINS and not lies_in(target, DOMAINS[name]):
        return None
    mark = script.mark()
    drawn = _arguments(script, name, target, aliases)
    if drawn is None or not _moderate(script, name, target, *drawn):
        script.undo(mark)
        return None
    return name, *drawn


def _arguments(script: Sketch, name: str, target: Draft, aliases: Aliases) -> tuple[list[Draft], dict[str, Any]] | None:
    source = script.source
    if name in BINARY:
        return [_operand(script, name, target, aliases)], {}
    if name == "setitem":
        found: Drawn = replaced(script, target)
        if found is None or any(o.name in aliases.members(target.name) for o in found[0][1:]) or found[0][1].dtype != target.dtype:
            return None
        return found[0][1:], found[1]
    attrs: dict[str, Callable[[], Any]] = {
        "other": script.number,
        "value": script.number,
        "exponent": lambda: float(source.integer(0, 3)),
        "low": lambda: -0.5,
        "high": lambda: 1.25,
        "diagonal": lambda: source.integer(-1, 1),
        "mask": lambda: mask_for(script, target.shape),
    }
    if name in ("tril", "triu") and len(target.shape) < 2:
        return None
    return [], {attr: attrs[attr]() for attr in catalogue()[name].attrs}


def _operand(script: Sketch, name: str, target: Draft, aliases: Aliases) -> Draft:
    source = script.source
    if name in ("mul", "add") and source.chance(0.08):
        return target
    wide = source.chance(0.03) and aliases.base(target.name)[0] not in "xs"
    others = set(aliases.members(target.name))
    domain = "nonzero" if name == "div" else None
    found = [
        d
        for d in script.values
        if d.name not in others
        and d.dtype == target.dtype
        and d.array is not None
        and 0 not in d.shape
        and _fits(d.shape, target.shape) is not wide
        and broadcasts(d.shape, target.shape)
        and (domain is None or lies_in(d, domain))
    ]
    if found and source.chance(0.75):
        return source.choice(found)
    shape = (2, *target.shape) if wide else target.shape if source.chance(0.7) else target.shape[1:]
    return script.fresh(shape, domain=domain, dtype=target.dtype)


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    return broadcasts(shape, target) and np.broadcast_shapes(shape, target) == target


def _computed(name: str, target: Draft, operands: list[Draft], attrs: dict[str, Any]) -> Any:
    if target.array is None or any(d.array is None for d in operands):
        return None
    with np.errstate(all="ignore"):
        return np.asarray(OPS[name](target.array, *[d.array for d in operands], **attrs))


def _shape_of(name: str, target: Draft, operands: list[Draft]) -> tuple[int, ...]:
    return np.broadcast_shapes(target.shape, *[d.shape for d in operands]) if name in BINARY else target.shape


def _moderate(script: Sketch, name: str, target: Draft, operands: list[Draft], attrs: dict[str, Any]) -> bool:
    array = _computed(name, target, operands, attrs)
    return script.moderate(array) if array is not None else name not in GROWING_HERE


def _forget(script: Sketch, names: list[str]) -> None:
    """Drop the elements of values that one framework refuses to change and another changes."""
    script.values[:] = [replace(d, array=None) if d.name in names else d for d in script.values]


class _Update:
    """The facts of the sketch after an update."""

    def __init__(self, script: Sketch, aliases: Aliases, target: Draft, operands: list[Draft]) -> None:
        self.script = script
        self.aliases = aliases
        self.target = target
        self.arrays: dict[str, Any] = {}
        self.known = {d.name: d for d in script.values}
        self.above = frozenset().union(*(d.above for d in (target, *operands, self.known[aliases.base(target.name)])))

    def apply(self, array: Any, *, recorded: bool) -> None:
        """Enter the new elements, and the new dependence if the update is recorded."""
        members = set(self.aliases.members(self.target.name))
        owner, root_array = self._upwards(array)
        self._downwards(owner, root_array)
        base = self.aliases.base(self.target.name)
        drafts = []
        for d in self.script.values:
            draft = replace(d, array=self.arrays[d.name]) if d.name in members else d
            if recorded and d.name in members and self.aliases.base(d.name) == base:
                reach = (self.above - members) | frozenset(self.aliases.above(d.name))
                draft = replace(draft, tracked=True, above=reach)
            elif recorded:
                draft = replace(draft, above=draft.above - members)
            drafts.append(draft)
        self.script.values[:] = drafts

    def _upwards(self, array: Any) -> tuple[str, Any]:
        name = self.target.name
        while name in self.aliases.parent:
            parent, step = self.aliases.parent[name]
            above = self.known[parent].array
            if array is not None and isinstance(step, Op):
                slot = step.results.index(name)
                array = None if above is None else OPS["overwrite"](above, array, op=step.op, attrs=step.attrs, slot=slot)
            name = parent
        return name, array

    def _downwards(self, name: str, array: Any) -> None:
        self.arrays[name] = array
        for view, (parent, step) in self.aliases.parent.items():
            if parent != name:
                continue
            if array is None or isinstance(step, Detach):
                self._downwards(view, array)
                continue
            op = OPS[step.op]
            made = op(array, **step.attrs)
            several = isinstance(op, Primitive) and op.several
            self._downwards(view, np.asarray(made[step.results.index(view)] if several else made))

"""Drawing in-place updates, right and wrong ones.

Right ones change intermediates before and after they were used, views and their bases, constants, seeds and returned gradients,
inside and outside of ``no_grad``; wrong ones leaves, views of leaves, expanded tensors, one of several views, or make a result that is
wider than the target.

After an update the sketch knows the new elements of every value in the same memory, and what they depend on. A value is not written if
we do not know what its consumers save for backward, or if the frameworks may disagree about which tensors share its memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.aliases import Aliases
from conformance.case.steps import Detach, InPlace, Op
from conformance.generate.sketch import broadcasts
from conformance.ops import catalogue
from conformance.ops.dtypes import is_complex
from conformance.ops.spec import Growth, Memory
from reference_impl import OPS
from reference_impl.primitives.update import Way
from reference_impl.tape.primitive import Primitive

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.in_place import InPlaceForm
    from conformance.ops.sampler import Arguments, Draft
    from conformance.ops.spec import OpSpec


def draw_in_place(script: Sketch) -> bool:
    """Add one in-place update; return whether one fitted."""
    source, odds = script.source, script.odds.in_place
    known = {d.name: d for d in script.values}
    aliases = Aliases(script.steps)
    leaves = {entry.name for entry in script.inputs if entry.differentiable}
    wrong = source.chance(odds.wrong)
    targets = [d for d in script.values if (_refused if wrong else _settled)(d, aliases, known)]
    if not targets:
        return False
    if not wrong and source.chance(odds.of_intermediate):
        targets = [d for d in targets if aliases.base(d.name) not in leaves] or targets
    alone = [d for d in targets if len(aliases.members(d.name)) == 1]
    target = source.choice(alone if alone and not wrong and source.chance(odds.of_unshared) else targets)
    if not wrong and source.chance(odds.detached):
        script.detach(target)
        target, aliases = script.values[-1], Aliases(script.steps)
    leaf = aliases.base(target.name) in leaves
    doubtful = target.name in aliases.may_alias
    no_grad = not wrong and source.chance(odds.no_grad_leaf if leaf else odds.no_grad)
    drawn = _drawn(script, target, aliases)
    if drawn is None or (doubtful and drawn[1].partial):
        return False
    row, form, (operands, attrs) = drawn
    script.steps.append(InPlace(row.name, target.name, tuple(d.name for d in operands), attrs, no_grad))
    script.shared_written |= len(aliases.members(target.name)) > 1
    recorded = not no_grad and (target.tracked or any(d.tracked for d in operands))
    if doubtful or (recorded and leaf):
        _forget(script, aliases.members(target.name))
    elif _shape_of(form, target, operands) == target.shape:
        _Update(script, aliases, target, operands).apply(_computed(row, target, operands, attrs), recorded=recorded)
    return True


def _settled(draft: Draft, aliases: Aliases, known: dict[str, Draft]) -> bool:
    members = aliases.members(draft.name)
    if 0 in draft.shape or any(m in aliases.may_alias or m in aliases.saves_unknown or m not in known for m in members):
        return False
    # Paddle copies where a shape without axes is reshaped, or the other way round.
    links = [(m, *aliases.parent[m]) for m in members if m in aliases.parent]
    reshaped = [
        (m, base) for m, base, made_by in links if isinstance(made_by, Op) and catalogue()[made_by.op].memory is Memory.RESHAPES
    ]
    return all(known[m].shape and known[base].shape for m, base in reshaped)


def _refused(draft: Draft, aliases: Aliases, known: dict[str, Draft]) -> bool:
    """Whether one framework refuses to update this value because of what it is.

    That is a leaf, a view of one, one of several views that one op made, or an expanded tensor.
    """
    if 0 in draft.shape or not draft.tracked or any(m in aliases.saves_unknown or m not in known for m in aliases.members(draft.name)):
        return False
    _, made_by = aliases.parent.get(draft.name, ("", None))
    if made_by is None:
        return draft.is_input
    if not isinstance(made_by, Op) or made_by.no_grad:
        return False
    row = catalogue()[made_by.op]
    larger = row.memory is Memory.DOUBTFUL and len(draft.shape) > len(known[made_by.operands[0]].shape)
    return larger or row.multi_output or known[aliases.base(draft.name)].is_input


def _drawn(script: Sketch, target: Draft, aliases: Aliases) -> tuple[OpSpec, InPlaceForm, Arguments] | None:
    """Draw an op that fits the target, its other operands and its attributes."""
    source = script.source
    forms = [(row, row.form) for row in catalogue().values() if row.form is not None]
    offered = sorted((entry for entry in forms if entry[0].exact or not script.exact), key=lambda entry: entry[1].place)
    joining = [entry for entry in forms if len(entry[0].operands) > 1]
    row, form = source.choice(joining if source.chance(script.odds.in_place.usual) else offered)
    if (script.exact and not row.exact) or (target.array is None and _grows(row)):
        return None
    if row.numbers.taken == "real" and is_complex(target.dtype):  # of a spectrum
        return None
    if script.unbounded and row.numbers.ordered:
        return None
    domain = row.domain.get(row.operands[0])
    if domain is not None and not script.lies_in(target, domain):
        return None
    mark = script.mark()
    drawn = _arguments(script, row, form, target, aliases)
    if drawn is None or not _moderate(script, row, target, *drawn):
        script.undo(mark)
        return None
    return row, form, drawn


def _grows(row: OpSpec) -> bool:
    """Whether an op, again and again in place, carries numbers of which nothing is known out of its domain or the range."""
    return row.growth in (Growth.UNBOUNDED, Growth.COMPOUNDS) or bool(row.domain)


def _arguments(script: Sketch, row: OpSpec, form: InPlaceForm, target: Draft, aliases: Aliases) -> Arguments | None:
    if form.draw is None:
        return ([_operand(script, row, form, target, aliases)] if len(row.operands) > 1 else []), {}
    found = form.draw(script, target)
    members = aliases.members(target.name)
    return None if found is None or any(o.name in members or o.dtype != target.dtype for o in found[0]) else found


def _operand(script: Sketch, row: OpSpec, form: InPlaceForm, target: Draft, aliases: Aliases) -> Draft:
    source, odds = script.source, script.odds.in_place
    if form.by_itself and source.chance(odds.itself):
        return target
    leaves = {d.name for d in script.values if d.is_leaf}
    wide = source.chance(odds.too_wide) and aliases.base(target.name) not in leaves
    others = set(aliases.members(target.name))
    domain = row.domain.get(row.operands[1])
    found = [
        d
        for d in script.values
        if d.name not in others
        and d.dtype == target.dtype
        and d.array is not None
        and 0 not in d.shape
        and _fits(d.shape, target.shape) is not wide
        and broadcasts(d.shape, target.shape)
        and (domain is None or script.lies_in(d, domain))
    ]
    if found and source.chance(odds.existing):
        return source.choice(found)
    shape = (2, *target.shape) if wide else target.shape if source.chance(odds.same_shape) else target.shape[1:]
    return script.fresh(shape, domain=domain, dtype=target.dtype)


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    return broadcasts(shape, target) and np.broadcast_shapes(shape, target) == target


def _computed(row: OpSpec, target: Draft, operands: list[Draft], attrs: dict[str, Any]) -> Any:
    if target.array is None or any(d.array is None for d in operands):
        return None
    with np.errstate(all="ignore"):
        return np.asarray(OPS[row.name](target.array, *[d.array for d in operands], **attrs))


def _shape_of(form: InPlaceForm, target: Draft, operands: list[Draft]) -> tuple[int, ...]:
    return target.shape if form.partial else np.broadcast_shapes(target.shape, *[d.shape for d in operands])


def _moderate(script: Sketch, row: OpSpec, target: Draft, operands: list[Draft], attrs: dict[str, Any]) -> bool:
    array = _computed(row, target, operands, attrs)
    return script.moderate(array) if array is not None else not _grows(row)


def _forget(script: Sketch, names: list[str]) -> None:
    """Drop the elements of values that one framework refuses to change and another changes."""
    script.values[:] = [replace(d, array=None) if d.name in names else d for d in script.values]


class _Update:
    """One update, entered into the sketch: new elements and new dependences of all values that share the memory."""

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
        name, way, written = self.target.name, Way(), array
        while name in self.aliases.parent:
            parent, step = self.aliases.parent[name]
            above = self.known[parent].array
            if array is not None and isinstance(step, Op):
                way.views.insert(0, (step.op, step.attrs, step.results.index(name)))
                array = None if above is None else way.overwritten(above, array, written)
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
            several = isinstance(op, Primitive) and op.multi_output
            self._downwards(view, np.asarray(made[step.results.index(view)] if several else made))

"""Edits of a script: each returns another one, and leaves alone what it is given.

Counterfactuals, laws, the numerical oracle and shrinking all ask the same thing: what if the script were a little different? A value
has another name, or is a constant; a step is not there. Such an edit is easy to get almost right, because names stand in many places:
a custom function has its operands inside as well, seeds and results go along with the values that they belong to, and what loses an
operand must go too. So every edit is made here, once. For example, `detach_uses` of the second operand of ``y = mul(x, x)`` gives
``constant_0_operands_1 = detach(x)`` and ``y = mul(x, constant_0_operands_1)``.

The result of an edit need not be a valid script; `conformance.case.files.check` says whether it is one.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from conformance.case.case import Case, data_of
from conformance.case.place import END, StepNumber
from conformance.case.steps import Backward, Call, Custom, Detach, Grad, Hook, InPlace, Op, Step, results, uses

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from conformance.case.case import Input

CONSTANT = "constant_"
"""How the names begin that are made for detached values; no script that is drawn has such names."""

DEAD = "clone"
"""The op of a dead branch: every engine has it for every tensor."""

Use = tuple[int, str, int]
"""A use of a value: the number of the step, the field, and the position in the field."""

S = TypeVar("S", bound=Step)
C = TypeVar("C", bound=Grad | Backward)


def with_steps(case: Case, steps: Iterable[Step]) -> Case:
    """Give a case other steps."""
    return Case(case.inputs, tuple(steps), case.lane)


def with_inputs(case: Case, inputs: Iterable[Input]) -> Case:
    """Give a case other inputs."""
    return Case(tuple(inputs), case.steps, case.lane)


def replace_step(case: Case, number: int, *steps: Step) -> Case:
    """Put other steps in the place of one; none: take it out."""
    return with_steps(case, (*case.steps[:number], *steps, *case.steps[number + 1 :]))


def each_step(case: Case, change: Callable[[Step], Step]) -> Case:
    """Change each step by itself."""
    return with_steps(case, map(change, case.steps))


def expand_steps(case: Case, number: StepNumber, written: Callable[[int, Step], Sequence[Step]]) -> tuple[Case, StepNumber]:
    """Put the steps that ``written`` returns in the place of each step; say where those begin that stand for step ``number``."""
    parts = [written(i, step) for i, step in enumerate(case.steps)]
    moved = number if number is END else sum(map(len, parts[:number]))
    return with_steps(case, itertools.chain.from_iterable(parts)), moved


def each_op(case: Case, change: Callable[[Op | InPlace], Op | InPlace]) -> Case:
    """Change each op by itself: also those that update in place, and those inside custom functions."""

    def changed(step: Step) -> Step:
        if isinstance(step, Custom):
            parts = {field: tuple(map(change, getattr(step, field))) for field in ("forward", "backward")}
            return msgspec.structs.replace(step, **parts)
        return change(step) if isinstance(step, Op | InPlace) else step

    return each_step(case, changed)


def answering_nothing(step: Step, returns: Collection[str]) -> Step:
    """Have a hook answer nothing that would answer one of these; any other step stays as it is."""
    if isinstance(step, Hook) and step.returns in returns:
        return msgspec.structs.replace(step, returns="nothing", tensor_returned=None)
    return step


def rename(step: S, names: Mapping[str, str]) -> S:
    """Rename values, those that a step uses and those that it makes; inside a custom function too.

    A new name must not be made inside a custom function that uses the old one. Two values that get one name are saved once.
    """
    changed: dict[str, Any] = {}
    for field in dict.fromkeys((*step.NAMES, "results")):
        held = getattr(step, field, None)
        if held is not None:
            changed[field] = names.get(held, held) if isinstance(held, str) else _named(held, names)
    if isinstance(step, Custom):
        for field in ("forward", "backward"):
            changed[field] = tuple(rename(op, names) for op in getattr(step, field))
        for field in ("outputs", "cotangents", "gradients"):
            changed[field] = _named(getattr(step, field), names)
        changed["saved"] = tuple(dict.fromkeys(_named(step.saved, names)))
    return msgspec.structs.replace(step, **changed)


def _named(held: tuple[str | None, ...], names: Mapping[str, str]) -> tuple[str | None, ...]:
    return tuple(name if name is None else names.get(name, name) for name in held)


def prune(case: Case) -> Case:
    """Take out the steps that no longer have what they need, and the inputs that nobody uses."""
    made = {i.name for i in case.inputs}
    kept: list[Step] = []
    for step in case.steps:
        if all(name in made for _, name in uses(step)):
            kept.append(step)
            made.update(results(step))
    used = {name for step in kept for _, name in uses(step)}
    return Case(tuple(i for i in case.inputs if i.name in used), tuple(kept), case.lane)


def cut(case: Case, numbers: Iterable[int], inputs: Iterable[Input]) -> Case:
    """Put inputs in the place of steps; they have the names, and the elements, of what the steps made."""
    left_out = set(numbers)
    kept = (step for i, step in enumerate(case.steps) if i not in left_out)
    return Case((*case.inputs, *inputs), tuple(kept), case.lane)


def rename_behind(steps: Sequence[Step], number: int, names: Mapping[str, str]) -> tuple[Step, ...]:
    """Rename values in the steps behind one."""
    return (*steps[: number + 1], *(rename(step, names) for step in steps[number + 1 :]))


def pass_by(case: Case, number: int, name: str) -> Case:
    """Leave out a step; the value of this name stands for its results."""
    renamed = rename_behind(case.steps, number, dict.fromkeys(results(case.steps[number]), name))
    return replace_step(with_steps(case, renamed), number)


def bypass(case: Case, numbers: Iterable[int]) -> Case:
    """Leave out ops; the first operand of each stands for its results."""
    for number in sorted(numbers, reverse=True):
        step = case.steps[number]
        if isinstance(step, Op):
            case = pass_by(case, number, step.operands[0])
    return case


def out_of_place(case: Case, number: int, step: InPlace) -> Case:
    """Compute what a step writes into a tensor as a value of its own, which takes the place of the tensor from there on."""
    result = f"{step.tensor}_{number}"
    op = Op(step.op, (step.tensor, *step.operands), (result,), step.attrs, step.no_grad)
    return with_steps(case, rename_behind(replace_step(case, number, op).steps, number, {step.tensor: result}))


def bypass_inside(step: Custom, op: Op) -> Custom:
    """Leave out an op inside a custom function; its first operand stands for its results."""
    parts = {field: tuple(o for o in getattr(step, field) if o is not op) for field in ("forward", "backward")}
    return rename(msgspec.structs.replace(step, **parts), dict.fromkeys(op.results, op.operands[0]))


def detach_uses(case: Case, places: Sequence[Use]) -> Case:
    """Detach values where they are used at these places; each has a `Detach` step of its own before the step that uses it."""
    return replace_uses(case, places, lambda name, fresh: Detach(name, (fresh,)))


def replace_uses(case: Case, places: Sequence[Use], made: Callable[[str, str], Step]) -> Case:
    """Use something else at these places: a step makes it from the value, under a fresh name, right before the step that uses it."""
    steps: list[Step] = []
    for i, step in enumerate(case.steps):
        changed = step
        for at, field, position in places:
            if at == i:
                held = getattr(changed, field)
                fresh = f"{CONSTANT}{i}_{field}_{position}"
                steps.append(made(held[position], fresh))
                changed = msgspec.structs.replace(changed, **{field: (*held[:position], fresh, *held[position + 1 :])})
        steps.append(changed)
    return with_steps(case, steps)


def interpose(steps: Sequence[Step], name: str, step: Step) -> tuple[Step, ...]:
    """Put a step behind the one that makes a value (first, if none of them does); from then on its result is used instead."""
    made = next((i + 1 for i, s in enumerate(steps) if name in results(s)), 0)
    return rename_behind((*steps[:made], step, *steps[made:]), made, {name: results(step)[0]})


def dead_branch(name: str, result: str) -> Op:
    """Return a step that makes something of a value, which nobody uses."""
    return Op(DEAD, (name,), (result,))


def shorten(case: Case, chosen: Callable[[Sequence[int]], Collection[int]], length: int | None) -> Case:
    """Keep the first elements along some axes of every input, or the first one without the axis (``None``).

    ``chosen`` says which axes of a shape; those of the shape that an op names are changed alike.
    """

    def kept(input_: Input) -> Input:
        if not (axes := chosen(input_.shape)):
            return input_
        first = 0 if length is None else slice(length)
        part = input_.array()[tuple(first if axis in axes else slice(None) for axis in range(len(input_.shape)))]
        return msgspec.structs.replace(input_, shape=np.shape(part), data=data_of(part))

    def named(op: Op | InPlace) -> Op | InPlace:
        shape = op.attrs.get("shape")
        if shape is None:
            return op
        axes = chosen(shape)
        lengths = [min(n, length or n) if axis in axes else n for axis, n in enumerate(shape) if axis not in axes or length is not None]
        return msgspec.structs.replace(op, attrs={**op.attrs, "shape": lengths})

    return each_op(with_inputs(case, map(kept, case.inputs)), named)


def in_dtype(input_: Input, dtypes: Mapping[str, str]) -> Input:
    """Give an input the dtype that its own stands for, if it stands for one; the elements are those that it has in its own."""
    if input_.dtype not in dtypes:
        return input_
    return msgspec.structs.replace(input_, dtype=dtypes[input_.dtype], data=data_of(input_.array()))


def in_dtypes(case: Case, dtypes: Mapping[str, str]) -> Case:
    """Give every input the dtype that its own stands for, such as `conformance.ops.dtypes.DOUBLE`."""
    return with_inputs(case, (in_dtype(i, dtypes) for i in case.inputs))


def with_single_numbers(case: Case, of: Collection[str] | None = None, *, lists: bool = False) -> Case:
    """Round the numbers among the attributes of ops to float32; ``of``: those of these ops alone; ``lists``: and those in lists."""

    def rounded(op: Op | InPlace) -> Op | InPlace:
        if of is not None and op.op not in of:
            return op
        return msgspec.structs.replace(op, attrs=single_numbers(op.attrs, lists=lists))

    return each_op(case, rounded)


def single_numbers(attrs: Mapping[str, Any], *, lists: bool = False) -> dict[str, Any]:
    """Round the numbers among some attributes to float32; ``lists``: and those in lists."""
    return {name: _single(x, lists) for name, x in attrs.items()}


def _single(given: Any, lists: bool) -> Any:
    if lists and isinstance(given, list | tuple):
        return [_single(x, lists) for x in given]
    return float(np.float32(given)) if isinstance(given, float) else given


def without_root(call: C, position: int) -> C:
    """Take a root from a call, with the seed at the same position."""
    fields = (call.ROOTS, *(field for field in call.SEEDS if getattr(call, field) is not None))
    return msgspec.structs.replace(call, **{field: _without(getattr(call, field), position) for field in fields})


def without_seed(call: C, position: int) -> C:
    """Take a seed from a call that passes some."""
    fields = (field for field in call.SEEDS if getattr(call, field) is not None)
    return msgspec.structs.replace(call, **{field: _without(getattr(call, field), position) for field in fields})


def without_seeds(call: C) -> C:
    """Pass no seeds to a call."""
    return msgspec.structs.replace(call, **dict.fromkeys(call.SEEDS))


def without_asked(call: Call, position: int) -> Call:
    """Ask for one gradient less; its result goes too."""
    fields = [field for field in (call.ASKED, "results") if getattr(call, field, None) is not None]
    return msgspec.structs.replace(call, **{field: _without(getattr(call, field), position) for field in fields})


def without_constants(call: Call) -> Call:
    """Let gradients flow everywhere."""
    return msgspec.structs.replace(call, **{call.CONSTANTS: None})


def without_constant(call: Call, position: int) -> Call:
    """Let gradients flow through one value more."""
    return msgspec.structs.replace(call, **{call.CONSTANTS: _without(call.constants or (), position)})


def _without(held: tuple[Any, ...], position: int) -> tuple[Any, ...]:
    return held[:position] + held[position + 1 :]

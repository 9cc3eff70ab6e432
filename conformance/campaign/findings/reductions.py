"""The passes of shrinking: what each proposes in the place of a case, whether or not it still fails.

A drawn case has more than its failure needs: steps that lead nowhere, values that could be given, parameters that change nothing. Each
pass takes away one sort of these, by the edits of `conformance.case.rewrite`. What it proposes need be neither a valid script nor a
smaller one: `conformance.campaign.findings.shrink` asks for both, and judges what is left.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.backends.reference import reference
from conformance.case.case import Case, Input, data_of, input_of
from conformance.case.outcome import Computed
from conformance.case.rewrite import (
    bypass_inside,
    cut,
    in_dtype,
    out_of_place,
    pass_by,
    prune,
    replace_step,
    shorten,
    with_inputs,
    with_steps,
    without_asked,
    without_constant,
    without_constants,
    without_root,
    without_seed,
    without_seeds,
)
from conformance.case.steps import NO_VALUE, Backward, Call, Custom, Detach, Edge, Grad, InPlace, Op, observed, uses
from conformance.ops.dtypes import SINGLE
from reference_impl import TORCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.case.outcome import Outcome
    from conformance.case.steps import Step


def _dropped(case: Case) -> Iterator[Case]:
    """Drop all steps behind one, or one and what needs it."""
    for number in range(len(case.steps)):
        yield prune(with_steps(case, case.steps[: number + 1]))
        yield prune(replace_step(case, number))


@functools.lru_cache(maxsize=4)
def outcome_of(case: Case) -> Outcome:
    """Return what the reference answers, to those who make cases smaller."""
    return reference(TORCH, {}).run(case)


def _cuts(case: Case) -> Iterator[Case]:
    """Replace the result of an op by an input with the same elements."""
    for number, (step, seen) in enumerate(zip(case.steps, outcome_of(case).observations, strict=True)):
        if not isinstance(step, Op) or not isinstance(seen, Computed):
            continue
        made = zip(step.results, seen.values, strict=True)
        inputs = (input_of(name, v.array, differentiable=v.requires_grad) for name, v in made if v is not None)
        yield prune(cut(case, [number], inputs))


def _bypasses(case: Case) -> Iterator[Case]:
    """Put an operand of the same shape and dtype in the place of what a step makes of it, or a tensor in that of its edge."""
    forms = {i.name: (i.shape, i.dtype) for i in case.inputs}
    for number, (step, seen) in enumerate(zip(case.steps, outcome_of(case).observations, strict=True)):
        if isinstance(step, Edge):
            yield pass_by(case, number, step.tensor)
        if not isinstance(seen, Computed) or isinstance(step, NO_VALUE):
            continue
        made = {name: (v.array.shape, str(v.array.dtype)) for name, v in zip(observed(step), seen.values, strict=True) if v is not None}
        if isinstance(step, Op | Custom | Detach):
            operands = dict.fromkeys(name for _, name in uses(step))
            yield from (prune(pass_by(case, number, name)) for name in operands if {forms.get(name)} == set(made.values()))
        forms.update(made)


def _out_of_place(case: Case) -> Iterator[Case]:
    """Compute a new value in the place of one that is changed."""
    yield from (out_of_place(case, number, step) for number, step in enumerate(case.steps) if isinstance(step, InPlace))


def _unset(case: Case) -> Iterator[Case]:
    """Leave a parameter of a step at its default, shorten its lists, or take an op out of a custom function."""
    for number, step in enumerate(case.steps):
        for simpler in _simpler(step):
            yield prune(replace_step(case, number, simpler))


def _simpler(step: Step) -> Iterator[Step]:
    replace = msgspec.structs.replace
    if getattr(step, "no_grad", False):
        yield replace(step, no_grad=False)
    if isinstance(step, Custom):
        yield from _simpler_custom(step)
    if isinstance(step, Grad | Backward):
        yield from _simpler_pass(step)
    if isinstance(step, Call):
        for i in range(len(step.asked or ()) if len(step.asked or ()) > 1 else 0):
            yield without_asked(step, i)
        if step.constants is not None:
            yield without_constants(step)
            for i in range(len(step.constants) if len(step.constants) > 1 else 0):
                yield without_constant(step, i)
    if isinstance(step, Grad) and step.allow_unused is not None:
        yield replace(step, allow_unused=None)


def _simpler_pass(call: Grad | Backward) -> Iterator[Step]:
    """Leave out a flag, a seed or a root."""
    if call.retain_graph is not None:
        yield msgspec.structs.replace(call, retain_graph=None)
    if call.create_graph:
        yield msgspec.structs.replace(call, create_graph=False)
    if call.seeds is not None:
        yield without_seeds(call)
        for i in range(len(call.seeds)):
            yield without_seed(call, i)
    for i in range(len(call.roots) if len(call.roots) > 1 else 0):
        yield without_root(call, i)


def _simpler_custom(step: Custom) -> Iterator[Custom]:
    """Leave out an op inside, its first operand in the place of its result; or leave something unsaved."""
    for op in (*step.forward, *step.backward):
        yield bypass_inside(step, op)
    for i in range(len(step.saved)):
        yield msgspec.structs.replace(step, saved=step.saved[:i] + step.saved[i + 1 :])


def _shorter(case: Case) -> Iterator[Case]:
    """Shorten an axis to 2 or to 1, or take it away, in all inputs together that may share it.

    Which do share it only the ops know. Those that do have one length there, or stand at one place from the end, where shapes are
    broadcast; so both are proposed, and what does not fit then is refused.
    """
    axes = dict.fromkeys((i.shape[axis], axis - len(i.shape)) for i in case.inputs for axis in range(len(i.shape)))
    groups = [*axes, *((n, None) for n, _ in axes), *((None, place) for _, place in axes), (None, None)]

    def chosen(group: tuple[int | None, int | None], shape: Sequence[int]) -> frozenset[int]:
        length, place = group
        return frozenset(a for a, n in enumerate(shape) if n > 0 and length in (None, n) and place in (None, a - len(shape)))

    distinct = {tuple(chosen(group, i.shape) for i in case.inputs): group for group in groups}
    for group in distinct.values():
        for length in (None, 1, 2):
            yield shorten(case, functools.partial(chosen, group), length)


def _plainer(case: Case) -> Iterator[Case]:
    """Make an input a constant, or contiguous, give it single precision, or numbers with fewer digits."""
    for number, input_ in enumerate(case.inputs):
        array = input_.array()
        forms = [
            msgspec.structs.replace(input_, differentiable=False),
            msgspec.structs.replace(input_, strided=msgspec.UNSET),
            in_dtype(input_, SINGLE),
            _with_data(input_, np.rint(array)),
            _with_data(input_, np.arange(1, array.size + 1, dtype=array.dtype).reshape(array.shape)),
            _with_data(input_, np.ones_like(array)),
        ]
        for form in forms:
            if form != input_:
                yield with_inputs(case, (*case.inputs[:number], form, *case.inputs[number + 1 :]))


def _with_data(input_: Input, array: Any) -> Input:
    """Give an input other elements if they are shorter to read, else those that it has."""
    new = msgspec.structs.replace(input_, data=data_of(array))
    return new if _digits(new) < _digits(input_) else input_


def _digits(input_: Input) -> int:
    """Count the digits of an input's elements; a fraction counts one more than a whole number."""
    numbers = [x for element in input_.data for x in (element if isinstance(element, tuple) else (element,))]
    return sum(len(f"{x:g}" if isinstance(x, float) else x) + (x % 1 != 0 if isinstance(x, float) else 0) for x in numbers)


@dataclass(frozen=True, slots=True)
class Pass:
    """One way to make cases smaller: its words, in which a finding counts the rounds that it won, and the cases that it proposes."""

    words: str
    candidates: Callable[[Case], Iterator[Case]]


PASSES = (
    Pass("drop steps", _dropped),
    Pass("cut values", _cuts),
    Pass("bypass steps", _bypasses),
    Pass("compute out of place", _out_of_place),
    Pass("unset parameters", _unset),
    Pass("shorten axes", _shorter),
    Pass("make inputs plainer", _plainer),
)
"""Of equally small candidates that of the first pass is kept."""
WHATEVER_THE_LENGTH = PASSES[4:]
"""The passes whose candidates are as many as there are calls and inputs, however many ops there are."""

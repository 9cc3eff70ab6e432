"""Wrong numbers that are another variable's: one that was removed from a program, of which a script still holds a name.

The name points to memory that the next variables of the program may lie in, whatever made them: an op that a script names, a part of
one, or an operator of a gradient, which makes the derivatives in all its operands, also in those that no call asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case.place import END
from conformance.case.queries import arrays_of, leaves
from conformance.case.rewrite import CONSTANT, expand_steps, with_steps
from conformance.case.steps import Backward, Grad
from conformance.deviations.counterfactuals.slots import product_and_sum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.case.case import Case
    from conformance.case.steps import Step
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from reference_impl.tape.primitive import Primitive


def made_since(promise: Promise, found: Mismatch) -> Iterator[Any]:
    """Yield what was computed after a step, by a step or on its way, and the ones from which a call without seeds starts.

    Of that the answer may be one, since it has its shape and dtype.
    """
    case, number = expand_steps(promise.case, found.step, lambda _, step: product_and_sum(step))
    if number is END:
        return
    got, first = found.actual_array, number + 1
    before = _computed(promise.of(with_steps(case, case.steps[:first])))
    later = _computed(promise.of(_asking_for_all(case, first)))[len(before) :]
    candidates = (*later, *_starts(promise.of(case), first))
    yield from (array for array in candidates if (array.shape, array.dtype) == (got.shape, got.dtype))


def _computed(promise: Promise) -> list[Any]:
    """Return all arrays that the primitives of a script make, in their order."""
    made: list[Any] = []

    def note(primitive: Primitive, _: list[Any], __: dict[str, Any], out: Any) -> Any:
        made.extend(np.array(part) for part in (out if primitive.multi_output else (out,)))
        return out

    promise.run(note)
    return made


def _asking_for_all(case: Case, first: int) -> Case:
    """Have the calls from a step on ask for the gradients in all leaves, behind what they ask for."""
    every = sorted(leaves(case))

    def asking(number: int, step: Step) -> Step:
        others = [name for name in every if isinstance(step, Grad) and name not in step.inputs]
        if number < first or not isinstance(step, Grad) or not others:
            return step
        named = (*step.results, *(f"{CONSTANT}{number}_{i}" for i in range(len(others))))
        form = None if step.form == "bare" else step.form
        return msgspec.structs.replace(step, inputs=(*step.inputs, *others), results=named, allow_unused=True, form=form)

    return with_steps(case, [asking(number, step) for number, step in enumerate(case.steps)])


def _starts(promise: Promise, first: int) -> Iterator[Any]:
    arrays = dict(arrays_of(promise.case, promise.outcome.observations))
    for call in promise.case.steps[first:]:
        if isinstance(call, Grad | Backward):
            seeds = call.seeds or [None] * len(call.roots)
            starting = (root for root, seed in zip(call.roots, seeds, strict=False) if seed is None and root in arrays)
            yield from (np.ones_like(arrays[root]) for root in starting)

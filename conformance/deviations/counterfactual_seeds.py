"""Counterfactuals of seeds that do not fit: what a call that should refuse them answers, where they do not reach.

An engine that takes a seed of another shape than its root reads or writes beyond it, so nobody can say what becomes of it. But it
comes to what the root was computed from, and nowhere else: there the call answers what it does with a seed that fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from conformance.case.case import input_of
from conformance.case.place import END, StepNumber
from conformance.case.queries import edges
from conformance.case.rewrite import CONSTANT, replace_step, with_inputs
from conformance.case.steps import Backward, Grad
from conformance.deviations.conditions.in_place import shapes_at
from conformance.deviations.counterfactual_calls import nothing_freed
from reference_impl import PADDLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.deviations.counterfactual_calls import Variant


def misfitting(case: Case, number: int) -> dict[int, str]:
    """Return the roots whose seeds have another shape, by their positions."""
    call, shapes, of = case.steps[number], shapes_at(case, number, PADDLE), edges(case.steps)
    if not isinstance(call, Grad | Backward):
        return {}
    pairs = enumerate(zip(call.roots, call.seeds or (), strict=False))
    named = ((i, of.get(root, root), seed) for i, (root, seed) in pairs if seed is not None)
    return {i: root for i, root, seed in named if shapes.get(root) != shapes.get(seed)}


def seeds_fitted(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Give every root of a call whose seed has another shape a constant seed that has its shape, with and without what was freed."""
    call = None if number is END else case.steps[number]
    if number is END or not isinstance(call, Grad | Backward):
        return
    shapes, misfits = shapes_at(case, number, PADDLE), misfitting(case, number)
    dtypes = {entry.name: entry.dtype for entry in case.inputs}
    seeds, fitting = [*(call.seeds or ())], []
    for i, root in misfits.items():
        if root in shapes:
            fitting.append(input_of(f"{CONSTANT}{i}", np.ones(shapes[root], dtypes.get(str(seeds[i]), case.inputs[0].dtype))))
            seeds[i] = fitting[-1].name
    fitted = msgspec.structs.replace(call, **{call.SEEDS[0]: tuple(seeds)})
    other = replace_step(with_inputs(case, (*case.inputs, *fitting)), number, fitted)
    yield other, number
    yield from nothing_freed(other, number, ())

"""Wrong numbers that are memory read in another dtype: where a seed of another dtype is added to what is there, without a cast.

The sum has the dtype of what is added last, and the memory of what was there is read in that. Of a narrower dtype it has enough for all
elements, so what comes of it can be said. For a wider one it is too small; then new memory is taken in its place, and what lies in that
nobody can say. A seed that is handed on without a copy is what others are added to, and comes in their dtype then, itself changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.place import END
from conformance.case.queries import arrays_of
from conformance.case.steps import Backward, ClearGrad, Grad
from conformance.compare.rounding import agrees_cheaply
from conformance.deviations.conditions.calls import names_in_paddle
from conformance.deviations.shared_memory import gradients_held

if TYPE_CHECKING:
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise

ACCUMULATED = "what a gradient accumulates in the dtypes of its seeds"
"""The words of the signature."""


def is_accumulated_in_dtypes_of_seeds(promise: Promise, found: Mismatch) -> bool:
    """Whether a ``.grad`` has the dtype and the numbers of what was added to it, each time in the dtype of that."""
    held, memory = gradients_held(promise), None
    last = len(promise.case.steps) - 1 if found.step is END else found.step
    for number, step in enumerate(promise.case.steps[: last + 1]):
        if isinstance(step, ClearGrad) and step.tensor == found.name:
            memory = None if step.to == "none" or memory is None else np.zeros_like(memory)
        after = held[number].get(found.name)
        if not isinstance(step, Backward) or after is None:
            continue
        before = held[number - 1].get(found.name) if number else None
        added = _as_seeded(promise, number, step, found.name, 0 if before is None else before.array, after.array)
        memory = added if memory is None else _added_to(memory, added)
        if memory is None:
            return False
    got = found.actual_array
    return memory is not None and got is not None and memory.dtype == got.dtype and agrees_cheaply(memory, got)


IN_THAT_OF_ITS_LEAF = "in the dtype of the leaf that it was a seed of"
"""The words of the signature of a seed that was changed so."""


def is_in_the_dtype_of_its_leaf(promise: Promise, found: Mismatch) -> bool:
    """Whether a seed that was changed has the wider dtype of a leaf that it was given for, in a call that asks for that leaf."""
    got, given = found.actual_array, found.expected_array
    if got is None or given is None or got.shape != given.shape or got.dtype.itemsize <= given.dtype.itemsize:
        return False
    leaves = {entry.name for entry in promise.case.inputs if entry.dtype == str(got.dtype)}
    calls = [step for step in promise.case.steps if isinstance(step, Grad)]
    places = ((call, *place) for call in calls for place in zip(call.outputs, call.seeds or (), strict=False))
    return any(root in leaves.intersection(call.inputs) and seed == found.name for call, root, seed in places)


def _added_to(memory: Any, added: Any) -> Any:
    """Return a sum in the dtype of what is added; ``None``: the memory is too small."""
    if added.dtype.itemsize > memory.dtype.itemsize:
        return None
    read = np.ascontiguousarray(memory).reshape(-1).view(added.dtype)[: added.size]
    with np.errstate(all="ignore"):
        return read.reshape(added.shape) + added


def _as_seeded(promise: Promise, number: int, call: Backward, leaf: str, before: Any, after: Any) -> Any:
    """Return what a call adds to a leaf: the seed as it is given, if that is all."""
    same = names_in_paddle(promise.case, number)
    names = [seed for root, seed in zip(call.roots, call.seeds or (), strict=False) if same.get(root, root) == leaf]
    arrays = arrays_of(promise.case, promise.outcome.observations)
    seeds = (array for name, array in arrays if name in names and array.shape == after.shape)
    with np.errstate(all="ignore"):  # of a sum that was rounded a difference does not give the seed back
        return next(
            (seed for seed in seeds if np.array_equal(before + _cast(seed, after.dtype), after, equal_nan=True)), after - before
        )


def _cast(seed: Any, dtype: Any) -> Any:
    return (seed if dtype.kind == "c" else seed.real).astype(dtype)

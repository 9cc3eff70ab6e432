"""What a seed holds that was changed, which no call may do.

A pass that hands a seed on hands on its memory. Where others come to what it stands for there, they are added in it: the contribution
of another root, or what a leaf holds in ``.grad``. So the seed holds a gradient in the end, and no other numbers.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.aliases import sharing_with
from conformance.case.outcome import Blocked, Computed, Raised
from conformance.case.queries import arrays_of, upstream
from conformance.case.rewrite import answering_nothing, each_step, with_steps
from conformance.case.steps import Backward, Grad, InPlace, uses
from conformance.compare.rounding import are_near, within_units
from conformance.deviations.counterfactuals.calls import keeping_its_graph, without_surplus_seeds
from conformance.deviations.memory_of_seeds import IN_THAT_OF_ITS_LEAF, is_in_the_dtype_of_its_leaf
from conformance.deviations.shared_memory import (
    SHARED,
    asking,
    gradients_held,
    gradients_of,
    gradients_shown,
    is_among,
    reals,
)
from reference_impl import Category

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise


def holds_what_arrived(promise: Promise, found: Mismatch) -> bool:
    """Whether what changed of a seed is the gradient of a tensor to which the seed was handed on, with all that arrived there.

    A seed that was given to several calls may have been added to by each of them. A call that was refused may have added some of it.
    To what the script wrote to a seed, only what arrived since is added.
    What does not fit where it was handed on is read, and written, beyond its end. And of a call that is not tried here, since it is
    made of what should have been refused, nobody can say what it handed on.
    """
    refused = {seen.category for seen in promise.outcome.observations if isinstance(seen, Raised)}
    if not {Category.SEED_SHAPE, Category.CALLBACK_RESULT}.isdisjoint(refused) or _is_in_what_is_not_tried(promise, found.name):
        return True
    shown = [promise, promise.of(_willing(promise.case))]
    got = reals(found.actual_array)
    before = None if found.expected_array is None else reals(found.expected_array)
    arrived = [array for array in map(reals, _arrived(shown)) if array.dtype == got.dtype]
    if before is None or before.shape != got.shape:
        return any(is_among(got, array) for array in arrived)
    written = bool(refused) or is_written_to(promise.case, found.name)
    held = [before, *(seed for seed in _seeds_of(promise, found.name) if (seed.shape, seed.dtype) == (got.shape, got.dtype))]
    return any(_has_what_was_added(one, got, arrived, written=written) for one in held)


def _has_what_was_added(before: Any, got: Any, arrived: Sequence[Any], *, written: bool) -> bool:
    """Whether a seed holds what arrived; ``written``: what arrived may have been added to what it held."""
    alike = [array for array in arrived if array.shape == got.shape]
    with np.errstate(all="ignore"):  # a seed may be infinite
        added = [*(array - before for array in alike), *(alike if written else ())]
        sums = itertools.chain(((one, np.abs(one)) for one in added), ((a + b, np.abs(a) + np.abs(b)) for a in added for b in added))
        if any(within_units(before + total, got, np.abs(before) + scale) for total, scale in sums):
            return True
        changed = ~are_near(before, got)  # elements to which nothing was added by a call that was refused
        if any(within_units(array[changed], got[changed], (np.abs(before) + np.abs(array))[changed]) for array in alike):
            return True
    return any(is_among(got[changed], array) for array in arrived)


def _seeds_of(promise: Promise, name: str) -> Iterator[Any]:
    """Yield the seeds of the call that returned a gradient: it may lie in their memory, and the call itself may have added to it."""
    calls = [step for step in promise.case.steps if isinstance(step, Grad) and name in step.results]
    held = dict(arrays_of(promise.case, promise.outcome.observations)) if calls else {}
    yield from (reals(held[seed]) for call in calls for seed in call.seeds or () if seed in held)


def is_written_to(case: Case, name: str) -> bool:
    """Whether a step of the script writes to a tensor, or to what shares its memory."""
    return any(isinstance(step, InPlace) and name in sharing_with((step.tensor,), case.steps) for step in case.steps)


def _is_in_what_is_not_tried(promise: Promise, name: str) -> bool:
    steps = zip(promise.case.steps, promise.outcome.observations, strict=True)
    return any(isinstance(seen, Blocked) and name in {used for _, used in uses(step)} for step, seen in steps)


def _willing(case: Case) -> Case:
    """Have nothing end a call early: neither what was freed, nor what hooks answer, nor seeds that are too many."""
    return each_step(case, lambda step: without_surplus_seeds(keeping_its_graph(answering_nothing(step, ("error", "another_dtype")))))


def _arrived(shown: Sequence[Promise]) -> Iterator[Any]:
    """Yield the gradients that a script shows, and those of all that lies behind the roots of its calls, where nothing ends one early.

    A seed may have been handed on to several leaves in parts, so all that they hold at a time is one of these, too. So is a conjugate,
    which may be but a bit of what lies in the memory of another tensor.
    """
    held = (grads for one in shown for grads in gradients_held(one))
    arrays = ([value.array.ravel() for value in grads.values() if value is not None] for grads in held)
    together = ([one for one in some if one.dtype == dtype] for some in arrays for dtype in {one.dtype for one in some})
    found = itertools.chain(
        (array for one in shown for _, array in gradients_shown(one)),
        (np.concatenate(parts) for parts in together if len(parts) > 1),
        _arrived_behind(shown[-1]),
    )
    yield from (each for array in found for each in ([array, array.conj()] if np.iscomplexobj(array) else [array]))


def _arrived_behind(promise: Promise) -> Iterator[Any]:
    case = promise.case
    for number, call in enumerate(case.steps):
        if not isinstance(call, Grad | Backward):
            continue
        before = case.steps[:number]
        behind = tuple(sorted(set().union(*(upstream(before, root) for root in call.roots))))
        for names in (behind, *((name,) for name in behind)):  # where a call is refused, some may be had by themselves
            asked = asking(call, call.roots, call.seeds, names)
            answer = promise.of(with_steps(case, (*before, asked))).outcome.observations[number]
            yield from (array for _, array in gradients_of(number, answer))
            if names == behind and isinstance(answer, Computed):
                break


MEMORIES = {
    **SHARED,
    "what arrived where it was handed on": holds_what_arrived,
    IN_THAT_OF_ITS_LEAF: is_in_the_dtype_of_its_leaf,
}
"""The signatures of numbers that another tensor wrote, or has, by the words that an entry uses."""

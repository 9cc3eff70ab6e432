"""What a seed holds that was changed, which no call may do.

A pass that hands a seed on hands on its memory. Where others come to what it stands for there, they are added in it: the contribution
of another root, or what a leaf holds in ``.grad``. So the seed holds a gradient in the end, and no other numbers.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.aliases import lies_in, lying_in, sharing_with
from conformance.case.case import Case, input_of
from conformance.case.outcome import Blocked, Computed, Raised
from conformance.case.queries import arrays_of, upstream
from conformance.case.rewrite import CONSTANT, answering_nothing, each_step, rename, with_steps
from conformance.case.steps import Backward, Grad, InPlace, Op, uses
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
    from collections.abc import Collection, Iterator, Sequence

    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise


def holds_what_arrived(promise: Promise, found: Mismatch) -> bool:
    """Whether what changed of a seed is the gradient of a tensor to which the seed was handed on, with all that arrived there.

    A seed that was given to several calls may have been added to by each of them. A call that was refused may have added some of it.
    To what the script wrote to a seed, only what arrived since is added. And what is used after the change is used as it was left.
    What does not fit where it was handed on is read, and written, beyond its end. And of a call that is not tried here, since it is
    made of what should have been refused, nobody can say what it handed on.
    """
    refused = {seen.category for seen in promise.outcome.observations if isinstance(seen, Raised)}
    shown = (promise, promise.of(_willing(promise.case)))
    changed = ((one.of(case), name) for one in shown for case, name in _using_what_was_left(one, found.name))
    return _holds(promise, found, refused) or any(_holds(one, replace(found, name=name), refused) for one, name in changed)


def _holds(promise: Promise, found: Mismatch, refused: Collection[Category]) -> bool:
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
    if any(_has_what_was_added(one, got, arrived, written=written) for one in held):
        return True
    single = got.size > 1 and all(np.array_equal(x, np.full_like(x, x[0])) for x in (before, got))  # it may be expanded in memory
    return single and _has_what_was_added(before[:1], got[:1], arrived, written=written)


def _using_what_was_left(promise: Promise, name: str) -> Iterator[tuple[Case, str]]:
    """Yield scripts in which what was left in the memory of a seed is what the steps behind it use, with the name of that.

    What is left there is what a ``.grad`` holds after a later `backward`. Views of the seed are made anew.
    """
    case = promise.case
    given = {seed for step in case.steps if isinstance(step, Backward | Grad) for seed in step.seeds or () if seed is not None}
    arrays = dict(arrays_of(case, promise.outcome.observations))
    for number, grads in enumerate(gradients_held(promise)):
        if not isinstance(case.steps[number], Backward):
            continue
        behind = case.steps[number + 1 :]
        used = {one for step in behind for _, one in uses(step)}
        for seed in sorted(given.intersection(sharing_with((name,), case.steps), arrays)):
            lying = lying_in((seed,), case.steps[:number])
            left = {reals(v.array).tobytes(): v.array for v in grads.values() if v is not None and _fits(v.array, arrays[seed])}
            if used.isdisjoint(lying):
                continue
            for array in left.values():
                names = {one: f"{CONSTANT}{one}_left" for one in lying}
                views = [rename(step, names) for step in case.steps[:number] if isinstance(step, Op) and lies_in(step) in lying]
                entry = input_of(names[seed], array.reshape(arrays[seed].shape), differentiable=False)
                steps = (*case.steps[: number + 1], *views, *(rename(step, names) for step in behind))
                yield Case((*case.inputs, entry), steps, case.lane), names.get(name, name)


def _fits(array: Any, seed: Any) -> bool:
    return bool(array.size == seed.size and array.dtype == seed.dtype)


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

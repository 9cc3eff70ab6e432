"""Wrong numbers that are another tensor's: an engine hands one piece of memory to two, and writes into it for one of them.

A gradient that is handed on through a view is that of the view's operand, in the same memory. Where that is added to, or the next op
behind writes its result over what arrived, everybody who holds it sees the change: a retained ``.grad``, or the result of a call. What
they hold then is the gradient of a tensor that lies behind: what arrives there along this way alone, or all that arrives there.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case.outcome import Computed, Raised
from conformance.case.place import END, StepNumber
from conformance.case.queries import until, upstream, values_of
from conformance.case.rewrite import CONSTANT, answering_nothing, each_step, with_steps, without_root
from conformance.case.steps import Backward, ClearGrad, Custom, Grad, InPlace, Op, results
from conformance.compare.rounding import agrees_cheaply, are_near, within_units
from reference_impl.tape.primitive import array_of
from reference_impl.tape.rules import intercepted_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.outcome import Observation, Value
    from conformance.case.steps import Step
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from reference_impl.tape.primitive import Primitive
    from reference_impl.tape.rules import Pull, Pulled

Names = tuple[str, ...]
Place = tuple[StepNumber, int, str, str]
"""Where an array stands: the step, the slot, whether it is a result, ``.grad`` or what a hook was given, and its name."""

SHARERS = 16
"""How many sets of tensors are tried that may share a memory, the largest first."""


def is_written(promise: Promise, found: Mismatch) -> bool:
    """Whether the answer has the elements of a tensor that was updated in place, all or some: it lies in its memory, as a view may.

    A ``.grad`` that does so and was added to since has both.
    """
    steps = list(enumerate(zip(promise.case.steps, promise.outcome.observations, strict=True)))
    made = [(n, seen.values[0]) for n, (step, seen) in steps if isinstance(step, InPlace) and isinstance(seen, Computed)]
    arrays = [(number, value.array) for number, value in made if value is not None]
    if any(is_among(found.actual_array, array) for _, array in arrays):
        return True
    return any(_are_one(total, found.actual_array) for number, array in arrays for total in _added_since(promise, found, number, array))


def _added_since(promise: Promise, found: Mismatch, number: int, array: Any) -> Iterator[Any]:
    """Yield what an array that was written at a step holds if a ``.grad`` lies in its memory, in the same order, and was added to."""
    if found.where != "grad":
        return
    held = gradients_held(promise)
    before, after = held[number].get(found.name), (held[-1] if found.step is END else held[found.step]).get(found.name)
    if before is not None and after is not None and before.array.size == array.size and before.array.dtype == array.dtype:
        yield reals(array) + (reals(after.array) - reals(before.array))


def is_among(part: Any, whole: Any) -> bool:
    """Whether the elements of an array are those of another one, or some of them, whatever their order."""
    if part.size == whole.size:
        return agrees_cheaply(np.sort(whole, axis=None), np.sort(part, axis=None))
    left = iter(np.sort(whole, axis=None))  # which each element of the part goes on in
    return all(any(are_near(np.asarray(one), np.asarray(got)).all() for one in left) for got in np.sort(part, axis=None))


def is_left(promise: Promise, found: Mismatch) -> bool:
    """Whether all elements of a ``.grad`` that are not as promised are what they were before the step."""
    before = None if found.step is END or found.step == 0 else gradients_held(promise)[found.step - 1].get(found.name)
    if before is None or before.array.shape != found.actual_array.shape:
        return False
    return bool((are_near(before.array, found.actual_array) | (found.actual_array == found.expected_array)).all())


def accumulated_in_one(promise: Promise, found: Mismatch) -> Iterator[Any]:
    """Yield what a ``.grad`` is if it lies in one memory with others: what any of them accumulates, or loses, is theirs as well.

    Those can lie in one memory which held the same numbers when this one came into being, and in the same order: a gradient is kept
    without a copy only where it lies as its leaf does. So does a single real number in that of which it is the real part.
    """
    case, held = promise.case, gradients_held(promise)
    last = len(case.steps) - 1 if found.step is END else found.step
    began = next((n + 1 for n in reversed(range(last)) if held[n].get(found.name) is None), 0)
    first = held[began].get(found.name)
    if first is None:
        return
    others = {name: value.array for name, value in held[began].items() if name != found.name and value is not None}
    alike = [name for name, array in others.items() if _are_one(array, first.array) or _begin_alike(array, first.array)]
    for several in itertools.islice(_subsets(alike), SHARERS):
        memory, sharers = reals(first.array).copy(), {found.name, *several}
        for number in range(began + 1, last + 1):
            step = case.steps[number]
            if isinstance(step, ClearGrad) and step.tensor in sharers:
                if step.to == "zero":
                    memory[:] = 0
                else:
                    sharers.remove(step.tensor)
                continue
            for name in sharers:
                before, after = held[number - 1].get(name), held[number].get(name)
                if before is not None and after is not None:
                    added = (reals(after.array) - reals(before.array))[: memory.size]
                    memory[: added.size] += added
        yield memory.view(first.array.dtype).reshape(first.array.shape)


def gradients_held(promise: Promise) -> list[dict[str, Value | None]]:
    """Say what is in ``.grad`` after each step, by name."""
    held: list[dict[str, Value | None]] = []
    for seen in promise.outcome.observations:
        state = seen.state if isinstance(seen, Computed | Raised) else None
        before = held[-1] if held else {}
        held.append(before if state is None else dict(zip(promise.case.watched, state, strict=True)))
    return held


def _subsets(names: list[str]) -> Iterator[tuple[str, ...]]:
    return itertools.chain.from_iterable(itertools.combinations(names, size) for size in range(len(names), 0, -1))


def _are_one(one: Any, other: Any) -> bool:
    return reals(one).dtype == reals(other).dtype and np.array_equal(reals(one), reals(other))


def _begin_alike(one: Any, other: Any) -> bool:
    """Whether two arrays are a single number each, with the same real part."""
    single = one.size == other.size == 1
    return single and reals(one).dtype == reals(other).dtype and bool(reals(one)[0] == reals(other)[0])


def reals(array: Any) -> Any:
    """Return the real numbers that an array holds, in order."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype)


def is_gradient(promise: Promise, found: Mismatch) -> bool:
    """Whether the answer has the numbers of another gradient, whatever shape and order of axes.

    A complex one is read as pairs, and as its real parts, if it has no others: it is the gradient of a real part then. One of fewer
    elements, as that of an operand that was broadcast, stands in the place of the first ones, and the others are right.
    """
    for place, array in gradients_shown(promise):
        if _is_answered(promise, place, array, found.actual_array) or _is_written_over(array, found):
            return True
    behind = ((promise.of(case), number) for case, number in _asking_behind(promise.case, found))
    return any(
        _is_answered(asked, place, array, found.actual_array) or _is_written_over(array, found)
        for asked, number in behind
        for place, array in gradients_of(number, asked.outcome.observations[number])
    )


def gradients_shown(promise: Promise) -> Iterator[tuple[Place, Any]]:
    """Yield the gradients that a script shows, in calls and hooks and as ``.grad``, and where they stand."""
    watched = promise.case.watched
    for number, (step, seen) in enumerate(zip(promise.case.steps, promise.outcome.observations, strict=True)):
        if isinstance(step, Grad | Backward | ClearGrad) and isinstance(seen, Computed):
            state = enumerate(zip(watched, seen.state or (), strict=False))
            yield from (((number, slot, "grad", name), value.array) for slot, (name, value) in state if value is not None)
            yield from gradients_of(number, seen)
            events = enumerate(seen.events)
            yield from (((number, slot, "event", one.name), one.value.array) for slot, one in events if one.value is not None)


def gradients_of(number: int, seen: Observation) -> Iterator[tuple[Place, Any]]:
    """Yield the results of a step, and where each stands."""
    for slot, value in enumerate(seen.values if isinstance(seen, Computed) else ()):
        if value is not None:
            yield (number, slot, "result", ""), value.array


def _asking_behind(case: Case, found: Mismatch) -> Iterator[tuple[Case, int]]:
    """Yield scripts of which the last step asks for the gradients of all that lies behind one that is wrong, and its number.

    What a hook refuses is no reason to stop: the memory was written by then.
    """
    willing = each_step(case, lambda step: answering_nothing(step, ("error", "another_dtype"))).steps
    for number, call in enumerate(until(case, found.step)):
        name = _shared_in(call, number, found)
        before = willing[:number]
        behind = tuple(sorted(upstream(before, name) - {name}))
        made = any(isinstance(step, Op | Custom) and name in results(step) for step in before)
        if made and isinstance(call, Grad | Backward):
            at = asking(call, call.roots, call.seeds, (name,))
            along = asking(call, (name,), at.results, behind)
            alone = [(asking(one, one.roots, one.seeds, (name,)),) for one in _parts(call)] if found.kind == "absence" else []
            for asked in ((at, along), (asking(call, call.roots, call.seeds, behind),), *alone):
                yield with_steps(case, (*before, *asked)), number + len(asked) - 1


def _parts(call: Grad | Backward) -> Iterator[Grad | Backward]:
    """Yield a call, and those of one of its roots, each as it is and without what arrives by what it asks for."""
    without = [
        functools.reduce(without_root, [i for i in reversed(range(len(call.roots))) if i != kept], call)
        for kept in range(len(call.roots))
    ]
    for one in [call, *without]:
        yield one
        if isinstance(one, Grad):
            yield msgspec.structs.replace(one, no_grad_vars=(*(one.no_grad_vars or ()), *one.inputs))


def _shared_in(call: Step, number: int, found: Mismatch) -> str:
    """Return whose gradient is wrong, if it may have been made in a call."""
    if found.where == "grad":
        return found.name
    asked = call.inputs if isinstance(call, Grad) and number == found.step else ()
    return asked[found.slot] if found.slot < len(asked) else ""


def asking(call: Grad | Backward, outputs: Names, seeds: Sequence[str | None] | None, inputs: Names) -> Grad:
    """Return a `grad` call with the constants of another one; it keeps the graph, and gradients may be absent."""
    given = None if seeds is None else tuple(seeds)
    named = tuple(f"{CONSTANT}{'_'.join(outputs)}_{name}" for name in inputs)
    return Grad(outputs, inputs, named, given, retain_graph=True, allow_unused=True, no_grad_vars=call.constants)


def _is_answered(promise: Promise, place: Place, array: Any, got: Any) -> bool:
    """Whether the answer is an array, in whatever shape, or what rounding can make of it."""
    if _are_those(array, got):
        return True
    if not promise.rounds or array.dtype.kind not in "fc" or reals(array).dtype != got.dtype.type(0).real.dtype:
        return False
    pairs = np.iscomplexobj(array) and not np.iscomplexobj(got)  # of real numbers, as a complex gradient lies in memory
    formed = np.ascontiguousarray(got).reshape(-1).view(array.dtype) if pairs and not got.size % 2 else got
    return formed.dtype == array.dtype and formed.size == array.size and promise.bounds.accepts(formed.reshape(array.shape), *place)


def _is_written_over(array: Any, found: Mismatch) -> bool:
    """Whether the answer is what is promised with an array written over its first elements."""
    if found.expected_array is None or array.dtype != found.expected_array.dtype or not 0 < array.size < found.expected_array.size:
        return False
    memory = found.expected_array.copy(order="C")
    memory.reshape(-1)[: array.size] = array.reshape(-1)
    return agrees_cheaply(memory, found.actual_array)


def _are_those(array: Any, got: Any) -> bool:
    parts = [array, *([array.real] if np.iscomplexobj(array) and not array.imag.any() else [])]
    wanted = _numbers(got)
    return any(one.dtype == wanted.dtype and one.size == wanted.size and agrees_cheaply(one, wanted) for one in map(_numbers, parts))


def _numbers(array: Any) -> Any:
    """Return the real numbers that an array holds, from the least to the largest."""
    return np.sort(reals(array))


def shape_of_tensor(promise: Promise, name: str) -> tuple[int, ...] | None:
    """Return the shape of a tensor of a script, ``None`` if nothing of that name is promised."""
    shapes = {entry.name: entry.shape for entry in promise.case.inputs}
    made = values_of(promise.case.steps, promise.outcome.observations)
    return (shapes | {other: value.array.shape for other, value in made}).get(name)


def is_cotangent(promise: Promise, found: Mismatch) -> bool:
    """Whether the answer has the elements of a cotangent that some node of a pass hands on, in the same order."""
    handed: list[Any] = []

    def noted(right: Pull, _: Primitive, *given: Any) -> Pulled:
        pulled = right(*given)
        handed.extend(array_of(cotangent) for _, cotangent in pulled if cotangent is not None)
        return pulled

    with intercepted_rules(noted):
        promise.run()
    got = found.actual_array
    alike = (a.reshape(got.shape) for a in handed if a.size == got.size and a.dtype == got.dtype)
    return any(within_units(a, got, np.abs(a)) for a in alike)


SHARED: dict[str, Callable[[Promise, Mismatch], bool]] = {
    "what was written to a tensor": is_written,
    "the memory of another gradient": is_gradient,
    "what was there before the step": is_left,
    "a cotangent of a node": is_cotangent,
}
"""The signatures of this kind by the words that an entry uses."""

"""Signatures: whether the wrong numbers of a known deviation are those that its entry says.

An entry says what the wrong answer *is*: zeros, or what the reference predicts for a counterfactual script. Numbers that only look
like the deviation, because the conditions hold by chance, do not bear its signature, and are a divergence.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.backends.reference import reference
from conformance.case import Case, CaseError, check
from conformance.counterfactual_rules import RULES
from conformance.counterfactuals import COUNTERFACTUALS
from conformance.judge.disturbance import Bounds, agrees_cheaply, are_near, within_a_rounding
from conformance.judge.formats import format_of, is_floating
from conformance.ops.kinds import SINGLE
from conformance.outcome import Computed, Raised
from conformance.steps import Backward, ClearGrad, Grad, InPlace, results, uses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from conformance.backends import BackendInfo
    from conformance.deviations import Deviation
    from conformance.judge.compare import Mismatch
    from conformance.outcome import Outcome, Value


NEAREST = 2
"""For how many counterfactual scripts bounds are derived."""
TERMS = 12
"""How many other tensors of a script may be what was added."""


def bears(entry: Deviation, info: BackendInfo, case: Case, found: Mismatch) -> bool:
    """Whether a difference bears the signature of an entry; one that is none of numbers, or has none, does."""
    if found.kind != "value" or not entry.signature or found.got is None:
        return True
    differs = ~are_near(found.wanted, found.got) if is_floating(found.got.dtype) else found.wanted != found.got
    elements = [KINDS[words](found.got) for words in entry.signature if words in KINDS]
    if elements and bool(np.any(elements, axis=0)[differs].all()):
        return True
    return any(_bears(words, entry.above, info, case, found) for words in entry.signature if words not in KINDS)


KINDS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda got: got == 0,
    "nan": np.isnan,
    "not finite": lambda got: ~np.isfinite(got),
    "subnormal": lambda got: np.abs(got) < format_of(got.dtype).tiny,
}
"""Signatures of elements; an entry that has several is borne by a mixture of them."""


def _bears(words: str, ops: tuple[str, ...], info: BackendInfo, case: Case, found: Mismatch) -> bool:
    wanted, got = found.wanted, found.got
    match words:
        case "off by a rounding of 1":
            return within_a_rounding(wanted, got, np.maximum(np.abs(wanted), 1))
        case "doubled":
            return bool((are_near(wanted, got) | are_near(2 * wanted, got)).all())
        case "what was written to a tensor":
            return _written(info, case, found)
        case "off by roundings of float32":
            return Bounds(_single(case), info).accepts(found.got, found.step, found.slot, found.where, found.name)
        case "the memory of another gradient":
            return _shared(info, case, found)
        case "another contribution":
            return _contributed(info, case, found)
        case _ if words in RULES:
            return any(_predicted_by(change, info, case, found) for change in RULES[words](ops))
        case _:
            return _predicted(info, COUNTERFACTUALS[words](case, found.step, ops), found)


def _single(case: Case) -> Case:
    """Return a case in single precision."""
    inputs = (msgspec.structs.replace(entry, dtype=SINGLE.get(entry.dtype, entry.dtype)) for entry in case.inputs)
    return Case(tuple(inputs), case.steps, case.lane)


def _predicted_by(change: AbstractContextManager[None], info: BackendInfo, case: Case, found: Mismatch) -> bool:
    with change:
        return _predicted(info, iter([(case, found.step)]), found)


def _predicted(info: BackendInfo, variants: Iterator[tuple[Case, int]], found: Mismatch) -> bool:
    """Whether the reference predicts, for one of these scripts, what the engine answered; bounds are derived for the nearest two."""
    near: list[tuple[float, Case, int, int]] = []
    for variant, number in variants:
        for slot, array in _answers(info, variant, number, found):
            if agrees_cheaply(array, found.got):
                return True
            with np.errstate(all="ignore"):
                off = float(np.nan_to_num(np.abs(array - found.got), nan=np.inf).max())
            near.append((off, variant, number, slot))
    nearest = sorted(near, key=lambda candidate: candidate[0])[:NEAREST] if found.got.dtype.kind in "fc" else []
    return any(
        Bounds(variant, info).accepts(found.got, number, slot, found.where, found.name)
        for _, variant, number, slot in nearest
        if variant.lane == "numeric"
    )


def _answers(info: BackendInfo, variant: Case, number: int, found: Mismatch) -> list[tuple[int, Any]]:
    try:
        check(variant)
    except CaseError:
        return []
    with np.errstate(all="ignore"):
        outcome = reference(info.dialect, info.not_offered).run(variant)
    values = ((slot, value.array) for slot, value in _values(variant, outcome, number, found))
    return [(slot, array) for slot, array in values if (array.shape, array.dtype) == (found.got.shape, found.got.dtype)]


def _values(case: Case, outcome: Outcome, number: int, found: Mismatch) -> Iterator[tuple[int, Value]]:
    """Yield what a script answers where the difference is: the same name at the same place."""
    seen = None if number < 0 else outcome.observations[number]
    if found.where == "grad":
        state = outcome.final if seen is None else seen.state if isinstance(seen, Computed | Raised) else None
        slots = [slot for slot, name in enumerate(case.watched) if name == found.name]
        values = [(slot, state[slot]) for slot in slots] if state is not None else []
    elif found.where == "event":
        events = seen.events if isinstance(seen, Computed | Raised) else ()
        values = [(slot, event.value) for slot, event in enumerate(events) if event.name == found.name]
    else:
        values = [(found.slot, seen.values[found.slot])] if isinstance(seen, Computed) and found.slot < len(seen.values) else []
    yield from ((slot, value) for slot, value in values if value is not None)


def _written(info: BackendInfo, case: Case, found: Mismatch) -> bool:
    """Whether the answer has the elements of a tensor that was updated in place: it shares its memory, maybe through a view."""
    outcome = reference(info.dialect, info.not_offered).run(case)
    pairs = zip(case.steps, outcome.observations, strict=True)
    made = [seen.values[0] for step, seen in pairs if isinstance(step, InPlace) and isinstance(seen, Computed)]
    arrays = [value.array for value in made if value is not None and value.array.size == found.got.size]
    return any(agrees_cheaply(np.sort(array, axis=None), np.sort(found.got, axis=None)) for array in arrays)


def _shared(info: BackendInfo, case: Case, found: Mismatch) -> bool:
    """Whether the answer has the numbers of another gradient, whatever shape and order of axes; a complex one is read as pairs."""
    outcome = reference(info.dialect, info.not_offered).run(case)
    taken = (seen for step, seen in zip(case.steps, outcome.observations, strict=True) if isinstance(step, Grad | Backward | ClearGrad))
    held = (_gradients(seen) for seen in taken if isinstance(seen, Computed))
    read = (_numbers(value.array) for values in held for value in values if value is not None)
    got = _numbers(found.got)
    return any(array.dtype == got.dtype and array.size == got.size and agrees_cheaply(array, got) for array in read)


def _gradients(seen: Computed) -> tuple[Value | None, ...]:
    return *(seen.state or ()), *seen.values, *(event.value for event in seen.events)


def _numbers(array: Any) -> Any:
    """Return the real numbers that an array holds, from the least to the largest."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return np.sort(flat.view(flat.real.dtype))


def _contributed(info: BackendInfo, case: Case, found: Mismatch) -> bool:
    """Whether the answer is another tensor of the script, or the right one with one or two others added or taken away."""
    with np.errstate(all="ignore"):
        outcome = reference(info.dialect, info.not_offered).run(case)
    seeds = {name for _, name in uses(case.steps[found.step])} if found.step >= 0 else set()
    tensors = [*(entry.array() for entry in case.inputs if entry.name in seeds), *reversed([*_tensors(case, outcome)])]
    alike = list(_distinct(a for a in tensors if a.shape == found.got.shape and a.dtype == found.got.dtype))
    others = alike[:TERMS]
    with np.errstate(all="ignore"):
        signed = [s for a in others for s in (a, -a)]
        sums = ([found.wanted + one for one in signed], alike, *([found.wanted + a + b for b in signed] for a in signed))
    return any(_close(total, found.got, found.wanted, others) for total in itertools.chain.from_iterable(sums))


def _close(total: Any, got: Any, wanted: Any, terms: list[Any]) -> bool:
    """Whether two arrays are equal up to roundings of what they may be sums of."""
    with np.errstate(all="ignore"):
        scale = np.abs(wanted) + np.max([np.abs(t) for t in terms], axis=0)
        return agrees_cheaply(total + 0, got) or within_a_rounding(total, got, scale)


def _tensors(case: Case, outcome: Outcome) -> Iterator[Any]:
    yield from (entry.array() for entry in case.inputs)
    for step, seen in zip(case.steps, outcome.observations, strict=True):
        if isinstance(seen, Computed | Raised):
            held = (*(seen.state or ()), *(event.value for event in seen.events))
            made = seen.values if isinstance(seen, Computed) and results(step) else ()
            yield from (value.array for value in (*held, *made) if value is not None)


def _distinct(arrays: Iterable[Any]) -> Iterator[Any]:
    seen: set[bytes] = set()
    for array in arrays:
        if array.tobytes() not in seen:
            seen.add(array.tobytes())
            yield array

"""Signatures: whether the wrong numbers of a known deviation are those that its entry says.

An entry says what the wrong answer *is*: zeros, or what the reference predicts for a counterfactual script. Numbers that only look
like the deviation, because the conditions hold by chance, do not bear its signature, and are a divergence.

A prediction says something only where it differs from what is right. Example: a factor that is 1 may be left out of a product without
a trace, and a counterfactual script that leaves it out predicts the right numbers. An engine that is off a little there errs elsewhere.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case.files import is_right
from conformance.case.rewrite import each_op, in_dtypes
from conformance.case.steps import Hook, InPlace
from conformance.compare.rounding import agrees_cheaply, are_near, within_a_rounding, within_units
from conformance.deviations.answers import answers, values_at_place
from conformance.deviations.changed_seeds import MEMORIES, is_written_to
from conformance.deviations.counterfactuals.rules import RULES
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS
from conformance.deviations.elements import ANOTHER_FORM, BEYOND, ELEMENT_TESTS, OFF, off_by
from conformance.deviations.made_since import made_since
from conformance.deviations.memory_of_seeds import ACCUMULATED, IN_THAT_OF_ITS_LEAF, is_accumulated_in_dtypes_of_seeds
from conformance.deviations.presence import RENAMING, VANISHING, changes_of, is_absent, is_flagged, vanishes
from conformance.deviations.reach import reached
from conformance.deviations.shared_memory import accumulated_in_one, shape_of_tensor
from conformance.deviations.written_apart import APART, is_written_apart
from conformance.ops.dtypes import SINGLE, is_floating

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from conformance.case.case import Case
    from conformance.case.place import StepNumber
    from conformance.case.steps import Op
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from conformance.deviations.entries import Deviation

NEAREST = 2
"""For how many counterfactual scripts bounds are derived."""
SINGLE_ROUNDINGS_OF = {
    f"off by roundings of float32, {words}": words
    for words in ("as if single points lay in front", "as if the memory of a seed were read in single precision")
}
"""The counterfactual scripts of which these words have the answers, computed in single precision."""
SINGLE_ROUNDINGS = ("off by roundings of float32", *SINGLE_ROUNDINGS_OF)
"""Signatures of numbers that are right, but computed in single precision; what is right may be what another entry says."""
ROUNDINGS_OF = {
    "off by roundings of differences": "as if slopes of Bessel functions were differences",
    "off by roundings of the sums of mish": "as if mish were made of rounded sums",
    "off by roundings of singular vectors": "as if determinants were made of singular values",
    "off by roundings of saved statistics": "as if second derivatives were made of saved statistics",
}
"""The rules of which these words have the bounds: what cancels or is mixed leaves more roundings than right rules do."""
IN_MEMORY = ("as if gradients of cross entropies lay where the shares did", "as if gradients were summed in place")
"""Rules whose numbers lie in memory that is written over: what rounds there may have no history of which bounds could be made."""
IN_THEIR_DTYPE = ("as if gradients of custom functions kept their dtypes", "as if sums were read in the dtype of what comes last")
"""Rules that say in which dtype the answer comes, too: its numbers are not those in the dtype that is promised."""
IN_THEIR_SHAPE = (
    *("as if seeds were the first results of their nodes", "as if the seed of a part were those of all parts"),
    "as if weights of targets met all samples",
)
"""Rules that say of how many numbers the answer is, as a script does."""


def bears(entry: Deviation, promise: Promise, found: Mismatch) -> bool:
    """Whether a difference bears the signature of an entry.

    It does where the entry has none, and where what differs is neither numbers nor whether there are any. Numbers that nobody can
    say are wrong only where the special points of the entry reach.
    """
    if not entry.signature and entry.unpredictable and found.kind == "value":
        return bool(reached(entry, promise, found)[_wrong(found, promise)].all())
    if VANISHING in entry.signature:
        return found.expected not in ("present", "computed") or vanishes(promise, found)
    if found.kind == "flag":
        return is_flagged(entry, promise, found)
    in_its_dtype = found.kind == "dtype" and not {*IN_THEIR_DTYPE}.isdisjoint(entry.signature)
    said = in_its_dtype or not {*IN_THEIR_SHAPE, IN_THAT_OF_ITS_LEAF}.isdisjoint(entry.signature)
    if not entry.signature or found.kind not in SIGNED or (entry.unpredictable and found.kind != "value" and not said):
        return True
    if found.actual_array is None:
        return found.kind != "absence" or is_absent(entry, promise, found)
    if ACCUMULATED in entry.signature and is_accumulated_in_dtypes_of_seeds(promise, found):
        return True
    in_form_alone = found.kind in ("dtype", "shape") and found.expected_array.size == found.actual_array.size
    if in_form_alone and ANOTHER_FORM in entry.signature and is_right_but_for_its_form(promise, found):
        return True
    if in_its_dtype:
        return any(_bears(words, entry.above, promise, found, wrong=True) for words in entry.signature)
    if in_form_alone and (found.kind == "dtype" or found.actual_array.size):  # without elements, only the shape can be predicted
        found = replace(found, kind="value", actual_array=in_form(found))
    wrong = _wrong(found, promise)  # known before any rule is changed, or its bounds would be those of other rules
    elements = _told(entry, promise, found, wrong)
    off = [words for words in entry.signature if words in OFF and found.kind != "shape"]
    elements += [off_by(words, _wanted(found), found.actual_array) for words in off]
    if elements and bool(np.any(elements, axis=0)[wrong].all()):
        return True
    return any(_bears(words, entry.above, promise, found, wrong) for words in entry.signature if not {words} & {*ELEMENT_TESTS, *OFF})


def _told(entry: Deviation, promise: Promise, found: Mismatch, where: Any) -> list[Any]:
    """Return which elements are as an entry says of elements by themselves, by its words: of those that its special points reach.

    Where nothing is promised at all, nothing of it can be lost. What is reached takes some runs: none where no element is as it says.
    """
    told = [ELEMENT_TESTS[words](found.actual_array) & where for words in entry.signature if words in ELEMENT_TESTS]
    return [one & reached(entry, promise, found) if one.any() else one for one in told]


def bear_together(one: Deviation, other: Deviation, promise: Promise, found: Mismatch) -> bool:
    """Whether wrong numbers are those that come of both entries at once.

    That is of the rules of one and of the rules, scripts or roundings of the other; or some elements are as the other says, the rest
    as the rules. Or what a script of one predicts is off by what the other says.
    """
    wrong = _wrong(found, promise)
    for ruled, beside in ((one, other), (other, one)):
        predicting = [words for words in beside.signature if words in RULES or words in COUNTERFACTUALS or words in SINGLE_ROUNDINGS]
        if any(_nearly_predicted(words, ruled, promise, found, wrong) for words in beside.signature if words in OFF):
            return True
        changes = [*changes_of(ruled)]
        elements = _told(beside, promise, found, where=True) if changes else []
        for change in changes:
            with promise.under(change) as changed:
                if any(_bears(words, beside.above, changed, found, wrong) for words in predicting):
                    return True
                if elements and _predicted_elsewhere(changed, np.any(elements, axis=0), found, wrong):
                    return True
    return False


def _nearly_predicted(off: str, entry: Deviation, promise: Promise, found: Mismatch, wrong: Any) -> bool:
    """Whether what was answered is off by no more than some words say from what the scripts of an entry predict."""
    scripts = (COUNTERFACTUALS[words](promise.case, found.step, entry.above) for words in entry.signature if words in COUNTERFACTUALS)
    variants = ((promise.of(case), number) for case, number in itertools.chain.from_iterable(scripts))
    told = (array for variant, number in variants for _, array in answers(variant, number, found))
    return any(_accounts(found, promise, array, wrong) and off_by(off, array, found.actual_array)[wrong].all() for array in told)


def _predicted_elsewhere(promise: Promise, but: Any, found: Mismatch, wrong: Any) -> bool:
    """Whether the reference predicts what was answered, ``but`` for some elements."""
    told = (np.where(but, array, found.actual_array) for _, array in answers(promise, found.step, found))
    rest = (replace(found, actual_array=array) for array in told if (wrong & ~but).any())
    return any(_predicted(promise, iter([(promise, found.step)]), one, wrong & ~but) for one in rest)


IN_PARTS = ("as if exponentials were clamped",)
"""Rules that hold for some elements and not for others, as how many a kernel takes at once decides; the others are right."""
SIGNED = ("value", "absence", "shape", "dtype", "mutation")
"""The kinds of difference in which numbers came that are not promised, or none, or in which numbers changed that nothing may change."""


def _wrong(found: Mismatch, promise: Promise) -> Any:
    """Return which elements of the answer are wrong: what rounding can do is not, where numbers round; all, where none is promised."""
    if found.kind != "value":
        return np.ones(found.actual_array.shape, bool)
    differs = _differing(found, promise, found.actual_array)
    if is_floating(found.actual_array.dtype) and promise.rounds:
        differs &= promise.bounds.ratios(found.actual_array, found.step, found.slot, found.where, found.name) > 1
    return differs


def _differing(found: Mismatch, promise: Promise, answer: Any) -> Any:
    """Return which elements of an answer are not the right ones; where numbers do not round, those that are the least bit off, too."""
    wanted = found.expected_array
    if is_floating(answer.dtype) and promise.rounds:
        return ~are_near(wanted, answer)
    return ~((wanted == answer) | (np.isnan(wanted) & np.isnan(answer)))


def _accounts(found: Mismatch, promise: Promise, predicted: Any, wrong: Any) -> bool:
    """Whether a prediction is wrong wherever the answer is; where nothing of the answer's form is promised, it always is."""
    return found.kind != "value" or bool(wrong.any() and _differing(found, promise, predicted)[wrong].all())


def _to_single(op: Op | InPlace) -> Op | InPlace:
    """Have a cast make single precision of what it makes double."""
    dtype = op.attrs.get("dtype")
    return op if dtype not in SINGLE else msgspec.structs.replace(op, attrs={**op.attrs, "dtype": SINGLE[dtype]})


def _bears(words: str, ops: tuple[str, ...], promise: Promise, found: Mismatch, wrong: Any) -> bool:
    wanted, got = _wanted(found), found.actual_array
    if words in (ANOTHER_FORM, ACCUMULATED):  # these were asked above
        return False
    if found.kind == "shape" and words not in COUNTERFACTUALS and words not in IN_THEIR_SHAPE:  # there are not as many numbers
        return False
    match words:
        case "doubled":
            return any(
                (are_near(wanted, got) | are_near(wanted + more, got)).all() for more in _handed_on(promise.case, found.name, wanted)
            )
        case "off by roundings of float32":
            single = promise.of(each_op(in_dtypes(promise.case, SINGLE), _to_single))
            return single.bounds.accepts(got, found.step, found.slot, found.where, found.name)
        case _ if words in SINGLE_ROUNDINGS_OF:
            variants = COUNTERFACTUALS[SINGLE_ROUNDINGS_OF[words]](promise.case, found.step, ops)
            singles = ((promise.of(each_op(in_dtypes(variant, SINGLE), _to_single)), number) for variant, number in variants)
            return any(single.bounds.accepts(got, number, found.slot, found.where, found.name) for single, number in singles)
        case _ if words in ROUNDINGS_OF:
            return _is_off_by_roundings_of(ROUNDINGS_OF[words], ops, promise, found)
        case _ if words in MEMORIES:
            return MEMORIES[words](promise, found)
        case "and the gradient of the constant that was written":
            if not is_written_to(promise.case, found.name):
                return False
            variants = COUNTERFACTUALS["as if written constants required a gradient"](promise.case, found.step, ops)
            told = (array for variant, number in variants for _, array in answers(promise.of(variant), number, found))
            return any(agrees_cheaply(wanted + array, got) and _accounts(found, promise, wanted + array, wrong) for array in told)
        case "what several accumulate in one memory":
            sums = accumulated_in_one(promise, found)
            return any(_is_sum(total, got, wanted) and _accounts(found, promise, total, wrong) for total in sums)
        case "empty in the shape of its tensor":
            return not got.size and got.shape == shape_of_tensor(promise, found.name)
        case "what was made since":
            made = made_since(promise, found)
            return any(agrees_cheaply(array, got) and _accounts(found, promise, array, wrong) for array in made)
        case _ if words in IN_PARTS:
            return any(_predicted_in_part(change, promise, found, wrong) for change in RULES[words](ops))
        case _ if words in RULES:
            if words == APART and promise.rounds and any(is_written_apart(change, promise, found) for change in RULES[words](ops)):
                return True
            if words in IN_MEMORY and any(_predicted_about(change, promise, found, wrong) for change in RULES[words](ops)):
                return True
            how = {"beyond": words in BEYOND, "rounding": words != APART}  # halves of numbers have no bounds
            return any(_predicted_by(change, promise, found, wrong, **how) for change in RULES[words](ops))
        case _:
            variants = COUNTERFACTUALS[words](promise.case, found.step, ops)
            asked = ((promise.of(variant), number) for variant, number in variants)
            return _predicted(promise, asked, found, wrong, lacking=words not in RENAMING, beyond=words in BEYOND)


def is_right_but_for_its_form(promise: Promise, found: Mismatch) -> bool:
    """Whether the numbers are right, but for the shape or the dtype in which they come."""
    cast = in_form(found)
    return agrees_cheaply(found.expected_array, cast) or promise.bounds.accepts(cast, found.step, found.slot, found.where, found.name)


def in_form(found: Mismatch) -> Any:
    """Return the numbers that came in the shape and the dtype that are promised; what is imaginary where none may be is left out."""
    wanted, got = found.expected_array, found.actual_array
    with np.errstate(over="ignore", invalid="ignore"):  # it may be what lay in memory
        return (got if np.iscomplexobj(wanted) else got.real).reshape(wanted.shape).astype(wanted.dtype)


def _is_off_by_roundings_of(rules: str, ops: tuple[str, ...], promise: Promise, found: Mismatch) -> bool:
    """Whether the answer lies within the bounds that changed rules have: it may be nearer to the right one than what they predict."""
    for change in RULES[rules](ops):
        with promise.under(change) as changed:
            if changed.bounds.accepts(found.actual_array, found.step, found.slot, found.where, found.name):
                return True
    return False


def _predicted_by(change: AbstractContextManager[None], promise: Promise, found: Mismatch, wrong: Any, **how: bool) -> bool:
    with promise.under(change) as changed:
        return _predicted(promise, iter([(changed, found.step)]), found, wrong, **how)


def _predicted_about(change: AbstractContextManager[None], promise: Promise, found: Mismatch, wrong: Any) -> bool:
    """Whether changed rules predict what was answered, up to roundings of the largest number, where numbers round."""
    got = found.actual_array
    if not promise.rounds:
        return False

    def is_near(array: Any) -> bool:
        return within_units(array, got, np.abs(array).max(initial=0))

    with promise.under(change) as changed:
        told = [array for _, array in answers(changed, found.step, found)]
    return any(is_near(array) and _accounts(found, promise, array, wrong) for array in told)


def _predicted_in_part(change: AbstractContextManager[None], promise: Promise, found: Mismatch, wrong: Any) -> bool:
    with promise.under(change) as changed:
        return _predicted_elsewhere(changed, ~wrong, found, wrong)


def _predicted(
    promise: Promise,
    variants: Iterator[tuple[Promise, StepNumber]],
    found: Mismatch,
    wrong: Any,
    *,
    lacking: bool = True,
    beyond: bool = False,
    rounding: bool = True,
) -> bool:
    """Whether the reference predicts, for one of these scripts, what the engine answered; bounds are derived for the nearest two.

    ``lacking``: whether it does where a script has no value of that name; ``beyond``: whether NaN stands for any number; ``rounding``:
    whether numbers have bounds.
    """
    near: list[tuple[float, Promise, StepNumber, int, Any]] = []
    for variant, number in variants:
        if lacking and found.expected_array is None and is_right(variant.case) and not values_at_place(variant, number, found):
            return True  # the script has no such value any more, so it is not the one that is absent
        for slot, array in answers(variant, number, found):
            if not _accounts(found, promise, array, wrong):
                continue
            got = np.where(np.isnan(array), array, found.actual_array) if beyond else found.actual_array
            if agrees_cheaply(array, got):
                return True
            with np.errstate(all="ignore"):
                off = float(np.nan_to_num(np.abs(array - got), nan=np.inf).max())
            near.append((off, variant, number, slot, got))
    bounded = rounding and found.actual_array.dtype.kind in "fc" and found.kind != "mutation"  # which belongs to no place
    nearest = sorted(near, key=lambda candidate: candidate[0])[:NEAREST] if bounded else []
    return any(
        variant.bounds.accepts(got, number, slot, found.where, found.name)
        for _, variant, number, slot, got in nearest
        if variant.case.lane == "numeric"
    )


def _handed_on(case: Case, name: str, gradient: Any) -> Iterator[Any]:
    """Yield a gradient, and what the hooks on its tensor make of it."""
    yield gradient
    given = {entry.name: entry.array() for entry in case.inputs}
    for hook in case.steps:
        if isinstance(hook, Hook) and hook.tensor == name:
            yield given.get(hook.tensor_returned or "", gradient * (1.0 if hook.factor is None else hook.factor))


def _is_sum(total: Any, got: Any, wanted: Any) -> bool:
    """Whether an answer is a sum with what is promised, up to roundings of both."""
    with np.errstate(all="ignore"):
        return agrees_cheaply(total + 0, got) or within_a_rounding(total, got, np.abs(wanted) + np.abs(total))


def _wanted(found: Mismatch) -> Any:
    """Return what is promised; nothing stands for a contribution of 0."""
    return np.zeros_like(found.actual_array) if found.expected_array is None else found.expected_array

"""Kinks: where a function has no derivative, or rounding decides which one it has.

At 0 the derivative of ``relu`` is a convention, and a rounding away from 0 the sign of the operand is anybody's. A comparison that
knows only one right answer is red there for nothing; one that skips such places is green for nothing. So a number that differs gets a
second look, with three questions:

- *Near a kink?* Roundings decide which branch is taken. The case is run with every primitive disturbed by one rounding of the dtype;
  what flips is a place, and places that always flip together are one. An engine is right if it agrees, in everything that it answers,
  with one combination of what was seen at the places. A difference that no combination explains is a divergence, kink or not.
- *At a kink?* There the dialect's convention decides, and the answer is not that. Is it at least a subgradient? A gradient is affine
  in the share of each kink, so it lies between its values on either side (the corners of the Clarke subdifferential). Example: for
  ``relu`` at 0 with the seed 3, anything in [0, 3] is one. This is a necessary condition, element by element, and means something for
  first derivatives alone.
- *Nowhere defined?* A comparison with NaN takes no branch, and zero times infinity is no number: an engine may multiply by a slope of
  zero or leave the element out. An answer that one of these policies gives, element by element, is neither right nor wrong. Where
  numbers do not round there is no such thing: every other number is wrong.
"""

from __future__ import annotations

import itertools
import math
from contextlib import nullcontext
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conformance.compare.branches import Recorder, at_ties, on_sides
from conformance.compare.compare import Comparer
from conformance.compare.descent import Left, Place, combined, descended, same, wrong_elements
from conformance.compare.rounding import are_near, value_at
from conformance.compare.shadow_values import roundings
from conformance.ops.dtypes import is_floating
from reference_impl.primitives.shape import link
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Mode, Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.case.outcome import Outcome, Value
    from conformance.case.place import StepNumber
    from conformance.compare.branches import Branches, Choice, Observer
    from conformance.compare.comparison import Known
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from reference_impl.tape.primitive import Application, Primitive
    from reference_impl.tape.rules import Pull, Pulled

ROUNDED_RUNS = 24
"""How many disturbed runs are made to see which places flip."""
COMBINATIONS = 64
"""How many combinations of the options of places are tried."""
ALONE = 256
"""How many places are looked at, each alone, where they are too many to combine."""
SUBGRADIENT = "another subgradient"

Disturbance: TypeAlias = "Callable[[Any, Any], Any]"
"""Returns what may have come in the place of an output, given how far one rounding carries each of its elements."""


def _elements(outcome: Outcome, found: Mismatch) -> Value | None:
    """Return the tensor of an outcome that a mismatch is about."""
    return value_at(outcome, found.step, found.slot, found.where, found.name)


def watched(promise: Promise, disturb: Disturbance | None = None) -> Recorder:
    """Run the reference, with every output that rounds disturbed, and note the branches."""
    recorder = Recorder()
    promise.run(None if disturb is None else disturbing(disturb), recorder.choose)
    return recorder


def disturbing(disturb: Disturbance) -> Observer:
    """Return what disturbs every output that rounds, to run the reference with."""
    return partial(_disturbed, disturb)


def _disturbed(disturb: Disturbance, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
    if primitive.branch_sides is not None or primitive.ulps == 0 or isinstance(out, tuple) or np.asarray(out).dtype.kind != "f":
        return out
    return disturb(out, roundings(primitive, out, arrays, arrays, attrs, out.dtype)).astype(out.dtype, copy=False)


def noise(seed: int) -> Disturbance:
    """Disturb by up to one rounding, so that ties appear and vanish as they do for an engine."""
    rng = np.random.default_rng(seed)
    return lambda out, rounding: out + rng.uniform(-1.0, 1.0, np.shape(out)) * rounding


def cancelled(out: Any, rounding: Any) -> Any:
    """Have what may be 0 be 0, which noise never makes it: ``abs(a - b)`` is positive with any noise, and may be 0 in an engine."""
    return np.where(np.abs(out) <= rounding, 0, out)


def agrees_on_a_reachable_branch(promise: Promise, actual: Outcome, excuse: Callable[[Promise], Known]) -> bool | None:
    """Whether all that an engine answered is right on one of the branches that rounding can reach, but for what is known of it there.

    ``None`` if there are more combinations than are tried, and none of those that were is it.
    """
    plain = watched(promise)
    runs = [plain, *(watched(promise, noise(seed)) for seed in range(ROUNDED_RUNS)), watched(promise, cancelled)]
    runs = [run for run in runs if [a.shape for a in run.answers] == [a.shape for a in plain.answers]]
    with np.errstate(all="ignore"):
        reached = [*(run.answers for run in runs), at_ties(runs), *on_sides(plain)]
        places = list(_places(reached, plain.along))

    known: dict[tuple[bytes, ...], Left | None] = {}

    def left_on(branches: Branches) -> Left | None:
        key = tuple(np.asarray(taken).tobytes() for taken in branches)
        if key not in known:
            there = promise.on(branches, plain.answers)
            found = Comparer(there).run(actual, excuse(there)).mismatch
            known[key] = None if found is None else Left(found, wrong_elements(there, found))
        return known[key]

    if math.prod(len(place.options) for place in places) <= COMBINATIONS:
        return any(left_on(branches) is None for branches in combined(plain.answers, places))
    if len(places) > ALONE:
        return None
    few = sum(len(place.options) for place in places) < len(reached)
    if not few and any(left_on(branches) is None for branches in reached):
        return True
    found = descended(left_on, plain.answers, places)
    if few and not found and any(left_on(branches) is None for branches in reached):
        return True
    return found


def hangs_on_a_side(promise: Promise, step: StepNumber, slot: int, where: str) -> bool:
    """Whether what a call gives is something else on a side of the kinks that lie exactly there."""
    plain = watched(promise)
    outcomes = [promise.outcome, *(promise.on(branches).outcome for branches in on_sides(plain))]
    here, *beside = (value_at(outcome, step, slot, where, "") for outcome in outcomes)
    return here is not None and not all(v is not None and np.array_equal(v.array, here.array, equal_nan=True) for v in beside)


def _units(answer: Any, along: Any) -> Any:
    """Give a number to each part of an answer that is decided as one: its elements, or its slices along the axes of an order."""
    if isinstance(along, str):
        return np.arange(answer.size).reshape(answer.shape)
    axes = range(answer.ndim) if along is None else [a % answer.ndim for a in np.atleast_1d(along)]
    kept = tuple(1 if i in axes else n for i, n in enumerate(answer.shape))
    return np.broadcast_to(np.arange(int(np.prod(kept))).reshape(kept), answer.shape)


def _places(runs: list[Branches], orders: list[Any]) -> Iterator[Place]:
    """Find what flips between runs; units with the same pattern over the runs are one place."""
    patterns: dict[tuple[int, ...], list[tuple[int, Any]]] = {}
    for number, along in enumerate(orders):
        stacked = np.stack([answers[number] for answers in runs])
        varies = ~same(stacked, stacked[:1]).all(axis=0)
        units = _units(runs[0][number], along)
        for unit in np.unique(units[varies]):
            where = units == unit
            found = [row[where].tobytes() for row in stacked]
            order = list(dict.fromkeys(found))
            patterns.setdefault(tuple(order.index(f) for f in found), []).append((number, where))
    for pattern, at in patterns.items():
        firsts = [pattern.index(option) for option in range(max(pattern) + 1)]
        options = tuple(tuple(runs[run][number][where] for number, where in at) for run in firsts)
        yield Place(tuple(at), options)


class SecondLook:
    """What else a wrong number could be, each question answered once.

    A number that is not the one promised is another subgradient, is undefined, or is wrong. Several entries of known deviations ask
    the same, and each answer takes some runs of the reference.
    """

    def __init__(self, promise: Promise, mismatch: Mismatch) -> None:
        self.promise = promise
        self.mismatch = mismatch

    @cached_property
    def is_subgradient(self) -> bool:
        """Whether every element of what differs lies between its values on either side of the kinks that it hangs on."""
        given, promise = self.mismatch.actual_array, self.promise
        if given is None or given.dtype.kind != "f":
            return False
        plain = watched(promise)
        places = list(_kinks(plain))
        if not places or len(places) > ALONE or self._bounded is None:
            return False
        with np.errstate(all="ignore"):
            if math.prod(len(place.options) for place in places) <= COMBINATIONS:
                corners = self._answers(plain.answers, places)
                low, high = (end(corners, axis=0) for end in (np.min, np.max)) if corners else (np.nan, np.nan)
            else:  # too many to combine; but each adds what it adds, whatever the others are
                low = high = middle = next(iter(self._answers(plain.answers, [])), np.nan)
                for place in places:
                    added = [corner - middle for corner in self._answers(plain.answers, [place])] or [middle * np.nan]
                    low, high = low + np.min(added, axis=0), high + np.max(added, axis=0)
            radius = self._bounded[1]
            return bool(((given >= low - radius) & (given <= high + radius)).all())

    def _answers(self, answers: Branches, places: list[Place]) -> list[Any]:
        """Return the tensor in question for every combination of the options of these places."""
        runs = (self.promise.on(branches).outcome for branches in combined(answers, places))
        found = (_elements(outcome, self.mismatch) for outcome in runs)
        return [v.array for v in found if v is not None and v.array.shape == np.shape(self.mismatch.actual_array)]

    @cached_property
    def is_undefined(self) -> bool:
        """Whether a treatment of NaN comparisons and of 0 · inf explains each element that differs by more than rounding.

        It has to explain one at least: what rounding alone would explain the comparison has accepted already. Where every number is
        finite nothing is undefined. In the exact lane 0 · inf is no more than that with a slope that a branch decided: an engine may
        select where another one multiplies. A zero that is a number of the script is a factor like any other.
        """
        given, wanted = self.mismatch.actual_array, self.mismatch.expected_array
        if given is None or wanted is None or given.shape != wanted.shape or not is_floating(given.dtype):
            return False
        if self.promise.finite:
            return False
        by_a_policy = np.zeros(given.shape, bool)
        for outcome in by_policies(self.promise):
            found = _elements(outcome, self.mismatch)
            if found is not None and found.array.shape == given.shape:
                differs = ~same(found.array, wanted)  # an answer that no policy changes is not excused by any
                by_a_policy |= differs & are_near(found.array, given)
        return bool(by_a_policy.any() and (by_a_policy | same(wanted, given) | self._is_close(given)).all())

    @cached_property
    def _bounded(self) -> tuple[Any, Any] | None:
        """Centre and radius of the number."""
        return self.promise.bounds.radius(self.mismatch.step, self.mismatch.slot, self.mismatch.where)

    def _is_close(self, given: Any) -> Any:
        if self._bounded is None:
            return np.zeros(given.shape, bool)
        centre, radius = self._bounded
        with np.errstate(all="ignore"):
            return np.isfinite(given) & (np.abs(given - centre) <= radius)


def by_policies(promise: Promise) -> Iterator[Outcome]:
    """Yield what is computed by each treatment of NaN comparisons and of 0 · inf: numbers in which they differ are undefined."""
    shares = (None, 0.0, 0.5, 1.0, np.nan)
    for (share, filled), vanishing in itertools.product([*((share, False) for share in shares), (None, True)], (False, True)):
        slopes: list[Any] | None = [] if promise.case.lane == "exact" else None
        with intercepted_rules(_absent_is_zeros) if filled else nullcontext():
            yield promise.run(partial(_zero_wins, slopes) if vanishing else None, _deciding(share, slopes))


def _deciding(share: float | None, slopes: list[Any] | None) -> Choice:
    """Decide branches, at NaN by a share if there is one, and note the slopes."""

    def decide(primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        taken = out if share is None else _share_at_nan(share)(primitive, arrays, attrs, out)
        if slopes is not None:
            slopes.append(taken)
        return taken

    return decide


def _absent_is_zeros(
    right: Pull, _: Primitive, node: Application, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]
) -> Pulled:
    """Have the derivatives of one op, where they are differentiated, multiply by zeros the cotangents that do not arrive.

    A kernel that differentiates them together has zeros for what is absent; where each has rules of its own, there is nothing.
    """
    if not (Mode.recording and isinstance(node, Node)):
        return right(node, asked, g, out, operands)
    pulled = right(node, node.tracked, g, out, operands)
    recorded = {position: c for position, c in pulled if type(c) is Tensor and c.requires_grad}
    beside = {position: [c for other, c in recorded.items() if other != position] for position in recorded}
    return [(p, link(c, *beside[p]) if beside.get(p) else c) for p, c in pulled if p in asked]


def _kinks(run: Recorder) -> Iterator[Place]:
    """Find the units of answers that lie exactly at a kink; their options are the sides."""
    for number, (answer, sides) in enumerate(zip(run.answers, run.sides, strict=True)):
        if len(sides) < 2:
            continue
        stacked = np.stack([*sides, answer])
        units = _units(answer, run.along[number])
        for unit in np.unique(units[~same(stacked, stacked[:1]).all(axis=0)]):
            where = units == unit
            options = list(dict.fromkeys(tuple(side[where].tolist()) for side in sides))
            yield Place(((number, where),), tuple((np.array(option, answer.dtype),) for option in options))


def _share_at_nan(share: float) -> Choice:
    def choose(_: Primitive, arrays: list[Any], __: dict[str, Any], out: Any) -> Any:
        if out.dtype.kind != "f":
            return out
        unknown = np.zeros(out.shape, bool)
        for array in arrays:
            if np.ndim(array) == out.ndim:
                unknown |= np.isnan(array)
        return np.where(unknown, share, out).astype(out.dtype)

    return choose


def _zero_wins(slopes: list[Any] | None, primitive: Primitive, arrays: list[Any], _: dict[str, Any], out: Any) -> Any:
    """Return 0 for the product of 0, in a slope if only these select, and what is not finite."""
    if primitive.name != "mul":
        return out
    zero = [np.equal(x, 0) if slopes is None or any(x is slope for slope in slopes) else np.False_ for x in arrays]
    vanishes = (zero[0] & ~np.isfinite(arrays[1])) | (zero[1] & ~np.isfinite(arrays[0]))
    return np.where(vanishes, 0, out).astype(out.dtype)

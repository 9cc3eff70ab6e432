"""Kinks: which other answers a mismatch could be, where a function has no derivative or rounding decides which one it has.

Three questions, asked only where a number differs:

- *Near a kink.* Roundings decide which branch is taken. The case is run with every primitive disturbed by one rounding of the dtype;
  what flips is a place, places that always flip together are one. An engine is right if it agrees, in all that it answers, with
  one combination of what was seen at the places. A difference that no combination explains is a divergence, kink or not.
- *At a kink.* The convention decides, and the answer is not that. Is it at least a subgradient? A gradient is affine in the share of
  each kink, so it lies between its values on either side (the corners of the Clarke subdifferential). That is a necessary condition,
  element by element, and means something for first derivatives alone.
- *Nowhere defined.* A comparison with NaN takes no branch, and zero times infinity is no number: an engine may multiply by a slope of
  zero or leave the element out. An answer that is that of one of these policies, element by element, is neither right nor wrong.
"""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends.reference import reference
from conformance.judge.branches import Recorder, choosing, observing, taking
from conformance.judge.compare import Comparer
from conformance.judge.disturbance import Bounds, are_near, value_at
from conformance.judge.formats import is_floating
from conformance.judge.shadows import roundings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.backends import BackendInfo
    from conformance.case import Case
    from conformance.judge.branches import Branches, Choice
    from conformance.judge.compare import Known, Mismatch
    from conformance.outcome import Outcome, Value
    from reference_impl.primitive import Primitive

ROUNDED_RUNS = 24
COMBINATIONS = 64
SUBGRADIENT = "another subgradient"


@dataclass(frozen=True)
class Place:
    """Elements of answers that flip together: for each answer and its flat positions, one array of elements per alternative."""

    at: tuple[tuple[int, Any], ...]
    options: tuple[tuple[Any, ...], ...]


def _elements(outcome: Outcome, found: Mismatch) -> Value | None:
    """Return the tensor of an outcome that a mismatch is about; none for those that hooks saw."""
    return None if found.where == "event" else value_at(outcome, found.step, found.slot, found.where, found.name)


def run_on(case: Case, info: BackendInfo, branches: Branches | None = None) -> Outcome:
    """Run the reference on given branches."""
    with np.errstate(all="ignore"), taking(branches):
        return reference(info.dialect, info.not_offered).run(case)


def watched(case: Case, info: BackendInfo, seed: int | None = None) -> Recorder:
    """Run the reference, disturbed by roundings of its own dtypes if there is a ``seed``, and note the branches."""
    recorder = Recorder()
    disturb = None if seed is None else _Roundings(seed).observe
    with np.errstate(all="ignore"), observing(disturb), choosing(recorder.choose):
        reference(info.dialect, info.not_offered).run(case)
    return recorder


class _Roundings:
    """Disturbs every output by up to one rounding of its own dtype, so that ties appear and vanish as they do for an engine."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def observe(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        if primitive.selects is not None or primitive.rounds == 0 or isinstance(out, tuple) or np.asarray(out).dtype.kind != "f":
            return out
        noise = self.rng.uniform(-1.0, 1.0, np.shape(out)) * roundings(primitive, out, arrays, arrays, attrs, out.dtype)
        return (out + noise).astype(out.dtype, copy=False)


def agrees_on_a_reachable_branch(case: Case, info: BackendInfo, actual: Outcome, known: Known) -> bool | None:
    """Whether all that an engine answered is right on one of the branches that rounding can reach, but for what is ``known``.

    ``None`` if there are more combinations than are tried, and none of those that were is it.
    """
    plain = watched(case, info)
    runs = [plain, *(watched(case, info, seed) for seed in range(ROUNDED_RUNS))]
    runs = [run for run in runs if [a.shape for a in run.answers] == [a.shape for a in plain.answers]]
    places = list(_places(runs))
    count = int(np.prod([float(len(place.options)) for place in places]))
    for branches in itertools.islice(_combined(plain.answers, places), COMBINATIONS):
        if Comparer(case, info, branches).run(run_on(case, info, branches), actual, known).mismatch is None:
            return True
    return None if count > COMBINATIONS else False


def _units(answer: Any, along: Any) -> Any:
    """Give a number to each part of an answer that is decided as one: its elements, or its slices along the axes of an order."""
    if isinstance(along, str):
        return np.arange(answer.size).reshape(answer.shape)
    axes = range(answer.ndim) if along is None else [a % answer.ndim for a in np.atleast_1d(along)]
    kept = tuple(1 if i in axes else n for i, n in enumerate(answer.shape))
    return np.broadcast_to(np.arange(int(np.prod(kept))).reshape(kept), answer.shape)


def _places(runs: list[Recorder]) -> Iterator[Place]:
    """Find what flips between runs; units with the same pattern over the runs are one place."""
    patterns: dict[tuple[int, ...], list[tuple[int, Any]]] = {}
    for number, along in enumerate(runs[0].along):
        stacked = np.stack([run.answers[number] for run in runs])
        varies = ~_same(stacked, stacked[:1]).all(axis=0)
        units = _units(runs[0].answers[number], along)
        for unit in np.unique(units[varies]):
            where = units == unit
            found = [row[where].tobytes() for row in stacked]
            order = list(dict.fromkeys(found))
            patterns.setdefault(tuple(order.index(f) for f in found), []).append((number, where))
    for pattern, at in patterns.items():
        firsts = [pattern.index(option) for option in range(max(pattern) + 1)]
        options = tuple(tuple(runs[run].answers[number][where] for number, where in at) for run in firsts)
        yield Place(tuple(at), options)


def _combined(answers: Branches, places: list[Place]) -> Iterator[Branches]:
    for chosen in itertools.product(*(place.options for place in places)):
        branches = [a.copy() for a in answers]
        for place, option in zip(places, chosen, strict=True):
            for (number, where), elements in zip(place.at, option, strict=True):
                branches[number][where] = elements
        yield branches


def is_subgradient(case: Case, info: BackendInfo, mismatch: Mismatch) -> bool:
    """Whether every element of what differs lies between its values on either side of the kinks that it hangs on."""
    given = mismatch.got
    if given is None or given.dtype.kind != "f":
        return False
    plain = watched(case, info)
    places = list(_kinks(plain))
    if not places:
        return False
    found = [_elements(run_on(case, info, b), mismatch) for b in itertools.islice(_combined(plain.answers, places), COMBINATIONS)]
    corners = [v.array for v in found if v is not None and v.array.shape == given.shape]
    bounded = Bounds(case, info).radius(mismatch.step, mismatch.slot, mismatch.where)
    if not corners or bounded is None:
        return False
    with np.errstate(all="ignore"):
        low, high = np.min(corners, axis=0) - bounded[1], np.max(corners, axis=0) + bounded[1]
        return bool(((given >= low) & (given <= high)).all())


def _kinks(run: Recorder) -> Iterator[Place]:
    """Find the units of answers that lie exactly at a kink; their options are the sides."""
    for number, (answer, sides) in enumerate(zip(run.answers, run.sides, strict=True)):
        if len(sides) < 2:
            continue
        stacked = np.stack([*sides, answer])
        units = _units(answer, run.along[number])
        for unit in np.unique(units[~_same(stacked, stacked[:1]).all(axis=0)]):
            where = units == unit
            options = list(dict.fromkeys(tuple(side[where].tolist()) for side in sides))
            yield Place(((number, where),), tuple((np.array(option, answer.dtype),) for option in options))


def is_undefined(case: Case, info: BackendInfo, mismatch: Mismatch) -> bool:
    """Whether every element that differs is what some policy makes of comparisons with NaN and of zero times infinity."""
    given, wanted = mismatch.got, mismatch.wanted
    if given is None or wanted is None or given.shape != wanted.shape or not is_floating(given.dtype):
        return False
    explained = _same(wanted, given) | _close(case, info, mismatch, given)
    for share, vanishing in itertools.product((None, 0.0, 0.5, 1.0, np.nan), (False, True)):
        policy = nullcontext() if share is None else choosing(_share_at_nan(share))
        with np.errstate(all="ignore"), observing(_zero_wins if vanishing else None), policy:
            found = _elements(reference(info.dialect, info.not_offered).run(case), mismatch)
        if found is not None and found.array.shape == given.shape:
            differs = ~_same(found.array, wanted)  # an answer that no policy changes is not excused by any
            explained |= differs & are_near(found.array, given)
    return bool(explained.all())


def _same(a: Any, b: Any) -> Any:
    return (a == b) | (np.isnan(a) & np.isnan(b))


def _close(case: Case, info: BackendInfo, mismatch: Mismatch, given: Any) -> Any:
    bounded = Bounds(case, info).radius(mismatch.step, mismatch.slot, mismatch.where)
    if bounded is None:
        return np.zeros(given.shape, bool)
    with np.errstate(all="ignore"):
        return np.isfinite(given) & (np.abs(given - bounded[0]) <= bounded[1])


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


def _zero_wins(primitive: Primitive, arrays: list[Any], _: dict[str, Any], out: Any) -> Any:
    if primitive.name != "mul":
        return out
    x, y = arrays
    vanishes = (np.equal(x, 0) & ~np.isfinite(y)) | (np.equal(y, 0) & ~np.isfinite(x))
    return np.where(vanishes, 0, out).astype(out.dtype)

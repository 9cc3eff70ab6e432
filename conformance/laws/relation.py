"""Relations between observed numbers, and what is said of them: held, broken, unsettled, or that there was nothing to say.

A number is named by its `Place`. Where all arithmetic is exact a relation must hold to the last bit; elsewhere it may fail by what
rounding can do to each of its numbers, which `conformance.compare.rounding` derives for the cases of the trial. A relation that
compares nothing (all absent, no elements, refused alike, not offered) is empty, which is not held.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from conformance.case.outcome import Computed, Raised, Value
from conformance.case.place import END, StepNumber
from conformance.compare.promise import Promise
from conformance.compare.rounding import Bounds, agrees_cheaply
from reference_impl import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.backends import BackendInfo
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome

Array = "np.ndarray[Any, Any]"


class Status(StrEnum):
    """What a trial says of a law; ``KNOWN``: it is broken, as a known deviation explains; ``EMPTY``: nothing was compared.

    ``POISONED``: after a refusal in the trial the process differentiates wrongly, so nothing more is concluded in it.
    """

    HELD = "held"
    BROKEN = "broken"
    UNSETTLED = "unsettled"
    KNOWN = "known"
    EMPTY = "empty"
    POISONED = "poisoned"


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, and the reason in words; ``deviation`` is the id of the entry that explains a broken law."""

    status: Status
    detail: str = ""
    deviation: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """One observed tensor: in which case of the trial, at which step (`END`: the final state), in which slot.

    ``where``: ``result`` or ``grad``.
    """

    case: int
    step: StepNumber
    slot: int
    where: str = "result"


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no tensor, because the step was not computed; ``category`` is that of a refusal, empty where it was not tried."""

    category: str


DEPENDS_ON_NOTHING = Refused(str(Category.ROOT_WITHOUT_GRAPH))


class Evidence:
    """What an engine answered to the cases of a trial, and how far rounding can carry each number."""

    def __init__(self, cases: Sequence[Case], outcomes: Sequence[Outcome], info: BackendInfo) -> None:
        self.cases = cases
        self.outcomes = outcomes
        self.info = info
        self._promises: dict[int, Promise] = {}

    def promise(self, number: int) -> Promise:
        """Return what is promised for one of the cases; where it is not asked for, the reference is not opened."""
        if number not in self._promises:
            self._promises[number] = Promise(self.cases[number], self.info)
        return self._promises[number]

    def bounds(self, number: int) -> Bounds:
        """Return the derived bounds of one of the cases."""
        return self.promise(number).bounds

    def seen(self, place: Place) -> Value | Refused | None:
        """Return what was observed at a place; ``None``: an absent tensor."""
        outcome = self.outcomes[place.case]
        if place.step is END:
            return outcome.final[place.slot]
        found = outcome.observations[place.step]
        if isinstance(found, Raised):
            return Refused(str(found.category))
        if not isinstance(found, Computed):
            return Refused("")
        if place.where == "grad":
            return None if found.state is None else found.state[place.slot]
        return found.values[place.slot]

    def exact(self, numbers: Iterable[int]) -> bool:
        """Whether all arithmetic of some of the cases is exact."""
        return all(self.cases[n].lane == "exact" and self.bounds(n).exact for n in numbers)


class Relation(Protocol):
    """A statement about what an engine answered."""

    def settle(self, evidence: Evidence) -> Answer:
        """Say whether it holds."""


@dataclass(frozen=True, slots=True)
class Term:
    """``factor`` times what is at a place, or times its inner product ``Re <conj(pairing), .>`` with an array of its shape."""

    place: Place
    factor: float = 1.0
    pairing: Any = None

    def of(self, array: Any, *, absolute: bool = False) -> Any:
        """Return the term for an array, or the same combination of absolute values."""
        factor, pairing = (np.abs(w) if absolute and w is not None else w for w in (self.factor, self.pairing))
        wide = _widened(np.asarray(array))
        return factor * (wide if pairing is None else np.sum(np.real(np.conj(pairing) * wide)))


def _widened(array: Any) -> Any:
    return array.astype(np.result_type(array, np.float64))


@dataclass(frozen=True, slots=True)
class Linear:
    """The terms sum to zero. What is absent counts as zero, and so does the derivative of what depends on nothing."""

    terms: tuple[Term, ...]

    def settle(self, evidence: Evidence) -> Answer:
        """Say whether it holds."""
        seen = [None if s == DEPENDS_ON_NOTHING else s for s in (evidence.seen(t.place) for t in self.terms)]
        refusal = refusal_of(seen)
        if refusal is not None:
            return refusal
        there = [(t, v) for t, v in zip(self.terms, seen, strict=True) if isinstance(v, Value)]
        if not any(v.array.size for _, v in there):
            return Answer(Status.EMPTY)
        if any(v.unreadable for _, v in there):
            return Answer(Status.UNSETTLED, "a tensor cannot be read")
        shapes = {v.array.shape if t.pairing is None else t.pairing.shape == v.array.shape for t, v in there}
        if len(shapes) > 1 or False in shapes:
            return Answer(Status.BROKEN, f"shapes differ: {', '.join(str(v.array.shape) for _, v in there)}")
        with np.errstate(all="ignore"):
            parts = [np.asarray(t.of(v.array)) for t, v in there]
        if not all(np.isfinite(p).all() for p in parts):
            return Answer(Status.UNSETTLED, "not all numbers are finite")
        return balance(evidence, [t for t, _ in there], parts, there[0][1].array.dtype)


@dataclass(frozen=True, slots=True)
class Same:
    """Two places hold the same: both absent, or equal in shape, dtype and elements; ``bitwise``: rounding is no excuse."""

    one: Place
    other: Place
    bitwise: bool = False

    def settle(self, evidence: Evidence) -> Answer:
        """Say whether it holds."""
        seen = [evidence.seen(p) for p in (self.one, self.other)]
        refusal = refusal_of(seen)
        if refusal is not None:
            return refusal
        one, other = seen
        if not isinstance(one, Value) or not isinstance(other, Value):
            return Answer(Status.EMPTY) if one is other else Answer(Status.BROKEN, "absent once, present once")
        a, b = one.array, other.array
        if (a.shape, a.dtype, bool(one.unreadable)) != (b.shape, b.dtype, bool(other.unreadable)):
            return Answer(Status.BROKEN, f"{a.dtype}{list(a.shape)} once, {b.dtype}{list(b.shape)} once")
        if a.size == 0:
            return Answer(Status.EMPTY)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) if a.dtype.kind in "fc" else a == b
        if same.all():
            return Answer(Status.HELD)
        if self.bitwise or a.dtype.kind not in "fc":
            return Answer(Status.BROKEN, f"{a[~same][0]!r} once, {b[~same][0]!r} once")
        if not (np.isfinite(a) & np.isfinite(b) | same).all():
            return Answer(Status.UNSETTLED, "finite once, not finite once")
        parts = [np.where(same, 0.0, _widened(x)) for x in (a, -b)]
        return balance(evidence, [Term(self.one), Term(self.other, -1.0)], parts, a.dtype)


@dataclass(frozen=True, slots=True)
class Absent:
    """There is nothing at a place."""

    place: Place

    def settle(self, evidence: Evidence) -> Answer:
        """Say whether it holds."""
        seen = evidence.seen(self.place)
        if isinstance(seen, Refused):
            return Answer(Status.EMPTY)
        return Answer(Status.HELD) if seen is None else Answer(Status.BROKEN, "present where nothing was asked for")


def refusal_of(seen: Sequence[Value | Refused | None]) -> Answer | None:
    """Judge steps that were not computed: nothing is said where all are refused alike, or where one is not offered."""
    refused = [s.category for s in seen if isinstance(s, Refused)]
    if not refused:
        return None
    if "" in refused or Category.NOT_IMPLEMENTED in refused or (len(refused) == len(seen) and len(set(refused)) == 1):
        return Answer(Status.EMPTY)
    return Answer(Status.BROKEN, f"refused ({', '.join(sorted(set(refused)))}) where the law says what comes")


def balance(evidence: Evidence, terms: Sequence[Term], parts: Sequence[Any], dtype: Any) -> Answer:
    """Judge whether finite parts sum to zero, as far as rounding lets one say."""
    total = np.asarray(sum(parts))
    if not total.any():
        return Answer(Status.HELD)
    cases = {t.place.case for t in terms}
    exact = all(evidence.cases[n].lane == "exact" for n in cases)
    first = np.asarray(parts[0])
    if not exact and agrees_cheaply(first.astype(dtype), np.asarray(first - total).astype(dtype)):
        return Answer(Status.HELD)
    worst = f"off by {np.abs(total).max():.3g} of {max(np.abs(p).max() for p in parts):.3g}"
    if exact and evidence.exact(cases):
        return Answer(Status.BROKEN, f"{worst}, where all arithmetic is exact")
    found = [evidence.bounds(t.place.case).radius(t.place.step, t.place.slot, t.place.where) for t in terms]
    if any(radius is None for radius in found):
        return Answer(Status.UNSETTLED, "no bound can be derived")
    with np.errstate(all="ignore"):
        allowed = sum(t.of(np.abs(radius[1]), absolute=True) for t, radius in zip(terms, found, strict=True) if radius is not None)
    if not np.isfinite(allowed).all():
        return Answer(Status.UNSETTLED, "rounding can carry any distance")
    if (np.abs(total) <= allowed).all():
        return Answer(Status.HELD)
    if any(evidence.bounds(n).near_kink for n in cases):
        return Answer(Status.UNSETTLED, "rounding can change which branch an op takes")
    return Answer(Status.BROKEN, f"{worst}, allowed are {float(np.max(allowed)):.3g}")

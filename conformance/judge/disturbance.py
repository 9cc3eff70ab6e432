"""How far rounding can carry: the reference beside itself, with and without one rounding per primitive.

The tolerance of a number is derived, never chosen. `Bounds` runs the case once on the reference, with `Shadows`: the same computation
in a wider dtype (the centre), and some replicas in which the output of every primitive, forward and backward, is disturbed by one
rounding of the dtype that it has in the tested run, relative to what that primitive's rounding is relative to (its own result; the sum
of absolute terms for sums and matrix products, once for every term). The unit of a number is the root mean square of its displacements,
or one rounding of the number itself where that is more; its radius is `UNITS` units. The unit over the rounding is the condition of the
number in this case.

Where the tested dtype overflows although the centre is finite, the run in the tested dtype says what is right as well: a second family
of shadows goes to infinity where it does, and an answer is accepted by either.

`Bounds` is asked only where the cheap test fails, or for a sample. A few replicas are made first; before anything is rejected there are
more. All tolerance numbers of the suite are in this module.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conformance.backends.reference import reference
from conformance.judge.branches import observing, taking
from conformance.judge.formats import format_of, is_floating
from conformance.judge.shadows import Shadows
from conformance.outcome import Computed, Raised, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends import BackendInfo
    from conformance.case import Case
    from conformance.judge.branches import Branches
    from conformance.judge.shadows import Lines
    from conformance.outcome import Outcome
    from reference_impl.primitive import Primitive

Rounded: TypeAlias = "Callable[[Any, Any], Any]"

REPLICAS = (4, 12)
UNITS = 16.0
"""How many units a right answer may be off by: half of the 32 that a wrong one must not be.

Measured on 55,730 tensors of PyTorch 2.13.0 and Paddle 3.3.1 that are right (random cases of up to 12 ops in a row and orders 1 to 3,
float32 and float64): half of them are off by less than 0.01 units, 99 % by less than 0.9, 99.9 % by less than 1.7, the worst by 3.1.
"""
CHEAP_ROUNDINGS = 4.0
SAMPLE = 32
"""One numeric case in so many is bounded whatever the cheap test says, so that the errors reported are not those of hard cases only."""


def agrees_cheaply(expected: Any, actual: Any) -> bool:
    """Whether two arrays are equal to a few roundings of each element: the test that settles most comparisons."""
    return np.array_equal(expected, actual, equal_nan=True) or bool(are_near(expected, actual).all())


def are_near(expected: Any, actual: Any) -> Any:
    """Return which elements of two arrays are equal to a few roundings of themselves."""
    with np.errstate(all="ignore"):
        close = np.abs(expected - actual) <= CHEAP_ROUNDINGS * format_of(expected.dtype).eps * np.abs(expected)
        close &= np.isfinite(expected)
        return close | (expected == actual) | (np.isnan(expected) & np.isnan(actual))


def within_a_rounding(expected: Any, actual: Any, size: Any) -> bool:
    """Whether two arrays are equal to one rounding of numbers of the absolute size ``size``."""
    with np.errstate(all="ignore"):
        return bool((np.abs(actual - expected) <= format_of(expected.dtype).rounding(size)).all())


def is_sampled(case: Case) -> bool:
    """Whether this case is bounded in any event; its id decides."""
    return case.lane == "numeric" and int(case.id, 16) % SAMPLE == 0


def spread(compute: Callable[[Rounded], Any], dtype: str) -> tuple[Any, Any]:
    """Return centre and radius of what a function computes by hand, in float64, for who computes it in ``dtype``.

    ``compute(rounded)`` puts every rounded intermediate through ``rounded(value, size)``: a rounding is relative to ``size``.
    """
    rng = np.random.default_rng(0)

    def disturbed(value: Any, size: Any) -> Any:
        return value + rng.uniform(-1.0, 1.0, np.shape(value)) * format_of(dtype).rounding(np.abs(size))

    replicas = [np.asarray(compute(disturbed)) for _ in range(sum(REPLICAS))]
    centre, unit = _unit([np.asarray(compute(undisturbed)), *replicas], dtype)
    return centre, UNITS * unit


def undisturbed(value: Any, size: Any) -> Any:  # noqa: ARG001 - a `Rounded`
    """Return the value."""
    return value


class BoundError(Exception):
    """A fault of the judge itself: how far rounding can carry could not be computed."""


class Bounds:
    """Centres and radii of every number of a case, and what was noticed on the way; on the branches that are ``forced``, if some are.

    Made lazily: nothing runs before a number is asked for.
    """

    def __init__(self, case: Case, info: BackendInfo, forced: Branches | None = None) -> None:
        self.case = case
        self.info = info
        self.forced = forced
        self._families: list[_Family] = []

    @property
    def near_kink(self) -> bool:
        """Whether a disturbance changed which branch an op took."""
        return any(family.shadows.branched for family in self._upto(len(REPLICAS)))

    @cached_property
    def exact(self) -> bool:
        """Whether every intermediate of the case is representable in the tested dtypes, in whatever order sums are taken.

        A correct engine must then agree to the last bit.
        """
        tracker = _Tracker()
        self._run(tracker.observe, widen=True)
        dtypes = _Dtypes()
        self._run(dtypes.observe)
        found = dtypes.seen | {i.dtype for i in self.case.inputs}
        return tracker.exact_in(min(format_of(d).bits for d in found if is_floating(d)))

    def _run(self, observe: Callable[..., Any], *, widen: bool = False) -> Outcome:
        backend = reference(self.info.dialect, self.info.not_offered, widen=widen)
        faults: list[Exception] = []

        def guarded(*seen: Any) -> Any:  # a backend takes every error for a refusal; one of ours is none
            try:
                return observe(*seen)
            except Exception as error:
                faults.append(error)
                raise

        with np.errstate(all="ignore"), observing(guarded), taking(self.forced):
            outcome = backend.run(self.case)
        if faults:
            msg = f"case {self.case.id}: no bound can be derived: {type(faults[0]).__name__}: {faults[0]}"
            raise BoundError(msg) from faults[0]
        return outcome

    def _upto(self, stages: int) -> list[_Family]:
        """Return the families of the first stages; each is made when it is first needed."""
        for stage in range(len({f.stage for f in self._families}), stages):
            made = self._family(stage, saturating=False)
            self._families.append(made)
            if made.shadows.overflowed:
                self._families.append(self._family(stage, saturating=True))
        return [family for family in self._families if family.stage < stages]

    def _family(self, stage: int, *, saturating: bool) -> _Family:
        shadows = Shadows(REPLICAS[stage], stage, saturating=saturating)
        return _Family(stage, shadows, self._run(shadows.observe))

    def radius(self, step: int, slot: int, where: str, name: str = "") -> tuple[Any, Any] | None:
        """Return centre and radius of one tensor, from all replicas; ``None`` if it has no numbers.

        ``step`` -1 is the final state; ``where`` is ``result``, ``grad`` or ``event`` (of that ``name``: a run may have others).
        """
        families = [family for family in self._upto(len(REPLICAS)) if not family.shadows.saturating]
        found = [family.find(step, slot, where, name) for family in families]
        seen = [(value, lines) for value, lines in found if value is not None]
        if not seen:
            return None
        value, lines = seen[0]
        centre, unit = _unit([*lines, *(line for _, more in seen[1:] for line in more[1:])], value.array.dtype)
        return centre, UNITS * unit

    def accepts(self, actual: Any, step: int, slot: int, where: str, name: str = "") -> bool:
        """Whether an array is what rounding can make of the right answer."""
        return self.ratio(actual, step, slot, where, name) <= 1.0

    def ratio(self, actual: Any, step: int, slot: int, where: str, name: str = "") -> float:
        """Return the largest error of an array's elements over its radius: accepted up to 1, infinite where no error is allowed."""
        worst = np.inf
        for stages in range(1, len(REPLICAS) + 1):
            least: Any = np.inf
            for family in self._upto(stages):
                value, lines = family.find(step, slot, where, name)
                if value is None or value.array.shape != actual.shape:
                    return np.inf
                least = np.minimum(least, _ratios(actual, lines, value.array.dtype))
            worst = float(np.max(least, initial=0.0))
            if worst <= 1.0:
                break
        return worst


class _Family:
    """One run of the reference and its shadows."""

    def __init__(self, stage: int, shadows: Shadows, outcome: Outcome) -> None:
        self.stage = stage
        self.shadows = shadows
        self.outcome = outcome

    def find(self, step: int, slot: int, where: str, name: str) -> tuple[Value | None, Lines]:
        value = value_at(self.outcome, step, slot, where, name)
        return value, [] if value is None else self.shadows.of(value.array)


def _unit(lines: Lines, dtype: Any) -> tuple[Any, Any]:
    """Return the centre and the unit of a number.

    Where the centre is not finite but a replica is, the number is too close to the largest one to say, and that replica stands for the
    centre; the displacement of what is not finite says nothing.
    """
    centre = lines[0]
    with np.errstate(all="ignore"):
        for line in lines[1:]:
            centre = np.where(np.isfinite(centre), centre, line)
        moved = np.abs(np.stack(lines[1:]) - centre)
        finite = np.isfinite(moved)
        total = np.sum(np.square(np.where(finite, moved, 0.0)), axis=0)
        rms = np.sqrt(total / np.maximum(1, np.count_nonzero(finite, axis=0)))
        return centre, np.maximum(rms, format_of(dtype).rounding(np.abs(centre)))


def _ratios(actual: Any, lines: Lines, dtype: Any) -> Any:
    """Return error over radius, elementwise.

    What is not finite has no error where some shadow has the same, or where rounding carries the centre beyond the largest number.
    """
    centre, unit = _unit(lines, dtype)
    given = np.asarray(actual).astype(centre.dtype, copy=False)
    with np.errstate(all="ignore"):
        radius = UNITS * unit
        error = np.abs(given - centre)
        ratios = np.where(error == 0, 0.0, error / radius)
        same = np.zeros(np.shape(given), bool)
        for line in lines:
            same |= (given == line) | (np.isnan(given) & np.isnan(line))
        if centre.dtype.kind == "f":
            same |= np.isinf(given) & (np.sign(given) * centre + radius > format_of(dtype).largest)
        return np.where(np.isfinite(given) & np.isfinite(centre), ratios, np.where(same, 0.0, np.inf))


def value_at(outcome: Outcome, step: int, slot: int, where: str, name: str) -> Value | None:
    """Return what an outcome has at a place, named as in `Bounds.radius`; ``None`` if there is no tensor."""
    if step < 0:
        return outcome.final[slot]
    seen = outcome.observations[step]
    if not isinstance(seen, Computed | Raised):
        return None
    if where == "event":
        if slot < len(seen.events) and seen.events[slot].name == name:
            return seen.events[slot].value
        return next((event.value for event in seen.events if event.name == name), None)
    if where == "grad":
        return None if seen.state is None else seen.state[slot]
    return seen.values[slot] if isinstance(seen, Computed) else None


class _Dtypes:
    """Notes the dtypes of a run."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def observe(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:  # noqa: ARG002 - an observer
        self.seen.update(str(part.dtype) for part in (out if isinstance(out, tuple) else (out,)))
        return out


def _upper(operand: Any) -> Any:
    """Return a rational bound on the size of complex elements: no part of a product of them is finer or larger than one of these."""
    return np.abs(operand.real) + np.abs(operand.imag) if np.iscomplexobj(operand) else operand


class _Tracker:
    """Watches a run in float64: whether all of its arithmetic is exact."""

    def __init__(self) -> None:
        self.largest = 1.0
        self.grain = 0
        self.rational = True

    def observe(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        for part in out if isinstance(out, tuple) else (out,):
            self._measure(part)
        if primitive.magnitude is not None:
            self._measure(primitive.magnitude(out, *map(_upper, arrays), **attrs))
        return out

    def _measure(self, array: Any) -> None:
        values = np.asarray(array)
        if values.dtype.kind == "c":
            values = np.stack([values.real, values.imag])
        if values.dtype.kind != "f" or values.size == 0 or not self.rational:
            return
        if not np.isfinite(values).all():
            self.rational = False
            return
        self.largest = max(self.largest, float(np.abs(values).max()))
        while self.grain <= 60:
            scaled = values * 2.0**self.grain
            if (scaled == np.rint(scaled)).all():
                return
            self.grain += 1
        self.rational = False

    def exact_in(self, bits: int) -> bool:
        return self.rational and float(np.log2(self.largest)) + self.grain < bits

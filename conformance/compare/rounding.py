"""How far rounding can carry each number: stochastic arithmetic on the reference.

Two right engines differ in the last digits, and by how much depends on the script: a sum that cancels may lose all of them, a chain
of products a few. A tolerance that somebody chooses is therefore too wide for most numbers and too narrow for some. Here the
tolerance of a number is derived from the script that made it.

`Bounds` takes the reference's run of the case (`history`) and computes *shadow values* beside it (`shadow_values`): the same
computation in a wider dtype, the centre, and some replicas. In each replica every primitive's output, forward and backward, is
perturbed by at most one rounding in the dtype that the tested run uses. A rounding is relative to the primitive's error scale: its
result, or, for sums and matrix products, the sum of the absolute terms, once for every term. The unit of a number is the root mean
square of its displacements, or one rounding of the number itself where that is more; its radius is `UNITS` units. Example: for
``exp(x)`` with x near 20 a rounding of x moves the result by 20 roundings of its own, so its unit is about 20 roundings, and its radius
16 of these. Of a few roundings that are surely no larger the worst is known, and where that is less it is the radius.

The method is that of stochastic arithmetic: J. Vignes, "A stochastic arithmetic for reliable scientific computation", Math. Comput.
Simul. 35 (1993), and D. S. Parker, "Monte Carlo arithmetic", UCLA CSD-970002 (1997). That the errors of n terms grow like the root
of n is made precise in N. J. Higham and T. Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41
(2019).

Where the tested dtype overflows although the centre is finite, the run in the tested dtype says what is right as well: a second family
of shadows goes to infinity where the tested dtype does, and an answer is accepted by either.

`Bounds` is asked only where the few-ulps test fails, or for a sample. A few replicas are made first; before anything is rejected there
are more. The numbers that decide what is accepted are in this module; how many roundings a primitive takes is said beside its forward
(`reference_impl.tape.primitive`).
"""

from __future__ import annotations

import functools
import math
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conformance.case.outcome import Computed, Raised, Value
from conformance.case.place import END, StepNumber
from conformance.compare.history import are_finite
from conformance.compare.shadow_values import ShadowValues
from conformance.ops.dtypes import format_of, is_floating

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.compare.history import History
    from conformance.compare.shadow_values import Lines
    from reference_impl.tape.primitive import Primitive

Rounded: TypeAlias = "Callable[[Any, Any], Any]"

REPLICAS = (4, 12)
"""How many replicas are made at first, and how many more before an answer is rejected.

The root mean square of 16 displacements is off by a fifth or so, which `UNITS` has room for.
"""
UNITS = 16.0
"""How many units a right answer may be off by: half of the 32 that a wrong one must not be.

Measured on 55,730 tensors of PyTorch 2.13.0 and Paddle 3.3.1 that are right (random cases of up to 12 ops in a row and orders 1 to 3,
float32 and float64): half of them are off by less than 0.01 units, 99 % by less than 0.9, 99.9 % by less than 1.7, the worst by 3.1.
With 8 units for all a gradient of ``exp`` that is off by 2^-20 of itself would be found out, too; but a right engine that rounds later
than the reference is off by more than 8 in one of some hundred cases (`tests/conformance/test_disturbance.py`).
"""
BOUNDED = (
    *("add", "add_scalar", "clone", "conj", "div", "mul", "mul_scalar", "neg", "rsub_scalar", "sqrt", "square", "sub"),
    *("exp", "tanh"),
)
"""Primitives that no engine rounds more than they say: those of IEEE 754, and two functions whose implementations state their error.

Of ``n`` roundings of such primitives, each of which moves a number by up to ``c``, the worst is the sum of all ``c``, which is no more
than ``sqrt(n)`` times the root of the sum of their squares, and so ``sqrt(3 n)`` units: the roundings of the replicas are as likely
anywhere between ``-c`` and ``c``. For a few of them that is sharper than `UNITS`, and what is beyond it is no rounding.
"""
ESTIMATED = 2.0
"""By what factor a unit may be too small, since a few replicas made it."""
FEWEST = ESTIMATED * math.sqrt(3.0)
"""The units of a number that was rounded once."""
CHEAP_ROUNDINGS = 4.0
"""How many roundings of itself an element may be off by in the test that comes first; the smallest radius is `UNITS` roundings."""
SAMPLE = 32
"""One numeric case in 32 is bounded whatever the cheap test says, so that the errors reported are not those of hard cases only."""


def cheap(array: Any) -> Any:
    """Return what a few roundings of each element are, which need no derivation."""
    return CHEAP_ROUNDINGS * format_of(array.dtype).eps * np.abs(array)


def agrees_cheaply(expected: Any, actual: Any) -> bool:
    """Whether two arrays are equal to a few roundings of each element: the test that settles most comparisons."""
    return np.array_equal(expected, actual, equal_nan=True) or bool(are_near(expected, actual).all())


def are_near(expected: Any, actual: Any) -> Any:
    """Return which elements of two arrays are equal to a few roundings of themselves."""
    with np.errstate(all="ignore"):
        close = np.abs(expected - actual) <= cheap(expected)
        close &= np.isfinite(expected)
        return close | (expected == actual) | (np.isnan(expected) & np.isnan(actual))


def within_units(expected: Any, actual: Any, size: Any) -> bool:
    """Whether two arrays are equal to as many roundings of numbers of the absolute size ``size`` as a right answer may be off by."""
    return within_a_rounding(expected, actual, UNITS * size)


def within_a_rounding(expected: Any, actual: Any, size: Any) -> bool:
    """Whether two arrays are equal to one rounding of numbers of the absolute size ``size``; what is not finite has none."""
    with np.errstate(all="ignore"):
        near = (np.abs(actual - expected) <= format_of(expected.dtype).rounding(size)) & np.isfinite(size) & np.isfinite(expected)
        return bool((near | (actual == expected) | (np.isnan(actual) & np.isnan(expected))).all())


def is_sampled(case: Case) -> bool:
    """Whether to derive bounds even where the cheap test passes; true for one case in `SAMPLE`, chosen by its id."""
    return case.lane == "numeric" and int(case.id, 16) % SAMPLE == 0


def spread(compute: Callable[[Rounded], Any], dtype: str) -> tuple[Any, Any]:
    """Return the centre and radius within which an engine that computes in ``dtype`` must agree with a hand-written computation.

    ``compute(rounded)`` computes in float64 and puts every rounded intermediate through ``rounded(value, size)``: a rounding is
    relative to ``size``.
    """
    rng = np.random.default_rng(0)

    def disturbed(value: Any, size: Any) -> Any:
        return value + rng.uniform(-1.0, 1.0, np.shape(value)) * format_of(dtype).rounding(np.abs(size))

    replicas = [np.asarray(compute(disturbed)) for _ in range(sum(REPLICAS))]
    centre, unit = _centre_and_unit(np.stack([np.asarray(compute(undisturbed)), *replicas]), dtype)
    return centre, UNITS * unit


def undisturbed(value: Any, size: Any) -> Any:  # noqa: ARG001 - a `Rounded`
    """Return the value."""
    return value


class BoundError(Exception):
    """A fault of the judge itself: how far rounding can carry could not be computed."""


class Bounds:
    """Centres and radii of every number of a case, and what was noticed on the way.

    ``history`` is that of the reference's run of the case, in float64 if it is told to widen. Made lazily: nothing is computed before
    a number is asked for.
    """

    def __init__(self, case: Case, history: Callable[[bool], History]) -> None:
        self.case = case
        self._history = history
        self._shadows: list[ShadowValues] = []

    @property
    def near_kink(self) -> bool:
        """Whether a disturbance changed which branch an op took."""
        with self._deriving():
            return any(shadows.branched for shadows in self._upto(len(REPLICAS)))

    @cached_property
    def exact(self) -> bool:
        """Whether every intermediate of the case is representable in the tested dtypes, in whatever order sums are taken.

        A correct engine must then agree to the last bit.
        """
        tracker = _Tracker()
        with self._deriving():
            for one in self._history(True).applied:
                tracker.look(*one)
        made = {str(part.dtype) for one in self._history(False).applied for part in one.outputs}
        found = made | {i.dtype for i in self.case.inputs}
        return tracker.exact_in(min(format_of(d).bits for d in found if is_floating(d)))

    @contextmanager
    def _deriving(self) -> Iterator[None]:
        try:
            with np.errstate(all="ignore"):
                yield
        except Exception as error:
            msg = f"case {self.case.id}: no bound can be derived: {type(error).__name__}: {error}"
            raise BoundError(msg) from error

    def _upto(self, stages: int) -> list[ShadowValues]:
        """Return the shadows of the first stages; each is made when it is first needed."""
        for stage in range(len({shadows.seed for shadows in self._shadows}), stages):
            made = ShadowValues(self._history(False), REPLICAS[stage], seed=stage)
            self._shadows.append(made)
            if made.overflowed:
                self._shadows.append(ShadowValues(self._history(False), REPLICAS[stage], seed=stage, saturating=True))
        return [shadows for shadows in self._shadows if shadows.seed < stages]

    def radius(self, step: StepNumber, slot: int, where: str, name: str = "") -> tuple[Any, Any] | None:
        """Return centre and radius of one tensor, from all replicas; ``None`` if it has no numbers.

        ``step`` `END` is the final state; ``where`` is ``result``, ``grad`` or ``event`` (of that ``name``: a run may have others).
        """
        value = value_at(self._history(False).outcome, step, slot, where, name)
        return None if value is None else self.radius_of(value.array)

    def radius_of(self, array: Any) -> tuple[Any, Any]:
        """Return centre and radius of an array that was made in the run."""
        with self._deriving():
            first, *more = [shadows.of(array) for shadows in self._upto(len(REPLICAS)) if not shadows.saturating]
        centre, unit = _centre_and_unit(np.concatenate([first, *(lines[1:] for lines in more)]), array.dtype)
        return centre, UNITS * unit

    def accepts(self, actual: Any, step: StepNumber, slot: int, where: str, name: str = "") -> bool:
        """Whether an array is what rounding can make of the right answer."""
        return self.ratio(actual, step, slot, where, name) <= 1.0

    def ratio(self, actual: Any, step: StepNumber, slot: int, where: str, name: str = "") -> float:
        """Return the largest error of an array's elements over its radius: accepted up to 1, infinite where no error is allowed."""
        return float(np.max(self.ratios(actual, step, slot, where, name), initial=0.0))

    def ratios(self, actual: Any, step: StepNumber, slot: int, where: str, name: str = "") -> Any:
        """Return the error of each element over its radius, as `ratio`; infinite for all where there is no such tensor."""
        nothing = least = np.full(np.shape(actual), np.inf)
        value = value_at(self._history(False).outcome, step, slot, where, name)
        if value is None or value.array.shape != actual.shape:
            return nothing
        for stages in range(1, len(REPLICAS) + 1):
            with self._deriving():
                seen = [shadows.of(value.array) for shadows in self._upto(stages)]
            least = functools.reduce(np.minimum, (_error_over_radius(actual, lines, value.array.dtype) for lines in seen), nothing)
            with np.errstate(all="ignore"):
                if (least * UNITS > FEWEST).any():  # counting roundings takes longer than most comparisons
                    least = least * (UNITS / self._units(value.array))
            if (least <= 1.0).all():
                break
        return least

    def _units(self, array: Any) -> Any:
        """Return how many units each element of a right answer may be off by."""
        return np.minimum(UNITS, ESTIMATED * np.sqrt(3.0 * np.maximum(1.0, self._history(False).roundings_in(array, BOUNDED))))


def _centre_and_unit(lines: Lines, dtype: Any) -> tuple[Any, Any]:
    """Return the centre and the unit of a number.

    Where the centre is not finite but a replica is, the number is too close to the largest one to say, and that replica stands for the
    centre; the displacement of what is not finite says nothing.
    """
    centre, count = lines[0], len(lines) - 1
    with np.errstate(all="ignore"):
        moved = np.abs(lines[1:] - centre)
        if not are_finite(lines):
            for line in lines[1:]:
                centre = np.where(np.isfinite(centre), centre, line)
            moved = np.abs(lines[1:] - centre)
            finite = np.isfinite(moved)
            moved, count = np.where(finite, moved, 0.0), np.maximum(1, np.count_nonzero(finite, axis=0))
        rms = np.sqrt(np.sum(np.square(moved), axis=0) / count)
        return centre, np.maximum(rms, format_of(dtype).rounding(np.abs(centre)))


def _error_over_radius(actual: Any, lines: Lines, dtype: Any) -> Any:
    """Return error over radius, elementwise.

    What is not finite has no error where some shadow has the same, or where rounding carries the centre beyond the largest number.
    """
    centre, unit = _centre_and_unit(lines, dtype)
    given = np.asarray(actual).astype(centre.dtype, copy=False)
    with np.errstate(all="ignore"):
        radius = UNITS * unit
        error = np.abs(given - centre)
        ratios = np.where(error == 0, 0.0, error / radius)
        if are_finite(given) and are_finite(centre):
            return ratios
        same = np.zeros(np.shape(given), bool)
        for line in lines:
            same |= (given == line) | (np.isnan(given) & np.isnan(line))
        if centre.dtype.kind == "f":
            same |= np.isinf(given) & (np.sign(given) * centre + radius > format_of(dtype).largest)
        return np.where(np.isfinite(given) & np.isfinite(centre), ratios, np.where(same, 0.0, np.inf))


def value_at(outcome: Outcome, step: StepNumber, slot: int, where: str, name: str) -> Value | None:
    """Return what an outcome has at a place, named as in `Bounds.radius`; ``None`` if there is no tensor."""
    if step is END:
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


def _upper(operand: Any) -> Any:
    """Return a rational bound on the size of complex elements: no part of a product of them is finer or larger than one of these."""
    return np.abs(operand.real) + np.abs(operand.imag) if np.iscomplexobj(operand) else operand


class _Tracker:
    """Watches a run in float64: whether all of its arithmetic is exact."""

    def __init__(self) -> None:
        self.largest = 1.0
        self.grain = 0
        self.rational = True

    def look(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> None:
        for part in out if isinstance(out, tuple) else (out,):
            self._measure(part)
        if primitive.error_scale is not None:
            self._measure(primitive.error_scale(out, *map(_upper, arrays), **attrs))

    def _measure(self, array: Any) -> None:
        values = np.asarray(array)
        if values.dtype.kind == "c":
            values = np.stack([values.real, values.imag])
        if values.dtype.kind != "f" or not self.rational:
            return
        values = values[np.isfinite(values)]  # infinities and NaN have no digits that could be lost
        if values.size == 0:
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

"""How far rounding can carry: the reference in float64, with and without one rounding per primitive.

The tolerance of a number is derived, never chosen. `Bounds` runs the case once in float64 (the centre) and `REPLICAS` times with the
output of every primitive, forward and backward, disturbed by one rounding of the tested dtype, relative to what that primitive's
rounding is relative to (its own result; the sum of absolute terms for sums and matrix products). The radius of a number is
`UNITS` times the root mean square of its displacements, plus as many roundings of the number itself.

Source: DESIGN's measurement on correct framework gradients (worst error 9.3 such units with intermediates below 1e4). All tolerance
numbers of the suite are in this module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends.reference import reference
from conformance.judge.branches import taking
from conformance.outcome import Computed, Raised, Value
from conformance.steps import ops
from reference_impl.primitive import Observation

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends import BackendInfo
    from conformance.case import Case
    from conformance.judge.branches import Branches
    from conformance.outcome import Outcome
    from reference_impl.primitive import Primitive

REPLICAS = 8
UNITS = 24.0
CHEAP_ROUNDINGS = 4.0
EXACT_BITS = {"float32": 24, "float64": 53}

Array = "np.ndarray[Any, Any]"


def agrees_cheaply(expected: Any, actual: Any) -> bool:
    """Whether two arrays are equal to a few roundings of each element: the test that settles most comparisons."""
    if np.array_equal(expected, actual, equal_nan=True):
        return True
    with np.errstate(all="ignore"):
        close = np.abs(expected - actual) <= CHEAP_ROUNDINGS * np.finfo(expected.dtype).eps * np.abs(expected)
        close &= np.isfinite(expected)
        return bool((close | (expected == actual) | (np.isnan(expected) & np.isnan(actual))).all())


@dataclass
class Bounds:
    """Centres and radii of every number of a case, and what was noticed on the way; on the branches that are ``forced``, if some are.

    ``near_kink``: a disturbance changed which branch an op took. ``exact``: every intermediate of the case is representable in the
    tested dtype in whatever order sums are taken, so that a correct engine must agree to the last bit.
    """

    case: Case
    info: BackendInfo
    forced: Branches | None = None
    centre: Outcome = field(init=False)
    replicas: list[Outcome] = field(init=False)
    near_kink: bool = field(init=False, default=False)
    exact: bool = field(init=False)

    def __post_init__(self) -> None:
        tracker = _Tracker()
        self.centre = self._run(tracker.observe)
        casts = [op.attrs["dtype"] for s in self.case.steps for op in ops(s) if op.op == "cast"]
        coarsest = min([*(i.dtype for i in self.case.inputs), *casts], default="float32")
        self.exact = tracker.exact_in(EXACT_BITS[coarsest])
        eps = float(np.finfo(coarsest).eps)
        self.replicas = []
        for seed in range(REPLICAS):
            disturber = _Disturber(eps, np.random.default_rng(seed), tracker.branches)
            self.replicas.append(self._run(disturber.observe))
            self.near_kink |= disturber.branched_off
        self.eps = eps

    def _run(self, observe: Callable[..., Any]) -> Outcome:
        backend = reference(self.info.dialect, self.info.not_offered, widen=True)
        Observation.observer = observe
        try:
            with np.errstate(all="ignore"), taking(self.forced):
                return backend.run(self.case)
        finally:
            Observation.observer = None

    def radius(self, step: int, slot: int, where: str, name: str = "") -> tuple[Any, Any] | None:
        """Return centre and radius of one tensor; ``None`` if it has no numbers.

        ``step`` -1 is the final state; ``where`` is ``result``, ``grad`` or ``event`` (of that ``name``: a run may have others).
        """
        centre = _value(self.centre, step, slot, where, name)
        if centre is None:
            return None
        moved = [_value(r, step, slot, where, name) for r in self.replicas]
        with np.errstate(all="ignore"):
            squares = [np.square(m.array - centre.array) for m in moved if m is not None]
            rms = np.sqrt(np.sum(squares, axis=0) / max(1, len(squares)))
            return centre.array, UNITS * (rms + self.eps * np.abs(centre.array))

    def accepts(self, actual: Any, step: int, slot: int, where: str, name: str = "") -> bool:
        """Whether an array is what rounding can make of the right answer."""
        found = self.radius(step, slot, where, name)
        if found is None:
            return False
        centre, radius = found
        with np.errstate(all="ignore"):
            close = (np.abs(actual - centre) <= radius) & np.isfinite(actual) & np.isfinite(centre)
            same = (actual == centre) | (np.isnan(actual) & np.isnan(centre))
            return bool((close | same).all())


def _value(outcome: Outcome, step: int, slot: int, where: str, name: str) -> Value | None:
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


class _Tracker:
    """Watches the undisturbed run: which branches it took, and whether all of its arithmetic is exact."""

    def __init__(self) -> None:
        self.branches: list[Any] = []
        self.largest = 1.0
        self.grain = 0
        self.rational = True

    def observe(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        if primitive.selects:
            self.branches.append(out)
        for part in out if isinstance(out, tuple) else (out,):
            self._measure(part)
        if primitive.magnitude is not None:
            self._measure(primitive.magnitude(out, *arrays, **attrs))
        return out

    def _measure(self, array: Any) -> None:
        values = np.asarray(array)
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


class _Disturber:
    """Adds one rounding to every primitive's output; notices where that changes a branch."""

    def __init__(self, eps: float, rng: np.random.Generator, branches: list[Any]) -> None:
        self.eps = eps
        self.rng = rng
        self.branches = iter(branches)
        self.branched_off = False

    def observe(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        if primitive.selects:
            before = next(self.branches, None)
            if before is None or before.shape != np.shape(out):
                self.branched_off = True
                return out
            # The radius is that of the branch that was taken: one that spanned two branches would accept all that lies between them.
            self.branched_off |= not np.array_equal(before, out, equal_nan=True)
            return before
        if primitive.rounds == 0 or isinstance(out, tuple):
            return out
        scale = np.abs(out) if primitive.magnitude is None else primitive.magnitude(out, *arrays, **attrs)
        noise = self.rng.uniform(-1.0, 1.0, np.shape(out))
        return (out + noise * scale * (primitive.rounds * self.eps)).astype(out.dtype, copy=False)

"""The numerical law: an engine's gradients are the derivatives of its own forward values.

This is the gradient check that every engine's own tests have (`torch.autograd.gradcheck`), as a metamorphic relation: the follow-up
case has a copy of the script for each node of a line through the inputs, and `reference_impl.numerical` takes central differences of
what the engine itself computes there. A gradient check with a fixed step and a fixed tolerance passes wrong gradients or fails right
ones; here the differences come with a bound of their own error. The law is unsettled unless they are known to half of the digits, for
the second derivative too, which diverges at a kink. Kinks may cancel: ``sign(x) * abs(x)`` is ``x``, while at 0 its gradient is made of
slopes that are conventions there. So it is unsettled, too, where the gradients hang on the side of a kink.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.case import Case, input_of
from conformance.case.outcome import Value
from conformance.case.rewrite import in_dtype, rename
from conformance.case.steps import Op, results
from conformance.compare.kinks import hangs_on_a_side
from conformance.laws.relation import Answer, Evidence, Place, Status, Term, refusal_of
from conformance.laws.subject import CaseBuilder, Trial
from conformance.ops.dtypes import DOUBLE
from reference_impl.numerical import EPSILON, Sample, derivative, nodes, sample

if TYPE_CHECKING:
    from conformance.case.case import Input
    from conformance.case.steps import Step
    from conformance.laws.subject import Subject

SHARP = math.sqrt(EPSILON)


@dataclass(frozen=True, slots=True)
class Slope:
    """``sum_k <gradient_k, direction_k>`` is the slope at 0 of ``t -> sum_r <seed_r, root_r(t)>``, both ``Re <conj(a), b>``.

    ``gradients`` pairs the places with the directions; ``line`` has, for each node, the places of the roots; ``points`` the inputs.
    """

    gradients: tuple[Term, ...]
    line: dict[float, tuple[Place, ...]]
    seeds: tuple[Any, ...]
    points: tuple[Any, ...]

    def settle(self, evidence: Evidence) -> Answer:
        """Say whether it holds."""
        seen = [evidence.seen(t.place) for t in self.gradients]
        refusal = refusal_of(seen)
        if refusal is not None:
            return refusal
        there = [(t, v) for t, v in zip(self.gradients, seen, strict=True) if isinstance(v, Value)]
        if any(v.array.shape != t.pairing.shape for t, v in there):
            return Answer(Status.BROKEN, f"shapes {[v.array.shape for _, v in there]}")
        samples = {t: self._sample(evidence, places) for t, places in self.line.items()}
        if any(s is None for s in samples.values()):
            return Answer(Status.UNSETTLED, "a value on the line is missing")
        estimates = [derivative(lambda t: samples[t] or Sample(math.nan, 0.0), order) for order in (1, 2)]
        if not all(e.is_sharp(SHARP) for e in estimates):
            return Answer(
                Status.UNSETTLED, f"the slope is known only within {estimates[0].error:.1g}, the next within {estimates[1].error:.1g}"
            )
        value = math.fsum(float(t.of(v.array)) for t, v in there)
        if not math.isfinite(value) or estimates[0].agrees_with(value):
            return Answer(Status.HELD) if math.isfinite(value) else Answer(Status.BROKEN, f"{value} where the slope is finite")
        return self._within_rounding(evidence, [t for t, _ in there], value - estimates[0].value, estimates[0].error)

    def _sample(self, evidence: Evidence, places: tuple[Place, ...]) -> Sample | None:
        found = [evidence.seen(p) for p in places]
        arrays = [v.array for v in found if isinstance(v, Value)]
        if len(arrays) < len(places) or any(a.shape != s.shape for a, s in zip(arrays, self.seeds, strict=True)):
            return None
        return sample(self.points, self.seeds, arrays)

    def _within_rounding(self, evidence: Evidence, terms: list[Term], off: float, error: float) -> Answer:
        bounds = evidence.bounds(0)
        found = [bounds.radius(t.place.step, t.place.slot, t.place.where) for t in terms]
        if any(radius is None for radius in found):
            return Answer(Status.UNSETTLED, "no bound can be derived")
        allowed = error + sum(float(t.of(r[1], absolute=True)) for t, r in zip(terms, found, strict=True) if r is not None)
        if abs(off) <= allowed:
            return Answer(Status.HELD)
        if bounds.near_kink or not math.isfinite(allowed):
            return Answer(Status.UNSETTLED, "rounding can change which branch an op takes")
        if any(hangs_on_a_side(evidence.promise(0), t.place.step, t.place.slot, t.place.where) for t in terms):
            return Answer(Status.UNSETTLED, "the point is a kink of what the values were made from")
        return Answer(Status.BROKEN, f"the gradients miss the slope of the engine's own values by {off:.3g}, allowed are {allowed:.3g}")


def slope_of_its_own_values(s: Subject) -> Trial | None:
    """Demand that the gradients of a numeric case, taken in float64, are the central differences of the engine's own values.

    It does not apply where a cast would round the values, nor where a value is cut off or a variance is raised to its least value:
    there the values depend on what the gradient leaves out on purpose.
    """
    if s.lane == "exact" or s.cut or not set(s.roots).isdisjoint(s.leaves):
        return None
    if any(isinstance(step, Op) and (step.op == "cast" or _bounded_variance(s, step)) for step in s.steps):
        return None
    inputs = tuple(in_dtype(i, DOUBLE) for i in s.inputs)
    builder = CaseBuilder(s)
    builder.inputs = list(inputs)
    seeds = [_wide(s.numbers(r)) for r in s.roots]
    places = builder.gradients(builder.seeds(seeds))
    directions = {n: _wide(s.numbers(n)) for n in s.leaves}
    longest = max(float(np.abs(d).max()) for d in directions.values())
    directions = {n: d / longest for n, d in directions.items()}
    copies = _Copies(s, inputs)
    line = {t: copies.add(k, t, directions) for k, t in enumerate(nodes())}
    gradients = tuple(Term(place, pairing=directions[n]) for place, n in zip(places, s.leaves, strict=True))
    points = tuple(i.array() for i in inputs)
    return Trial((builder.case(), copies.case()), (Slope(gradients, line, tuple(seeds), points),))


def _bounded_variance(s: Subject, step: Op) -> bool:
    """Return whether `gaussian_nll_loss` raises a variance to ``eps``, of which its gradient says nothing (documented by PyTorch)."""
    return step.op == "gaussian_nll_loss" and bool(np.any(_wide(s.seen[step.operands[2]].array) ** 2 < step.attrs["eps"]))


def _wide(array: Any) -> Any:
    return array.astype(DOUBLE.get(str(array.dtype), array.dtype))


class _Copies:
    """One script with a copy of the subject for each node."""

    def __init__(self, subject: Subject, inputs: tuple[Input, ...]) -> None:
        self.subject = subject
        self.inputs = [i for i in inputs if i.name not in subject.leaves]
        self.moved = [i for i in inputs if i.name in subject.leaves]
        self.steps: list[Step] = []

    def add(self, number: int, t: float, directions: dict[str, Any]) -> tuple[Place, ...]:
        """Add the copy at one node; return the places of its roots."""
        made = {name for step in self.subject.steps for name in results(step)}
        names = {name: f"{name}_{number}" for name in (*made, *self.subject.leaves)}
        for leaf in self.moved:
            array = leaf.array() + t * directions[leaf.name]
            self.inputs.append(input_of(names[leaf.name], array, differentiable=True))
        start = len(self.steps)
        self.steps += [rename(step, names) for step in self.subject.steps]
        places = {n: Place(1, start + i, k) for i, step in enumerate(self.subject.steps) for k, n in enumerate(results(step))}
        return tuple(places[r] for r in self.subject.roots)

    def case(self) -> Case:
        """Return the script."""
        return Case(tuple(self.inputs), tuple(self.steps), self.subject.observed.case.lane)

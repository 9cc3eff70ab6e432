"""The numerical oracle of a case: what a call must answer, from forwards alone.

A call answers the gradient of ``<seeds, roots>``, so the number that it gives for one element (or one direction) is the slope of that
pairing along a straight line. `slope` moves one value of the script by ``t d`` (an input ``nudge`` is added to it, and everything that
came from it takes the sum), runs the script again in float64 and takes high-order central differences of the pairing
(`reference_impl.numerical`). What autograd holds constant is held here: inputs that need no gradient, detached values, results inside
``no_grad``, derivatives without a graph, ``no_grad_vars``. A derivative of a derivative is the slope of the first derivative as the
engine computes it.

Where a script's gradient is not that of its forward on purpose (custom functions, hooks that answer something, in-place updates,
changed flags, batches of seeds, bounds that are not differentiated) the oracle says that it cannot tell. Near a kink it is not sharp: a
rule that takes another branch at a moved point makes that point useless.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case.case import Case, input_of
from conformance.case.outcome import Computed
from conformance.case.rewrite import cut, each_op, in_dtypes, interpose, with_steps
from conformance.case.steps import AppendBackward, Call, Custom, Detach, Edge, Grad, Hook, InPlace, Op, SetRequiresGrad, results
from conformance.ops.dtypes import DOUBLE, WIDE
from reference_impl.numerical import Estimate, Sample, derivative
from reference_impl.primitives.distances import at_least

if TYPE_CHECKING:
    from conformance.backends import Backend
    from conformance.case.case import Input
    from conformance.case.outcome import Outcome
    from conformance.case.steps import Step
    from conformance.compare.promise import Promise

NUDGE, MOVED = "nudge_", "moved_"
BEYOND: dict[type, str] = {
    Custom: "a custom function",
    InPlace: "an in-place update",
    SetRequiresGrad: "a changed flag",
    Edge: "an edge",
    Hook: "a hook that answers something",
}
"""Kinds of step with which a script's gradient need not be that of its forward."""


class SilentError(Exception):
    """The oracle cannot tell; the message says why."""


def _call(case: Case, number: int) -> Call:
    step = case.steps[number]
    if isinstance(step, Grad) and step.is_grads_batched:
        msg = "the call has a batch of seeds"
        raise SilentError(msg)
    if not isinstance(step, Call) or (isinstance(step, AppendBackward) and step.by_name):
        msg = "the step is no call of autograd"
        raise SilentError(msg)
    return step


def slope(promise: Promise, number: int, name: str, direction: np.ndarray[Any, Any], forward: Backend | None = None) -> Estimate:
    """Return the derivative of the pairing of a call in the value ``name``, along a direction of its shape, real or complex.

    ``forward``: whose forwards are used, in float64; the reference's if not given.

    Raises:
        SilentError: if the script has what this oracle does not know, or the value is not there.
    """
    case = promise.case
    call = _call(case, number)
    if not {*(getattr(call, "constants", None) or ())}.isdisjoint(call.roots):
        msg = "a root is among the constants: it brings its own seed, but is no way for that of another"
        raise SilentError(msg)
    for step in case.steps[:number]:
        _refuse(step)
    computed = any(isinstance(step, Op) and name in results(step) for step in case.steps[:number])
    if computed and any(isinstance(step, Grad) and step.create_graph for step in case.steps[:number]):
        msg = f"whether a derivative depends on {name}, or on what it was computed from, is a matter of how its formula is written"
        raise SilentError(msg)
    base = _values(case, promise.widened)
    given = call.seeds or (None,) * len(call.roots)
    seeds = {root: _seed(base, root, seed) for root, seed in zip(call.roots, given, strict=True)}
    if len(seeds) < len(call.roots) or name not in base:
        msg = "a root stands twice in the call" if name in base else f"{name} was not computed"
        raise SilentError(msg)
    script = NudgedCase(case, number, name, base, linked=promise.info.dialect.static)
    branches, _ = _watched(promise.of(script.at(0.0 * direction)))

    def phi(t: float) -> Sample:
        moved = script.at(t * direction)
        taken, seen = _watched(promise.of(moved))
        if not _same(taken, branches):
            return Sample(math.nan, math.inf)
        values = _values(moved, seen if forward is None else forward.run(moved))
        return _pairing(values, {script.renamed(root): seed for root, seed in seeds.items()})

    size = float(np.abs(direction).max()) if direction.size else 0.0
    return derivative(functools.cache(phi), 1, size) if size else Estimate(0.0, 0.0)


def _refuse(step: Step) -> None:
    for kind, word in BEYOND.items():
        if isinstance(step, kind) and not (isinstance(step, Hook) and step.returns == "nothing"):
            msg = f"the script has {word}, which is no matter of forwards"
            raise SilentError(msg)


class NudgedCase:
    """A script with a nudge: everything after the value takes the sum; what autograd holds constant is an input."""

    def __init__(self, case: Case, number: int, name: str, base: dict[str, Any], *, linked: bool) -> None:
        self.name = name
        constants = frozenset(getattr(case.steps[number], "constants", None) or ())
        held = [i for i, step in enumerate(case.steps[:number]) if _is_constant(step, constants, linked=linked)]
        frozen = [n for i in held for n in results(case.steps[i]) if n in base]
        if name in frozen or name in constants or any(entry.name == name and not entry.differentiable for entry in case.inputs):
            msg = f"autograd holds {name} constant"
            raise SilentError(msg)
        upto = in_dtypes(with_steps(case, case.steps[: number + 1]), DOUBLE)
        self._rest = each_op(cut(upto, held, (_input(n, base[n]) for n in frozen)), _with_wide_cast)
        *before, call = self._rest.steps
        nudged = Op("add", (name, NUDGE), (MOVED + name,))
        self._steps = interpose([*(s for s in before if isinstance(s, Op | Grad | AppendBackward)), call], name, nudged)

    def renamed(self, name: str) -> str:
        """Return under which name a value is used."""
        return MOVED + name if name == self.name else name

    def at(self, nudge: np.ndarray[Any, Any]) -> Case:
        """Return the script with this nudge."""
        return Case((*self._rest.inputs, _input(NUDGE, nudge)), self._steps)


def _with_wide_cast(op: Op | InPlace) -> Op | InPlace:
    if op.op != "cast":
        return op
    return msgspec.structs.replace(op, attrs={**op.attrs, "dtype": WIDE[np.dtype(op.attrs["dtype"]).kind]})


def _is_constant(step: Step, constants: frozenset[str], *, linked: bool) -> bool:
    """Whether autograd holds the results constant; ``linked``: every derivative has a graph, as in programs."""
    held = isinstance(step, Detach) or (isinstance(step, Grad) and not step.create_graph and not linked)
    return held or (isinstance(step, Op) and (step.no_grad or not constants.isdisjoint(step.results)))


def _input(name: str, array: Any) -> Input:
    return input_of(name, np.asarray(array, WIDE[np.asarray(array).dtype.kind]))


def _values(case: Case, outcome: Outcome) -> dict[str, Any]:
    values: dict[str, Any] = {i.name: i.array() for i in case.inputs}
    for step, seen in zip(case.steps, outcome.observations, strict=True):
        if isinstance(seen, Computed):
            values.update((n, v.array) for n, v in zip(results(step), seen.values, strict=False) if v is not None)
    return values


def _seed(base: dict[str, Any], root: str, seed: str | None) -> Any:
    if root not in base or (seed is not None and seed not in base):
        msg = f"{root if root not in base else seed} was not computed"
        raise SilentError(msg)
    return np.ones_like(base[root]) if seed is None else base[seed]


def _pairing(values: dict[str, Any], seeds: dict[str, Any]) -> Sample:
    """Return ``Re sum_k conj(seed_k) root_k``; its rounding is relative to the largest number that was met on the way."""
    if not all(root in values and np.shape(values[root]) == np.shape(seed) for root, seed in seeds.items()):
        return Sample(math.nan, math.inf)
    with np.errstate(all="ignore"):
        terms = np.concatenate([np.ravel(np.real(np.conjugate(seed) * values[root])) for root, seed in seeds.items()]).astype(
            np.float64
        )
        largest = max((float(np.abs(a).max()) for a in values.values() if np.size(a)), default=0.0)
    if not np.isfinite(terms).all():
        return Sample(math.nan, math.inf)
    return Sample(math.fsum(terms), float(np.abs(terms).sum()) + largest)


def _watched(promise: Promise) -> tuple[list[Any], Outcome]:
    """Run the reference in float64, with an eye on the branches that rules and forwards take.

    Raises:
        SilentError: if a number meets a bound that derivatives ignore on purpose.
    """
    taken: list[Any] = []
    ignored = False

    def observe(primitive: Any, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:  # noqa: ARG001 - the observer's form
        nonlocal ignored
        if primitive.branch_sides:
            taken.append(np.array(out))
        ignored |= primitive is at_least and not np.array_equal(out, arrays[0], equal_nan=True)
        return out

    outcome = promise.run(observe, widen=True)
    if ignored:
        msg = "a number is less than a bound that its derivative ignores"
        raise SilentError(msg)
    return taken, outcome


def _same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))

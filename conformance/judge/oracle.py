"""The numerical oracle of a case: what a call must answer, from forwards alone.

A call answers the gradient of ``<seeds, roots>``, so the number that it gives for one element (or one direction) is the slope of that
pairing along a straight line. `slope` moves one value of the script by ``t d`` (an input ``nudge`` is added to it, and everything that
came from it takes the sum), runs the script again in float64 and takes high-order central differences of the pairing
(`reference_impl.numerical`). What autograd holds constant is held here: detached values, results inside ``no_grad``, derivatives
without a graph, ``no_grad_vars``. A derivative of a derivative is the slope of the first derivative as the engine computes it.

Where a script's gradient is not that of its forward on purpose (custom functions, hooks that answer something, in-place updates,
changed flags, batches of seeds) the oracle says that it cannot tell. Near a kink it is not sharp: a rule that takes another branch at
a moved point makes that point useless.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.backends.reference import WIDE, reference
from conformance.case import Case, Input, data_of
from conformance.judge.branches import observing
from conformance.outcome import Computed
from conformance.steps import AppendBackward, Backward, Custom, Detach, Edge, Grad, Hook, InPlace, Op, Toggle, results
from reference_impl.numerical import Estimate, Sample, derivative

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends import Backend, BackendInfo
    from conformance.outcome import Outcome
    from conformance.steps import Step

NUDGE, MOVED = "nudge_", "moved_"
BEYOND: dict[type, str] = {
    Custom: "a custom function",
    InPlace: "an in-place update",
    Toggle: "a changed flag",
    Edge: "an edge",
    Hook: "a hook that answers something",
}
"""Kinds of step with which a script's gradient need not be that of its forward."""
CALLS = (AppendBackward, Backward, Grad)


class SilentError(Exception):
    """The oracle cannot tell; the message says why."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as a question: the pairing of these roots with these seeds."""

    roots: tuple[str, ...]
    seeds: tuple[str | None, ...]
    constants: frozenset[str]


def call_of(step: Step) -> Call:
    """Read a call.

    Raises:
        SilentError: if the step is no call, or one of a batch.
    """
    match step:
        case Grad() if step.is_grads_batched:
            msg = "the call has a batch of seeds"
            raise SilentError(msg)
        case Grad():
            return Call(step.outputs, step.grad_outputs or (None,) * len(step.outputs), frozenset(step.no_grad_vars or ()))
        case Backward():
            given = step.grad_variables if step.grad_tensors is None else step.grad_tensors
            return Call(step.tensors, given or (None,) * len(step.tensors), frozenset())
        case AppendBackward() if not step.by_name:
            return Call((step.loss,), (None,), frozenset(step.no_grad_set or ()))
        case _:
            msg = "the step is no call of autograd"
            raise SilentError(msg)


def slope(
    case: Case, number: int, name: str, direction: np.ndarray[Any, Any], info: BackendInfo, forward: Backend | None = None
) -> Estimate:
    """Return the derivative of the pairing of a call in the value ``name``, along a direction of its shape, real or complex.

    ``forward``: whose forwards are used, in float64; the reference's if not given.

    Raises:
        SilentError: if the script has what this oracle does not know, or the value is not there.
    """
    call = call_of(case.steps[number])
    for step in case.steps[:number]:
        _refuse(step)
    computed = any(isinstance(step, Op) and name in results(step) for step in case.steps[:number])
    if computed and any(isinstance(step, Grad) and step.create_graph for step in case.steps[:number]):
        msg = f"whether a derivative depends on {name}, or on what it was computed from, is a matter of how its formula is written"
        raise SilentError(msg)
    widened = reference(info.dialect, info.not_offered, widen=True)
    base = _values(case, widened.run(case))
    seeds = {root: _seed(base, root, seed) for root, seed in zip(call.roots, call.seeds, strict=True)}
    if len(seeds) < len(call.roots) or name not in base:
        msg = "a root stands twice in the call" if name in base else f"{name} was not computed"
        raise SilentError(msg)
    script = _Script(case, number, name, base, call.constants, linked=info.dialect.static)
    branches = _branches(functools.partial(widened.run, script.at(0.0 * direction)))

    def phi(t: float) -> Sample:
        moved = script.at(t * direction)
        taken, seen = _watched(functools.partial(widened.run, moved))
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


class _Script:
    """A script with a nudge: everything after the value takes the sum; what autograd holds constant is an input."""

    def __init__(self, case: Case, number: int, name: str, base: dict[str, Any], constants: frozenset[str], *, linked: bool) -> None:
        self.name = name
        kept: list[Step] = []
        frozen: list[str] = []
        entries = [msgspec.structs.replace(_entry(e.name, e.array()), differentiable=e.differentiable) for e in case.inputs]
        nudged = Op("add", (name, NUDGE), (MOVED + name,))
        if any(e.name == name for e in case.inputs):
            kept.append(nudged)
        for i, step in enumerate(case.steps[: number + 1]):
            made = results(step)
            if i < number and _is_constant(step, constants, linked=linked):
                frozen += [n for n in made if n in base]
            elif i == number or isinstance(step, Op | Grad | AppendBackward):
                kept.append(self._moved(step))
            if name in made and name not in frozen:
                kept.append(nudged)
        entries += [_entry(n, base[n]) for n in frozen]
        self.entries = tuple(entries)
        self.steps = tuple(kept)
        self.shape = base[name].shape

    def renamed(self, name: str) -> str:
        return MOVED + name if name == self.name else name

    def _moved(self, step: Step) -> Step:
        changed: dict[str, Any] = {}
        for field in step.NAMES:
            held = getattr(step, field)
            if isinstance(held, str):
                changed[field] = self.renamed(held)
            elif held is not None:
                changed[field] = tuple(None if n is None else self.renamed(n) for n in held)
        if isinstance(step, Op) and step.op == "cast":
            changed["attrs"] = {**step.attrs, "dtype": WIDE[np.dtype(step.attrs["dtype"]).kind]}
        return msgspec.structs.replace(step, **changed)

    def at(self, nudge: np.ndarray[Any, Any]) -> Case:
        return Case((*self.entries, _entry(NUDGE, nudge)), self.steps)


def _is_constant(step: Step, constants: frozenset[str], *, linked: bool) -> bool:
    """Whether autograd holds the results constant; ``linked``: every derivative has a graph, as in programs."""
    held = isinstance(step, Detach) or (isinstance(step, Grad) and not step.create_graph and not linked)
    return held or (isinstance(step, Op) and (step.no_grad or not constants.isdisjoint(step.results)))


def _entry(name: str, array: Any) -> Input:
    return Input(name, np.shape(array), data_of(array), WIDE[np.asarray(array).dtype.kind], differentiable=False)


def _values(case: Case, outcome: Outcome) -> dict[str, Any]:
    values: dict[str, Any] = {entry.name: entry.array() for entry in case.inputs}
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


def _watched(run: Callable[[], Outcome]) -> tuple[list[Any], Outcome]:
    """Run with an eye on the branches that rules and forwards take."""
    taken: list[Any] = []

    def observe(primitive: Any, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:  # noqa: ARG001 - the observer's form
        if primitive.selects:
            taken.append(np.array(out))
        return out

    with np.errstate(all="ignore"), observing(observe):
        return taken, run()


def _branches(run: Callable[[], Outcome]) -> list[Any]:
    return _watched(run)[0]


def _same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))

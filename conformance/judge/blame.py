"""Blame: who is wrong where an engine and the reference differ, by votes.

Voters are the reference in higher precision, every other backend whose dialect promises the same, the numerical oracle over the
reference's forwards and over the accused engine's own, and the laws that the engine breaks by itself. Each says *right*, *wrong* or
*cannot tell* of the accused and of the reference. A difference that is no matter of numbers (a refusal, a flag, an absence) has no
oracle; the other backends vote, and the switches of the dialect say on which convention the promise rests.

The numerical oracle knows no rule. Where it is sharp and contradicts the reference, the suite is at fault, whoever else agrees.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conformance.backends.reference import WIDE, reference
from conformance.judge.compare import AFTER_ALL, Comparer
from conformance.judge.disturbance import Bounds, agrees_cheaply
from conformance.judge.known import excuse, explain
from conformance.judge.node import first_node
from conformance.judge.oracle import SilentError, slope
from conformance.outcome import Computed, Raised
from conformance.steps import Backward, Grad, Hook, Op, results
from reference_impl import OPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.backends import Backend
    from conformance.case import Case
    from conformance.judge.compare import Mismatch
    from conformance.outcome import Outcome
    from reference_impl.numerical import Estimate

ELEMENTS = 3
"""How many elements of a gradient the oracle is asked for: those that differ most."""
ORACLES = ("numerical derivative of the reference's forward", "numerical derivative of its own forward")


class Opinion(StrEnum):
    """What a voter says of one of the two."""

    RIGHT = "right"
    WRONG = "wrong"
    SILENT = "cannot tell"


@dataclass(frozen=True, slots=True)
class Vote:
    """One voter's opinion of the accused engine and of the reference, with the reason."""

    voter: str
    accused: Opinion
    reference: Opinion
    reason: str


@dataclass(frozen=True, slots=True)
class Blame:
    """``who``: ``accused``, ``reference`` or ``unclear``; ``node``: the first wrong op of the reverse pass, or why none is named."""

    who: str
    votes: tuple[Vote, ...]
    node: str


@dataclass(frozen=True)
class Dispute:
    """A difference and what was observed: what a voter is told."""

    case: Case
    accused: Backend
    expected: Outcome
    actual: Outcome
    found: Mismatch
    others: Sequence[Backend] = field(default=())

    @cached_property
    def bounds(self) -> Bounds:
        """The derived tolerances of the case; every voter on numbers asks for them."""
        return Bounds(self.case, self.accused.info)


Voter: TypeAlias = "Callable[[Dispute], Vote]"


def blame(case: Case, accused: Backend, others: Sequence[Backend] = (), voters: Sequence[Voter] = ()) -> Blame | None:
    """Run a case again and let everybody vote on its first difference that nobody knows, or else on its first known one.

    ``voters``: further ones, such as the laws. ``None`` if nothing differs.
    """
    info = accused.info
    expected = reference(info.dialect, info.not_offered).run(case)
    actual = accused.run(case)
    compared = Comparer(case, info).run(expected, actual, excuse(case, info))
    found = compared.mismatch or next((mismatch for mismatch, _ in compared.known), None)
    if found is None:
        return None
    dispute = Dispute(case, accused, expected, actual, found, others)
    votes = tuple(_votes(dispute, voters))
    return Blame(who(votes), votes, first_node(case, accused, found))


def who(votes: Sequence[Vote]) -> str:
    """Count the votes; a numerical oracle that contradicts the reference outweighs all others."""
    if any(v.voter in ORACLES and v.reference is Opinion.WRONG for v in votes):
        return "reference"
    said = {v.accused for v in votes}
    if Opinion.WRONG in said and Opinion.RIGHT not in said:
        return "accused"
    return "unclear"


def _votes(dispute: Dispute, voters: Sequence[Voter]) -> Iterator[Vote]:
    yield _in_higher_precision(dispute)
    for other in dispute.others:
        yield _of(other, dispute)
    if dispute.found.kind == "value":
        yield _numerically(dispute, ORACLES[0], None)
        yield _numerically(dispute, ORACLES[1], dispute.accused)
    for voter in voters:
        yield voter(dispute)


def _silent(voter: str, reason: str) -> Vote:
    return Vote(voter, Opinion.SILENT, Opinion.SILENT, reason)


def _opinion(holds: bool) -> Opinion:
    return Opinion.RIGHT if holds else Opinion.WRONG


def _in_higher_precision(dispute: Dispute) -> Vote:
    name, found = "reference in float64", dispute.found
    if found.kind != "value":
        return _silent(name, "no oracle: the difference is none of numbers")
    bounds = dispute.bounds
    if bounds.near_kink:
        return _silent(name, "a rounding away from a kink")
    place = (found.step, found.slot, found.where, found.name)
    accused, right = (_opinion(bounds.accepts(array, *place)) for array in (found.got, found.wanted))
    return Vote(
        name, accused, right, "within what rounding can do of it" if accused is Opinion.RIGHT else "beyond what rounding can do"
    )


def _of(other: Backend, dispute: Dispute) -> Vote:
    """Ask a backend that promises the same: whether it keeps the promise, or does what the accused does."""
    found, info, case = dispute.found, other.info, dispute.case
    promised = reference(info.dialect, info.not_offered).run(case)
    seen = other.run(case)
    if not _same_promise(dispute, promised):
        return _silent(info.name, "its dialect promises something else here, or it does not offer the step")
    mine = [m for m in Comparer(case, info).differences(promised, seen) if m.step == found.step]
    same_place = [m for m in mine if (m.where, m.slot) == (found.where, found.slot)]
    if not same_place:
        if any(m.where == "step" for m in mine):
            return _silent(info.name, "it differs from its own promise at this step in another way")
        return Vote(info.name, Opinion.WRONG, Opinion.RIGHT, "promises the same, and keeps it")
    if explain(info, case, same_place[0]) is not None:
        return _silent(info.name, "has a known deviation of its own here")
    if (same_place[0].kind, same_place[0].actual) == (found.kind, found.actual) and _alike(same_place[0], found):
        return Vote(info.name, Opinion.RIGHT, Opinion.WRONG, "promises the same, and does as the accused does")
    return _silent(info.name, "differs from both")


def _same_promise(dispute: Dispute, promised: Outcome) -> bool:
    """Whether the reference predicts for another dialect what it predicts for that of the accused."""
    theirs: Iterator[Mismatch] = Comparer(dispute.case, dispute.accused.info).differences(dispute.expected, promised)
    if dispute.found.kind != "flag":  # who requires a gradient changes no number and no refusal
        theirs = (m for m in theirs if m.kind != "flag")
    upto = len(dispute.case.steps) if dispute.found.step == AFTER_ALL else dispute.found.step
    return not any(m.step in range(upto + 1) or m.step == AFTER_ALL == dispute.found.step for m in theirs)


def _alike(one: Mismatch, other: Mismatch) -> bool:
    if one.got is None or other.got is None:
        return one.got is other.got
    return one.got.shape == other.got.shape and agrees_cheaply(one.got, other.got)


def _numerically(dispute: Dispute, voter: str, forward: Backend | None) -> Vote:
    try:
        name, wanted, got = _gradient(dispute)
        radius = _radius(dispute, got.shape)
        if np.iscomplexobj(wanted):  # an element is two numbers: the slopes along 1 and along i
            wanted, got, radius = OPS["as_real"](wanted), OPS["as_real"](got), np.stack([radius, radius], axis=-1)
        answers = [(wanted[place], got[place], radius[place], _slope(dispute, name, place, forward)) for place in _worst(wanted, got)]
    except SilentError as error:
        return _silent(voter, str(error))
    accused, right = (_judged([(a[i], a[2], a[3]) for a in answers]) for i in (1, 0))
    worst = answers[0]
    return Vote(voter, accused, right, f"{worst[3].value:.9g} with an error below {worst[3].error:.2g}; got {worst[1]:.9g}")


def _judged(answers: list[tuple[Any, Any, Estimate]]) -> Opinion:
    if not all(np.isfinite(estimate.error) for _, _, estimate in answers):
        return Opinion.SILENT
    return _opinion(all(abs(value - estimate.value) <= estimate.error + radius for value, radius, estimate in answers))


def _slope(dispute: Dispute, name: str, place: tuple[int, ...], forward: Backend | None) -> Estimate:
    wanted = dispute.found.wanted
    direction = np.zeros(wanted.shape, WIDE[wanted.dtype.kind])
    if np.iscomplexobj(wanted):
        *at, part = place
        direction[tuple(at)] = (1.0, 1j)[part]
    else:
        direction[place] = 1.0
    return slope(dispute.case, dispute.found.step, name, direction, dispute.accused.info, forward)


def _worst(wanted: Any, got: Any) -> list[tuple[int, ...]]:
    with np.errstate(all="ignore"):
        off = np.abs(wanted - got)
    off = np.where(np.isnan(off), np.where(np.isnan(wanted) & np.isnan(got), 0.0, np.inf), off)
    order = np.argsort(off, axis=None)[::-1][:ELEMENTS]
    return [tuple(int(i) for i in np.unravel_index(flat, off.shape)) for flat in order if off.flat[flat] > 0]


def _gradient(dispute: Dispute) -> tuple[str, Any, Any]:
    """Return of which value the difference is a gradient, and what the call alone gave it on either side."""
    found, case = dispute.found, dispute.case
    step = case.steps[found.step] if found.step >= 0 else None
    wanted, got = (a.astype(WIDE[a.dtype.kind]) for a in (found.wanted, found.got))
    if found.where == "result" and isinstance(step, Grad):
        return step.inputs[found.slot], wanted, got
    if found.where == "event" and isinstance(step, Grad | Backward):
        hooked = {s.results[0]: s.tensor for s in case.steps if isinstance(s, Hook)}
        if found.name in hooked:
            return hooked[found.name], wanted, got
    if found.where == "grad" and isinstance(step, Backward):
        before = [_held(outcome, found) for outcome in (dispute.expected, dispute.actual)]
        if not _replaces(dispute):
            return found.name, wanted - before[0], got - before[1]
        if not np.array_equal(wanted, before[0]):
            return found.name, wanted, got
        msg = "whether this call reached the tensor cannot be seen from a .grad that is replaced"
        raise SilentError(msg)
    msg = "a forward, or a state that several calls made: no gradient of one call"
    raise SilentError(msg)


def _held(outcome: Outcome, found: Mismatch) -> Any:
    """Return what a ``.grad`` held before a step, 0 if it was absent."""
    for seen in reversed(outcome.observations[: found.step]):
        if isinstance(seen, Computed | Raised) and seen.state is not None:
            value = seen.state[found.slot]
            return 0.0 if value is None else value.array.astype(WIDE[value.array.dtype.kind])
    return 0.0


def _replaces(dispute: Dispute) -> bool:
    made = {name for step in dispute.case.steps for name in results(step) if isinstance(step, Op)}
    return dispute.accused.info.dialect.retained == "replaced" and dispute.found.name in made


def _radius(dispute: Dispute, shape: tuple[int, ...]) -> Any:
    """Return how far rounding of the tested dtype may carry each element."""
    found = dispute.found
    radius = dispute.bounds.radius(found.step, found.slot, found.where, found.name)
    return np.zeros(shape) if radius is None else np.nan_to_num(radius[1], nan=0.0, posinf=0.0)

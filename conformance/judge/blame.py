"""Blame: who is wrong where an engine and the reference differ, by votes.

A difference between two engines does not say which of them errs, and a suite that always accuses the engine accuses it of its own
mistakes. So everybody who can tell votes: the reference in higher precision, every other backend whose dialect promises the same, the
numerical oracle over the reference's forwards and over the accused engine's own, and the laws that the engine breaks by itself. Each
says *right*, *wrong* or *cannot tell* of the accused and of the reference. Where the difference is no matter of numbers (a refusal, a
flag, an absence) the grounds of the promise vote (`conformance.judge.grounds`), and of an absence the oracle tells whether there is a
derivative. A broken law and a process that a refusal damaged are differences of their own (`conformance.laws.votes`,
`conformance.judge.poison`).

The numerical oracle knows no rule. Where it is sharp on the reference's own forward and contradicts the reference, the suite is at
fault, whoever else agrees. On the engine's forward it says of the engine alone whether its gradient is that of what it computes:
another forward, such as an approximation of ``erf``, has another derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conformance.case.outcome import Raised, grad_added, grad_before
from conformance.case.place import END
from conformance.case.steps import Backward, Grad, Hook, Op, results
from conformance.compare.compare import Comparer
from conformance.compare.following import changed, follow
from conformance.compare.kinks import SecondLook
from conformance.compare.promise import Promise
from conformance.compare.rounding import agrees_cheaply
from conformance.deviations.explain import excuse, explain, scripts_instead
from conformance.judge.dispute import Blame, Dispute, Opinion, Vote, opinion, silent
from conformance.judge.grounds import GROUNDS
from conformance.judge.localisation import first_node
from conformance.judge.oracle import SilentError, slope
from conformance.judge.written_out import written_out
from conformance.ops.dtypes import WIDE
from reference_impl import OPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.compare.mismatch import Mismatch
    from reference_impl.numerical import Estimate

ELEMENTS_PER_VOTE = 3
"""How many elements of a gradient the oracle is asked for: those that differ most."""
ORACLES = ("numerical derivative of the reference's forward", "numerical derivative of its own forward")
LAW_ITSELF = "the law itself"
"""The voter that tries a broken law on the accused, and on the reference."""
SEVERAL_CALLS = "a forward, or a state that several calls made: no gradient of one call"
BEFORE_A_REFUSAL = "what a call has reached before it is refused is a matter of the order of nodes, not of derivatives"

Voter: TypeAlias = "Callable[[Dispute], Vote]"


def blame(case: Case, accused: Backend, others: Sequence[Backend] = (), voters: Sequence[Voter] = ()) -> Blame | None:
    """Run a case again and let everybody vote on its first difference that nobody knows, or else on its first known one.

    ``voters``: further ones, such as the laws. ``None`` if nothing differs, or nothing but which subgradient comes where any is right:
    a case whose time was up may be run to its end here.
    """
    actual = accused.run(case)
    promise, found = _disputed(Promise(case, accused.info), actual)
    if found is None or _is_allowed(promise, found):
        return None
    dispute = Dispute(promise, accused, actual, found, others)
    votes = tuple(_votes(dispute, voters))
    return Blame(who(votes), votes, first_node(promise, accused, found).words)


def _disputed(given: Promise, actual: Outcome) -> tuple[Promise, Mismatch | None]:
    """Return what differs, and the promise that it breaks: that under the open choices which explain what differs before.

    What was measured of this very release is disputed itself, where nothing else differs.
    """
    compared = Comparer(given).run(actual, excuse(given))
    if compared.mismatch is None:
        return given, next((mismatch for mismatch, _ in compared.known), None)
    promise, further, followed = follow(given, actual, excuse, scripts_instead, compared)
    if further.mismatch is None and changed(given, followed):
        return given, compared.mismatch
    return promise, further.mismatch or next((mismatch for mismatch, _ in further.known), None)


def _is_allowed(promise: Promise, found: Mismatch) -> bool:
    return promise.info.kinks == "any" and found.kind == "value" and SecondLook(promise, found).is_subgradient


def who(votes: Sequence[Vote]) -> str:
    """Count the votes; the numerical oracle or a law that contradicts the reference outweighs all others.

    So does an oracle that contradicts the accused and agrees with the reference: backends of one framework share their kernels.
    """
    if any(v.voter in (ORACLES[0], LAW_ITSELF) and v.reference is Opinion.WRONG for v in votes):
        return "reference"
    if any(v.voter == ORACLES[0] and (v.accused, v.reference) == (Opinion.WRONG, Opinion.RIGHT) for v in votes):
        return "accused"
    said = {v.accused for v in votes}
    if Opinion.WRONG in said and Opinion.RIGHT not in said:
        return "accused"
    return "unclear"


def _votes(dispute: Dispute, voters: Sequence[Voter]) -> Iterator[Vote]:
    by_numbers = {"value": _numerically, "absence": _by_existence}.get(dispute.found.kind)
    if dispute.found.kind == "value":
        yield _in_higher_precision(dispute)
    else:
        yield from (ground(dispute) for ground in GROUNDS)
    for other in dispute.others:
        yield _of(other, dispute)
    if by_numbers is not None:
        yield by_numbers(dispute, ORACLES[0], None)
        yield by_numbers(dispute, ORACLES[1], dispute.accused)
    for voter in voters:
        yield voter(dispute)


def _in_higher_precision(dispute: Dispute) -> Vote:
    name, found = "reference in float64", dispute.found
    bounds = dispute.promise.bounds
    if bounds.near_kink:
        return silent(name, "a rounding away from a kink")
    place = (found.step, found.slot, found.where, found.name)
    accused, right = (opinion(bounds.accepts(array, *place)) for array in (found.actual_array, found.expected_array))
    return Vote(
        name, accused, right, "within what rounding can do of it" if accused is Opinion.RIGHT else "beyond what rounding can do"
    )


def _of(other: Backend, dispute: Dispute) -> Vote:
    """Ask a backend that promises the same: whether it keeps the promise, or does what the accused does."""
    found, info = dispute.found, other.info
    promised = next((p for p in (Promise(case, info) for case in _spellings(dispute)) if _same_promise(dispute, p)), None)
    if promised is None:
        return silent(info.name, "its dialect promises something else here, or it does not offer the step")
    seen = other.run(promised.case)
    mine = [m for m in Comparer(promised).differences(seen) if m.step == found.step]
    same_place = [m for m in mine if (m.where, m.slot) == (found.where, found.slot)]
    if not same_place:
        if any(m.where == "step" for m in mine):
            return silent(info.name, "it differs from its own promise at this step in another way")
        return Vote(info.name, Opinion.WRONG, Opinion.RIGHT, "promises the same, and keeps it")
    if explain(promised, same_place[0]) is not None:
        return silent(info.name, "has a known deviation of its own here")
    if (same_place[0].kind, same_place[0].actual) == (found.kind, found.actual) and _alike(same_place[0], found):
        return Vote(info.name, Opinion.RIGHT, Opinion.WRONG, "promises the same, and does as the accused does")
    return silent(info.name, "differs from both")


def _spellings(dispute: Dispute) -> Iterator[Case]:
    """Yield the script as it is, and then, where flags are not the matter, with all written out that it leaves to the dialect."""
    yield dispute.case
    if dispute.found.kind != "flag":
        yield written_out(dispute.promise)


def _same_promise(dispute: Dispute, promised: Promise) -> bool:
    """Whether the reference predicts for another dialect what it predicts for that of the accused."""
    theirs: Iterator[Mismatch] = Comparer(dispute.promise).differences(promised.outcome)
    if dispute.found.kind != "flag":  # who requires a gradient changes no number and no refusal
        theirs = (m for m in theirs if m.kind != "flag")
    upto = len(dispute.case.steps) if dispute.found.step is END else dispute.found.step
    return not any(m.step in range(upto + 1) or m.step is END is dispute.found.step for m in theirs)


def _alike(one: Mismatch, other: Mismatch) -> bool:
    if one.actual_array is None or other.actual_array is None:
        return one.actual_array is other.actual_array
    return one.actual_array.shape == other.actual_array.shape and agrees_cheaply(one.actual_array, other.actual_array)


def _numerically(dispute: Dispute, voter: str, forward: Backend | None) -> Vote:
    try:
        number, name, wanted, got = _gradient(dispute)
        radius = _radius(dispute, got.shape)
        if np.iscomplexobj(wanted):  # an element is two numbers: the slopes along 1 and along i
            wanted, got, radius = OPS["as_real"](wanted), OPS["as_real"](got), np.stack([radius, radius], axis=-1)
        answers = [
            (wanted[place], got[place], radius[place], _slope(dispute, number, name, place, forward)) for place in _worst(wanted, got)
        ]
    except SilentError as error:
        return silent(voter, str(error))
    accused, right = (_judged([(a[i], a[2], a[3]) for a in answers]) for i in (1, 0))
    want, got, _, estimate = answers[0]
    said = f"{estimate.value:.9g} with an error below {estimate.error:.2g}"
    if accused is right is Opinion.RIGHT:
        return silent(voter, f"{said}, which is not sharp enough for a difference of {abs(want - got):.2g}")
    came = "added" if dispute.found.where == "grad" and not _replaces(dispute) else "got"
    return Vote(voter, accused, _of_its_own(right, forward), f"{said}; {came} {got:.9g}")


def _by_existence(dispute: Dispute, voter: str, forward: Backend | None) -> Vote:
    """Ask whether there is a derivative where one of the two has none: what is absent counts as nothing."""
    found = dispute.found
    try:
        number, name = _asked(dispute)
        present = found.expected_array if found.actual_array is None else found.actual_array
        wide = present.astype(WIDE[present.dtype.kind])
        direction = wide if np.isfinite(wide).all() and wide.any() else np.ones_like(wide)
        estimate = slope(dispute.promise, number, name, direction, forward)
    except SilentError as error:
        return silent(voter, str(error))
    said = f"{estimate.value:.9g} with an error below {estimate.error:.2g}, along what is there"
    if not np.isfinite(estimate.error):
        return silent(voter, said)
    if abs(estimate.value) > estimate.error:
        opposite = Opinion.SILENT, _of_its_own(Opinion.WRONG, forward)
        absent_is_wrong = (Opinion.WRONG, Opinion.RIGHT) if found.actual_array is None else opposite
        return Vote(voter, *absent_is_wrong, f"{said}: something depends on {name}, so its gradient is there")
    if found.actual_array is not None and float(np.sum(np.abs(wide) ** 2)) > estimate.error:
        return Vote(voter, Opinion.WRONG, Opinion.RIGHT, f"{said}: nothing depends on {name}, and what came is not zero")
    return silent(voter, f"{said}: zeros and an absent gradient are the same number")


def _of_its_own(right: Opinion, forward: Backend | None) -> Opinion:
    """Do not call the reference wrong by the derivative of a forward that is not its own."""
    return Opinion.SILENT if forward is not None and right is Opinion.WRONG else right


def _asked(dispute: Dispute) -> tuple[int, str]:
    """Return by which call, and of which value, the gradient is that is absent on one side."""
    found, case = dispute.found, dispute.case
    step = None if found.step is END else case.steps[found.step]
    if found.step is not END and found.where == "result" and isinstance(step, Grad):
        return found.step, step.inputs[found.slot]
    if found.step is END or found.where != "grad" or not isinstance(step, Backward):
        raise SilentError(SEVERAL_CALLS)
    if not any(entry.differentiable and entry.name == found.name for entry in case.inputs) or _is_left_out(found.name, case, step):
        msg = f"whether {found.name} has a .grad is what the call asks for, and no matter of derivatives"
        raise SilentError(msg)
    if isinstance(dispute.promise.outcome.observations[found.step], Raised):
        raise SilentError(BEFORE_A_REFUSAL)
    return found.step, found.name


def _is_left_out(name: str, case: Case, call: Backward) -> bool:
    """Whether a call asks for others and not for this leaf. A computed value that retains its ``.grad`` need not be asked for."""
    return call.inputs is not None and name not in call.inputs and any(entry.name == name for entry in case.inputs)


def _judged(answers: list[tuple[Any, Any, Estimate]]) -> Opinion:
    if not all(np.isfinite(estimate.error) for _, _, estimate in answers):
        return Opinion.SILENT
    return opinion(all(abs(value - estimate.value) <= estimate.error + radius for value, radius, estimate in answers))


def _slope(dispute: Dispute, number: int, name: str, place: tuple[int, ...], forward: Backend | None) -> Estimate:
    wanted = dispute.found.expected_array
    direction = np.zeros(wanted.shape, WIDE[wanted.dtype.kind])
    if np.iscomplexobj(wanted):
        *at, part = place
        direction[tuple(at)] = (1.0, 1j)[part]
    else:
        direction[place] = 1.0
    return slope(dispute.promise, number, name, direction, forward)


def _worst(wanted: Any, got: Any) -> list[tuple[int, ...]]:
    with np.errstate(all="ignore"):
        off = np.abs(wanted - got)
    off = np.where(np.isnan(off), np.where(np.isnan(wanted) & np.isnan(got), 0.0, np.inf), off)
    order = np.argsort(off, axis=None)[::-1][:ELEMENTS_PER_VOTE]
    return [tuple(int(i) for i in np.unravel_index(flat, off.shape)) for flat in order if off.flat[flat] > 0]


def _gradient(dispute: Dispute) -> tuple[int, str, Any, Any]:
    """Return by which call and of which value the difference is a gradient, and what the call alone gave it on either side."""
    found, case = dispute.found, dispute.case
    if found.step is END:
        raise SilentError(SEVERAL_CALLS)
    number, step = found.step, case.steps[found.step]
    wanted, got = (a.astype(WIDE[a.dtype.kind]) for a in (found.expected_array, found.actual_array))
    if found.where == "result" and isinstance(step, Grad):
        return number, step.inputs[found.slot], wanted, got
    if found.where == "event" and isinstance(step, Grad | Backward):
        hooked = {s.results[0]: s.tensor for s in case.steps if isinstance(s, Hook)}
        if found.name in hooked:
            return number, hooked[found.name], wanted, got
    if found.where == "grad" and isinstance(step, Backward):
        if isinstance(dispute.promise.outcome.observations[number], Raised):
            raise SilentError(BEFORE_A_REFUSAL)
        if _is_left_out(found.name, case, step):
            msg = f"the call does not ask for {found.name}, so what it adds to its .grad is no matter of derivatives"
            raise SilentError(msg)
        if not _replaces(dispute):
            wanted, got = (grad_added(outcome, number, found.slot) for outcome in (dispute.promise.outcome, dispute.actual))
            return number, found.name, wanted, got
        before = grad_before(dispute.promise.outcome, number, found.slot)
        if before is None or not np.array_equal(found.expected_array, before.array):
            return number, found.name, wanted, got
        msg = "whether this call reached the tensor cannot be seen from a .grad that is replaced"
        raise SilentError(msg)
    raise SilentError(SEVERAL_CALLS)


def _replaces(dispute: Dispute) -> bool:
    made = {name for step in dispute.case.steps for name in results(step) if isinstance(step, Op)}
    if dispute.accused.info.dialect.accumulation != "added":
        return True
    return dispute.accused.info.dialect.retained == "replaced" and dispute.found.name in made


def _radius(dispute: Dispute, shape: tuple[int, ...]) -> Any:
    """Return how far rounding of the tested dtype may carry each element."""
    found = dispute.found
    radius = dispute.promise.bounds.radius(found.step, found.slot, found.where, found.name)
    return np.zeros(shape) if radius is None else np.nan_to_num(radius[1], nan=0.0, posinf=0.0)

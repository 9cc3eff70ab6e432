"""Reproductions: a case as a standalone script that ends with an assertion of what the reference promises.

Of a finding the script is about what differs, and cites who says so; of a case alone it asserts all that is promised of the last
autograd call. The framework is not needed to write it: a promise is the reference's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends import BackendInfo
from conformance.backends.registry import registration
from conformance.backends.repro import printers, script
from conformance.backends.repro.claims import Callback, Calls, Claim, Elements, Flag, Open, Presence, Promised, Refusal, Unchanged
from conformance.case.outcome import Blocked, Computed, NotOffered, Raised
from conformance.case.place import END
from conformance.case.steps import Call, InPlace, results
from conformance.compare.promise import Promise
from conformance.judge.dispute import Opinion
from conformance.judge.step_claims import ANYWAY, StepClaims, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.outcome import Observation
    from conformance.case.place import StepNumber
    from conformance.compare.mismatch import Mismatch
    from conformance.judge.dispute import Blame

KINDS: dict[str, tuple[type[Claim], ...]] = {
    "value": (Elements, Calls, Open),
    "shape": (Elements, Calls, Open),
    "dtype": (Elements, Calls, Open),
    "unreadable": (Elements, Calls, Open),
    "absence": (Presence, Calls, Elements, Open),
    "flag": (Flag, Calls, Open),
    "events": (Calls, Callback, Elements, Unchanged, Open),
    "error": (Refusal, Open),
    "mutation": (Unchanged, Open),
}
"""The claims that say what a difference of a kind is about."""

VOTED = {
    "accused": "By the votes the engine is wrong.",
    "reference": "By the votes the reference is wrong: a fault of the suite, and nothing to report.",
    "unclear": "The votes do not decide.",
}
RULES = "the rules of the reference, in the dialect"


def reproduction(case: Case, name: str, found: Mismatch | None = None, blame: Blame | None = None) -> str:
    """Write a case as a script for a backend, which ends with an assertion of what is promised.

    ``found``: what differs there, if that is known; the script is about nothing else then. Without it, all is asserted that is
    promised of the last autograd call. ``blame``: the votes on the difference, which the script cites.

    Raises:
        BackendError: if the backend is unknown.
        ValueError: if it prints no scripts.
    """
    dialect = registration(name).dialect
    if dialect is None:
        msg = f"{name!r} is not one of {', '.join(map(repr, printers()))}"
        raise ValueError(msg)
    promise = Promise(case, BackendInfo(name, "", dialect, dialect.not_offered))
    return script(case, name, promised_of(promise, found, blame))


def promised_of(promise: Promise, found: Mismatch | None = None, blame: Blame | None = None) -> Promised:
    """Return what a script of the case asserts, see `reproduction`."""
    seen = promise.outcome.observations
    refused = frozenset(n for n, o in enumerate(seen) if isinstance(o, Raised))
    left_out = {n: why for n, o in enumerate(seen) if (why := _left_out(o))}
    known = found if found is not None and found.kind in KINDS and (found.step is END or found.step not in left_out) else None
    step = _last_call(promise) if known is None else END if known.kind == "mutation" else known.step
    if promise.impossible is not None and (step is END or step >= promise.impossible[0]):
        reason = f"step {promise.impossible[0]} is wrong by itself ({one_line(promise.impossible[1])}), so nothing is promised"
        return Promised(step, (Open(reason),), refused, left_out, ())
    if known is None:
        claims = tuple(StepClaims(promise, step).all())
    elif known.kind == "mutation":
        claims = tuple(_unchanged(promise, known))
    else:
        found_there = StepClaims(promise, step, settled=True).all()
        claims = tuple(_as_found(c, known) for c in found_there if isinstance(c, KINDS[known.kind]) and _is_about(c, known))
    return Promised(step, claims, refused, left_out, tuple(_says(promise, step, claims, found, blame)))


def _left_out(seen: Observation) -> str:
    match seen:
        case NotOffered():
            return f"not offered: {seen.reason}"
        case Blocked():
            return f"it needs {seen.missing}, which is absent or was refused"
    return ""


def _last_call(promise: Promise) -> StepNumber:
    """Return the last autograd call that can be tried, or else the last step that can."""
    tried = [n for n, o in enumerate(promise.outcome.observations) if isinstance(o, Computed | Raised)]
    calls = [n for n in tried if isinstance(promise.case.steps[n], Call)]
    return calls[-1] if calls else tried[-1] if tried else END


def _as_found(claim: Claim, found: Mismatch) -> Claim:
    """Return a claim, unless what was expected is another option of an open choice, which the engine took before."""
    match claim:
        case Presence():
            same = found.where == "event" or claim.present is (found.expected == "present")
        case Flag():
            same = found.where == "event" or claim.requires_grad is (found.expected == "requires_grad")
        case Refusal():
            same = found.expected != "computed"
        case _:
            same = True
    return claim if same else Open(f"{found.kind}; {ANYWAY}", getattr(claim, "spot", None))


PLACES = {"grad": ("grad",), "event": ("hook", "function", "written")}
"""Where the tensors are that a difference is about; elsewhere they are results."""


def _is_about(claim: Claim, found: Mismatch) -> bool:
    """Whether a claim is about the tensor in which something differs, or about the step."""
    if isinstance(claim, Calls):
        return found.where == "event"
    spot = getattr(claim, "spot", None)
    if spot is None or found.where == "step":
        return True
    shows = found.kind != "absence" or found.where == "event" or not isinstance(claim, Elements)  # of calls elements show that
    return shows and spot.where in PLACES.get(found.where, ("result",)) and found.name in ("", spot.name)


def _unchanged(promise: Promise, found: Mismatch) -> Iterator[Unchanged]:
    """Yield that what a call changed has its elements still, since it was made or last written."""
    steps = promise.case.steps
    writes = [n for n, step in enumerate(steps) if isinstance(step, InPlace)]
    made = {name: n for n, step in enumerate(steps) for name in results(step)}
    yield Unchanged(found.name, max([made.get(found.name, -1), *writes]))


def _says(promise: Promise, step: StepNumber, claims: Sequence[Claim], found: Mismatch | None, blame: Blame | None) -> Iterator[str]:
    """Say who says so, and what the tolerances are."""
    if found is not None and found.kind not in KINDS:
        yield f"What was found is no difference of a step ({found.kind}: {one_line(found.detail)})."
    seen = None if step is END else promise.outcome.observations[step]
    if found is not None and found.kind == "error" and found.expected == "computed":
        yield f"This must not be refused, as it was ({found.actual}: {one_line(found.detail)})."
    yield f"So say {RULES} of {promise.info.dialect.name}."
    if blame is not None:
        yield from (f"So says: {one_line(v.voter)} ({one_line(v.reason)})." for v in blame.votes if v.accused is Opinion.WRONG)
        yield from (f"Against it: {one_line(v.voter)} ({one_line(v.reason)})." for v in blame.votes if v.reference is Opinion.WRONG)
        yield VOTED[blame.who]
    if isinstance(seen, Raised) and any(isinstance(claim, Refusal) for claim in claims):
        yield f"It is to be refused as {seen.category}; with which words is not asserted."
    if any(isinstance(claim, Elements) and (claim.rtol or claim.atol) for claim in claims):
        yield "A tolerance is what rounding can do to the element that it can do most to, rounded up to one digit."

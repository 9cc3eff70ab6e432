"""Null pairs: A/A tests of the judge, which bound its false positive rate.

Red can be trusted only as far as one knows how often the judge is red for nothing. A null pair is a right engine against itself,
arranged differently: sums taken in another order, a wider dtype, other places in memory. Both answers are right, so whatever the judge
calls a divergence is a false alarm.

An engine under test is not known to be right. Where its two sides differ, the second one is judged as any other case, by the reference:
if that is wrong, the engine has a fault that shows in this arrangement alone, which is a finding and no false alarm.

A comparison is one tensor that a step returned, or one ``.grad`` at the end. Those of one case are not independent of each other, and
a pair can show only what differs between its two sides: the bound of `upper_bound` is about comparisons of this kind.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from conformance.backends import BackendInfo
from conformance.backends.reference import reference
from conformance.backends.registry import registrations
from conformance.case.outcome import Computed, Outcome, Raised
from conformance.case.rewrite import in_dtypes, with_inputs, with_single_numbers
from conformance.case.steps import Hook, InPlace, ops
from conformance.compare.branches import observing
from conformance.compare.promise import Promise
from conformance.judge.verdict import FAILING, judge
from conformance.ops.dtypes import DOUBLE
from reference_impl import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import State, Value
    from conformance.judge.verdict import Verdict
    from reference_impl.tape.primitive import Primitive

CONFIDENCE = 0.95
OF_A_DTYPE = ("cast", *sorted({op for of in DIALECTS.values() for op, form in of.spelled.items() if form.endswith("_by_dtype")}))
"""Ops that are others in a wider dtype: PyTorch's `lstm` is one node in float32 and several in float64, so a call frees others."""
_WITHOUT = f" (but for hooks and {', '.join(OF_A_DTYPE)})"


@dataclass(frozen=True, slots=True)
class Pair:
    """One way to compute a case again.

    Attributes:
        backend: whose answers are compared.
        words: what is different on the other side.
        fits: says whether that leaves the right answer of a case as it is.
        again: computes the other answer.
        variant: makes the case that it is the answer to, where the backend is one under test.
    """

    id: str
    backend: str
    words: str
    fits: Callable[[Case], bool]
    again: Callable[[Case, Backend, Outcome], Outcome]
    variant: Callable[[Case], Case] | None = None


def strided(case: Case) -> Case:
    """Return a case whose inputs are not contiguous."""
    return with_inputs(case, (msgspec.structs.replace(input_, strided=True) for input_ in case.inputs))


def wider(case: Case) -> Case:
    """Return a case of single precision in double precision."""
    return in_dtypes(_with_its_numbers(case), DOUBLE)


def run_strided(case: Case, backend: Backend, _: Outcome) -> Outcome:
    """Run a case on inputs that are not contiguous."""
    return backend.run(strided(case))


def run_wider(case: Case, backend: Backend, first: Outcome) -> Outcome:
    """Run a case of single precision in double precision, and round the answers to what the first ones are."""
    return _rounded(backend.run(wider(case)), first)


def backwards(case: Case, backend: Backend, _: Outcome) -> Outcome:
    """Run a case with the terms of every sum in the opposite order; on the reference alone."""
    with observing(_last_term_first):
        return backend.run(case)


def precise(case: Case, backend: Backend, first: Outcome) -> Outcome:
    """Run a case on the reference in higher precision, and round the answers."""
    return _rounded(Promise(_with_its_numbers(case), backend.info).run(widen=True), first)


def _with_its_numbers(case: Case) -> Case:
    """Return a case with the numbers that single precision computes with: a limit of 1.001 is another in float64."""
    return with_single_numbers(case) if _narrow(case) else case


def _plain(case: Case) -> bool:
    """Whether the case uses one precision only, and nothing that is another in a wider one, where a dtype error would vanish, too."""
    return len({entry.dtype in DOUBLE for entry in case.inputs}) == 1 and not _names_a_dtype(case)


def _names_a_dtype(case: Case) -> bool:
    return any(op.op in OF_A_DTYPE for step in case.steps for op in ops(step)) or any(isinstance(s, Hook) for s in case.steps)


def _narrow(case: Case) -> bool:
    return _plain(case) and case.inputs[0].dtype in DOUBLE


def _immutable(case: Case) -> bool:
    """Whether nothing is updated in place: whether a reshaped tensor shares memory may depend on where its elements lie."""
    return not any(isinstance(step, InPlace) for step in case.steps)


OF_REFERENCE = (
    Pair(
        "sum-order",
        "reference",
        "sums, means and products of matrices take their terms in the opposite order",
        lambda _: True,
        backwards,
    ),
    Pair("precision", "reference", f"computed in higher precision, the answers rounded{_WITHOUT}", _plain, precise),
    Pair("layout", "reference", "the inputs are not contiguous", _immutable, run_strided),
)
"""The pairs of the reference."""


def against_itself(name: str, title: str) -> tuple[Pair, ...]:
    """Return the pairs of a registered engine: it runs again on inputs that lie elsewhere, or are wider."""
    return (
        Pair(f"{name}-layout", name, f"{title} against itself, the inputs are not contiguous", _immutable, run_strided, strided),
        Pair(
            f"{name}-precision",
            name,
            f"{title} in double precision against itself in single{_WITHOUT}",
            _narrow,
            run_wider,
            wider,
        ),
    )


@functools.cache
def null_pairs() -> tuple[Pair, ...]:
    """Return every pair: those of the reference, and of each backend that is registered for it."""
    registered = [(name, facts.title) for name, facts in registrations().items() if facts.against_itself]
    return (*OF_REFERENCE, *(pair for name, title in registered for pair in against_itself(name, title)))


class Agreed(NamedTuple):
    """An engine that is right on a case: what it answered, and the promise by which that is right.

    The promise takes open choices as the engine took them. Under other choices the reference might refuse a pass that the engine goes
    through, and no rounding of its gradients could be derived.
    """

    backend: Backend
    outcome: Outcome | None
    promise: Promise | None


@dataclass(frozen=True, slots=True)
class Null:
    """What became of one pair on one case: its verdict, how many tensors were compared, and their dtype (``mixed``: several)."""

    pair: Pair
    verdict: Verdict
    dtype: str

    @property
    def alarm(self) -> bool:
        """Whether the judge called two right answers different."""
        return self.verdict.bucket in FAILING


def compare_pair(pair: Pair, case: Case, backend: Backend, first: Outcome | None = None, promise: Promise | None = None) -> Null:
    """Judge the two sides of a pair on a case that it fits.

    ``first``: the one side, if it was run already. ``promise``: what the dialect of the backend promises, if somebody asked it already.
    """
    info = BackendInfo(f"null:{pair.id}", backend.info.version, backend.info.dialect, backend.info.not_offered)
    one = backend.run(case) if first is None else first
    answered = Promise(case, info, one) if promise is None else promise.answered(info, one)
    verdict = judge(answered, pair.again(case, backend, one), following=False)
    dtypes = {entry.dtype for entry in case.inputs}
    return Null(pair, verdict, dtypes.pop() if len(dtypes) == 1 else "mixed")


def compare_nulls(
    case: Case, info: BackendInfo, agreed: Mapping[str, Agreed], promises: Sequence[Promise] = (), *, every: bool
) -> list[Null]:
    """Judge the pairs that fit a case of the numeric lane, one of them as its id says, or every one.

    ``info``: in whose dialect the reference answers; ``agreed``: the backends that are right on this case: where one deviates, its two
    sides need not be equal. ``promises``: those for the case that were asked already; what one of them knows is not computed again.
    """
    if case.lane != "numeric":
        return []
    own = _of(info, promises)
    right = {**agreed, "reference": Agreed(reference(info.dialect, info.not_offered), None if own is None else own.outcome, own)}
    fitting = [pair for pair in null_pairs() if pair.backend in right and pair.fits(case)]
    if fitting and not every:
        fitting = [fitting[int(case.id, 16) % len(fitting)]]
    return [compare_pair(pair, case, *right[pair.backend]) for pair in fitting]


def _of(info: BackendInfo, promises: Sequence[Promise]) -> Promise | None:
    """Return which of these the reference would make for a backend as well."""
    alike = (made for made in promises if made.info.dialect is info.dialect and made.info.not_offered == info.not_offered)
    return next(alike, None)


def upper_bound(alarms: int, comparisons: int, confidence: float = CONFIDENCE) -> float:
    """Return the largest rate of false alarms that is compatible with what was seen, per comparison.

    The one-sided exact bound of C. J. Clopper and E. S. Pearson, Biometrika 26 (1934) 404-413: the rate at which so few alarms in so
    many comparisons have the probability ``1 - confidence``. 1 if nothing was compared.
    """
    if alarms >= comparisons:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(200):
        rate = 0.5 * (low + high)
        if rate in (low, high):
            break
        if _at_most(alarms, comparisons, rate) > 1.0 - confidence:
            low = rate
        else:
            high = rate
    return high


def _at_most(alarms: int, comparisons: int, rate: float) -> float:
    """Return the probability of at most so many alarms; the binomial distribution."""
    odds = math.log(rate) - math.log1p(-rate)
    return float(np.exp(_log_choices(alarms, comparisons) + np.arange(alarms + 1) * odds + comparisons * math.log1p(-rate)).sum())


@functools.lru_cache(maxsize=1)
def _log_choices(alarms: int, comparisons: int) -> Any:
    """Return the logarithms of the binomial coefficients of the comparisons, from none to so many alarms."""
    counts = np.arange(1, alarms + 1)
    return np.concatenate(([0.0], np.cumsum(np.log(comparisons - counts + 1) - np.log(counts))))


def _last_term_first(primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
    return out if primitive.reordered is None else primitive.reordered(primitive.forward, *arrays, **attrs)


def _rounded(outcome: Outcome, like: Outcome) -> Outcome:
    """Round answers to the dtypes of others; widened inputs do not count as changed."""
    with np.errstate(all="ignore"):
        for seen, other in zip(outcome.observations, like.observations, strict=True):
            if isinstance(seen, Computed) and isinstance(other, Computed):
                seen.values = _all_rounded(seen.values, other.values)
            if isinstance(seen, Computed | Raised) and isinstance(other, Computed | Raised):
                seen.state = seen.state and other.state and _all_rounded(seen.state, other.state)
                pairs = zip(seen.events, other.events, strict=False)
                seen.events = tuple(replace(e, value=_value(e.value, o.value)) for e, o in pairs) + seen.events[len(other.events) :]
        return Outcome(outcome.observations, _all_rounded(outcome.final, like.final), like.mutated)


def _all_rounded(values: State, like: State) -> State:
    return tuple(_value(v, o) for v, o in zip(values, like, strict=True))


def _value(value: Value | None, like: Value | None) -> Value | None:
    return value if value is None or like is None else replace(value, array=np.asarray(value.array, dtype=like.array.dtype))

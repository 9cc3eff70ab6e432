"""Null pairs: two right computations of one case, which the judge must not tell apart.

A pair is a right engine against itself, arranged differently: sums taken in another order, a wider dtype, other places in memory.
Both answers are right, so whatever the judge calls a divergence is a false alarm: that bounds how far its red can be trusted.

A comparison is one tensor that a step returned, or one ``.grad`` at the end. Those of one case are not independent of each other, and
a pair can show only what differs between its two sides: the bound of `upper_bound` is about comparisons of this kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.backends import BackendInfo
from conformance.backends.reference import reference
from conformance.case import Case, Input
from conformance.counterfactuals import with_single_numbers
from conformance.judge.branches import observing
from conformance.judge.verdict import FAILING, Bucket, judge
from conformance.ops.kinds import DOUBLE
from conformance.outcome import Computed, Outcome, Raised
from conformance.steps import Hook, InPlace, ops

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.backends import Backend
    from conformance.judge.verdict import Verdict
    from conformance.outcome import State, Value
    from reference_impl.primitive import Primitive

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Pair:
    """One way to compute a case again.

    ``backend``: whose answers are compared; ``words``: what is different on the other side; ``fits``: whether that is a null change
    for this case; ``again``: the other answer.
    """

    id: str
    backend: str
    words: str
    fits: Callable[[Case], bool]
    again: Callable[[Case, Backend, Outcome], Outcome]


class Strided(Input, frozen=True):
    """An input whose elements lie apart in memory."""

    def array(self) -> np.ndarray[Any, Any]:
        """Return the elements as every second one of a longer array."""
        elements = super().array()
        apart = np.zeros(2 * elements.size, elements.dtype)
        apart[::2] = elements.ravel()
        return apart[::2].reshape(elements.shape)


def strided(case: Case, backend: Backend, _: Outcome) -> Outcome:
    """Run a case on inputs that are not contiguous."""
    inputs = (Strided(**msgspec.structs.asdict(entry)) for entry in case.inputs)
    return backend.run(Case(tuple(inputs), case.steps, case.lane))


def wider(case: Case, backend: Backend, first: Outcome) -> Outcome:
    """Run a case of single precision in double precision, and round the answers to what the first ones are."""
    inputs = (msgspec.structs.replace(entry, dtype=DOUBLE[entry.dtype]) for entry in case.inputs)
    return _rounded(backend.run(Case(tuple(inputs), _with_its_numbers(case).steps, case.lane)), first)


def backwards(case: Case, backend: Backend, _: Outcome) -> Outcome:
    """Run a case with the terms of every sum in the opposite order; on the reference alone."""
    with observing(_last_term_first):
        return backend.run(case)


def precise(case: Case, backend: Backend, first: Outcome) -> Outcome:
    """Run a case on the reference in higher precision, and round the answers."""
    info = backend.info
    return _rounded(reference(info.dialect, info.not_offered, widen=True).run(_with_its_numbers(case)), first)


def _with_its_numbers(case: Case) -> Case:
    """Return a case with the numbers that single precision computes with: a limit of 1.001 is another in float64."""
    return with_single_numbers(case) if _narrow(case) else case


def _plain(case: Case) -> bool:
    """Whether all is of one precision: a refusal because of it is none in a wider one, and a cast names its dtype."""
    return len({entry.dtype in DOUBLE for entry in case.inputs}) == 1 and not _casts(case)


def _casts(case: Case) -> bool:
    return any(op.op == "cast" for step in case.steps for op in ops(step)) or any(isinstance(s, Hook) for s in case.steps)


def _narrow(case: Case) -> bool:
    return _plain(case) and case.inputs[0].dtype in DOUBLE


def _immutable(case: Case) -> bool:
    """Whether nothing is updated in place: whether a reshaped tensor shares memory may depend on where its elements lie."""
    return not any(isinstance(step, InPlace) for step in case.steps)


PAIRS = (
    Pair(
        "sum-order",
        "reference",
        "sums, means and products of matrices take their terms in the opposite order",
        lambda _: True,
        backwards,
    ),
    Pair("precision", "reference", "computed in higher precision, the answers rounded", _plain, precise),
    Pair("layout", "reference", "the inputs are not contiguous", _immutable, strided),
    Pair("torch-layout", "torch", "PyTorch against itself, the inputs are not contiguous", _immutable, strided),
    Pair("torch-precision", "torch", "PyTorch in double precision, rounded, against itself in single", _narrow, wider),
)
"""Every pair; those of the reference come first."""


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

    def record(self) -> dict[str, Any]:
        """Write it down."""
        return {
            "pair": self.pair.id,
            "dtype": self.dtype,
            "values": self.verdict.counts["values"],
            "alarm": self.alarm,
            "near_kink": self.verdict.bucket is Bucket.NEAR_KINK,
            **({"detail": found.detail} if self.alarm and (found := self.verdict.mismatch) else {}),
        }


def compare_pair(pair: Pair, case: Case, backend: Backend, first: Outcome | None = None) -> Null:
    """Judge the two sides of a pair on a case that it fits. ``first``: the one side, if it was run already."""
    info = BackendInfo(f"null:{pair.id}", backend.info.version, backend.info.dialect, backend.info.not_offered)
    one = backend.run(case) if first is None else first
    verdict = judge(case, info, one, pair.again(case, backend, one))
    dtypes = {entry.dtype for entry in case.inputs}
    return Null(pair, verdict, dtypes.pop() if len(dtypes) == 1 else "mixed")


def compare_nulls(case: Case, info: BackendInfo, agreed: Mapping[str, tuple[Backend, Outcome]], *, every: bool) -> list[Null]:
    """Judge the pairs that fit a case of the numeric lane, one of them as its id says, or every one.

    ``info``: in whose dialect the reference answers; ``agreed``: the backends that are right on this case, with their answers: where
    one deviates, its two sides need not be equal.
    """
    if case.lane != "numeric":
        return []
    right = {**agreed, "reference": (reference(info.dialect, info.not_offered), None)}
    fitting = [pair for pair in PAIRS if pair.backend in right and pair.fits(case)]
    if fitting and not every:
        fitting = [fitting[int(case.id, 16) % len(fitting)]]
    return [compare_pair(pair, case, *right[pair.backend]) for pair in fitting]


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
    term = comparisons * math.log1p(-rate)
    odds = math.log(rate) - math.log1p(-rate)
    total = math.exp(term)
    for k in range(1, alarms + 1):
        term += math.log(comparisons - k + 1) - math.log(k) + odds
        total += math.exp(term)
    return total


_FLIPPED = frozenset({"sum", "mean", "unbroadcast", "logsumexp", "softmax", "log_softmax", "mse_loss", "prod"})
"""Ops that commute with turning all their axes around."""


def _last_term_first(primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
    name, forward = primitive.name, primitive.forward
    if name in _FLIPPED:
        return np.flip(forward(*map(np.flip, arrays), **attrs))
    if name in ("matmul", "bmm"):
        x, y = arrays
        return forward(np.flip(x, -1), np.flip(y, 0 if y.ndim == 1 else -2))
    if name == "linear":
        x, weight, bias = arrays
        return forward(np.flip(x, -1), np.flip(weight, -1), bias)
    if name == "conv2d":
        x, weight = arrays
        return forward(np.flip(x, 1), np.flip(weight, 1), **attrs)
    if name == "put_intarray":
        return forward(np.flip(arrays[0], 0), **{**attrs, "index": [np.flip(np.asarray(i), -1) for i in attrs["index"]]})
    if name == "index_add_rows" and np.ndim(attrs["index"]) == 1:
        return forward(np.flip(arrays[0], attrs["axis"]), **{**attrs, "index": np.flip(np.asarray(attrs["index"]))})
    if name == "scatter_add":
        return forward(np.flip(arrays[0], attrs["axis"]), **{**attrs, "index": np.flip(np.asarray(attrs["index"]), attrs["axis"])})
    return out


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

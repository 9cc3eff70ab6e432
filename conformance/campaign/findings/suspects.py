"""Suspects: where nobody can tell at which op a finding begins, the ops that are in all its cases, and in few others.

A flag, a refusal or a state that differs has no place in the reverse pass. But if an op is in each of nine failing cases, and in one
of eight others, that it is in all nine by chance has a probability of 1 / 8^9. There are hundreds of ops, and any single case has some
rare ones. So an op is listed if, were all ops as usual as it is, at most `CHANCE` of them would be expected in all failing cases.
Example: "suspect: prod (in all 9 cases, and in 12 % of the others)". On the other hand, an op that the smallest case has and others
have not is no cause of those, and a reader of that case has to be told.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from conformance.case.queries import ops_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from conformance.campaign.records.tally import Failure
    from conformance.case.case import Case

CHANCE = 0.01
SAMPLE = 200
"""How many cases of a run say in which share of them an op is; each is drawn again, which takes a millisecond."""


def usual_shares(case_at: Callable[[int], Case], cases: int) -> dict[str, float]:
    """Return for every op in which share of the cases of a run it is, by a sample of them."""
    sample = range(0, cases, max(1, cases // SAMPLE))
    seen = Counter(op for index in sample for op in _ops_at(index, case_at))
    return {op: count / len(sample) for op, count in seen.items()}


def _ops_at(index: int, case_at: Callable[[int], Case]) -> Collection[str]:
    try:
        return ops_in(case_at(index))
    except Exception:  # noqa: BLE001 - a case that cannot be drawn is counted as a fault of the suite where it was to be run
        return ()


def suspects(failure: Failure, usual: Mapping[str, float]) -> dict[str, float]:
    """Return the ops that a failure is suspected of, with the share of other cases that have them; the rarest first."""
    shares = {op: usual.get(op, 1 / SAMPLE) for op in failure.ops}
    ops = len(usual.keys() | shares.keys())
    return {op: share for op, share in sorted(shares.items(), key=lambda item: item[1]) if ops * share**failure.count <= CHANCE}


def in_some(failure: Failure, ops: Sequence[str]) -> tuple[str, ...]:
    """Return those of the ops of the case that is shown which other cases of the failure do without."""
    return tuple(op for op in ops if op not in failure.ops)

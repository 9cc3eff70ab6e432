"""Verdicts on many cases of a test module, judged together: a process of its own for each would cost more than the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.clauses import CURATED as ALL
from conformance.laws.judging import Judging, Sampling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.campaign.records.verdicts import VerdictRecord
    from conformance.campaign.workers.pool import Workers
    from conformance.case.case import Case

CURATED: Mapping[str, Case] = {one.name: one.case for one in ALL}


class _Judged(NamedTuple):
    workers: Workers
    backend: str
    cases: Mapping[str, Case]
    verdicts: Mapping[str, VerdictRecord]


_judged: list[_Judged] = []


def verdicts(workers: Workers, backend: str, cases: Mapping[str, Case]) -> Mapping[str, VerdictRecord]:
    """Judge cases on a backend, once; the verdicts have the names of the cases."""
    for one in _judged:
        if one.workers is workers and one.backend == backend and one.cases == cases:
            return one.verdicts
    records = workers.judged(list(cases.values()), backend, Judging(nulls=Sampling.NONE))  # nobody looks at what is no verdict
    made = {name: record.verdicts[backend] for name, record in zip(cases, records, strict=True)}
    _judged.append(_Judged(workers, backend, cases, made))
    return made

"""Which known deviation a difference is, and which differences are none that anybody could blame."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.deviations import known
from conformance.judge import kinks
from conformance.judge.signatures import bears

if TYPE_CHECKING:
    from conformance.backends import BackendInfo
    from conformance.case import Case
    from conformance.deviations import Deviation
    from conformance.judge.compare import Known, Mismatch

UNDEFINED = "undefined"
"""Stands for the entry where a number is undefined, see `kinks.is_undefined`."""


def explain(info: BackendInfo, case: Case, mismatch: Mismatch) -> Deviation | None:
    """Return the entry that explains a mismatch, or ``None``: the first that describes it and whose signature it bears."""
    entries = (entry for entry in known() if _describes(entry, info, case, mismatch))
    return next((entry for entry in entries if bears(entry, info, case, mismatch)), None)


def _describes(entry: Deviation, info: BackendInfo, case: Case, mismatch: Mismatch) -> bool:
    if entry.matches(info, case, mismatch):
        return True
    if mismatch.kind != "value" or kinks.SUBGRADIENT not in entry.actual:
        return False
    return entry.matches(info, case, replace(mismatch, actual=kinks.SUBGRADIENT)) and kinks.is_subgradient(case, info, mismatch)


def excuse(case: Case, info: BackendInfo) -> Known:
    """Return what the comparison of a case goes on after: known deviations, by entry, and numbers that are undefined."""

    def excused(found: Mismatch) -> str | None:
        entry = explain(info, case, found)
        if entry is not None:
            return entry.id
        return UNDEFINED if found.kind == "value" and kinks.is_undefined(case, info, found) else None

    return excused

"""Match mismatches against the known deviations, and recognise numbers that are undefined.

Undefined are numbers that 0 · inf or a comparison with NaN decides: nobody promises them, so no engine can be blamed for one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.compare.kinks import SUBGRADIENT, SecondLook
from conformance.deviations.entries import known
from conformance.deviations.wrong_values import bears

if TYPE_CHECKING:
    from conformance.compare.compare import Known
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from conformance.deviations.entries import Deviation

UNDEFINED = "undefined"
"""Stands for the entry where a number is undefined, see `SecondLook.is_undefined`."""


def explain(promise: Promise, mismatch: Mismatch) -> Deviation | None:
    """Return the entry that explains a mismatch, or ``None``: the first that describes it and whose signature it bears."""
    return _explain(promise, SecondLook(promise, mismatch))


def _explain(promise: Promise, look: SecondLook) -> Deviation | None:
    return next((entry for entry in known() if _describes(entry, promise, look) and bears(entry, promise, look.mismatch)), None)


def _describes(entry: Deviation, promise: Promise, look: SecondLook) -> bool:
    found = look.mismatch
    if entry.matches(promise.info, promise.case, found):
        return True
    if found.kind != "value" or SUBGRADIENT not in entry.actual:
        return False
    return entry.matches(promise.info, promise.case, replace(found, actual=SUBGRADIENT)) and look.is_subgradient


def excuse(promise: Promise) -> Known:
    """Return what the comparison of a case goes on after: known deviations, by entry, and numbers that are undefined."""

    def excused(found: Mismatch) -> str | None:
        look = SecondLook(promise, found)
        entry = _explain(promise, look)
        if entry is not None:
            return entry.id
        return UNDEFINED if found.kind == "value" and look.is_undefined else None

    return excused

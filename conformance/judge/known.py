"""Which known deviation a difference is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.deviations import known
from conformance.judge.signatures import bears

if TYPE_CHECKING:
    from conformance.backends import BackendInfo
    from conformance.case import Case
    from conformance.deviations import Deviation
    from conformance.judge.compare import Mismatch


def explain(info: BackendInfo, case: Case, mismatch: Mismatch) -> Deviation | None:
    """Return the entry that explains a mismatch, or ``None``: the first that describes it and whose signature it bears."""
    return next((entry for entry in known() if entry.matches(info, case, mismatch) and bears(entry, info, case, mismatch)), None)

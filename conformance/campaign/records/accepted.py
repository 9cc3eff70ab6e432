"""What a baseline holds, and what a run says of it."""

from __future__ import annotations

from datetime import date

import msgspec

from conformance.campaign.records.fingerprint import Fingerprint
from conformance.case.case import Case


class Accepted(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A finding that somebody accepted for the time being.

    ``version``: of the backend; ``summary`` and ``blame``: what differs, and who is wrong, in words; ``until``: the last day on which
    it is accepted. It was seen in ``shown`` of ``of`` cases of the backend, in a run over what ``drawn`` is a digest of
    (`conformance.campaign.baseline.drawn_by`). ``cases``: the last one shows it, after the others in one process.
    """

    id: str
    fingerprint: Fingerprint
    version: str
    summary: str
    blame: tuple[str, ...]
    reason: str
    accepted: date
    shown: int
    of: int
    drawn: str
    cases: tuple[Case, ...]
    until: date | None = None

    def expired(self, today: date) -> bool:
        """Whether it is no longer accepted."""
        return self.until is not None and self.until < today


class AcceptedRecord(msgspec.Struct, frozen=True):
    """An accepted finding that a run met, in ``count`` of its cases."""

    id: str
    backend: str
    summary: str
    reason: str
    count: int
    until: date | None = None

"""What a baseline holds, and what a run says of it."""

from __future__ import annotations

from datetime import date

import msgspec

from conformance.campaign.records.fingerprint import Fingerprint
from conformance.case.case import Case


class Accepted(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A finding that somebody accepted for the time being.

    Attributes:
        version: that of the backend.
        summary, blame: what differs, and who is wrong, in words.
        shown, of: in how many of how many cases of the backend it was seen, in the run in which it was accepted.
        drawn: a digest of what that run drew (`conformance.campaign.baseline.drawn_by`).
        cases: the last one shows the finding, after the others in one process.
        until: the last day on which it is accepted.
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

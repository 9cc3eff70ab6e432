"""The baseline: findings that somebody accepted for the time being, so that only what is new is red.

A generator that learned to draw something, or an engine that is looked at for the first time, shows more at once than can be looked
into in a day. Until it is, a gate that is red for it says nothing about the next change. So a finding can be accepted (`acceptance`),
with its case, who is to blame, a reason, and perhaps a last day. That is a promise to look into it and no excuse: what is accepted
must begin at the same op, or have the same fingerprint; may not show more often than when it was accepted; and its own case must go on
to show it. Example: with the gradient of ``tanh`` in the baseline, a wrong one of ``sin`` is red, and so is a ``tanh`` that is wrong
ten times as often.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import date, datetime
from typing import TYPE_CHECKING

import msgspec

from conformance.campaign.records import Again, RecordError
from conformance.campaign.records.accepted import Accepted
from conformance.campaign.shares import LEVEL, Count, same_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from conformance.campaign.records import FindingRecord, Footer, Header
    from conformance.campaign.records.fingerprint import Fingerprint


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    accepted: tuple[Accepted, ...]


def read_baseline(path: Path) -> tuple[Accepted, ...]:
    """Read what is accepted.

    Raises:
        RecordError: if the file is none, with what is wrong with it.
        OSError: if it cannot be read.
    """
    try:
        accepted = msgspec.json.decode(path.read_bytes(), type=_File).accepted
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RecordError(f"{path}: {error}; allowed is a baseline that 'conformance accept' has written") from None
    for one in accepted:
        if one.id != one.fingerprint.id:
            raise RecordError(f"{path}: {one.id}: its fingerprint is that of {one.fingerprint.id}; accept it anew")
        if not one.cases:
            raise RecordError(f"{path}: {one.id}: has no case; allowed is one that shows it")
    twice = [name for name, count in Counter(one.id for one in accepted).items() if count > 1]
    if twice:
        raise RecordError(f"{path}: {twice[0]}: is there twice; allowed is once")
    return accepted


def write_baseline(path: Path, accepted: Iterable[Accepted]) -> None:
    """Write what is accepted, sorted by name; whatever goes wrong leaves the file as it was."""
    text = msgspec.json.encode(_File(tuple(sorted(accepted, key=lambda one: one.id))))
    aside = path.with_name(f"{path.name}.part")
    try:
        aside.write_bytes(msgspec.json.format(text, indent=1) + b"\n")
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def acceptance(finding: FindingRecord, run: tuple[Header, Footer], said: Sequence[str], reason: str, until: date | None) -> Accepted:
    """Accept a finding of a run; ``said``: what differs, and then who is to blame, in words.

    Raises:
        RecordError: if it cannot be accepted, because it is the suite's own fault, or nothing could say that it is gone.
    """
    header, footer = run
    if finding.blame is not None and finding.blame.who == "reference":
        raise RecordError(f"{finding.id}: the reference is wrong there; that is a fault of the suite, which is mended and not accepted")
    if finding.again is Again.NEVER:
        raise RecordError(f"{finding.id}: its case did not fail again in a fresh process, so nothing could tell that it is gone")
    backend = next(b for b in header.backends if b.name == finding.backend)
    summary, *blame = said
    return Accepted(
        id=finding.id,
        fingerprint=finding.fingerprint,
        version=backend.version,
        summary=summary,
        blame=tuple(blame),
        reason=reason,
        accepted=today(),
        shown=finding.count,
        of=sum(footer.ledger[finding.backend].values()),
        drawn=drawn_by(header),
        cases=(*finding.before, finding.case),
        until=until,
    )


def today() -> date:
    """Return the day, in the time zone of the machine."""
    return datetime.now().astimezone().date()


def drawn_by(header: Header) -> str:
    """Return a digest of what decides how often a difference shows: runs of one digest have shares that can be compared."""
    beside_grid = header.cases if header.grid else 0  # the grid is the same in any run, and so a smaller part of a larger one
    what = header.odds, header.ops, header.lanes, header.judging.laws_only, beside_grid
    return hashlib.blake2b(msgspec.json.encode(what, order="sorted"), digest_size=8).hexdigest()


def accepting(accepted: Sequence[Accepted], fingerprint: Fingerprint, today: date) -> Accepted | None:
    """Return the accepted finding that a failure is one of."""
    return next((one for one in accepted if one.fingerprint.cause == fingerprint.cause and not one.expired(today)), None)


def too_often(accepted: Sequence[Accepted], header: Header, footer: Footer) -> Iterator[str]:
    """Say which accepted findings a run shows more often than when they were accepted, as far as the runs can be compared."""
    named = {one.id: one for one in accepted}
    for met in footer.accepted:
        one = named[met.id]
        count = Count(met.id, met.count, sum(footer.ledger[met.backend].values()), one.shown, one.of)
        comparable = one.drawn == drawn_by(header)
        more = count.seen * count.of > count.shown * count.cases
        if comparable and more and same_share(count.seen, count.cases, count.shown, count.of) < LEVEL:
            yield (
                f"{met.id}: is accepted, and shows in {count.seen} of {count.cases} cases where at most {count.expected[1]} are usual: "
                f"it was in {count.shown} of {count.of} when it was accepted"
            )

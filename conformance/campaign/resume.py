"""Going on with a run that something ended: a signal, a full disk, a machine that went down.

The record is the only state that there is. A case that has a line in it, or in a file that a worker left beside it, is done; every
other one is drawn again from the seed, which makes it the same case. So the run ends with the ledger of one that nothing disturbed, if
what it is run with is the same too, and that is checked against the header.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from conformance.campaign.records import CaseRecord, FindingRecord, Footer, Header, Interruption, RecordError
from conformance.campaign.records.files import Writer, clear_work, read, take_in
from conformance.campaign.records.provenance import difference, of_backends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from conformance.campaign.records import Record

AFTER_THE_CASES = ("finding", "interrupted")
"""Kinds of records that a run makes again, because they are about all of its cases."""


@contextmanager
def sole(folder: Path) -> Iterator[None]:
    """Be the only run that writes to a folder; the system takes the lock away from one that dies.

    Raises:
        RecordError: if another one does.
    """
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise RecordError(f"{folder}: another run is writing there") from None
    finally:
        os.close(opened)


def begin(path: Path, records: Iterable[Record]) -> None:
    """Begin a record, in place of what an earlier run left there."""
    clear_work(path.parent)
    with Writer(path) as writer:
        for record in records:
            writer.write(record)


def unended(path: Path) -> Header:
    """Return the header of a run that did not end.

    Raises:
        RecordError: if there is none, or it is one of the gate, whose checks before the cases are not in the record as they must be.
    """
    header = None
    for record in read(path):
        match record:
            case Header():
                header = record
            case Footer():
                raise RecordError(f"{path}: the run ended ({record.verdict}); there is nothing to resume")
            case CaseRecord() | FindingRecord() | Interruption():
                pass
            case _:
                raise RecordError(f"{path}: a gate is not resumed; run it again, or resume a run")
    if header is None:
        raise RecordError(f"{path}: has no header; there is no run to resume")
    return header


def go_on(path: Path, now: Header) -> Header:
    """Leave a record with its header and its cases alone, those too that workers left beside it; return the header that it has.

    Raises:
        RecordError: if the run cannot be continued, or was begun with something else than there is ``now``.
        OSError: if there is no room.
    """
    header = unended(path)
    if (found := difference(_facts(header), _facts(now))) is not None:
        name, begun, here = found
        raise RecordError(f"{path}: was begun with {name} {begun}, and here it is {here}")
    take_in(path, AFTER_THE_CASES)
    return header


def _facts(header: Header) -> dict[str, Any]:
    """Return what the cases of a run, and the verdicts on them, hang on."""
    return {
        "suite": header.suite,
        **header.environment,
        **of_backends(header.backends),
        **{f"odds {name}": odds for name, odds in header.odds.items()},
        **{name: getattr(header, name) for name in ("seed", "cases", "grid", "lanes", "ops", "ops_not_offered", "judging", "profile")},
    }


def interrupt(path: Path, error: BaseException) -> None:
    """Take in what workers recorded, and say in the place of a footer what ended the run, as far as there is room; tell the error."""
    with suppress(OSError):
        size = take_in(path).size
        with Writer(path, size) as writer:
            writer.write(Interruption(str(error) or type(error).__name__))
    error.add_note(f"what was recorded stays in {path.parent}, and without a footer is no result")
    with suppress(OSError, RecordError):
        unended(path)
        error.add_note(f"conformance run --resume {path.parent} goes on with it")

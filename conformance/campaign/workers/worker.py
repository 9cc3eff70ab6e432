"""What a worker process does: draw, run, judge and record a range of cases.

Every record is appended to the chunk's own file as soon as it is judged, and a progress file says which case and which backend is
under way. So when a framework takes the process down, the parent knows which case did it and loses nothing else.
"""

from __future__ import annotations

import os
from functools import partial
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

import msgspec

from conformance.campaign.records import CaseRecord
from conformance.campaign.records.files import Writer, extent
from conformance.campaign.records.recording import verdict_record
from conformance.campaign.workers.backend_cache import backend
from conformance.campaign.workers.deaths import is_of_death
from conformance.campaign.workers.last_words import heard
from conformance.campaign.workers.trial import NOTHING, run_case
from conformance.campaign.workers.watchdog import OURS, alarm, note, progress_file, set_alarm
from conformance.case.case import Case
from conformance.judge.canary import well
from conformance.judge.judgement import fault
from conformance.laws.judging import times_as_large

if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable, Sequence

    from conformance.backends import Backend
    from conformance.campaign.workers.chunk import Chunk


POISONED = 77
"""Exit code of a worker whose framework no longer differentiates: its last case is recorded, the rest goes to a fresh process."""

OURS_LONGER = 4
"""How many times as long the suite may compute as an engine: where many known deviations meet, the reference runs hundreds of times."""

UNDRAWN = Case((), ())
"""What stands in the record of a case that could not be drawn."""


def run_chunk(chunk: Chunk) -> dict[tuple[str, ...], Any]:
    """Run a chunk to its end, or die trying; the records are in its file either way.

    Returns what it learned of canaries that are well, see `conformance.judge.canary.trust`.

    Raises:
        OSError: if there is no room for them.
    """
    opened = [backend(name) for name in chunk.backends]
    before = well()
    written = Writer(chunk.records, extent(chunk.records).size)
    with written as out, progress_file(chunk.progress) as progress, heard(chunk.words), alarm(chunk.watchdog):
        for index in range(chunk.start, chunk.stop):
            if chunk.until is not None and monotonic() >= chunk.until:
                break
            record = _recorded(chunk, index, opened, partial(_enter, progress, index))
            set_alarm(0)
            if record.case is not None:
                record = msgspec.structs.replace(record, since=chunk.start)
            if index in chunk.deaths and not any(map(is_of_death, record.verdicts.values())):
                record = msgspec.structs.replace(record, deaths=chunk.deaths[index])
            out.write(record)
            if record.poisoned:
                os._exit(POISONED)
    chunk.progress.unlink(missing_ok=True)
    chunk.watchdog.unlink(missing_ok=True)
    return {place: answered for place, answered in well().items() if place not in before}


def _enter(progress: mmap.mmap, index: int, patience: float, who: str) -> None:
    """Say who is under way now, and give them their time."""
    note(progress, index, who)
    set_alarm(patience * (OURS_LONGER if who.endswith(f" {OURS}") else 1))


def _recorded(chunk: Chunk, index: int, opened: Sequence[Backend], entering: Callable[[float, str], None]) -> CaseRecord:
    """Run a case of a chunk and return its record; a fault of the suite is one of this case, and costs no other."""
    case = UNDRAWN
    started = drawn = perf_counter()
    try:
        case = chunk.case_at(index)
        drawn = perf_counter()
        patience = (chunk.patience or chunk.judging.timeout) * times_as_large(case)
        set_alarm(patience)
        point = chunk.points.get(index)
        fatal = chunk.fatal_backends.get(index, {})
        given = case, opened, chunk.judging, fatal, partial(entering, patience)
        record = run_case(*given, index=index, point=point, settled=chunk.settled, expected=chunk.expected)
    except Exception as error:  # noqa: BLE001 - as it says
        failed = fault(error, "drawn" if case is UNDRAWN else "judged")
        verdicts = {name: verdict_record(case, failed, NOTHING) for name in chunk.backends}
        record = CaseRecord(index, case.id, case.lane, 0, False, verdicts, {}, False, (), case=case)
    record.seconds.update(generate=drawn - started, all=perf_counter() - started)
    return record

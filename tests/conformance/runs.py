"""Runs of the command in processes of their own, to be disturbed."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conformance.campaign.records import CaseRecord, Footer
from conformance.campaign.records.files import read
from tests.conformance.launched import Launched

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 120.0
"""Seconds after which a condition is not waited for any more, on a machine that has much else to do."""

PROGRESS = re.compile(r"conformance: (?:[\d,]+ of [\d,]+ cases, \d+ findings|reducing finding \d+ of \d+)")
"""A line by which a run says how far it is."""

OF_THE_WAY = ("seconds", "deaths", "unreproduced_deaths", "started", "command", "jobs", "replay", "bare", "processes", "since")
"""Fields of records that say how a run went, not what came of it."""


_started: list[Launched] = []
"""The runs that a test has started so far."""


def start(*arguments: object, **options: Any) -> Launched:
    """Start the command as the leader of a session, which all of its processes belong to."""
    _started.append(Launched("conformance", *arguments, **options))
    return _started[-1]


def end_started() -> None:
    """End the runs that go on although their test has ended, since it failed."""
    for process in _started:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    _started.clear()


def finish(*arguments: object, **options: Any) -> tuple[int | None, list[str]]:
    """Run the command to its end; return its exit code and what it says on the standard error."""
    return end_of(start(*arguments, **options))


def end_of(process: Launched) -> tuple[int | None, list[str]]:
    """Wait for the end of a run; return its exit code and what it says on the standard error, but for how far it has come.

    That it says once a minute, so how often it does depends on what else the machine has to do.
    """
    _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, [line for line in said.splitlines() if not PROGRESS.fullmatch(line)]


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for a condition."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "this did not come true in time"
        time.sleep(0.02)


def recorded(out: Path) -> int:
    """Count the lines that a run has written so far."""
    lines = 0
    for path in (*out.glob("run.ndjson"), *out.glob(".work-*/*.ndjson")):
        with suppress(FileNotFoundError):  # its lines are in the run's own file meanwhile
            lines += path.read_bytes().count(b"\n")
    return lines


def members(session: int) -> dict[int, int]:
    """Return the processes of a session that live, each with its parent."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = stat.read_text().partition(" (")
        except OSError:  # it ended meanwhile
            continue
        state, parent, _, its_session = rest.rpartition(") ")[2].split()[:4]
        if int(its_session) == session and state not in "ZX":
            found[int(number)] = int(parent)
    return found


def lines_of(out: Path) -> tuple[list[Any], list[Any]]:
    """Return what came of a run: its cases by their index, and its other records."""
    records = list(read(out / "run.ndjson"))
    cases = sorted((record for record in records if isinstance(record, CaseRecord)), key=lambda record: record.index)
    return [_result(record) for record in cases], [_result(r) for r in records if not isinstance(r, CaseRecord)]


def footer_of(out: Path) -> Footer:
    """Return the footer of a run that ended."""
    *_, footer = read(out / "run.ndjson")
    assert isinstance(footer, Footer)
    return footer


def _result(record: Any) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(record).items() if name not in OF_THE_WAY}

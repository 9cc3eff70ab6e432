"""Whether bugs are still there: the scripts of findings are run, each in a process of its own.

A script ends with status 0 where the bug is gone, and by an `AssertionError` that says what is wrong where it shows. Anything else is a
fault of the script, such as an import that fails or an error that it did not expect.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.report.catalogue.page import Page

PATIENCE = 120.0
"""Seconds that a script may take, of which importing a framework are most."""
SHOWN = "AssertionError"


class Outcome(StrEnum):
    """What a script says of the framework that is installed."""

    SHOWS = "shows"
    GONE = "gone"
    FAULT = "fault"


class Checked(NamedTuple):
    """What the script of a finding says, with its last line."""

    page: Page
    outcome: Outcome
    detail: str


def verified(pages: Sequence[Page], jobs: int) -> Iterator[Checked]:
    """Run the scripts of findings, so many at a time, and yield what they say in the order of the pages."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(_verified, pages)


def _verified(page: Page) -> Checked:
    command = [sys.executable, "-c", page.script]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603 - ours
    except subprocess.TimeoutExpired:
        return Checked(page, Outcome.FAULT, f"did not end within {PATIENCE:.0f} s")
    said = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode == 0:
        return Checked(page, Outcome.GONE, "")
    if done.returncode == 1 and said.startswith(SHOWN):
        return Checked(page, Outcome.SHOWS, said.removeprefix(SHOWN).removeprefix(": "))
    return Checked(page, Outcome.FAULT, f"status {done.returncode}: {said}")

"""Whether bugs are still there: the scripts of findings are run, each in a process of its own that has imported the frameworks.

A script comes to its end where the bug is gone, and raises an `AssertionError` that says what is wrong where it shows. A bug of a
function, a parameter, a dtype or a derivative of an op that the release does not have is not offered there. Anything else is a fault of
the script, such as an error that it did not expect, or the end of its process. A script that sets the environment, which frameworks
read when they are imported, starts from nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.campaign.workers.pool import Workers
    from conformance.report.catalogue.page import Page

RAISED = "AssertionError: "
LACKING = re.compile(
    r"AttributeError: module '[\w.]+' has no attribute|TypeError: .*got an unexpected keyword argument"
    r"|RuntimeError: \(NotFound\) The kernel with key .* is not registered"
    r"|RuntimeError: \(Unavailable\) The Op \w+ doesn't have any grad op"
)
"""What Python says of a function or a parameter that a release does not have, and Paddle of a dtype of an op, or of its derivative."""
PATIENCE = 60.0
"""Seconds that a script may take; one whose process dies starts another, which imports the framework anew."""


class Showing(StrEnum):
    """What a script says of the framework that is installed."""

    SHOWS = "shows"
    GONE = "gone"
    NOT_OFFERED = "not offered"
    FAULT = "fault"


class Verified(NamedTuple):
    """What the script of a finding says, and how it puts that."""

    page: Page
    showing: Showing
    detail: str


def verified(pages: Sequence[Page], workers: Workers) -> Iterator[Verified]:
    """Run the scripts of findings and yield what they say, in the order of the pages."""
    for page, answer in zip(pages, workers.calls(said_by, [(page.script,) for page in pages], PATIENCE), strict=True):
        yield Verified(page, *(answer or (Showing.FAULT, f"its process died, or did not end within {PATIENCE:.0f} s")))


def said_by(script: str) -> tuple[Showing, str]:
    """Run a script here, and return what it says of the framework."""
    if "os.environ" in script:
        return _said_from_nothing(script)
    try:
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            exec(compile(script, "script.py", "exec"), {"__name__": "__main__"})  # noqa: S102 - it stands in our own repository
    except AssertionError as error:
        return Showing.SHOWS, str(error)
    except BaseException as error:  # noqa: BLE001 - a script may also leave
        return _of_error(f"{type(error).__name__}: {error}")
    return Showing.GONE, ""


def _said_from_nothing(script: str) -> tuple[Showing, str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)  # noqa: S603 - as above
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode == 0:
        return Showing.GONE, ""
    if done.returncode == 1 and last.startswith(RAISED):
        return Showing.SHOWS, last.removeprefix(RAISED)
    return _of_error(last, f"status {done.returncode}: ")


def _of_error(said: str, status: str = "") -> tuple[Showing, str]:
    return (Showing.NOT_OFFERED, said) if LACKING.match(said) else (Showing.FAULT, status + said)

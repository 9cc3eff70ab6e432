"""Being stopped: Ctrl-C, a request to end, and a terminal that is closed are one thing, told apart by the exit code alone."""

from __future__ import annotations

import errno
import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors that say that there is no room for what is written."""


class Stopped(BaseException):
    """A signal asked this process to end; no error, so that nobody handles it as one.

    Its text is the name of the signal; ``code``: the exit code by which a shell knows such an end.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


_asked: list[Stopped] = []
"""The end that was asked for, if any."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn the first signal that asks this process to end into `Stopped`, see also `insist`; those after it change nothing.

    What is ignored stays so: a run under ``nohup`` is to outlive its terminal.
    """
    terminals = [stream for stream in (1, 2) if os.isatty(stream)]

    def stop(number: int, _: Any) -> NoReturn:
        for heard in before:
            signal.signal(heard, signal.SIG_IGN)
        if number == signal.SIGHUP:  # nobody reads what is written there any more, and writing it is an error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for stream in terminals:
                os.dup2(nowhere, stream)
        _asked.append(Stopped(number))
        raise _asked[0]

    def drop(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_type is not Stopped:
            report(lost)

    report, sys.unraisablehook = sys.unraisablehook, drop
    before = {number: signal.getsignal(number) for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        _asked.clear()
        sys.unraisablehook = report
        for number, handler in before.items():
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)


def insist() -> None:
    """Raise `Stopped` again if it was raised before: who asks has not heard it, and would go on for ever.

    Python drops what is raised while an object is finalized, and a signal may come just then: the futures of Dask are finalized by a
    good deal of code.
    """
    if _asked:
        raise _asked[0]


def with_notes(message: str, error: BaseException) -> str:
    """Add to a message what was said about its error on the way up."""
    return "; ".join([message, *getattr(error, "__notes__", [])])

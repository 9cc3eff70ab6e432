"""Saying how far a campaign is: in a line of the terminal that changes, or where there is none in a line a minute."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from conformance.cli.stopping import insist

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from conformance.campaign.run import Progress

MINUTE = 60.0


@contextmanager
def shown(console: Console, cases: int) -> Iterator[Callable[[Progress], None]]:
    """Show progress on a terminal, or print it on the standard error; yield what is to be told of it, and insists on an end."""
    with _displayed(console, cases) as display:

        def tell(progress: Progress) -> None:
            insist()
            display(progress)

        yield tell


@contextmanager
def _displayed(console: Console, cases: int) -> Iterator[Callable[[Progress], None]]:
    if sys.stdout.isatty():
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("opening the backends", total=cases)
            yield lambda progress: bar.update(task, completed=progress.cases, total=progress.of, description=str(progress))
    else:
        yield Lines()


class Lines:
    """Prints progress, but at most once a minute by ``clock``, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = clock() + MINUTE

    def __call__(self, progress: Progress) -> None:
        """Print a line, if it is time for one."""
        if (now := self._clock()) >= self._next:
            self._next = now + MINUTE
            click.echo(f"conformance: {progress}", err=True)

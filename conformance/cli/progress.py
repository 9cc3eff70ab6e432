"""Saying how far a command is: in a line of the terminal that changes, or where there is none in a line a minute."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol

import click

from conformance.cli.stopping import insist

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

MINUTE = 60.0


class Reached(Protocol):
    """How far something is: so much is done of so much, and as text the whole of it in words."""

    @property
    def done(self) -> int:
        """How much is done."""

    @property
    def of(self) -> int:
        """Of how much."""


class Part(NamedTuple):
    """How far a part of a command is."""

    what: str
    done: int
    of: int

    def __str__(self) -> str:
        return f"{self.what}: {self.done:,} of {self.of:,}"


@contextmanager
def part(console: Console, what: str, of: int) -> Iterator[Callable[[int], None]]:
    """Show how far a part of a command is; yield what hears how many more are done."""
    done = 0
    with shown(console, of, what) as tell:

        def heard(more: int) -> None:
            nonlocal done
            done += more
            tell(Part(what, done, of))

        yield heard


@contextmanager
def shown(console: Console, of: int, first: str | None = None) -> Iterator[Callable[[Reached], None]]:
    """Show progress on a terminal, or print it on the standard error; yield what is to be told of it, and insists on an end.

    ``first``: what is said before anything is done; it is a line of its own where there is no terminal.
    """
    with _displayed(console, of, first) as display:

        def tell(progress: Reached) -> None:
            insist()
            display(progress)

        yield tell


@contextmanager
def _displayed(console: Console, of: int, first: str | None) -> Iterator[Callable[[Reached], None]]:
    if sys.stdout.isatty():
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(first or "opening the backends", total=of)
            yield lambda progress: bar.update(task, completed=progress.done, total=progress.of, description=str(progress))
    else:
        yield Lines(first)


class Lines:
    """Prints progress, but at most once a minute by ``clock``, in seconds; before that ``first``, once anything is done."""

    def __init__(self, first: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._first = first
        self._clock = clock
        self._next = clock() + MINUTE

    def __call__(self, progress: Reached) -> None:
        """Print a line, if it is time for one."""
        if self._first is not None:
            click.echo(f"conformance: {self._first}", err=True)
            self._first = None
        if (now := self._clock()) >= self._next:
            self._next = now + MINUTE
            click.echo(f"conformance: {progress}", err=True)

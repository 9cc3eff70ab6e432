"""What a worker of a Dask cluster does: it sees chunks through, with nurseries of its own.

A case may take down any process but this one. So a thread of a Dask worker runs no case either: it has a nursery, as the local pool has
them, and everything that is known about deaths, hangs and damage holds there, too. What comes back is the lines of the records, since
the machines share no disk.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import time
from collections import Counter, defaultdict
from concurrent.futures import CancelledError
from dataclasses import replace
from functools import cache
from multiprocessing.util import Finalize
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from conformance.backends import BackendError
from conformance.campaign.records import provenance
from conformance.campaign.workers.dispatch import in_order
from conformance.campaign.workers.pool import Workers, end_server
from conformance.campaign.workers.supervisor import Passage

if TYPE_CHECKING:
    from conformance.campaign.workers.chunk import Chunk

LINE = "dask worker ADDRESS --no-nanny"
"""How a worker is started that can do this."""


class ClusterError(RuntimeError):
    """A cluster that is not there, or that cannot run a campaign; the message says what is wrong with which worker."""


class Delivered(NamedTuple):
    """A chunk that came through: how, and the lines of its records."""

    passage: Passage
    lines: bytes


_idle: defaultdict[tuple[str, ...], list[Workers]] = defaultdict(list)
"""Pools of one nursery that nobody uses just now, by their backends; a thread takes one and puts it back."""


def dask_setup(_: object) -> None:
    """Prepare a worker that the client started (Dask calls this): a Ctrl-C in the terminal, which all hear, is for the client alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


async def checked(needed: dict[str, str], backends: tuple[str, ...]) -> str | None:
    """Do what `misfit` does, while the Dask worker goes on telling its scheduler that it lives."""
    return await asyncio.to_thread(misfit, needed, backends)


async def released() -> None:
    """End the nurseries that nobody uses."""
    await asyncio.to_thread(_release)


def seen_through(chunk: Chunk, seconds: float | None, needed: dict[str, str], backends: tuple[str, ...]) -> Delivered:
    """See a chunk through in a nursery of this machine, if it has the facts that are ``needed``.

    ``seconds``: after which no more cases are started; the clock of the chunk is that of another machine.

    Raises:
        ClusterError: if this worker is not fit for the run.
        CancelledError: if nobody wants the chunk any more.
        OSError: if there is no room for the records.
    """
    from distributed import get_worker

    if (found := misfit(needed, backends)) is not None:
        raise ClusterError(f"worker {get_worker().address} {found}")
    until = None if seconds is None else time.monotonic() + seconds
    workers = _taken(backends)
    workers.ended, workers.seconds = Counter(), defaultdict(float)
    with TemporaryDirectory(dir=get_worker().local_directory) as folder:
        here, aside, lines = replace(chunk, folder=folder, until=until), [], b""  # type: ignore[var-annotated]
        try:
            for _ in in_order(workers, [here], aside, lambda _: _give_up_if_cancelled()):
                lines = here.records.read_bytes()
        finally:
            _idle[backends].append(workers)
    return Delivered(Passage(tuple(second.start for second in aside), workers.ended, workers.seconds), lines)


def misfit(needed: dict[str, str], backends: tuple[str, ...]) -> str | None:
    """Say why this worker must not take part in a run that needs these facts; ``None`` if it may."""
    if multiprocessing.current_process().daemon:
        return f"runs under a nanny, so that it may have no processes of its own; start it with: {LINE}"
    try:
        found = provenance.difference(needed, _facts(backends))
    except BackendError as error:
        return f"cannot run the suite: {error}"
    if found is None:
        return None
    name, wanted, has = found
    return f"has {name} {has}, and the run has {wanted}; all of its machines need the same"


@cache
def _facts(backends: tuple[str, ...]) -> dict[str, str]:
    Finalize(None, end_server, exitpriority=0)  # a process of multiprocessing waits at its end for its children, and asks none to end
    workers = _taken(backends)
    try:
        return provenance.of_machine([workers.describe(name) for name in backends])
    finally:
        _idle[backends].append(workers)


def _taken(backends: tuple[str, ...]) -> Workers:
    try:
        return _idle[backends].pop()
    except IndexError:
        return Workers(backends, 1)


def _release() -> None:
    for unused in list(_idle.values()):
        while unused:
            with unused.pop():
                pass


def _give_up_if_cancelled() -> None:
    """Dask stops no thread: a task that was cancelled has to look."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    if task is None or task.state == "cancelled":
        raise CancelledError

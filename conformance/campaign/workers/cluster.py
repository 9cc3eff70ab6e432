"""More than one machine: chunks go to the workers of a Dask cluster.

Dask knows which workers there are, gives a chunk to one that is free, and to another one if that dies. What is left to do here is to
let no worker in that would make another ledger, and to have no more under way than there are threads: then a chunk is lost with its
worker and no other, and what waits is in nobody's memory.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from conformance.campaign.records import provenance
from conformance.campaign.workers import cluster_worker
from conformance.campaign.workers.cluster_worker import LINE, ClusterError, checked, released, seen_through
from conformance.campaign.workers.dispatch import dispatched
from conformance.case.prose import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from conformance.campaign.records import BackendRecord, CaseRecord
    from conformance.campaign.workers.chunk import Chunk
    from conformance.campaign.workers.cluster_worker import Delivered
    from conformance.campaign.workers.supervisor import Passage

LOCAL = "local"
"""In the place of an address: a cluster of processes of this machine."""
ANSWER = 10.0
"""Seconds in which a scheduler answers, and in which a cluster that is asked to run something has its first worker."""
BEREFT = 60.0
"""Seconds after which a run ends whose cluster has lost all of its workers."""


@contextmanager
def reached(where: str | None, jobs: int) -> Iterator[Cluster | None]:
    """Reach the cluster whose scheduler is at an address, or start one of ``jobs`` processes for `LOCAL`; nothing for ``None``.

    Raises:
        ClusterError: if nobody answers there, or Dask is not installed.
    """
    if where is None:
        yield None
        return
    try:
        import distributed
    except ImportError:
        raise ClusterError("--dask needs the package distributed; pip install 'autograd-conformance[dask]'") from None
    for name in ("distributed", "distributed.client"):  # what is worth knowing, we raise
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as opened:
        try:
            scheduler = opened.enter_context(_local_cluster(jobs)) if where == LOCAL else where
            client = opened.enter_context(distributed.Client(scheduler, timeout=ANSWER))
        except (OSError, ValueError) as error:
            raise ClusterError(f"no Dask scheduler answers at {where} ({str(error) or type(error).__name__})") from None
        cluster = Cluster(client, where)
        yield cluster
        cluster.release()


@contextmanager
def _local_cluster(jobs: int) -> Iterator[Any]:
    """Start a cluster of processes of this machine that may have children."""
    import dask
    import distributed

    dask.config.set({"distributed.worker.daemon": False})
    off: dict[str, Any] = {"dashboard_address": ":0", "scheduler_kwargs": {"dashboard": False}, "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, preload=[cluster_worker.__name__], **off) as cluster:
        yield cluster


class Cluster:
    """The workers of a Dask cluster, as `conformance.campaign.workers.dispatch.Crew`.

    ``jobs``: how many threads they had at most. Those of a worker that came late or left early count as idle for the rest, so that a
    run never looks cheaper than it was. ``clock`` tells how long there has been no worker, in seconds.
    """

    def __init__(self, client: Any, where: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.ended: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.jobs = 0
        self._client, self._where = client, where
        self._executor = client.get_executor(pure=False)
        self._needed: dict[str, str] = {}
        self._backends: tuple[str, ...] = ()
        self._clock, self._seen = clock, clock()

    def admitted(self, backends: Sequence[BackendRecord]) -> int:
        """Hold the workers against these backends as this machine has them; return how many threads they have.

        Raises:
            ClusterError: if there is none, or one would make another ledger.
        """
        self._backends, self._needed = tuple(backend.name for backend in backends), provenance.of_machine(backends)
        try:
            self._client.wait_for_workers(1, ANSWER)
        except TimeoutError:
            raise ClusterError(f"the cluster at {self._where} has no worker; start one with: {LINE}") from None
        for worker, found in self._client.run(checked, self._needed, self._backends, on_error="return").items():
            if found is not None and not isinstance(found, OSError):  # or else it left
                said = f"cannot run the suite: {found}" if isinstance(found, Exception) else found
                raise ClusterError(f"worker {worker} {said}")
        return self.room()

    def release(self) -> None:
        """Let the workers end what they keep for the next chunk."""
        with suppress(OSError):
            self._client.run(released, on_error="ignore")

    def run(
        self, chunks: Iterable[Chunk], until: float | None = None, meanwhile: Callable[[int], None] = lambda _: None
    ) -> Iterator[list[CaseRecord]]:
        """Run chunks and yield the records of each, as `dispatched` does.

        Raises:
            ClusterError: if it cannot go on.
        """
        return dispatched(self, chunks, until, meanwhile)

    def room(self) -> int:
        """Return how many threads the workers have now.

        Raises:
            ClusterError: if there is no scheduler any more, or for a minute there was no worker.
        """
        try:
            threads = int(sum(self._client.nthreads().values()))
        except OSError:
            raise self._gone() from None
        now = self._clock()
        if threads:
            self._seen = now
        elif now > self._seen + BEREFT:
            raise ClusterError(f"the cluster at {self._where} has had no worker for {BEREFT:.0f} s")
        self.jobs = max(self.jobs, threads)
        return max(1, threads)

    def begin(self, chunk: Chunk) -> Future[Delivered]:
        """Begin with a chunk; as much time as it has left now, it has there."""
        seconds = None if chunk.until is None else chunk.until - time.monotonic()
        future: Future[Delivered] = self._executor.submit(seen_through, chunk, seconds, self._needed, self._backends)
        return future

    def passed(self, chunk: Chunk, future: Future[Delivered]) -> Passage:
        """Put the records of a chunk into its file, and return how it came through.

        Raises:
            ClusterError: if it did not.
            OSError: if there is no room for the records, here or there.
        """
        from distributed import KilledWorker

        try:
            passage, lines = future.result()
        except ClusterError:
            raise
        except OSError as error:
            error.add_note("on a worker of the cluster")
            raise
        except CancelledError:
            raise self._gone() from None
        except KilledWorker as error:
            cases, lost = f"cases {chunk.start} to {chunk.stop - 1}", counted(error.allowed_failures + 1, "worker")
            last = error.last_worker.address
            raise ClusterError(f"{cases} were under way on {lost} that died, the last of them {last}; its log may say why") from None
        except Exception as error:  # noqa: BLE001 - a scheduler or a worker that cannot read what it is sent
            raise ClusterError(f"the cluster at {self._where} cannot run the suite: {error}") from None
        chunk.records.write_bytes(lines)
        return passage

    def _gone(self) -> ClusterError:
        return ClusterError(f"the Dask scheduler at {self._where} is gone")

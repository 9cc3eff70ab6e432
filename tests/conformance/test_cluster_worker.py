"""What is left to a worker of a cluster, and what its client makes of what comes back: without a cluster."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.campaign.records.provenance import of_machine
from conformance.campaign.workers import cluster_worker
from conformance.campaign.workers.chunk import chunk_of
from conformance.campaign.workers.cluster import Cluster
from conformance.campaign.workers.cluster_worker import ClusterError, seen_through
from conformance.campaign.workers.pool import Workers
from conformance.generate.scripts import DrawOptions, case_of
from tests.conformance.engines import EXACT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.campaign.workers.chunk import Chunk

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

SLOW = "tests.wrong_engines:slow_on_sin"
FOR_EVER = "tests.wrong_engines:spins_on_sin"


def given(engine: str, folder: Path) -> tuple[Chunk, dict[str, str], tuple[str, ...]]:
    """Make a chunk of three cases, of which the last one takes long, and what it takes to run it here."""
    cases = [case_of(2, 0, DrawOptions(ops=(op,), complexes=0.0)) for op in ("mul", "add", "sin")]
    with Workers((engine,), 1) as workers:
        return chunk_of(cases, (engine,), folder), of_machine([workers.describe(engine)]), (engine,)


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SimpleNamespace]:
    """Be a task on a Dask worker; afterwards its nurseries end."""
    task = SimpleNamespace(state="executing")
    state = SimpleNamespace(tasks={"key": task})
    worker = SimpleNamespace(address="tcp://here:1", local_directory=tmp_path, state=state, get_current_task=lambda: "key")
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    yield task
    asyncio.run(cluster_worker.released())


def test_a_worker_sends_back_records_and_leaves_what_takes_long_to_the_end_of_the_run(task: SimpleNamespace, tmp_path: Path) -> None:
    chunk, needed, backends = given(SLOW, tmp_path)
    passage, lines = seen_through(replace(chunk, patience=0.1), None, needed, backends)
    assert ((2,), 2, {"set aside": 1}) == (passage.aside, lines.count(b"\n"), dict(passage.ended))
    assert not list(tmp_path.iterdir())


def test_a_worker_starts_no_case_when_the_time_is_up(task: SimpleNamespace, tmp_path: Path) -> None:
    chunk, needed, backends = given(SLOW, tmp_path)
    assert ((), b"") == (seen_through(chunk, 0.0, needed, backends).passage.aside, seen_through(chunk, -1.0, needed, backends).lines)


def test_a_worker_gives_up_a_chunk_that_nobody_wants_any_more(task: SimpleNamespace, tmp_path: Path) -> None:
    chunk, needed, backends = given(FOR_EVER, tmp_path)
    task.state = "cancelled"
    with pytest.raises(CancelledError):
        seen_through(chunk, None, needed, backends)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"suite": "1999.12"}, "has suite .*, and the run has 1999.12"), ({"gpu": "x"}, "has gpu None, and the run has x")],
)
def test_a_worker_that_differs_takes_no_chunk(change: dict[str, str], message: str, task: SimpleNamespace, tmp_path: Path) -> None:
    chunk, needed, backends = given(SLOW, tmp_path)
    with pytest.raises(ClusterError, match=f"worker tcp://here:1 {message}; all of its machines need the same"):
        seen_through(chunk, None, needed | change, backends)


def test_a_worker_that_cannot_open_a_backend_says_so(task: SimpleNamespace, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"worker tcp://here:1 cannot run the suite: .*nowhere"):
        seen_through(chunk_of([EXACT], ("nowhere:engine",), tmp_path), None, {}, ("nowhere:engine",))


class FakeClient:
    """A client of a cluster that has no workers, or whose scheduler is gone."""

    def __init__(self, threads: dict[str, int] | None) -> None:
        self.threads = threads

    def get_executor(self, **_: object) -> None:
        return None

    def nthreads(self) -> dict[str, int]:
        if self.threads is None:
            raise OSError("Timed out trying to connect")
        return self.threads

    def wait_for_workers(self, *_: object) -> None:
        raise TimeoutError


def test_a_cluster_without_workers_is_told_how_to_start_one() -> None:
    with pytest.raises(ClusterError, match="the cluster at there has no worker; start one with: dask worker"):
        Cluster(FakeClient({}), "there").admitted(())


def test_a_cluster_that_lost_its_workers_is_waited_for_a_minute() -> None:
    client = FakeClient({})
    lost = Cluster(client, "there", clock=iter([0.0, 30.0, 50.0, 109.0, 111.0]).__next__)
    rooms = [lost.room()]
    client.threads = {"one": 8, "other": 4}
    rooms.append(lost.room())
    client.threads = {}
    rooms.append(lost.room())
    assert ([1, 12, 1], 12) == (rooms, lost.jobs)
    with pytest.raises(ClusterError, match="the cluster at there has had no worker for 60 s"):
        lost.room()


def test_a_scheduler_that_is_gone_ends_the_run() -> None:
    with pytest.raises(ClusterError, match="the Dask scheduler at there is gone"):
        Cluster(FakeClient(None), "there").room()


LOST = SimpleNamespace(address="tcp://there:1")
FAILURES = {
    "the task was forgotten": (None, "the Dask scheduler at there is gone"),
    "the workers died": (
        distributed.KilledWorker("key", LOST, 3),
        "cases 0 to 0 were under way on 4 workers that died, the last of them",
    ),
    "the suite is missing": (ModuleNotFoundError("No module named 'conformance'"), "cannot run the suite: No module named"),
    "a misfit": (ClusterError("worker tcp://there:1 has suite 1999.12"), "worker tcp://there:1 has suite 1999.12"),
}


@pytest.mark.parametrize(("error", "message"), FAILURES.values(), ids=FAILURES)
def test_a_chunk_that_did_not_come_through_says_why(error: Exception | None, message: str, tmp_path: Path) -> None:
    future: Future[Any] = Future()
    if error is None:
        future.cancel()
    else:
        future.set_exception(error)
    with pytest.raises(ClusterError, match=message):
        Cluster(FakeClient({}), "there").passed(chunk_of([EXACT], ("reference",), tmp_path), future)

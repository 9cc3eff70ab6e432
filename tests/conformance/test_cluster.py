"""Runs on a Dask cluster: the ledger of a local run, whatever happens to the workers, and one line where the cluster is none."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from conformance.campaign.records import CaseRecord, Header, Interruption
from conformance.campaign.records.files import read
from conformance.campaign.workers import cluster
from conformance.campaign.workers.cluster import reached
from conformance.campaign.workers.cluster_worker import ClusterError
from tests.conformance.engines import ROOT
from tests.conformance.launched import Launched
from tests.conformance.runs import end_of, finish, footer_of, lines_of, members, recorded, start, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.fixtures import FixtureRequest
    from _pytest.tmpdir import TempPathFactory


pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

CASES = 160
DYING = ("--backends", "tests.wrong_engines:dies_on_sin", "--cases", CASES)
FINE = ("--backends", "tests.wrong_engines:correct")
ENDLESS = ("--cases", 1_000_000)


@dataclass
class Machines:
    """A scheduler, and workers in processes of their own, each of which plays a machine."""

    folder: Path
    workers: list[Launched] = field(default_factory=list)

    def __post_init__(self) -> None:
        written = self.folder / "scheduler.json"
        self.scheduler = self._dask("scheduler", "--port", 0, "--no-dashboard", "--scheduler-file", written)
        wait_until(lambda: written.exists() and written.read_text().endswith("}"))
        self.address = json.loads(written.read_text())["address"]
        command = [sys.executable, "-c", ASKER, self.address]
        self.asker = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _dask(self, *arguments: object) -> Launched:
        with (self.folder / "log").open("a") as log:
            return Launched("dask", *arguments, stdout=log.fileno(), stderr=log.fileno())

    def join(self, *options: object, nanny: bool = False) -> Launched:
        """Let one more worker of one thread join."""
        place = ("--local-directory", self.folder, "--nthreads", 1, "--no-dashboard")
        self.workers.append(self._dask("worker", self.address, *place, *([] if nanny else ["--no-nanny"]), *options))
        return self.workers[-1]

    def part(self) -> None:
        """Let all workers leave."""
        for worker in self.workers:
            if worker.returncode is None:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()
        self.workers.clear()
        self.wait_for(0)

    def wait_for(self, workers: int) -> None:
        """Wait until the scheduler has so many workers."""
        self.wait_until(f"len(client.nthreads()) == {workers}")

    def wait_until(self, condition: str) -> None:
        """Wait until a condition on a client of the scheduler holds."""
        assert self.asker.stdin is not None
        assert self.asker.stdout is not None
        print(condition, file=self.asker.stdin, flush=True)
        assert self.asker.stdout.readline(), f"nobody can say whether {condition}"


ASKER = """
import sys
import distributed
from tests.conformance.runs import wait_until
with distributed.Client(sys.argv[1]) as client:
    for condition in sys.stdin:
        wait_until(lambda: eval(condition))
        print(condition, end="", flush=True)
"""
"""A process that asks a scheduler; it takes a second to start, so there is one for all conditions."""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: TempPathFactory) -> Iterator[Machines]:
    """Start a scheduler that has no worker yet."""
    machines = Machines(tmp_path_factory.mktemp("cluster"))
    try:
        yield machines
        machines.part()
    finally:
        machines.asker.communicate()
        machines.scheduler.kill()
        machines.scheduler.wait()


@pytest.fixture
def alone(scheduler: Machines) -> Machines:
    """Return a cluster without any worker."""
    if scheduler.workers:
        scheduler.part()
    return scheduler


@pytest.fixture
def two(scheduler: Machines) -> Machines:
    """Return a cluster of two workers."""
    if [worker.returncode for worker in scheduler.workers] != [None, None]:
        scheduler.part()
        scheduler.join()
        scheduler.join()
        scheduler.wait_for(2)
    return scheduler


@pytest.fixture(scope="module")
def here(tmp_path_factory: TempPathFactory) -> Path:
    """Run a campaign on this machine alone."""
    out = tmp_path_factory.mktemp("here")
    assert finish("run", *FINE, "--cases", CASES, "--jobs", 2, "--out", out) == (0, [])
    return out


def ids(out: Path) -> list[str]:
    return [record.id for record in read(out / "run.ndjson") if isinstance(record, CaseRecord)]


def test_the_loss_of_a_machine_changes_nothing_in_a_ledger_with_findings(two: Machines, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    process = start("run", *DYING, "--dask", two.address, "--out", there)
    wait_until(lambda: recorded(there) > 50)
    os.killpg(two.workers[0].pid, signal.SIGKILL)
    assert end_of(process) == finish("run", *DYING, "--jobs", 2, "--out", here) == (1, [])
    assert (lines_of(here), ids(here)) == (lines_of(there), ids(there))
    header = next(iter(read(there / "run.ndjson")))
    assert isinstance(header, Header)
    assert (2, 2) == (header.jobs, footer_of(there).jobs)


def begun(two: Machines, out: Path) -> Launched:
    """Begin a run on a cluster, and wait until it has recorded some cases."""
    process = start("run", *FINE, "--cases", CASES, "--dask", two.address, "--out", out)
    wait_until(lambda: recorded(out) > 50)
    return process


def test_ctrl_c_takes_back_what_the_cluster_has_and_the_run_goes_on_later(here: Path, two: Machines, tmp_path: Path) -> None:
    process = begun(two, tmp_path)
    process.send_signal(signal.SIGINT)
    code, said = end_of(process)
    line = (
        f"conformance: stopped by SIGINT; what was recorded stays in {tmp_path}, and without a footer is no result; "
        f"conformance run --resume {tmp_path} goes on with it"
    )
    *_, last = read(tmp_path / "run.ndjson")
    assert (130, [line], Interruption("SIGINT")) == (code, said, last)
    two.wait_until("not any(client.processing().values())")
    assert finish("run", "--resume", tmp_path, "--dask", two.address) == (0, [])
    assert lines_of(here) == lines_of(tmp_path)


def test_a_run_that_was_killed_goes_on_without_its_cluster(here: Path, two: Machines, tmp_path: Path) -> None:
    process = begun(two, tmp_path)
    process.kill()
    end_of(process)
    assert finish("run", "--resume", tmp_path) == (0, [])
    assert lines_of(here) == lines_of(tmp_path)


def local(out: Path, jobs: int, *options: object) -> Launched:
    """Begin a run on a cluster of so many processes of this machine."""
    return start("run", *FINE, *options, "--dask", "local", "--jobs", jobs, "--out", out)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: TempPathFactory) -> tuple[Path, Launched]:
    """Let a run on a cluster of two processes of this machine come to its end."""
    out = tmp_path_factory.mktemp("ended")
    process = local(out, 2, "--cases", CASES)
    assert end_of(process) == (0, [])
    return out, process


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: TempPathFactory) -> tuple[Path, Launched]:
    """Press Ctrl-C in the terminal of a run on a cluster of one process of this machine, which all of its processes hear."""
    out = tmp_path_factory.mktemp("interrupted")
    process = local(out, 1, *ENDLESS)
    wait_until(lambda: recorded(out) > 50)
    os.killpg(process.pid, signal.SIGINT)
    end_of(process)
    return out, process


def test_a_cluster_of_this_machine_has_the_same_ledger(here: Path, ended: tuple[Path, Launched]) -> None:
    out, _ = ended
    assert (lines_of(here), ids(here)) == (lines_of(out), ids(out))


def test_a_ctrl_c_in_the_terminal_of_a_local_cluster_is_one_line(interrupted: tuple[Path, Launched]) -> None:
    code, said = end_of(interrupted[1])
    assert (130, 1) == (code, len(said)), said


@pytest.mark.parametrize(("run", "jobs"), [("interrupted", 1), ("ended", 2)])
def test_a_cluster_of_this_machine_has_as_many_processes_as_it_is_asked_for(run: str, jobs: int, request: FixtureRequest) -> None:
    header = next(iter(read(request.getfixturevalue(run)[0] / "run.ndjson")))
    assert isinstance(header, Header)
    assert jobs == header.jobs


@pytest.mark.parametrize("run", ["interrupted", "ended"])
def test_a_cluster_of_this_machine_leaves_no_process(run: str, request: FixtureRequest) -> None:
    _, process = request.getfixturevalue(run)
    wait_until(lambda: not members(process.pid))


def test_a_case_that_takes_workers_down_is_one_line(tmp_path: Path) -> None:
    environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    arguments = ("--backends", "tests.wrong_engines:ends_the_machine_on_sin", "--ops", "sin", "--cases", 20, "--dask", "local")
    code, said = finish("run", *arguments, "--jobs", 1, "--out", tmp_path, env=environment)
    line = r"conformance: cases 0 to \d+ were under way on 1 worker that died, the last of them tcp://"
    assert (2, True) == (code, re.match(line, said[0]) is not None), said


@pytest.fixture
def other_version(tmp_path: Path) -> tuple[str, Path]:
    """Write what makes a worker one of another version of the suite."""
    path = tmp_path / "other_version.py"
    path.write_text("import conformance\nconformance.__version__ = '1999.12'\n")
    return "--preload", path


def test_a_worker_of_another_version_is_refused_before_anything_runs(
    alone: Machines, other_version: tuple[str, Path], tmp_path: Path
) -> None:
    alone.join(*other_version)
    alone.wait_for(1)
    code, (line,) = finish("run", *FINE, "--dask", alone.address, "--out", tmp_path / "out")
    said = f"has suite 1999.12, and the run has {cluster.provenance.conformance.__version__}; all of its machines need the same"
    assert (2, True, []) == (code, line.endswith(said), list((tmp_path / "out").iterdir())), line


def test_a_worker_of_another_version_that_joins_later_ends_the_run(
    alone: Machines, other_version: tuple[str, Path], tmp_path: Path
) -> None:
    alone.join()
    alone.wait_for(1)
    process = start("run", *FINE, *ENDLESS, "--dask", alone.address, "--out", tmp_path / "out")
    wait_until(lambda: recorded(tmp_path / "out") > 50)
    alone.join(*other_version)
    code, (line,) = end_of(process)
    assert (2, True, True) == (code, "has suite 1999.12" in line, "what was recorded stays" in line), line


def test_a_worker_under_a_nanny_is_told_how_to_start(alone: Machines, tmp_path: Path) -> None:
    alone.join(nanny=True)
    alone.wait_for(1)
    code, (line,) = finish("run", *FINE, "--dask", alone.address, "--out", tmp_path)
    assert (2, True) == (code, line.endswith("start it with: dask worker ADDRESS --no-nanny")), line


def test_nobody_at_the_address_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWER", 0.5)
    with pytest.raises(ClusterError, match=r"^no Dask scheduler answers at 127\.0\.0\.1:9 \(.+\)$"), reached("127.0.0.1:9", 1):
        pass


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'autograd-conformance\[dask\]'"), reached("somewhere", 1):
        pass

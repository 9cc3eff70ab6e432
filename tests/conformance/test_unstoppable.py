"""Whatever ends a run or one of its processes: nothing that was recorded is lost, and the run can be gone on with."""

from __future__ import annotations

import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import pytest
from rich.console import Console

from conformance.campaign.records import CaseRecord, Interruption
from conformance.campaign.records.files import read
from conformance.campaign.run import Progress
from conformance.cli.progress import shown
from conformance.cli.stopping import Stopped, insist, stoppable
from tests.conformance.runs import end_of, finish, footer_of, lines_of, members, recorded, start, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from _pytest.tmpdir import TempPathFactory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

FINE = ("--backends", "tests.wrong_engines:correct", "--jobs", 2)
CASES = 300
DYING = ("--backends", "tests.wrong_engines:dies_on_sin", "--jobs", 2, "--cases", CASES)
ENDLESS = ("--cases", 1_000_000)
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


class Ended(NamedTuple):
    """A run that a signal ended: its exit code, what it said, its session, and where its record is."""

    code: int | None
    said: list[str]
    session: int
    out: Path


@pytest.fixture(scope="module", params=CODES, ids=lambda number: number.name)
def stopped(request: pytest.FixtureRequest, tmp_path_factory: TempPathFactory) -> tuple[signal.Signals, Ended]:
    """Send a signal to a run that has recorded some cases."""
    out = tmp_path_factory.mktemp("stopped")
    process = start("run", *FINE, *ENDLESS, "--out", out)
    wait_until(lambda: recorded(out) > 30)
    process.send_signal(request.param)
    return request.param, Ended(*end_of(process), process.pid, out)


class Finalized:
    """An object in whose finalizer a signal arrives: what is raised there is dropped."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def _hearing() -> Iterator[None]:
    """Let this process hear again what one that was stopped ignores to its end, and with it all runs that it starts later."""
    before = {number: signal.getsignal(number) for number in CODES}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_hearing")
def test_a_signal_that_arrives_in_a_finalizer_ends_what_is_told_of_progress(capfd: pytest.CaptureFixture[str]) -> None:
    with stoppable(), shown(Console(), 1) as tell:
        Finalized()
        with pytest.raises(Stopped, match="SIGINT"):
            tell(Progress(0, 1, 0, 0))
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("_hearing")
def test_nobody_is_stopped_by_what_ended_another_run() -> None:
    with suppress(Stopped), stoppable():
        os.kill(os.getpid(), signal.SIGINT)
    insist()


def test_a_signal_ends_a_run_with_one_line_and_its_exit_code(stopped: tuple[signal.Signals, Ended]) -> None:
    number, ended = stopped
    line = (
        f"conformance: stopped by {number.name}; what was recorded stays in {ended.out}, and without a footer is no result; "
        f"conformance run --resume {ended.out} goes on with it"
    )
    assert (CODES[number], [line]) == (ended.code, ended.said)


def test_the_record_of_a_run_that_a_signal_ended_says_so(stopped: tuple[signal.Signals, Ended]) -> None:
    number, ended = stopped
    _, *cases, last = read(ended.out / "run.ndjson")
    assert (Interruption(number.name), {CaseRecord}, True) == (last, set(map(type, cases)), len(cases) >= 30)


def test_a_run_that_a_signal_ended_leaves_no_process_and_no_file_but_the_record(stopped: tuple[signal.Signals, Ended]) -> None:
    _, ended = stopped
    wait_until(lambda: not members(ended.session))
    assert ["run.ndjson"] == [path.name for path in ended.out.iterdir()]


def test_a_signal_while_findings_are_made_keeps_every_case(tmp_path: Path) -> None:
    process = start("run", *DYING, "--out", tmp_path)
    wait_until(lambda: recorded(tmp_path) > CASES and not list(tmp_path.glob(".work-*")))
    process.terminate()
    process.communicate()
    cases, (_, *_, last) = lines_of(tmp_path)
    assert (143, CASES, "interrupted") == (process.returncode, len(cases), last["kind"])


def test_a_terminal_that_is_closed_ends_a_run_like_a_signal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = start("run", *FINE, *ENDLESS, "--out", tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=_with_terminal)
    os.close(theirs)
    wait_until(lambda: recorded(tmp_path) > 30)
    os.close(ours)
    assert process.wait() == 129
    *_, last = read(tmp_path / "run.ndjson")
    assert Interruption("SIGHUP") == last


def _with_terminal() -> None:
    """Make what stands at 0 the terminal of this session."""
    os.close(os.open(os.ttyname(0), os.O_RDWR))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: TempPathFactory) -> Path:
    """Run a campaign with findings to its end."""
    out = tmp_path_factory.mktemp("undisturbed")
    assert finish("run", *DYING, "--out", out) == (1, [])
    return out


@pytest.fixture(scope="module")
def killed(tmp_path_factory: TempPathFactory) -> Path:
    """Kill a run that has recorded some cases; none of its processes outlives it."""
    out = tmp_path_factory.mktemp("killed")
    process = start("run", *DYING, "--out", out)
    wait_until(lambda: recorded(out) > 50)
    process.kill()
    process.communicate()
    wait_until(lambda: not members(process.pid))
    return out


@pytest.fixture
def left(killed: Path, tmp_path: Path) -> Path:
    """Copy what a run left that was killed."""
    return shutil.copytree(killed, tmp_path / "left")


def cases_in(out: Path) -> list[int]:
    return sorted(record.index for record in read(out / "run.ndjson") if isinstance(record, CaseRecord))


def test_all_that_a_run_recorded_before_it_was_killed_is_read(left: Path) -> None:
    assert (True, recorded(left) - 1) == (len(cases_in(left)) >= 50, len(cases_in(left)))


def test_a_report_of_a_run_that_was_killed_says_that_it_is_partial(left: Path) -> None:
    code, said = finish("report", left / "run.ndjson")
    page = (left / "report.html").read_text()
    assert (2, 1, True) == (code, len(said), f"the run did not end. From the {len(cases_in(left))} cases recorded" in page)


def tear(out: Path) -> None:
    """Add to every file of records the half of a line."""
    for path in (out / "run.ndjson", *out.glob(".work-*/*.ndjson")):
        with path.open("a") as file:
            file.write('{"kind":"case","index":29')


def test_a_line_that_nobody_finished_costs_no_other(left: Path) -> None:
    before = cases_in(left)
    tear(left)
    assert before == cases_in(left)


@pytest.fixture(scope="module")
def resumed(killed: Path, tmp_path_factory: TempPathFactory) -> Path:
    """Tear the record of a run that was killed, resume it, stop that, and resume it again."""
    out = shutil.copytree(killed, tmp_path_factory.mktemp("resumed") / "out")
    tear(out)
    before = recorded(out)
    process = start("run", "--resume", out)
    wait_until(lambda: recorded(out) > before + 20)
    process.terminate()
    process.communicate()
    assert process.returncode == 143
    assert finish("run", "--resume", out, "--jobs", 1) == (1, [])
    return out


def test_a_run_that_resumed_records_what_an_undisturbed_one_does(resumed: Path, undisturbed: Path) -> None:
    assert lines_of(undisturbed) == lines_of(resumed)


def test_a_run_that_resumed_leaves_the_files_that_an_undisturbed_one_does(resumed: Path, undisturbed: Path) -> None:
    assert sorted(path.name for path in undisturbed.rglob("*")) == sorted(path.name for path in resumed.rglob("*"))


def test_a_new_run_has_nothing_of_the_one_before_it_that_was_killed(left: Path) -> None:
    finish("run", *FINE, "--cases", 20, "--out", left)
    assert (20, []) == (footer_of(left).cases, list(left.glob(".work-*")))


def worker_of(run: int) -> int:
    """Find a process that has a child and is no child of the run: a nursery under the server that forks them."""
    tree = members(run)
    return next((parent for parent in tree.values() if tree.get(tree.get(parent, 0)) == run), 0)


def child_of(run: int) -> int:
    """Find a child of a nursery."""
    tree = members(run)
    return next((number for number, parent in tree.items() if tree.get(tree.get(parent, 0)) == run), 0)


@pytest.mark.parametrize("victim", [worker_of, child_of])
def test_a_process_of_a_run_that_is_killed_costs_nothing(victim: Callable[[int], int], undisturbed: Path, tmp_path: Path) -> None:
    process = start("run", *DYING, "--out", tmp_path)
    for so_far in (20, 90):
        wait_until(lambda so_far=so_far: recorded(tmp_path) > so_far)  # type: ignore[misc]
        found: list[int] = []
        wait_until(lambda found=found: found.append(victim(process.pid)) or found[-1])  # type: ignore[misc]
        with suppress(ProcessLookupError):  # a child that was just done
            os.kill(found[-1], signal.SIGKILL)
    process.communicate()
    assert lines_of(undisturbed) == lines_of(tmp_path)


def test_a_disk_that_is_full_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    code, said = finish("run", *FINE, "--cases", 120, "--out", tmp_path, preexec_fn=_short_files)
    (line,) = said
    assert (3, True) == (code, "ndjson: File too large; what was recorded stays in " in line)
    kept = cases_in(tmp_path)
    assert (0, []) == finish("run", "--resume", tmp_path)
    assert (True, list(range(120))) == (len(kept) > 10, cases_in(tmp_path))


def _short_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system with little room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    if not mount or not unmount or _ends_with(mount, "-t", "tmpfs", "-o", "size=140k", "none", disk):
        pytest.skip("mounting is not permitted")
    yield disk
    _ends_with(unmount, "-l", disk)


def _ends_with(*command: object) -> int:
    return subprocess.run(list(map(str, command)), check=False, capture_output=True).returncode


def test_a_run_resumes_once_there_is_room(small_disk: Path) -> None:
    code, said = finish("run", *FINE, "--cases", 400, "--out", small_disk)
    assert (3, 1, True) == (code, len(said), "No space left on device" in said[0]), said
    kept = len(cases_in(small_disk))
    assert _ends_with(shutil.which("mount"), "-o", "remount,size=10m", small_disk) == 0
    assert (0, []) == finish("run", "--resume", small_disk)
    assert (True, 400) == (kept > 50, footer_of(small_disk).cases)

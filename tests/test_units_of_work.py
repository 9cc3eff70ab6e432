"""How the files of tests are dealt out: each test once, and what belongs together to one process."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("xdist")

from tests.units_of_work import TOGETHER, Units

ROOT = Path(__file__).resolve().parents[1]
FILES = [file for files in TOGETHER.values() for file in files]
TESTS = [f"{file}::test_{n}" for file in (*FILES[::-1], "tests/alone.py") for n in range(5)]


class Process:
    """A process that runs one test of those that it has been given, when it has its turn."""

    shutting_down = False
    gateway = SimpleNamespace(id="a process")

    def __init__(self) -> None:
        self.left: list[int] = []
        self.ran: list[str] = []

    def send_runtest_some(self, tests: list[int]) -> None:
        self.left += tests

    def shutdown(self) -> None:
        self.shutting_down = True


@pytest.fixture
def processes() -> list[Process]:
    """Deal out all tests to three processes that run them by turns."""
    option = SimpleNamespace(loadscopereorder=False, tx=["popen"] * 3, px=[], maxprocesses=None)
    config = SimpleNamespace(option=option, getvalue=lambda name: getattr(option, name))
    made, units = [Process() for _ in range(3)], Units(config, None)  # type: ignore[arg-type]
    units.log = lambda *_: None  # type: ignore[assignment]
    for process in made:
        units.add_node(process)  # type: ignore[arg-type]
        units.add_node_collection(process, TESTS)  # type: ignore[arg-type]
    units.schedule()
    while any(process.left for process in made):
        for process in made:
            if process.left:
                process.ran.append(TESTS[test := process.left.pop(0)])
                units.mark_test_complete(process, test)  # type: ignore[arg-type]
    assert units.tests_finished
    return made


def test_every_test_is_run_once(processes: list[Process]) -> None:
    assert sorted(TESTS) == sorted(test for process in processes for test in process.ran)


@pytest.mark.parametrize("files", TOGETHER.values(), ids=TOGETHER)
def test_files_that_belong_together_have_one_process(files: tuple[str, ...], processes: list[Process]) -> None:
    def runs_some(process: Any) -> bool:
        return any(test.startswith(files) for test in process.ran)

    assert [True] == [*filter(None, map(runs_some, processes))]


def test_no_process_has_nothing_to_do(processes: list[Process]) -> None:
    assert all(process.ran for process in processes)


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_is_run_with_others_is_there(file: str) -> None:
    assert (ROOT / file).exists()

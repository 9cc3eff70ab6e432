"""Whoever waits is told how far a command is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from conformance.campaign.run import Progress
from conformance.campaign.sweep import sweep
from conformance.campaign.workers.pool import Workers
from conformance.clauses import CURATED
from conformance.clauses.table import clause_table
from conformance.cli import progress

if TYPE_CHECKING:
    import pytest


def test_progress_says_what_is_done() -> None:
    assert ["1,200 of 2,000 cases, 9 findings", "1 of 2 cases, 1 finding", "reducing finding 3 of 9"] == [
        str(Progress(1200, 2000, 9)),
        str(Progress(1, 2, 1)),
        str(Progress(2000, 2000, 9, 3)),
    ]


def test_progress_is_a_line_a_minute_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    lines = progress.Lines(clock=iter([0.0, 59.0, 61.0, 90.0, 121.0]).__next__)
    for done in (1, 2, 3, 4):
        lines(Progress(done, 9, 0))
    assert ["conformance: 2 of 9 cases, 0 findings", "conformance: 4 of 9 cases, 0 findings"] == capsys.readouterr().err.splitlines()


def test_a_part_of_a_command_says_that_it_begins_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.part(Console(), "special points of ops", 9) as heard:
        heard(4)
    assert capsys.readouterr().err == "conformance: special points of ops\n"


def test_a_part_of_a_command_counts_what_it_hears(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "MINUTE", 0.0)
    with progress.part(Console(), "special points of ops", 9) as heard:
        heard(4)
        heard(3)
    assert capsys.readouterr().err.splitlines()[1:] == [
        "conformance: special points of ops: 4 of 9",
        "conformance: special points of ops: 7 of 9",
    ]


def test_the_clause_table_tells_of_each_curated_case_on_each_backend() -> None:
    some, heard = CURATED[:5], list[int]()
    with Workers((), 2) as workers:
        clause_table(("reference",), workers, some, heard.append)
    assert sum(heard) == len(some)


def test_the_sweep_tells_of_each_op() -> None:
    heard = list[int]()
    with Workers((), 2) as workers:
        list(sweep(["reference"], workers, ["sin", "mul"], heard.append))
    assert sum(heard) == 2

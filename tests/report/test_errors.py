"""Errors over bounds, from the verdicts of cases to the report and the terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from rich.console import Console

from conformance.campaign.records import CaseRecord, ExitReason
from conformance.campaign.records.tally import Tally, decade_of
from conformance.campaign.records.verdicts import VerdictRecord
from conformance.judge.verdict import Bucket
from conformance.report import write_html
from conformance.report.details import COUNTED, show_details
from conformance.report.tables import coverage_of
from conformance.report.terminal import Run
from conformance.report.words import COUNTERS
from tests.report.samples import HEADER

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.campaign.records import Footer, Record


@pytest.mark.parametrize(
    ("ratio", "decade"),
    [
        (0.0, "none"),
        (1e-9, "1/1000"),
        (0.001, "1/1000"),
        (0.002, "1/100"),
        (0.01, "1/100"),
        (0.05, "1/10"),
        (0.5, "1"),
        (1.0, "1"),
        (1.01, "beyond"),
        (None, "beyond"),
    ],
)
def test_an_error_counts_in_the_decade_of_the_bound_that_it_reaches(ratio: float | None, decade: str) -> None:
    assert decade == decade_of(ratio)


def record(name: str, ratios: dict[str, float | None]) -> CaseRecord:
    verdict = VerdictRecord(Bucket.AGREED, {}, ratios=ratios)
    return CaseRecord(0, name, "numeric", 1, rich=False, verdicts={"torch": verdict}, seconds={}, poisoned=False, nulls=())


def test_the_tally_counts_cases_by_step_and_decade_and_keeps_the_worst_that_was_accepted() -> None:
    tally = Tally(["torch"])
    tally.add(record("a", {"op:mul": 0.05, "grad": 0.5}))
    tally.add(record("b", {"op:mul": 0.07, "grad": None}))
    tally.add(record("c", {"grad": 7.0}))
    footer = tally.footer(ExitReason.CASES, 0.0, 1, {}, {})
    assert {"op:mul": {"1/10": 2}, "grad": {"1": 1, "beyond": 2}} == footer.ratios["torch"]
    assert (0.5, "grad", "a") == footer.worst["torch"]


def test_the_page_shows_the_distribution_by_step_and_the_largest_error(records: list[Record], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_html(records, path)
    page = path.read_text(encoding="utf-8")
    assert '<td>torch</td><th scope="row">op:matmul</th>' in page
    assert "0.21 of its bound, at op:matmul of case 00ff00ff00ff00ff" in page


def test_a_run_without_bounds_has_no_such_table(records: list[Record], footer: Footer, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_html([*records[:-1], replace(footer, ratios={"torch": {}, "paddle": {}})], path)
    assert 'id="errors"' not in path.read_text(encoding="utf-8")


def test_the_details_name_the_largest_error_and_where_it_is(footer: Footer) -> None:
    out = io.StringIO()
    show_details(Console(file=out, width=200), Run(HEADER, footer))
    assert "torch: error over derived bound, in 68 steps: at most 0.21, at op:matmul of case 00ff00ff00ff00ff" in out.getvalue()


def test_a_counter_reads_the_same_in_the_terminal_and_on_the_page(footer: Footer) -> None:
    page = {row.name for row in coverage_of(footer, ["torch"]).counts}
    assert {COUNTERS[counter] for counter in COUNTED if not counter.startswith("order")} <= page

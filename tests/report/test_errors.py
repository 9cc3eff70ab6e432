"""Errors over bounds, from the verdicts of cases to the report and the summary."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from conformance.campaign.tally import Tally
from conformance.decades import decade_of
from conformance.report import write_html
from conformance.summary import show_summary

if TYPE_CHECKING:
    from pathlib import Path


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


def record(name: str, ratios: dict[str, float | None]) -> dict[str, Any]:
    verdict = {"bucket": "agreed", "counts": {}, "ratios": ratios}
    return {"id": name, "lane": "numeric", "order": 1, "rich": False, "seconds": {}, "nulls": [], "verdicts": {"torch": verdict}}


def test_the_tally_counts_cases_by_step_and_decade_and_keeps_the_worst_that_was_accepted() -> None:
    tally = Tally(["torch"])
    tally.add(record("a", {"op:mul": 0.05, "grad": 0.5}))
    tally.add(record("b", {"op:mul": 0.07, "grad": None}))
    tally.add(record("c", {"grad": 7.0}))
    assert {"op:mul": {"1/10": 2}, "grad": {"1": 1, "beyond": 2}} == tally.footer()["ratios"]["torch"]
    assert (0.5, "grad", "a") == tally.footer()["worst"]["torch"]


def test_the_page_shows_the_distribution_by_step_and_the_largest_error(records: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_html(records, path)
    page = path.read_text(encoding="utf-8")
    assert '<td>torch</td><th scope="row">op:matmul</th>' in page
    assert "0.21 of its bound, at op:matmul of case 00ff00ff00ff00ff" in page


def test_a_run_without_bounds_has_no_such_table(records: list[dict[str, Any]], tmp_path: Path) -> None:
    records[-1]["ratios"] = {"torch": {}, "paddle": {}}
    path = tmp_path / "report.html"
    write_html(records, path)
    assert 'id="errors"' not in path.read_text(encoding="utf-8")


def test_the_summary_names_the_largest_error_and_where_it_is(footer: dict[str, Any]) -> None:
    out = io.StringIO()
    seconds = {"wall": 1.0, "reference": 1.0, "all": 1.0}
    nulls = {"comparisons": 0, "alarms": 0, "per_million": 0.0}
    rest = {"collateral": 0, "seconds": seconds, "deviations": {"torch": {}, "paddle": {}}, "nulls": nulls}
    show_summary(Console(file=out, width=200), {**footer, **rest}, [])
    assert "torch: error over derived bound, in 68 steps: at most 0.21, at op:matmul of case 00ff00ff00ff00ff" in out.getvalue()

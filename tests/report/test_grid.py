"""The picture of the grid: what was compared is coloured, and what was not is named with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from conformance.campaign.records.grid import Met, cell_of
from conformance.campaign.records.recording import met_of
from conformance.case.exercise import Exercise
from conformance.case.outcome import Blocked, Computed, NotOffered, Observation, Outcome, Raised
from conformance.generate.layouts import LAYOUTS
from conformance.judge.verdict import Bucket, Verdict
from conformance.report import write_html
from conformance.report.grid import grids_of
from reference_impl import Category

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.campaign.records import Footer, Record

CELLS = {
    cell_of("1", "contiguous"): {Met.AGREED: 2, Met.REFUSED: 1},
    cell_of("1", "strided"): {Met.AGREED: 3, Met.DIVERGED: 1},
    cell_of("2", "contiguous"): {Met.KNOWN: 1, Met.NOTHING: 1},
    cell_of("3", "contiguous"): {Met.REFUSED: 2},
    cell_of("3", "strided"): {Met.NOT_OFFERED: 1},
}


@pytest.fixture
def run(footer: Footer) -> Footer:
    """Return the last record of a run with the grid of one op."""
    return replace(footer, grid={"torch": {"sin": CELLS}})


def tones(footer: Footer) -> list[str]:
    """Return the first letters of the colours of `sin`, order by order."""
    ((_, orders),) = grids_of(footer, ["torch", "paddle"])[0].rows
    return ["".join(tone[0] for tone, _ in cells) for cells in orders]


def test_a_cell_shows_the_best_that_came_of_it_but_a_divergence_before_all(run: Footer) -> None:
    assert ["gnbnnnn", "knnnnnn", "fnhnnnn"] == tones(run)


def test_what_was_not_compared_is_named_with_the_reason(run: Footer) -> None:
    said = grids_of(run, ["torch"])[0].uncompared
    assert said == [
        ("2", "known deviations alone", "sin"),
        ("3", "refused, as promised", "sin (contiguous)"),
        ("3", "asked for in a way that is not offered", "sin (strided)"),
    ]


def test_cells_are_counted(run: Footer) -> None:
    grid = grids_of(run, ["torch"])[0]
    assert (2, 5) == (grid.compared, grid.cells)


def test_a_backend_that_ran_no_grid_has_no_picture(footer: Footer) -> None:
    assert grids_of(footer, ["torch"]) == []


def test_the_page_has_a_cell_for_every_layout(run: Footer, records: list[Record], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_html([*records[:-1], run], page)
    picture = page.read_text().partition('<table class="picture">')[2].partition("</table>")[0]
    assert picture.count("<i class=") == 3 * len(LAYOUTS)


FACTS = Exercise({1: 1, 2: 2}, shared=False, accumulates=False, refused=False)
DONE = Computed((None,), None, ())
NO = Raised(Category.NOT_IMPLEMENTED, "", None, ())
MET: dict[Met, tuple[list[Observation], Verdict]] = {
    Met.AGREED: ([DONE, DONE, DONE], Verdict(Bucket.AGREED, steps=[0, 1, 2])),
    Met.KNOWN: ([DONE, DONE, DONE], Verdict(Bucket.KNOWN_DEVIATION, steps=[0, 1], deviations=("a",))),
    Met.DIVERGED: ([DONE, DONE, DONE], Verdict(Bucket.DIVERGED, steps=[0, 1, 2])),
    Met.REFUSED: ([DONE, NO, Blocked("g")], Verdict(Bucket.SAME_ERROR, steps=[0, 1])),
    Met.NOT_OFFERED: ([DONE, DONE, NotOffered("why")], Verdict(Bucket.AGREED, steps=[0, 1])),
    Met.NOTHING: ([DONE, DONE, Blocked("g")], Verdict(Bucket.AGREED, steps=[0, 1])),
}


@pytest.mark.parametrize("met", MET)
def test_what_came_of_the_highest_order_is_recorded(met: Met) -> None:
    observations, verdict = MET[met]
    assert met == met_of(FACTS, Outcome(observations, ()), verdict)

"""The report shows the measured power of the suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.mutants.hunt import Kill
from conformance.mutants.measure import Power
from conformance.report import write_html

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.campaign.records import Record

IDS = ("sin-x-sign", "cos-x-sign", "dropped_fan_out")
POWER = Power({"sin-x-sign": Kill(41, "diverged", "grad"), "dropped_fan_out": Kill(0, "diverged", "grad")}, IDS, 400, 1, 9.0)


def page(records: list[Record], path: Path) -> str:
    write_html(records, path)
    return path.read_text()


def test_the_page_has_the_score_of_each_kind_of_fault(records: list[Record], tmp_path: Path) -> None:
    text = page([records[0], POWER.record(), *records[1:]], tmp_path / "report.html")
    row = (
        '<tr><th scope="row">rule</th><td class="n">1</td><td class="n">2</td><td class="n">50.0 %</td>'
        '<td class="n">42</td><td class="n">42</td><td class="n">0</td></tr>'
    )
    assert row in text


def test_the_page_names_the_survivors(records: list[Record], tmp_path: Path) -> None:
    text = page([records[0], POWER.record(), *records[1:]], tmp_path / "report.html")
    assert (True, False) == ("the gradient of cos.x has the wrong sign" in text, "dropped_fan_out" in text)


def test_a_run_without_mutants_has_no_such_table(records: list[Record], tmp_path: Path) -> None:
    assert "Measured power" not in page(records, tmp_path / "report.html")

"""The table of what was compared, by call, parameter and order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from conformance.campaign.records.coverage import CELLS, ORDERS

if TYPE_CHECKING:
    from conformance.campaign.records import Footer, Record

    from .conftest import Write


def coverage_row(page: str, group: str, parameter: str, value: str = "") -> list[tuple[str, str]]:
    """Read a row of the coverage table: the state and the text of every cell."""
    table = page.replace("<wbr>", "").split(f">{group}</th>")[1].split("</table>")[0]
    rows = table.split(f">{parameter}</th>")[1].split("</tbody>")[0].split("</tr>")
    row = next(row for row in rows if not value or f"<td>{value}</td>" in row)
    return [(state.strip(), text) for state, text in re.findall(r'<td class="n([^"]*)">([^<]+)</td>', row)]


def test_a_cell_shows_what_was_compared_at_each_order(write: Write, records: list[Record]) -> None:
    torch = coverage_row(write(records), "grad", "retain_graph", "True")[:3]
    assert [("", "700"), ("", "31"), ("gap", "0")] == torch


def test_a_cell_that_a_backend_does_not_offer_has_a_dash(write: Write, records: list[Record]) -> None:
    row = coverage_row(write(records), "backward", "inputs", "given")
    assert [("", "44"), ("gap", "0"), ("gap", "0"), *[("absent", "-")] * 3] == row


@pytest.mark.parametrize("word", ["step:grad", "grad.again"])
def test_an_order_that_a_backend_does_not_offer_has_a_dash(word: str, write: Write, records: list[Record], footer: Footer) -> None:
    not_offered = {**footer.not_offered, "paddle": {**footer.not_offered["paddle"], word: "it has none"}}
    row = coverage_row(write([*records[:-1], replace(footer, not_offered=not_offered)]), "backward", "roots", "one")
    assert [("absent", "-")] * 2 == row[4:]
    assert "absent" not in {state for state, _ in row[:4]}


def test_every_cell_of_the_coverage_is_a_row(write: Write, records: list[Record]) -> None:
    page = write(records)
    assert all(len(coverage_row(page, cell.group, cell.parameter, cell.value)) == 2 * len(ORDERS) for cell in CELLS)


def test_offered_cells_that_are_empty_are_counted(write: Write, records: list[Record]) -> None:
    page = write(records)
    torch = sum(cell.needs != "no_grad_vars" for cell in CELLS) * len(ORDERS)
    paddle = sum(cell.needs not in {"materialize_grads", "backward.inputs"} for cell in CELLS) * len(ORDERS)
    assert f"{torch - 9} of {torch} cells of torch, {paddle - 9} of {paddle} cells of paddle" in page
    assert page.count('<td class="n gap">') == torch + paddle - 18


def test_a_call_that_no_backend_offers_has_no_table(write: Write, records: list[Record], footer: Footer) -> None:
    pages = [write(records)]
    not_offered = dict(footer.not_offered)
    for name in ("torch", "paddle"):
        not_offered[name] = {**not_offered[name], "step:append_backward": "no programs"}
        pages.append(write([*records[:-1], replace(footer, not_offered=dict(not_offered))]))
    assert [True, True, False] == [">append_backward</th>" in page for page in pages]


def test_a_cell_of_another_version_is_shown(write: Write, records: list[Record], footer: Footer) -> None:
    counts = {**footer.counts, "torch": {**footer.counts["torch"], "grad colour=blue @2": 3}}
    assert coverage_row(write([*records[:-1], replace(footer, counts=counts)]), "other steps", "grad colour", "blue")[1] == ("", "3")

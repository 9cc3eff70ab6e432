"""The form of a page, and when its records count as a run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from weakref import finalize

import pytest
from msgspec.structs import asdict, replace

from conformance.campaign.records import CaseRecord, Interruption, RunVerdict, StepRecord
from conformance.case.case import Case, Input
from conformance.case.steps import Detach

from .outline import Outline, verdict
from .samples import finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.campaign.records import Footer, Header, Record

    from .conftest import Write


def test_the_page_refers_to_nothing_outside_itself(write: Write, records: list[Record]) -> None:
    page = write(records)
    references = [value for _, attrs in Outline(page).elements for name in ("src", "href") if (value := attrs.get(name))]
    assert all(value.startswith("#") for value in references)
    assert not re.search(r"https?:|@import|url\(", page)


def test_every_link_of_the_page_leads_somewhere(write: Write, records: list[Record]) -> None:
    elements = Outline(write(records)).elements
    ids = {attrs["id"] for _, attrs in elements if "id" in attrs}
    assert {attrs["href"] for tag, attrs in elements if tag == "a"} <= {f"#{i}" for i in ids}


def test_ids_are_unique(write: Write, records: list[Record]) -> None:
    ids = [attrs["id"] for _, attrs in Outline(write(records)).elements if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_every_tag_is_closed(write: Write, records: list[Record]) -> None:
    outline = Outline(write(records))
    assert (outline.unmatched, outline.open) == ([], [])


EVIL = "</pre><script>alert(1)</script>\"'><b onclick=x>"


@pytest.mark.parametrize("field", ["id", "backend", "at", "replay", "script"])
def test_text_of_a_finding_is_escaped(write: Write, header: Header, footer: Footer, field: str) -> None:
    page = write([header, finding(**{field: EVIL}), footer])
    assert "alert(1)" in page
    assert sum(tag == "script" for tag, _ in Outline(page).elements) == 1


def test_text_of_a_step_is_escaped(write: Write, header: Header, footer: Footer) -> None:
    page = write([header, finding(steps=(StepRecord(EVIL, EVIL, EVIL + EVIL),)), footer])
    assert sum(tag == "script" for tag, _ in Outline(page).elements) == 1


def test_text_of_a_case_is_escaped(write: Write, header: Header, footer: Footer) -> None:
    case = Case((Input(EVIL, (), (1.0,)),), (Detach(EVIL, (EVIL + "2",)),))
    outline = Outline(write([header, finding(case=case), footer]))
    assert outline.of_class("node", "input") == ["g"] * 2  # the case's own input, and the legend's
    assert sum(tag == "script" for tag, _ in outline.elements) == 1


def test_text_of_the_run_is_escaped(write: Write, header: Header, footer: Footer) -> None:
    header = replace(header, command=EVIL, suite=EVIL, environment={EVIL: EVIL})
    footer = replace(footer, reasons=(EVIL,), findings=0, deviations={EVIL: {EVIL: 1}})
    assert sum(tag == "script" for tag, _ in Outline(write([header, footer])).elements) == 1


def test_text_that_is_no_unicode_does_not_cost_the_report(write: Write, header: Header, footer: Footer) -> None:
    assert r"\ud800" in write([header, finding(replay="\ud800"), footer])


def test_a_run_without_footer_is_marked_invalid(write: Write, records: list[Record]) -> None:
    page = write(records[:-1])
    assert verdict(page) == "invalid"
    assert "INVALID" in page


def test_a_run_without_footer_still_shows_its_findings(write: Write, records: list[Record]) -> None:
    assert 'id="finding-torch-3fa2c1d0"' in write(records[:-1])


def test_a_run_that_was_interrupted_says_so(write: Write, records: list[Record]) -> None:
    page = write([*records[:-1], Interruption("KeyboardInterrupt")])
    assert ("invalid", True) == (verdict(page), "the run was interrupted (KeyboardInterrupt)" in page)


def test_a_run_without_header_is_marked_invalid(write: Write, records: list[Record]) -> None:
    assert verdict(write(records[1:])) == "invalid"


def test_no_records_are_marked_invalid(write: Write) -> None:
    assert verdict(write([])) == "invalid"


@pytest.mark.parametrize("claimed", ["conforms", "diverges", "no_result", "suite_error"])
def test_the_verdict_is_the_footers(write: Write, header: Header, footer: Footer, claimed: str) -> None:
    ledger = {"torch": {"agreed": 20000}, "paddle": {"agreed": 20000}}
    footer = replace(footer, verdict=RunVerdict(claimed), findings=0, ledger=ledger)
    assert verdict(write([header, footer])) == claimed


def test_reasons_stand_in_the_banner(write: Write, records: list[Record]) -> None:
    banner = write(records).split('<section class="verdict')[1].split("</section>")[0]
    assert "torch: 17 cases diverge in 1 finding" in banner


CONTRADICTIONS = {
    "buckets that do not sum to the cases": {"ledger": {"torch": {"agreed": 19999}, "paddle": {"agreed": 20000}}},
    "more findings counted than recorded": {"findings": 2},
    "conforming with diverging cases": {"verdict": RunVerdict.CONFORMS},
    "conforming with nothing compared": {
        "verdict": RunVerdict.CONFORMS,
        "ledger": {"torch": {"not_offered": 20000}, "paddle": {"agreed": 20000}},
    },
}


@pytest.mark.parametrize("changes", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_records_that_contradict_themselves_are_marked_invalid(write: Write, records: list[Record], changes: dict[str, Any]) -> None:
    assert verdict(write([*records[:-1], replace(records[-1], **changes)])) == "invalid"


UNFAILED = CaseRecord(0, "00", "exact", 1, rich=False, verdicts={}, seconds={}, poisoned=False, nulls=())


def test_missing_case_records_are_noticed(write: Write, records: list[Record]) -> None:
    assert verdict(write([records[0], UNFAILED, *records[1:]])) == "invalid"


def test_records_are_read_as_a_stream(write: Write, header: Header, footer: Footer) -> None:
    footer = replace(footer, findings=0)
    alive = 0

    class Counted(CaseRecord, frozen=True, weakref=True):
        pass

    def counted() -> Counted:
        nonlocal alive
        alive += 1
        record = Counted(**asdict(UNFAILED))
        finalize(record, dropped)
        return record

    def dropped() -> None:
        nonlocal alive
        alive -= 1

    most = 0

    def stream() -> Iterable[Record]:
        nonlocal most
        yield header
        for _ in range(20000):
            yield counted()
            most = max(most, alive)
        yield footer

    assert verdict(write(stream())) == "diverges"
    assert most <= 2

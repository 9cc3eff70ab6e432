"""What CI systems read of a gate."""

from xml.etree import ElementTree as ET

from msgspec.structs import replace

from conformance.report.ci import write_junit, write_markdown

from .samples import FOOTER, finding

LEDGER = {"torch": {"agreed": 2, "diverged": 1}}
RUN = replace(FOOTER, reasons=("torch: 1 new findings",), cases=3, ledger=LEDGER)
FINDINGS = [finding(replay="conformance replay x")]


def test_junit_fails_the_backend_that_has_findings(tmp_path) -> None:
    write_junit(tmp_path / "junit.xml", RUN, FINDINGS, [])
    failed = [case.get("name") for case in ET.parse(tmp_path / "junit.xml").iter("testcase") if case.find("failure") is not None]
    assert ["campaign on torch"] == failed


def test_junit_fails_the_fixed_part_that_is_broken(tmp_path) -> None:
    write_junit(tmp_path / "junit.xml", RUN, [], ["paddle-x: stale"])
    failed = [case.get("name") for case in ET.parse(tmp_path / "junit.xml").iter("testcase") if case.find("failure") is not None]
    assert ["curated cases and known deviations"] == failed


def test_markdown_has_the_replay_line_of_a_finding(tmp_path) -> None:
    write_markdown(tmp_path / "summary.md", RUN, FINDINGS, [])
    assert "`conformance replay x`" in (tmp_path / "summary.md").read_text()

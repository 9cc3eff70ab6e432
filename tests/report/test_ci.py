"""What CI systems read of a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from msgspec.structs import replace

from conformance.report.ci import write_junit, write_markdown

from .samples import FOOTER, finding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.campaign.records import FindingRecord

LEDGER = {"torch": {"agreed": 2, "diverged": 1}}
RUN = replace(FOOTER, reasons=("torch: 1 new findings",), cases=3, ledger=LEDGER)
FINDINGS = [finding(replay="conformance replay x")]


def cases_of(path: Path, findings: Sequence[FindingRecord], broken: Sequence[str]) -> dict[str, bool]:
    """Write the file and return whether each of its test cases passes."""
    write_junit(path / "junit.xml", RUN, findings, broken)
    cases = ET.parse(path / "junit.xml").iter("testcase")
    return {f"{case.get('classname')}: {case.get('name')}": case.find("failure") is None for case in cases}


def test_junit_has_a_case_for_each_finding(tmp_path):
    assert {
        "conformance.checks: nothing is broken": True,
        "conformance.campaign.torch: torch-3fa2c1d0": False,
    } == cases_of(tmp_path, FINDINGS, [])


def test_junit_has_a_case_for_each_check_that_is_broken(tmp_path):
    assert {
        "conformance.campaign.torch: no new finding": True,
        "conformance.checks: paddle-x": False,
        "conformance.checks: mul at zero": False,
    } == cases_of(tmp_path, [], ["paddle-x: stale", "mul at zero: differs"])


def test_markdown_has_the_replay_line_of_a_finding(tmp_path) -> None:
    write_markdown(tmp_path / "summary.md", RUN, FINDINGS, [])
    assert "`conformance replay x`" in (tmp_path / "summary.md").read_text()

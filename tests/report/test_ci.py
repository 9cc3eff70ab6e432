"""What CI systems read of a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from msgspec.structs import replace

from conformance.campaign.records import RunVerdict
from conformance.report.ci import write_junit, write_markdown
from conformance.report.terminal import finding_line

from .samples import FOOTER, finding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.campaign.records import FindingRecord, Footer

LEDGER = {"torch": {"agreed": 2, "diverged": 1}}
RUN = replace(FOOTER, reasons=("torch: 1 new findings",), cases=3, ledger=LEDGER)
FINDINGS = [finding(replay="conformance replay x")]


def cases_of(path: Path, findings: Sequence[FindingRecord], broken: Sequence[str], run: Footer = RUN) -> dict[str, bool]:
    """Write the file and return whether each of its test cases passes."""
    write_junit(path / "junit.xml", replace(run, broken=tuple(broken)), findings)
    cases = ET.parse(path / "junit.xml").iter("testcase")
    return {f"{case.get('classname')}: {case.get('name')}": case.find("failure") is None for case in cases}


def summary_of(path: Path, findings: Sequence[FindingRecord], **changes: Any) -> str:
    """Write the summary of the run, changed in some fields, and return it."""
    write_markdown(path / "summary.md", replace(RUN, **changes), findings)
    return (path / "summary.md").read_text()


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


def test_junit_is_red_where_the_run_is_no_result(tmp_path):
    run = replace(RUN, verdict=RunVerdict.SUITE_ERROR, reasons=("torch: only 67.5% of the cases were compared",))
    assert not cases_of(tmp_path, [], [], run)["conformance.suite: torch"]


def test_markdown_has_the_replay_line_of_a_finding(tmp_path) -> None:
    assert "`conformance replay x`" in summary_of(tmp_path, FINDINGS)


def test_markdown_says_of_a_finding_what_the_terminal_says(tmp_path) -> None:
    without_ops = finding(ops=())
    assert f"\n- {finding_line(without_ops)}\n" in summary_of(tmp_path, [without_ops])


def test_markdown_says_for_what_is_not_offered_cases_compared_nothing(tmp_path) -> None:
    ledger = {"torch": {"agreed": 2, "not_offered": 1}}
    text = summary_of(tmp_path, [], ledger=ledger, lacking={"torch": {"op:erf": 1}})
    assert "\n- torch: 1 case compared nothing, since it does not offer op:erf (1)\n" in text


def test_markdown_has_the_verdict_in_words(tmp_path) -> None:
    assert summary_of(tmp_path, [], verdict=RunVerdict.SUITE_ERROR).startswith("# autograd-conformance: fault of the suite\n")

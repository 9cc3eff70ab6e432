"""What CI systems read of a gate: JUnit XML and a Markdown summary, both functions of the footer and the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from conformance.case.prose import counted
from conformance.report.terminal import finding_line
from conformance.report.words import VERDICTS, accepted_text, blame_text, lacking_texts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.campaign.records import FindingRecord, Footer


def write_junit(path: Path, footer: Footer, findings: Sequence[FindingRecord]) -> None:
    """Write a test case for each finding, check that is broken and fault of the suite: CI shows what went red, by a name that stays.

    A backend without findings has one that passes, and so have the checks before the campaign where nothing is broken.
    """
    red = [(f"campaign.{found.backend}", found.id, _reason(found)) for found in findings]
    red += [("checks", line.partition(": ")[0], line) for line in footer.broken]
    red += [("suite", line.partition(": ")[0], line) for line in footer.faults]
    green = [(f"campaign.{name}", "no new finding", "") for name in footer.ledger if name not in {f.backend for f in findings}]
    green += [] if footer.broken else [("checks", "nothing is broken", "")]
    suite = ET.Element("testsuite", name="autograd-conformance", tests=str(len(red) + len(green)), failures=str(len(red)))
    for group, name, reason in (*green, *red):
        element = ET.SubElement(suite, "testcase", classname=f"conformance.{group}", name=name)
        if reason:
            ET.SubElement(element, "failure", message=reason.partition("\n")[0]).text = reason
    ET.ElementTree(suite).write(path, encoding="unicode", xml_declaration=True)


def _reason(finding: FindingRecord) -> str:
    return "\n".join([finding_line(finding), *blame_text(finding.blame), finding.replay])


def _bullets(finding: FindingRecord) -> list[str]:
    return [f"- {finding_line(finding)}", *(f"  - {line}" for line in (f"`{finding.replay}`", *blame_text(finding.blame)))]


def write_markdown(path: Path, footer: Footer, findings: Sequence[FindingRecord]) -> None:
    """Write the verdict, the ledger and the findings as Markdown."""
    backends = list(footer.ledger)
    buckets = sorted({bucket for ledger in footer.ledger.values() for bucket in ledger})
    lines = [
        f"# autograd-conformance: {VERDICTS[footer.verdict]}",
        "",
        f"{counted(footer.cases, 'case')} in {footer.seconds['wall']:.0f} s.",
        "",
        f"| cases | {' | '.join(backends)} |",
        f"|---|{'---:|' * len(backends)}",
        *(
            f"| {bucket.replace('_', ' ')} | {' | '.join(str(footer.ledger[b].get(bucket, 0)) for b in backends)} |"
            for bucket in buckets
        ),
        "",
        *(f"- {line}" for line in lacking_texts(footer, {name: name for name in backends})),
        *(f"- {reason}" for reason in (*footer.reasons, *footer.broken)),
        *(line for f in findings for line in _bullets(f)),
        *(f"- {accepted_text(met)}" for met in footer.accepted),
    ]
    path.write_text("\n".join(lines).rstrip() + "\n")

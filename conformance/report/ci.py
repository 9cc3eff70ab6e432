"""What CI systems read of a gate: JUnit XML and a Markdown summary, both functions of the footer, the findings and the broken lines."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from conformance.campaign.records import RunVerdict
from conformance.case.prose import counted
from conformance.report.words import accepted_text, blame_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.campaign.records import FindingRecord, Footer


def write_junit(path: Path, footer: Footer, findings: Sequence[FindingRecord], broken: Sequence[str]) -> None:
    """Write a test case per backend, which fails with its findings, and one for the gate's fixed part."""
    suite = ET.Element("testsuite", name="autograd-conformance", tests=str(len(footer.ledger) + 1))
    failures = 0
    for name in footer.ledger:
        mine = [_reason(f) for f in findings if f.backend == name]
        failures += _case(suite, f"campaign on {name}", mine)
    failures += _case(suite, "curated cases and known deviations", broken)
    suite.set("failures", str(failures))
    ET.ElementTree(suite).write(path, encoding="unicode", xml_declaration=True)


def _case(suite: ET.Element, name: str, reasons: Sequence[str]) -> int:
    element = ET.SubElement(suite, "testcase", classname="conformance", name=name)
    if reasons:
        ET.SubElement(element, "failure", message=counted(len(reasons), "reason")).text = "\n\n".join(reasons)
    return int(bool(reasons))


def _reason(finding: FindingRecord) -> str:
    lines = [f"{finding.id}: {finding.bucket} at {finding.at}, {counted(finding.count, 'case')}"]
    return "\n".join([*lines, *blame_text(finding.blame), finding.replay])


def _bullets(finding: FindingRecord) -> list[str]:
    ops = ", ".join(finding.ops)
    first = f"- `{finding.id}`: {finding.bucket} at {finding.at} with {ops}: `{finding.replay}`"
    return [first, *(f"  - {line}" for line in blame_text(finding.blame))]


def write_markdown(path: Path, footer: Footer, findings: Sequence[FindingRecord], broken: Sequence[str]) -> None:
    """Write the verdict, the ledger and the findings as Markdown."""
    backends = list(footer.ledger)
    buckets = sorted({bucket for ledger in footer.ledger.values() for bucket in ledger})
    lines = [
        f"# autograd-conformance: {RunVerdict.DIVERGES if broken and footer.verdict is RunVerdict.CONFORMS else footer.verdict}",
        "",
        f"{counted(footer.cases, 'case')} in {footer.seconds['wall']:.0f} s.",
        "",
        f"| cases | {' | '.join(backends)} |",
        f"|---|{'---:|' * len(backends)}",
        *(f"| {bucket} | {' | '.join(str(footer.ledger[b].get(bucket, 0)) for b in backends)} |" for bucket in buckets),
        "",
        *(f"- {reason}" for reason in [*footer.reasons, *broken]),
        *(line for f in findings for line in _bullets(f)),
        *(f"- {accepted_text(met)}" for met in footer.accepted),
    ]
    path.write_text("\n".join(lines).rstrip() + "\n")

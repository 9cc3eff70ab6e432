"""Where the findings lie: a folder for each, with its case, its script, its page, and the entries of the deviations that it proves."""

from __future__ import annotations

from pathlib import Path

import conformance

ENTRIES, CASE = "deviation.toml", "case.json"


def findings_folder() -> Path:
    """Return the folder of all findings: in the package when it is installed from a wheel, else in the checkout."""
    package = Path(conformance.__file__).parent
    packed = package / "_findings"
    return packed if packed.exists() else package.parent / "reports" / "findings"


def evidence(finding: str) -> Path:
    """Return the file of the case that proves a finding."""
    return findings_folder() / finding / CASE

"""Where the findings lie: a folder for each, with its case, its script, its page, and the entries of the deviations that it proves.

Ours come with the package. A folder of the same form beside them (``--deviations DIR``) has those of somebody's own engine, which need
not wait for a release of ours. It is named in the environment, since every process that judges must know it.
"""

from __future__ import annotations

import os
from pathlib import Path

import conformance

ENTRIES, CASE = "deviation.toml", "case.json"
VARIABLE = "CONFORMANCE_DEVIATIONS"
"""The name of the environment variable that has the other folder."""


def findings_folder() -> Path:
    """Return the folder of our findings: in the package when it is installed from a wheel, else in the checkout."""
    package = Path(conformance.__file__).parent
    packed = package / "_findings"
    return packed if packed.exists() else package.parent / "reports" / "findings"


def findings_folders() -> tuple[Path, ...]:
    """Return the folders of all findings: ours, and the one that is named beside it."""
    beside = os.environ.get(VARIABLE)
    return (findings_folder(), Path(beside)) if beside else (findings_folder(),)


def evidence(finding: str) -> Path:
    """Return the file of the case that proves a finding."""
    paths = [folder / finding / CASE for folder in findings_folders()]
    return next((path for path in paths if path.exists()), paths[0])

"""Where the findings lie: a folder for each, with its case, its script, its page, and the entries of the deviations that it proves.

Ours come with the package. What breaks no promise, because no document makes one, has the same form and lies apart, among the
conventions. A folder of findings beside ours (``--deviations DIR``) has those of somebody's own engine, which need not wait for a
release of ours. It is named in the environment, since every process that judges must know it.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import conformance

ENTRIES, CASE = "deviation.toml", "case.json"
VARIABLE = "CONFORMANCE_DEVIATIONS"
"""The name of the environment variable that has the other folder."""


def findings_folder() -> Path:
    """Return the folder of our findings."""
    return _ours("findings")


def conventions_folder() -> Path:
    """Return the folder of what frameworks do where no document says what is right, and no `OpenChoice` says it."""
    return _ours("conventions")


@functools.cache
def _ours(name: str) -> Path:
    """Return a folder of ours: in the package when it is installed from a wheel, else in the checkout."""
    package = Path(conformance.__file__).parent
    packed = package / f"_{name}"
    return packed if packed.exists() else package.parent / "reports" / name


def findings_folders() -> tuple[Path, ...]:
    """Return the folders of all that is known: our findings and conventions, and the folder that is named beside them."""
    beside = os.environ.get(VARIABLE)
    return (findings_folder(), conventions_folder(), *([Path(beside)] if beside else ()))


def evidence(finding: str) -> Path:
    """Return the file of the case that proves a finding."""
    paths = [folder / finding / CASE for folder in findings_folders()]
    return next((path for path in paths if path.exists()), paths[0])

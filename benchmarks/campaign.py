"""A default campaign with the fast source: all of its time against the time that the frameworks take in it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import Figure

CASES = 2000
PATIENCE = 1800
ENDED = (0, 1)
"""Exit codes of a campaign that ran to its end: conforms, or diverges somewhere."""


class CampaignError(Exception):
    """The campaign could not be run."""


def figures() -> list[Figure]:
    """Return total / framework time, read off the footer of the run's records.

    Raises:
        CampaignError: if the campaign did not run to its end.
    """
    spent = footer_of_run()["seconds"]
    frameworks = spent["torch"] + spent["paddle"]
    each = f"{1e3 * spent['all'] / CASES:.3f} ms / {1e3 * frameworks / CASES:.3f} ms"
    return [Figure(f"total / framework time of a campaign of {CASES} cases", spent["all"] / frameworks, "<= 3", each)]


def footer_of_run() -> dict[str, dict[str, float]]:
    """Run the campaign and return the last line of its records.

    Raises:
        CampaignError: if it did not run to its end.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "--backends", "torch,paddle", "--cases", str(CASES), "--seed", "1", "--out", folder]
        command = [sys.executable, "-m", "conformance", *words]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)  # noqa: S603 - ours
        except subprocess.TimeoutExpired:
            raise CampaignError(f"conformance {' '.join(words[:-2])} did not end within {PATIENCE} s") from None
        if ended.returncode not in ENDED:
            said = (ended.stderr.strip() or ended.stdout.strip() or "nothing").splitlines()[-1]
            raise CampaignError(f"conformance {' '.join(words[:-2])} ended with {ended.returncode} and said: {said}")
        footer: dict[str, dict[str, float]] = json.loads((Path(folder) / "run.ndjson").read_text().splitlines()[-1])
    if footer.get("kind") != "footer":
        raise CampaignError("its records have no footer")
    return footer

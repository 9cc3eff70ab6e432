"""A default campaign: all the time of its workers against the time that the frameworks need for its cases with nobody looking."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from timing import Figure

from conformance.campaign.record_files import read
from conformance.campaign.records import Footer
from conformance.report.costs import over_bare

CASES = 2000
PATIENCE = 1800
ENDED = (0, 1)
"""Exit codes of a campaign that ran to its end: conforms, or diverges somewhere."""


class CampaignError(Exception):
    """The campaign could not be run."""


def figures() -> list[Figure]:
    """Return what the run took over all its workers, over what the frameworks need alone, as it says itself.

    Raises:
        CampaignError: if the campaign did not run to its end.
    """
    footer = footer_of_run()
    ratio = over_bare(footer)
    if ratio is None:
        raise CampaignError("a framework does not say what it needs alone")
    alone = sum(footer.bare.values())
    each = f"{1e3 * ratio * alone:.3f} ms / {1e3 * alone:.3f} ms"
    return [Figure(f"workers x wall / frameworks alone, {CASES} cases", ratio, "<= 20", each)]


def footer_of_run() -> Footer:
    """Run the campaign and return the last line of its records.

    Raises:
        CampaignError: if it did not run to its end.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "--backends", "torch,paddle", "--cases", str(CASES), "--seed", "1", "--jobs", "2", "--out", folder]
        command = [sys.executable, "-m", "conformance", *words]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)  # noqa: S603 - ours
        except subprocess.TimeoutExpired:
            raise CampaignError(f"conformance {' '.join(words[:-2])} did not end within {PATIENCE} s") from None
        if ended.returncode not in ENDED:
            said = (ended.stderr.strip() or ended.stdout.strip() or "nothing").splitlines()[-1]
            raise CampaignError(f"conformance {' '.join(words[:-2])} ended with {ended.returncode} and said: {said}")
        footer = next((record for record in read(Path(folder) / "run.ndjson") if isinstance(record, Footer)), None)
    if footer is None:
        raise CampaignError("its records have no footer")
    return footer

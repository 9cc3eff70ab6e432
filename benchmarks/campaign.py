"""Campaigns: all the time of their workers against the time that the frameworks need for their cases with nobody looking."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from timing import Figure

from conformance.campaign.records import Footer
from conformance.campaign.records.files import read
from conformance.report.costs import over_bare

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = 6000
"""As many as the gate's campaign has: what a run does once, before its first case and after its last, counts as it does there."""
PATIENCE = 1800
ENDED = (0, 1)
"""Exit codes of a campaign that ran to its end: conforms, or diverges somewhere."""


class CampaignError(Exception):
    """The campaign could not be run."""


def figures() -> Iterator[Figure]:
    """Yield what runs took over all their workers, over what the frameworks need alone, as they say; and what two workers gain.

    Raises:
        CampaignError: if a campaign did not run to its end.
    """
    usual = footer_of_run()
    yield _over_bare("usual", usual, "<= 20")
    yield _over_bare("exact lane, no laws", footer_of_run("--lane", "exact", "--laws", "none", "--nulls", "none"), "<= 6")
    alone, together = footer_of_run(jobs=1).seconds["wall"], usual.seconds["wall"]
    yield Figure(f"one worker / two workers, {CASES} cases", alone / together, ">= 1.8", f"{alone:.1f} s / {together:.1f} s")


def _over_bare(words: str, footer: Footer, aim: str) -> Figure:
    ratio = over_bare(footer)
    if ratio is None:
        raise CampaignError("a framework does not say what it needs alone")
    alone = sum(footer.bare.values())
    each = f"{1e3 * ratio * alone:.3f} ms / {1e3 * alone:.3f} ms"
    return Figure(f"workers x wall / frameworks alone, {words}", ratio, aim, each)


def footer_of_run(*more: str, jobs: int = 2) -> Footer:
    """Run a campaign and return the last line of its records.

    Raises:
        CampaignError: if it did not run to its end.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "--backends", "torch,paddle", "--cases", str(CASES), "--seed", "1", "--jobs", str(jobs), *more, "--out", folder]
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

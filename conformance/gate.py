"""The gate's fixed part: curated cases must agree, known deviations must still show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import conformance
from conformance.backends import STATIC
from conformance.campaign.pool import Workers
from conformance.campaign.worker import backend, explain_case
from conformance.case import read
from conformance.clauses import CURATED
from conformance.clauses.checks import CHECKS
from conformance.deviations import Deviation, known
from conformance.judge.verdict import Bucket

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.campaign.run import Options

AGREEING = (Bucket.AGREED, Bucket.SAME_ERROR, Bucket.NOT_OFFERED, Bucket.KNOWN_DEVIATION)
FATAL = "crash"


def check_curated(options: Options, console: Console) -> list[str]:
    """Run the curated cases and the evidence of every known deviation; return what is not as it should be."""
    with Workers(options.backends, options.jobs, fresh=True) as workers:
        broken = _curated(options, workers) + _checked(options, workers)
        entries = [d for d in known() if d.backend in options.backends]
        stale = [line for line in (_stale(entry, workers) for entry in entries) if line]
    console.print(f"curated cases: {len(CURATED)} on {', '.join(options.backends)}, {len(broken)} broken", highlight=False)
    console.print(f"known deviations: {len(entries)}, {len(stale)} stale", highlight=False)
    return broken + stale


def _curated(options: Options, workers: Workers) -> list[str]:
    broken = []
    for curated in CURATED:
        wrong = curated.disagreement()
        if wrong:
            broken.append(f"{curated.name}: the reference contradicts the document: {wrong}")
        for name in options.backends:
            explained = workers.call(explain_case, curated.case, name)
            verdict: dict[str, Any] = {"bucket": Bucket.CRASHED} if explained is None else explained["verdict"]
            if verdict["bucket"] not in AGREEING:
                broken.append(f"{curated.name} on {name}: {verdict['bucket']}: {verdict.get('mismatch', {}).get('detail', '')}")
    return broken


def _checked(options: Options, workers: Workers) -> list[str]:
    """Run the checks of static backends; one that is known to be broken must still be."""
    lines = []
    for number, check in enumerate(CHECKS):
        for name in STATIC.intersection(options.backends):
            said = workers.call(disagreement, number, name)
            if bool(said) != (name in check.known):
                lines.append(f"{check.name} on {name}: {said or f'{check.known[name]} no longer shows'}")
    return lines


def disagreement(number: int, name: str) -> str:
    """Run a check on a backend, in whatever process this is called."""
    return CHECKS[number].disagreement(backend(name))


def findings_folder() -> Path:
    """Where the cases of the findings lie: in the package when it is installed from a wheel, else in the checkout."""
    package = Path(conformance.__file__).parent
    packed = package / "_findings"
    return packed if packed.exists() else package.parent / "reports" / "findings"


def _stale(entry: Deviation, workers: Workers) -> str | None:
    case = read(findings_folder() / entry.finding / "case.json")
    explained = workers.call(explain_case, case, entry.backend)
    if explained is None:
        return None if FATAL in entry.kinds else f"{entry.id}: the process died instead of showing the deviation"
    shown = explained["verdict"].get("deviation")
    if shown == entry.id:
        return None
    return f"{entry.id}: stale: the case of {entry.finding} now ends as {explained['verdict']['bucket']} ({shown})"

"""The gate's fixed part: curated cases must agree, known deviations must still show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import conformance
from conformance.campaign.pool import Workers
from conformance.campaign.worker import explain_case
from conformance.case import read
from conformance.clauses import CURATED
from conformance.clauses.table import clause_table
from conformance.deviations import Deviation, known
from conformance.laws.judging import EVERY, KIND, NONE

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.campaign.run import Options
    from conformance.clauses.table import Table

FATAL = "crash"


def check_curated(options: Options, console: Console) -> tuple[list[str], Table]:
    """Run the curated cases and the evidence of every known deviation; return what is not as it should be, and the clause table."""
    with Workers(options.backends, options.jobs, fresh=True) as workers:
        table = clause_table(options.backends, workers)
        entries = [d for d in known() if d.backend in options.backends]
        stale = [line for line in (_stale(entry, workers) for entry in entries) if line]
    broken = [*table.faults, *table.differences()]
    console.print(f"curated cases: {len(CURATED)} on {', '.join(options.backends)}, {len(broken)} broken", highlight=False)
    console.print(f"known deviations: {len(entries)}, {len(stale)} stale", highlight=False)
    return broken + stale, table


def findings_folder() -> Path:
    """Where the cases of the findings lie: in the package when it is installed from a wheel, else in the checkout."""
    package = Path(conformance.__file__).parent
    packed = package / "_findings"
    return packed if packed.exists() else package.parent / "reports" / "findings"


def _stale(entry: Deviation, workers: Workers) -> str | None:
    case = read(findings_folder() / entry.finding / "case.json")
    explained = workers.call(explain_case, case, entry.backend, EVERY if KIND in entry.kinds else NONE)
    if explained is None:
        return None if FATAL in entry.kinds else f"{entry.id}: the process died instead of showing the deviation"
    shown = explained["verdict"].get("deviation")
    if shown == entry.id:
        return None
    return f"{entry.id}: stale: the case of {entry.finding} now ends as {explained['verdict']['bucket']} ({shown})"

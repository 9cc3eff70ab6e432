"""The gate's fixed part: curated cases must agree, known deviations must still show, mutants must be found out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import conformance
from conformance.backends import STATIC
from conformance.campaign.explain import explain_case
from conformance.campaign.pool import Workers
from conformance.case import Case, Input, data_of, read
from conformance.clauses import CURATED
from conformance.clauses.table import clause_table
from conformance.deviations import Deviation, known
from conformance.laws.judging import EVERY, KIND, NONE
from conformance.mutants.command import score_table
from conformance.mutants.measure import chosen, measure
from conformance.steps import Op
from conformance.sweep import line_of, sweep

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.campaign.run import Options
    from conformance.clauses.table import Table
    from conformance.mutants.measure import Power
    from conformance.sweep import Swept

FATAL = "crash"


MUTANTS_FLOOR = 0.66
"""The part of the mutants that must be found out within the gate's few cases; the targets are for fifty times as many."""


def check_before(options: Options, console: Console, *, points: bool, mutant_cases: int) -> tuple[list[str], list[dict[str, Any]]]:
    """Check what the gate checks before its campaign; return what is not as it should be, and the records of what was found."""
    broken, table = check_curated(options, console)
    records = [table.record()]
    if points:
        swept = check_points(options, console)
        broken += [line for found in swept for line in found.failures]
        records.append({"kind": "points", "swept": swept})
    if mutant_cases:
        power = measure(chosen(None), cases=mutant_cases, jobs=options.jobs)
        console.print(score_table(power))
        broken += weak(power)
        records.append(power.record())
    return broken, records


def check_points(options: Options, console: Console) -> list[Swept]:
    """Ask every op at its special points on the eager backends; return what became of them."""
    with Workers(options.backends, options.jobs, fresh=True) as workers:
        swept = list(sweep([name for name in options.backends if name not in STATIC], workers))
    for found in swept:
        console.print(f"special points of {line_of(found)}", highlight=False)
    return swept


def weak(power: Power) -> list[str]:
    """Say that too few mutants were found out, if it is so."""
    if power.share() >= MUTANTS_FLOOR:
        return []
    return [f"only {power.share():.1%} of the mutants were found out within {power.cases} cases; the floor is {MUTANTS_FLOOR:.0%}"]


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
    """Say what is wrong with an entry whose deviation does not show: in the case of its finding, and in that case among others."""
    evidence = read(findings_folder() / entry.finding / "case.json")
    for case, words in ((evidence, f"the case of {entry.finding}"), (beside_others(evidence), f"{entry.finding} beside a dead branch")):
        explained = workers.call(explain_case, case, entry.backend, EVERY if KIND in entry.kinds else NONE)
        if explained is None:
            if FATAL in entry.kinds:
                continue
            return f"{entry.id}: the process died instead of showing the deviation"
        verdict = explained["verdict"]
        if entry.id not in verdict.get("deviations", ()):
            return f"{entry.id}: stale: {words} now ends as {verdict['bucket']} ({verdict.get('deviation')})"
    return None


def beside_others(case: Case) -> Case:
    """Return a case with a dead branch before its steps: what it shows must not depend on being alone."""
    dtype = case.inputs[0].dtype
    branch = Input("beside_0", (2,), data_of(np.array([1.0, 2.0], dtype)), dtype, differentiable=False)
    return Case((*case.inputs, branch), (Op("square", ("beside_0",), ("beside_1",)), *case.steps), case.lane)

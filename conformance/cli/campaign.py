"""What `run`, `gate` and `laws` share: a campaign from the options of the command line to its files, its summary and its exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
from rich.console import Console

from conformance.backends.registry import registration, slowness
from conformance.campaign.baseline import too_often
from conformance.campaign.options import Options, prepare
from conformance.campaign.records import RunVerdict
from conformance.campaign.records.files import read
from conformance.campaign.run import run_campaign
from conformance.cli.baseline import check_accepted
from conformance.cli.codes import CONFORMS, DIVERGES, NO_RESULT
from conformance.cli.progress import shown
from conformance.generate.scripts import DrawOptions, usual_later
from conformance.laws.judging import LAWS_TIMEOUT, TIMEOUT, Judging, Sampling
from conformance.ops import catalogue
from conformance.report import write_html
from conformance.report.ci import write_junit, write_markdown
from conformance.report.details import show_details
from conformance.report.terminal import Checked, run_of, show_summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.campaign.records import Footer, Header
    from conformance.generate.profiles import Profile

CODES = {
    RunVerdict.CONFORMS: CONFORMS,
    RunVerdict.DIVERGES: DIVERGES,
    RunVerdict.NO_RESULT: NO_RESULT,
    RunVerdict.SUITE_ERROR: NO_RESULT,
}


def campaign(
    *,
    backends: tuple[str, ...],
    seed: int,
    jobs: int,
    dask: str | None,
    out: Path,
    cases: int,
    budget: float | None,
    lanes: tuple[str, ...],
    ops: tuple[str, ...] | None,
    verbose: bool,
    laws: str = "some",
    nulls: str = "some",
    before: Callable[[Options, Console], Checked] | None = None,
    after: Callable[[Header, Footer, Checked], None] = lambda *_: None,
    laws_only: bool = False,
    resume: bool = False,
    grid: bool = False,
    baseline: Path | None = None,
    profile: Profile = "usual",
) -> int:
    """Run a campaign, print its summary, and return the exit code.

    ``before``: what a gate checks first, and ``after`` what it checks of the run; ``resume``: go on with the run that is in ``out``;
    ``grid``: the grid comes behind the cases; ``baseline``: the file of findings that are not new; ``profile``: what is drawn;
    ``laws``, ``nulls``: how many of them are tried, see `conformance.laws.judging.Sampling`;
    ``laws_only``: every law, and no other judge.

    Raises:
        BadParameter: if the ops that are asked for have no case in the lane that is.
    """
    if lanes == ("exact",) and ops and not any(catalogue()[name].exact for name in ops):
        msg = f"the lane 'exact' needs an exact op, and {', '.join(ops)} has none; 'conformance ops' lists the lanes of each"
        raise click.BadParameter(msg, param_hint="'--lane'")
    console = Console(highlight=False)
    command = " ".join(["conformance", *sys.argv[1:]])
    halves = {registration(name).static for name in backends}
    mixed, later = len(halves) == 2, usual_later(ops, profile)
    draw = DrawOptions(lanes, ops, static=halves == {True}, mixed=mixed, later=later, profile=profile)
    tried = Sampling.EVERY if laws_only else Sampling(laws)
    timeout = (LAWS_TIMEOUT if tried is Sampling.EVERY else TIMEOUT) * slowness(backends)
    judging = Judging(tried, laws_only=laws_only, nulls=Sampling(nulls), timeout=timeout)
    options = Options(backends, cases, budget, seed, draw, jobs, out, command, dask, judging, grid, baseline)
    prepare(options)
    checked = before(options, console) if before else Checked()
    check_accepted(options, checked)

    def broken(header: Header, footer: Footer) -> Iterator[str]:
        after(header, footer, checked)
        yield from checked.broken
        yield from too_often(options.accepted, header, footer)

    with shown(console, cases) as tell:
        footer = run_campaign(options, tell, checked.records, broken, resume=resume)
    record, page = options.record, out / "report.html"
    ended = run_of(read(record))
    write_html(read(record), page)
    if before:
        write_junit(out / "junit.xml", footer, ended.findings)
        write_markdown(out / "summary.md", footer, ended.findings)
    if verbose:
        for table in checked.tables:
            console.print(table)
        show_details(console, ended)
    show_summary(console, ended, page, checked)
    return CODES[footer.verdict]

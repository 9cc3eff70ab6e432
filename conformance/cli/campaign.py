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


def options_of(
    *,
    backends: tuple[str, ...],
    seed: int,
    jobs: int,
    dask: str | None,
    out: Path,
    cases: int,
    lanes: tuple[str, ...],
    budget: float | None = None,
    ops: tuple[str, ...] | None = None,
    laws: str = "some",
    nulls: str = "some",
    laws_only: bool = False,
    grid: bool = False,
    baseline: Path | None = None,
    profile: Profile = "usual",
) -> Options:
    """Return what a campaign is asked to do, given what the command line says.

    ``laws`` and ``nulls`` say how many laws and null pairs are tried (`conformance.laws.judging.Sampling`). With ``laws_only`` every
    law is tried, and nothing else judges.

    Raises:
        BadParameter: if the ops that are asked for have no case in the lane that is.
    """
    if lanes == ("exact",) and ops and not any(catalogue()[name].exact for name in ops):
        msg = f"the lane 'exact' needs an exact op, and {', '.join(ops)} has none; 'conformance ops' lists the lanes of each"
        raise click.BadParameter(msg, param_hint="'--lane'")
    command = " ".join(["conformance", *sys.argv[1:]])
    kinds = {registration(name).static for name in backends}
    later = usual_later(ops, profile)
    draw = DrawOptions(lanes, ops, static=kinds == {True}, mixed=len(kinds) == 2, later=later, profile=profile)
    tried = Sampling.EVERY if laws_only else Sampling(laws)
    timeout = (LAWS_TIMEOUT if tried is Sampling.EVERY else TIMEOUT) * slowness(backends)
    judging = Judging(tried, laws_only=laws_only, nulls=Sampling(nulls), timeout=timeout)
    return Options(backends, cases, budget, seed, draw, jobs, out, command, dask, judging, grid, baseline)


def campaign(
    options: Options,
    *,
    verbose: bool,
    before: Callable[[Options, Console], Checked] | None = None,
    after: Callable[[Header, Footer, Checked], None] = lambda *_: None,
    resume: bool = False,
) -> int:
    """Run a campaign, write its files, print its summary, and return the exit code.

    A gate checks something ``before`` the campaign, and ``after`` it whether the run is as usual; it also gets the files for CI. With
    ``resume`` the campaign goes on with the run that is in its folder already.
    """
    console = Console(highlight=False)
    prepare(options)
    checked = before(options, console) if before else Checked()
    check_accepted(options, checked)

    def broken(header: Header, footer: Footer) -> Iterator[str]:
        after(header, footer, checked)
        yield from checked.broken
        yield from too_often(options.accepted, header, footer)

    with shown(console, options.cases) as tell:
        footer = run_campaign(options, tell, checked.records, broken, resume=resume)
    page = options.out / "report.html"
    ended = run_of(read(options.record))
    write_html(read(options.record), page)
    if before:
        write_junit(options.out / "junit.xml", footer, ended.findings)
        write_markdown(options.out / "summary.md", footer, ended.findings)
    if verbose:
        for table in checked.tables:
            console.print(table)
        show_details(console, ended)
    show_summary(console, ended, page, checked)
    return CODES[footer.verdict]

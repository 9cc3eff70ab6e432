"""The command line. Imports of frameworks, generators and renderers wait until a command needs them."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click
from click.core import ParameterSource

from conformance import __version__
from conformance.cli.accept import accept
from conformance.cli.cases import replay, repro, show
from conformance.cli.codes import CONFORMS, DIVERGES, NO_RESULT, UNREAD, USAGE
from conformance.cli.conventions import check_backend, conventions, learn
from conformance.cli.findings import deviations, findings
from conformance.cli.mutants import mutants
from conformance.cli.options import (
    Whole,
    backends_option,
    campaign_options,
    enumerated,
    jobs_option,
    names_of,
    ops_option,
    own_deviations,
    profiled,
    sampling_options,
    seconds,
    with_options,
)
from conformance.cli.resume import resumed
from conformance.cli.stopping import FULL, Stopped, stoppable, with_notes
from conformance.generate.profiles import PROFILES

MUTANT_CASES = 400
"""How many cases each mutant gets in the gate; its floor is for as many."""
LANES = ("exact", "numeric")


def main() -> None:
    """Run the command; whatever goes wrong is one line and a documented exit code."""
    try:
        with stoppable():
            code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        fail(USAGE, error.format_message())
    except Stopped as error:
        fail(error.code, with_notes(f"stopped by {error}", error))
    except OSError as error:
        fail(NO_RESULT if error.errno in FULL else USAGE, with_notes(f"{error.filename or 'output'}: {error.strerror}", error))
    except Exception as error:  # noqa: BLE001 - a traceback is a bug; the last line of defence says which
        known = expected_errors()
        fail(
            USAGE if isinstance(error, known) else NO_RESULT,
            with_notes(f"{'' if isinstance(error, known) else 'fault of the suite: '}{error}", error),
        )
    sys.exit(code or 0)


def expected_errors() -> tuple[type[Exception], ...]:
    """Return the errors that are the user's to mend."""
    from conformance.backends import BackendError
    from conformance.campaign.records import RecordError
    from conformance.campaign.workers.cluster_worker import ClusterError
    from conformance.case.files import CaseError
    from conformance.deviations.entries import DeviationError
    from conformance.report.catalogue.page import PageError
    from reference_impl.dialects.conventions import ConventionsError

    return BackendError, CaseError, ClusterError, ConventionsError, DeviationError, PageError, RecordError


def fail(code: int, message: str) -> NoReturn:
    """Say what is wrong in one line and leave."""
    click.echo(f"conformance: {' '.join(message.split())}", err=True)
    sys.exit(code)


class Commands(click.Group):
    """The commands. Where nobody reads on, they end as a shell expects: not with the code of a divergence, as click and rich would."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, SystemExit) as error:
            if not isinstance(error, BrokenPipeError) and not isinstance(error.__context__, BrokenPipeError):
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer is written when we leave
            raise click.exceptions.Exit(UNREAD) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__)
def cli() -> None:
    """Check autograd engines against a small reference engine.

    Exit codes: 0 conforms, 1 divergence, 2 usage or configuration, 3 no result: too little was compared, or the suite is at fault. A
    run that is stopped has 129, 130 or 143, for a closed terminal, Ctrl-C and SIGTERM.
    """


cli.add_command(mutants)
cli.add_command(check_backend)
cli.add_command(learn)
cli.add_command(conventions)
cli.add_command(deviations)
cli.add_command(findings)
cli.add_command(accept)
cli.add_command(show)
cli.add_command(replay)
cli.add_command(repro)


@cli.command()
@with_options(campaign_options)
@click.option("--cases", default=2000, type=Whole(1), help="How many cases to draw.")
@click.option(
    "--budget",
    callback=seconds,
    show_default="no limit",
    help="End after about this time, like 10m; a tenth of it is for the findings.",
)
@click.option("--lane", "lanes", default="exact,numeric", callback=names_of(lambda: LANES), help="One lane or both; comma-separated.")
@ops_option
@click.option("--grid", is_flag=True, help="The grid alone: each op enumerated over shapes, layouts, dtypes, arguments and orders.")
@click.option(
    "--profile",
    default="usual",
    type=click.Choice(PROFILES),
    help="What is drawn: usual scripts; graphs of thousands of nodes (deep); models, and what training does (model); each op to order 3"
    " (orders).",
)
@with_options(sampling_options)
@click.option(
    "--resume",
    type=click.Path(file_okay=False, path_type=Path),
    help="Go on with the run in DIR that did not end.",
    metavar="DIR",
    is_eager=True,  # so that what its record says is known before other options are looked at
)
@click.pass_context
def run(context: click.Context, /, resume: Path | None, **chosen: Any) -> int:
    """Run a campaign of random scripts, or of the grid."""
    from conformance.cli.campaign import campaign, options_of

    typed = {name: chosen[name] for name in chosen if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if chosen["grid"]:
        chosen |= enumerated(typed, chosen["backends"])
    elif chosen["profile"] != "usual":
        chosen |= profiled(typed, chosen["profile"], chosen["backends"])
    if resume is not None:
        chosen |= resumed(resume, typed)
    verbose = chosen.pop("verbose")
    return campaign(options_of(**chosen), verbose=verbose, resume=resume is not None)


@cli.command()
@with_options(campaign_options)
@click.option("--cases", default=6000, type=Whole(1), help="How many cases to draw.")
@click.option("--mutant-cases", default=MUTANT_CASES, type=Whole(0), help="How many cases each mutant gets; 0: no mutants.")
@click.option("--grid/--no-grid", default=True, help="Whether the grid comes behind the drawn cases.")
@click.option("--points/--no-points", default=True, help="Whether every op is asked at its special points.")
def gate(mutant_cases: int, points: bool, verbose: bool, **chosen: Any) -> int:
    """Decide as CI would whether backends conform.

    Checks curated cases, known deviations, special points and the suite's own power, and runs a fixed campaign and the grid.
    """
    from conformance.cli.campaign import campaign, options_of
    from conformance.cli.gate import check_after, check_before

    before = partial(check_before, points=points, mutant_cases=mutant_cases)
    return campaign(options_of(**chosen, lanes=LANES), verbose=verbose, before=before, after=check_after)


@cli.command()
@click.option("--backend", help="A name, or module:attribute; without one, the laws are listed.")
@click.option("--cases", default=300, type=Whole(1), help="How many cases to draw.")
@with_options(campaign_options[1:])
def laws(backend: str | None, verbose: bool, **chosen: Any) -> int:
    """Judge one backend by the laws alone.

    Every law is tried on every case, and the reference is not asked.
    """
    from conformance.cli.campaign import campaign, options_of
    from conformance.cli.listing import laws_listing

    if backend is None:
        click.echo(laws_listing())
        return CONFORMS
    return campaign(options_of(**chosen, backends=(backend,), lanes=LANES, laws_only=True), verbose=verbose)


@cli.command()
@click.argument("record", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The page; beside the record if not given.")
def report(record: Path, out: Path | None) -> None:
    """Write the HTML report of a run record."""
    from conformance.campaign.records import Footer, RecordError
    from conformance.campaign.records.files import read
    from conformance.report import write_html

    page = out or record.with_name("report.html")
    write_html(read(record), page)
    click.echo(f"report: {page}")
    if not any(isinstance(r, Footer) for r in read(record)):
        raise RecordError(f"{record}: has no footer: the run did not end, and the page says so")


@cli.command()
@click.option("--coverage", is_flag=True, help="Say which share of what public models use the ops cover, and what is missing.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def ops(coverage: bool, as_json: bool) -> None:
    """List the ops that are drawn.

    Behind them stand those that models use as often, and that are not drawn yet.
    """
    from conformance.cli.listing import coverage_listing, ops_listing

    click.echo((coverage_listing if coverage else ops_listing)(as_json=as_json))


@cli.command()
@backends_option
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def clauses(backends: tuple[str, ...], jobs: int, as_json: bool) -> int:
    """Check every promise of the documents by its curated cases.

    And every switch of the dialects.
    """
    from rich.console import Console

    from conformance.campaign.workers.pool import Workers
    from conformance.clauses import CURATED
    from conformance.clauses.table import clause_table
    from conformance.cli.pages import clauses_page
    from conformance.cli.progress import part

    of = len(CURATED) * len(backends)
    with Workers(backends, jobs) as workers, part(Console(), "curated cases", of) as heard:
        table = clause_table(backends, workers, heard=heard)
    click.echo(clauses_page(table, backends, as_json=as_json), nl=False)
    for fault in table.faults:
        click.echo(f"conformance: fault of the suite: {fault}", err=True)
    return NO_RESULT if table.faults else DIVERGES if any(table.differences()) else CONFORMS


@cli.command()
@backends_option
@ops_option
@jobs_option
@own_deviations
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def points(backends: tuple[str, ...], ops: tuple[str, ...] | None, jobs: int, as_json: bool) -> int:
    """Ask every op at its special points, to second order.

    That is at zeros, ties, infinities, NaN, subnormal numbers and the ends of the range.
    """
    from rich.console import Console

    from conformance.campaign.sweep import page, sweep
    from conformance.campaign.workers.pool import Workers
    from conformance.cli.progress import part
    from conformance.ops import catalogue

    of = len(ops or catalogue()) * len(backends)
    with Workers(backends, jobs) as workers, part(Console(), "special points of ops", of) as heard:
        swept = list(sweep(backends, workers, ops, heard))
    click.echo(page(swept, as_json=as_json))
    return DIVERGES if any(record.failures for record in swept) else CONFORMS


@cli.command()
@click.option("--compare", nargs=2, default=("torch", "paddle"), metavar="ONE OTHER", help="Two dialects; torch and paddle.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def dialects(compare: tuple[str, str], as_json: bool) -> None:
    """Show what two dialects promise differently, and the source."""
    from conformance.cli.pages import dialects_page
    from reference_impl import DIALECTS

    for name in compare:
        if name not in DIALECTS:
            raise click.BadParameter(f"{name!r} is unknown; allowed are {', '.join(DIALECTS)}", param_hint="--compare")
    click.echo(dialects_page(*compare, as_json=as_json), nl=False)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def backends(as_json: bool) -> None:
    """List the backends, and whether they open here."""
    from conformance.cli.listing import backends_listing

    click.echo(backends_listing(as_json=as_json))


if __name__ == "__main__":
    main()

"""The commands about what was found: the known deviations, and the pages that prove them."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.codes import CONFORMS, DIVERGES
from conformance.cli.options import jobs_option, own_deviations


@click.command()
@own_deviations
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), help="A run record; its cases per deviation are shown.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
@click.option(
    "--measure",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A run record; from several of them, each of another seed, the share of each entry is measured anew.",
    metavar="RECORD",
)
def deviations(record: Path | None, as_json: bool, measure: tuple[Path, ...]) -> None:
    """List the known deviations, and what proves them.

    Of each: what is wrong, in which versions, what the wrong values are, and the finding.
    """
    from conformance.campaign.records.files import hits
    from conformance.campaign.shares import write_shares
    from conformance.cli.listing import deviations_listing

    if measure:
        click.echo(write_shares(measure))
        return

    click.echo(deviations_listing(None if record is None else hits(record), as_json=as_json))


@click.command()
@click.argument("ids", nargs=-1)
@click.option("--verify", is_flag=True, help="Run the script of each on the frameworks that are installed.")
@jobs_option
@click.option("--upstream", is_flag=True, help="Run the script of each, and print it as a text for its framework's issue tracker.")
@click.option("--write", is_flag=True, help="Write the index, the scripts into their pages, and what --verify found.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write them as one page of HTML.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def findings(ids: tuple[str, ...], verify: bool, jobs: int, upstream: bool, write: bool, html: Path | None, as_json: bool) -> int:
    """List findings, the gravest first, or verify them.

    Without a name, all of them.
    """
    from conformance.cli import cataloguing
    from conformance.report.catalogue.index import write_catalogue

    found = cataloguing.chosen(ids)
    if upstream:
        click.echo(cataloguing.for_trackers(found, jobs), nl=False)
        return CONFORMS
    differs = verify and cataloguing.verify(found, jobs, write=write)
    if write:
        cataloguing.write(found, complete=not ids)
    if html:
        write_catalogue(found, html)
        click.echo(f"page: {html}")
    if not (write or html or verify):
        click.echo(cataloguing.listing(found, as_json=as_json))
    return DIVERGES if differs else CONFORMS

"""The command ``accept``; what it does is in `conformance.cli.baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from datetime import datetime

_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--baseline", required=True, type=_file, help="The file; it is made if there is none.")
@click.option("--record", default="reports/run.ndjson", type=_file, help="The run that has the findings.")
@click.option("--reason", help="Why, for whoever meets it later.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), show_default="no end", help="The last day on which they are accepted.")
@click.option("--drop", is_flag=True, help="Take findings out of the baseline.")
def accept(ids: tuple[str, ...], baseline: Path, record: Path, reason: str | None, until: datetime | None, drop: bool) -> None:
    """Accept findings of a run for the time being.

    All of them, if none is named. A run with that --baseline is red for new ones alone.
    """
    from conformance.cli.baseline import add, remove

    if drop:
        click.echo(remove(ids, baseline))
    elif reason:
        click.echo(add(ids, baseline, record, reason, until.date() if until else None))
    else:
        raise click.UsageError("--reason is missing; allowed is a text that says why, as 'nobody has looked into it yet'")

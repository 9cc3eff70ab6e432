"""The commands for an engine that is new here: whether its adapter is sound, and what it does where no document says what is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from conformance.cli.codes import CONFORMS, DIVERGES
from conformance.cli.options import Whole, campaign_options, known_ops, names_of, with_options


@click.command()
@click.argument("backend")
def check_backend(backend: str) -> int:
    """Say whether the adapter of a backend is sound.

    What it does not keep of its contract is said before anything is called a finding of its engine.
    """
    from conformance.cli.soundness import soundness

    text, sound = soundness(backend)
    click.echo(text)
    return CONFORMS if sound else DIVERGES


def _learned_alone() -> Any:
    from reference_impl.dialects.conventions import HANDED

    return [*known_ops(), *HANDED]


@click.command()
@click.option("--backend", required=True, help="A name, or module:attribute.")
@click.option("--cases", default=2000, type=Whole(0), help="How many random cases to draw, beside those of each op.")
@with_options(campaign_options[1:3])
@click.option(
    "--ops",
    callback=names_of(_learned_alone, "conformance ops"),
    show_default="all",
    help="These ops alone, or what calls are handed: flag, input, root, seed; comma-separated.",
)
@click.option("--out", default="conventions", type=click.Path(file_okay=False, path_type=Path), help="Where the file is written.")
def learn(backend: str, **chosen: Any) -> int:
    """Measure an engine where no document says what is right.

    What was measured is written to a file, from which its runs in this folder start.
    """
    from conformance.cli.measuring import learned

    return learned(backend, **chosen)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--compare", is_flag=True, help="Only where those that are named differ.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def conventions(names: tuple[str, ...], compare: bool, as_json: bool) -> None:
    """Show what was measured where no document is.

    NAMES are backends, releases like torch-2.13, or files.
    """
    from conformance.cli.measuring import conventions_page

    click.echo(conventions_page(names or ("torch", "paddle"), comparing=compare, as_json=as_json), nl=False)

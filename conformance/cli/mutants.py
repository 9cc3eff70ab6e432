"""``conformance mutants``: the command, the table in the terminal, and the record."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from conformance import __version__
from conformance.cli.options import Whole, jobs_option
from conformance.cli.progress import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from conformance.mutants.measure import Power


@click.command()
@click.option("--only", metavar="PATTERN", help="Mutants whose id has this in it, or fits it, like 'sin-*'.")
@click.option("--cases", default=20_000, type=Whole(1), help="How many cases of the default campaign each gets at most.")
@click.option("--seed", default=1, type=Whole(0), help="The seed of the campaign.")
@click.option(
    "--host", default="reference", help="The backend that carries conditional faults; any other than the reference no other faults."
)
@click.option("--grid", is_flag=True, help="Hunt wrong rules through the grid of their op first, as the gate does.")
@jobs_option
@click.option("--sharpness", is_flag=True, help="Print the smallest relative errors of first-order gradients that are found out.")
@click.option("--list", "listed", is_flag=True, help="Name the mutants and run none.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable, every mutant on its own.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="A folder for the record, mutants.ndjson.")
def mutants(
    only: str | None,
    cases: int,
    seed: int,
    host: str,
    grid: bool,
    jobs: int,
    sharpness: bool,
    listed: bool,
    as_json: bool,
    out: Path | None,
) -> int:
    """Run engines that are wrong on purpose.

    Each runs until it is found out, and how many cases that took is printed. The command exits with 1 if fewer are found out than the
    targets demand, which are meant for 20,000 cases.
    """
    if sharpness:
        if only or listed or as_json or out is not None:
            raise click.UsageError("--sharpness has ops and lines of its own; leave --only, --list, --json and --out away beside it")
        return show_sharpness()
    import msgspec
    from rich.console import Console

    from conformance.mutants.measure import PowerError, chosen

    try:
        ids = chosen(only, host)
    except PowerError as error:
        raise click.BadParameter(str(error), param_hint="--only") from None
    if listed:
        click.echo(listing(ids, as_json=as_json), nl=False)
        return 0
    console = Console(width=None if sys.stdout.isatty() else 160)
    power = hunted(console, ids, cases=cases, seed=seed, jobs=jobs, host=host, grid=grid)
    if out is not None:
        write_record(power, out)
    if as_json:
        record = {**msgspec.to_builtins(power.record()), "mutants": list(power.details()), "missed": power.missed()}
        click.echo(msgspec.json.format(msgspec.json.encode(record)).decode())
    else:
        show_power(console, power)
    return int(bool(power.missed()))


def show_sharpness() -> int:
    """Print how sharp the grid is, op by op; 1 if it is less than aimed at."""
    from conformance.mutants.sharpness import AIMS, sharpness

    missed = 0
    for dtype, aims in AIMS.items():
        for op, aim in aims.items():
            found = sharpness(op, dtype)
            missed += found.bits is None or found.bits < aim
            click.echo(str(found))
    return int(missed > 0)


def listing(ids: Sequence[str], *, as_json: bool) -> str:
    """Name mutants, one a line: id, kind, dialect, what is wrong."""
    import msgspec

    from conformance.mutants.registry import mutants as registry

    rows = [
        {"id": m.id, "sort": m.kind, "part": m.part, "dialect": m.dialect.name, "what": m.what, "equivalent": m.equivalent}
        for m in map(registry().__getitem__, ids)
    ]
    if as_json:
        return msgspec.json.format(msgspec.json.encode({"mutants": rows})).decode() + "\n"
    return "".join(f"{row['id']:<45} {row['sort']:<8} {row['dialect']:<14} {row['what']}\n" for row in rows)


class Found(NamedTuple):
    """How far a measurement is: how many of the mutants are found out, and in how many cases."""

    done: int
    of: int
    cases: int

    def __str__(self) -> str:
        return f"{self.done:,} of {self.of:,} mutants found out, {self.cases:,} cases"


def hunted(console: Console, ids: Sequence[str], *, cases: int, jobs: int, **how: Any) -> Power:
    """Run mutants until each is found out, as `conformance.mutants.measure.measure` does, and show how far that is."""
    from conformance.mutants.measure import measure

    with shown(console, len(ids), "mutants") as tell:
        return measure(ids, cases=cases, jobs=jobs, progress=lambda done, killed: tell(Found(killed, len(ids), done)), **how)


def show_power(console: Console, power: Power) -> None:
    """Print the scores, and the survivors with the reason."""
    from conformance.case.prose import counted

    console.print(score_table(power))
    for survivor in power.record().survivors:
        console.print(f"  {survivor.id} ({survivor.sort}): {survivor.what}: {survivor.reason or 'survives'}", highlight=False)
    for line in power.missed():
        console.print(f"[red]missed[/]: {line}", highlight=False)
    each = f"up to {counted(power.cases, 'case')} each"
    console.print(f"{counted(len(power.ids), 'mutant')}, {each}, in {power.seconds:.0f} s", highlight=False)


def score_table(power: Power) -> Table:
    """Return the table of the scores, one row for each kind of fault."""
    from rich.table import Table

    table = Table(title="Mutants found out", title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for heading in ("found out", "of", "share", "median cases", "worst", "equivalent"):
        table.add_column(heading, justify="right")
    for s in power.scores():
        cells = (s.killed, s.total, f"{s.share:.1%}", f"{s.median:g}", s.worst, s.equivalent)
        table.add_row(s.kind, *map(str, cells))
    return table


def write_record(power: Power, folder: Path) -> None:
    """Write ``mutants.ndjson``: a header, a line for each mutant, a footer."""
    import msgspec

    from conformance.campaign.records import SCHEMA
    from conformance.campaign.records.files import Writer
    from conformance.mutants.records import PowerFooter, PowerHeader

    folder.mkdir(parents=True, exist_ok=True)
    command = " ".join(["conformance", *sys.argv[1:]])
    with Writer(folder / "mutants.ndjson") as writer:
        writer.write(PowerHeader(SCHEMA, __version__, command, power.cases, power.seed))
        for record in power.details():
            writer.write(record)
        writer.write(PowerFooter(**msgspec.structs.asdict(power.record()), missed=tuple(power.missed())))

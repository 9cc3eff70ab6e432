"""Options of the command line that commands share, and how their values are read."""

from __future__ import annotations

import math
import os
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Callable, Container


class Whole(click.IntRange):
    """A whole number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number, or say what it is not."""
        try:
            int(value)
        except ValueError:
            self.fail(f"{value!r} is no whole number", param, ctx)
        number: int = super().convert(value, param, ctx)
        return number


def names_in(value: str) -> tuple[str, ...]:
    """Split a comma-separated list; what is empty or there twice is left out."""
    return tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))


def chosen_backends(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """Read names of backends; where nobody named one, all of them must be installed, or the message says which are."""
    chosen = names_in(value)
    if not chosen:
        msg = f"{value!r} names no backend"
        raise click.BadParameter(msg, param=parameter)
    is_named_by_record = context.params.get("resume") is not None
    if not is_named_by_record and context.get_parameter_source(parameter.name or "") is ParameterSource.DEFAULT:
        from conformance.backends.registry import registration

        here = [name for name in chosen if registration(name).installed]
        if here and len(here) < len(chosen):
            missing = dict.fromkeys(registration(name).requires for name in chosen if name not in here)
            msg = f"{', '.join(missing)} is not installed here; give --backends {','.join(here)}"
            raise click.BadParameter(msg, param=parameter)
    return chosen


def names_of(known: Callable[[], Any], listed_by: str = "") -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Return a click callback that splits a comma-separated list and rejects unknown names.

    ``listed_by``: the command that lists the known names, where there are too many for one line.
    """

    def check(_: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
        if value is None:
            return None
        chosen = names_in(value)
        for name in chosen or (value,):
            if name not in known():
                allowed = f"'{listed_by}' lists what is allowed" if listed_by else f"allowed are {', '.join(known())}"
                near = get_close_matches(name, known(), 1) if listed_by else []
                msg = f"{name!r} is unknown{f'; did you mean {near[0]}' if near else ''}; {allowed}"
                raise click.BadParameter(msg, param=parameter)
        return chosen

    return check


def beside_ours(_: click.Context, __: click.Parameter, folder: Path | None) -> None:
    """Have a folder of findings read beside our own, here and in the processes that are started."""
    from conformance.deviations.findings import VARIABLE

    if folder is not None:
        os.environ[VARIABLE] = str(folder.absolute())


DRAWN = {
    "cases": "it has as many cases as it needs",
    "seed": "no seed draws it",
    "lanes": "both lanes are in it",
    "profile": "nothing in it is drawn",
}
"""What the grid leaves nothing to choose of, and why."""


def enumerated(typed: Container[str], backends: tuple[str, ...]) -> dict[str, Any]:
    """Return the options of a run of the grid alone, on those of the backends that run eager scripts, or on some that all run programs.

    Raises:
        UsageError: if what was ``typed`` beside it has no meaning there.
    """
    for name, why in DRAWN.items():
        if name in typed:
            raise click.UsageError(f"--{name.removesuffix('s') if name == 'lanes' else name} says nothing beside --grid: {why}")
    return {"cases": 0, "backends": backends if _programs(backends) == backends else _eager("--grid", typed, backends)}


def profiled(typed: Container[str], profile: str, backends: tuple[str, ...]) -> dict[str, Any]:
    """Return the options of a run of a profile: on those of the backends that run eager scripts; programs have `orders` alone.

    Raises:
        UsageError: if what was ``typed`` beside it has no meaning there.
    """
    if "ops" in typed and profile != "orders":
        raise click.UsageError(f"--ops says nothing beside --profile {profile}, which has ops of its own; leave it out")
    programs = profile == "orders" and _programs(backends) == backends
    return {"backends": backends if programs else _eager(f"--profile {profile}", typed, backends)}


def _eager(option: str, typed: Container[str], backends: tuple[str, ...]) -> tuple[str, ...]:
    """Return the backends of eager scripts, if others were not named."""
    programs = _programs(backends)
    eager = tuple(name for name in backends if name not in programs)
    if not eager or ("backends" in typed and programs):
        raise click.UsageError(f"{option} is of eager scripts, and {', '.join(programs)} runs programs; leave it out")
    return eager


def _programs(backends: tuple[str, ...]) -> tuple[str, ...]:
    from conformance.backends.registry import registration

    return tuple(name for name in backends if registration(name).static)


def known_ops() -> Any:
    """Return the op catalogue."""
    from conformance.ops import catalogue

    return catalogue()


def seconds(_: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Read a time, in seconds, minutes or hours."""
    if value is None:
        return None
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(value[-1:])
    try:
        seconds = float(value[:-1] if unit else value) * (unit or 1.0)
    except ValueError:
        seconds = -1.0
    if not 0.0 < seconds < math.inf:
        msg = f"{value!r} is no time; write it like 90s, 10m or 1h, more than nothing"
        raise click.BadParameter(msg, param=parameter)
    return seconds


def cpus() -> int:
    """Return how many CPUs this process may use, as far as more workers are any use."""
    return min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def backends_of(default: str) -> Callable[[Any], Any]:
    """Return the option ``--backends`` with its default."""
    return click.option("--backends", default=default, callback=chosen_backends, help="Names, or module:attribute; comma-separated.")


backends_option = backends_of("torch,paddle")
jobs_option = click.option(
    "--jobs", default=cpus, show_default="one for each CPU, at most 8", type=Whole(1, 64), help="Worker processes."
)
ops_option = click.option(
    "--ops", callback=names_of(known_ops, "conformance ops"), show_default="all", help="These ops alone; comma-separated."
)
own_deviations = click.option(
    "--deviations",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    callback=beside_ours,
    expose_value=False,
    metavar="DIR",
    help="Known deviations of your own: a folder of findings, in the form of ours.",
)
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Print all tables, too; the page has them anyway.")
campaign_options = [
    backends_of("torch,paddle,paddle-static"),
    click.option("--seed", default=1, type=Whole(0), help="Case i of a seed is the same everywhere."),
    jobs_option,
    click.option("--dask", metavar="ADDRESS", help="Run the cases on the Dask cluster there; 'local' starts one of --jobs processes."),
    click.option("--out", default="reports", type=click.Path(file_okay=False, path_type=Path), help="Where results go."),
    click.option("--baseline", type=click.Path(dir_okay=False, path_type=Path), help="Findings that were accepted; others are red."),
    own_deviations,
    verbose_option,
]


SAMPLINGS = click.Choice(["none", "some", "all"])
"""The values of `conformance.laws.judging.Sampling`, which is not imported before it is needed."""
sampling_options = [
    click.option("--laws", default="some", type=SAMPLINGS, help="The laws that a case is tried by; some: every second case by one."),
    click.option("--nulls", default="some", type=SAMPLINGS, help="The null pairs that are judged on a numeric case; some: one."),
]


def with_options(options: list[Any]) -> Callable[[Any], Any]:
    """Give a command several options, in their order."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate

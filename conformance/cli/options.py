"""Options of the command line that commands share, and how their values are read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable


def chosen_backends(_: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """Read names of backends."""
    chosen = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not chosen:
        msg = f"{value!r} names no backend"
        raise click.BadParameter(msg, param=parameter)
    return chosen


def names_of(known: Callable[[], Any]) -> Callable[[click.Context, click.Parameter, str | None], tuple[str, ...] | None]:
    """Return a click callback that splits a comma-separated list and rejects unknown names."""

    def check(_: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
        if value is None:
            return None
        chosen = tuple(dict.fromkeys(name.strip() for name in value.split(",")))
        for name in chosen:
            if name not in known():
                msg = f"{name!r} is unknown; allowed are {', '.join(known())}"
                raise click.BadParameter(msg, param=parameter)
        return chosen

    return check


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
    if not 0.0 <= seconds < math.inf:
        msg = f"{value!r} is no time; write it like 90s, 10m or 1h"
        raise click.BadParameter(msg, param=parameter)
    return seconds


backends_option = click.option(
    "--backends", default="torch,paddle", callback=chosen_backends, help="Names, or module:attribute; comma-separated."
)
ops_option = click.option("--ops", callback=names_of(known_ops), help="These ops alone; comma-separated.")
campaign_options = [
    backends_option,
    click.option("--seed", default=1, type=click.IntRange(0), help="Case i of a seed is the same everywhere."),
    click.option("--jobs", default=1, type=click.IntRange(1, 64), help="Worker processes."),
    click.option("--out", default="reports", type=click.Path(file_okay=False, path_type=Path), help="Where results go."),
]


def with_options(options: list[Any]) -> Callable[[Any], Any]:
    """Give a command several options, in their order."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate

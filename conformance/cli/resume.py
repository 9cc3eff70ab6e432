"""The option ``--resume``: what a run is asked to do is read from the record that it left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from conformance.cli.options import cpus

ANEW = ("jobs", "dask", "budget", "baseline", "verbose")
"""What may be asked otherwise: how the run is done and shown, and not what it is."""


def resumed(out: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the run that ``out`` has the record of, with what was ``given`` beside ``--resume``.

    Raises:
        RecordError: if there is no run to go on with.
        UsageError: if an option contradicts it.
    """
    from conformance.campaign.resume import unended

    header = unended(out / "run.ndjson")
    options = {
        "backends": tuple(backend.name for backend in header.backends),
        "seed": header.seed,
        "cases": header.cases - header.grid,
        "grid": header.grid > 0,
        "lanes": header.lanes,
        "ops": header.ops,
        "profile": header.profile,
        "laws": header.judging.laws,
        "nulls": header.judging.nulls,
        "laws_only": header.judging.laws_only,
        "out": out,
        "jobs": min(header.jobs, cpus()),  # a cluster may have had more than this machine
        "dask": None,
        "budget": header.budget,
        "baseline": Path(header.baseline) if header.baseline else None,
    }
    for name, value in given.items():
        if name not in ANEW and value != options[name]:
            msg = (
                f"{name} {_text(value)} contradicts the run in {out}, which has {_text(options[name])}; leave it out, or do not resume"
            )
            raise click.UsageError(msg)
    return options | given


def _text(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else "all" if value is None else str(value)

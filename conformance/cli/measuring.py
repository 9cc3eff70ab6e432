"""What engines do where no document says what is right: measuring it, and printing it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from conformance.backends import MEASURED
from conformance.campaign.learn import learn
from conformance.campaign.workers.pool import Workers
from conformance.case.files import encode
from conformance.case.prose import counted
from conformance.clauses.shown import switches_shown
from conformance.cli.codes import CONFORMS, DIVERGES
from conformance.cli.pages import printed_table
from conformance.cli.progress import Part, shown
from reference_impl.dialects.conventions import FOLDER, REFUSED, Kind, Lock, order_of, read, release_file

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from conformance.campaign.learn import Learned
    from reference_impl.dialects.conventions import OpenChoice

TITLES = {
    Kind.OFFERED: "How many derivatives are offered",
    Kind.CONNECTED: "On what gradients count as depending, where a further derivative vanishes",
    Kind.KEPT: "What refuses a pass after a write in place",
    Kind.FREED: "What refuses to run again when the graph was freed",
    Kind.ALLOWED: "What the calls go along with",
}


def learned(backend: str, *, cases: int, seed: int, jobs: int, out: Path, ops: tuple[str, ...] | None) -> int:
    """Measure a backend, write the file, and say what was found; return the exit code.

    Where the engine shows another switch than its dialect says, that is told, and nothing is written: what differs by a switch would be
    put down to choices.
    """
    if ops is None and not _switched(backend, jobs):
        return DIVERGES
    with shown(Console(highlight=False), cases) as tell:
        found = learn(
            backend,
            cases,
            seed,
            jobs,
            lambda facts: release_file(facts.name, facts.version, out),
            lambda done, total: tell(Part("cases", done, total)),
            ops,
        )
    path = release_file(found.backend.name, found.backend.version, out)
    for line in _varying(found, out):
        click.echo(line)
    observations = sum(sum(options.values()) for options in found.seen.values())
    failed = f"; {counted(found.failed, 'case')} diverged, and showed nothing: 'conformance run' says in what" if found.failed else ""
    click.echo(f"{path}: {counted(len(found.seen), 'choice')}, {counted(observations, 'observation')}{failed}")
    return CONFORMS


def _switched(backend: str, jobs: int) -> bool:
    """Say what an engine shows of the switches of its dialect; return whether it shows none otherwise than that says."""
    with Workers((backend,), jobs) as workers:
        dialect, seen = workers.describe(backend).dialect, switches_shown(backend, workers)
    as_said = sum(one.values == (one.said,) for one in seen)
    missing = sum(one.untold and not one.offered for one in seen)
    rest = f"; {counted(missing, 'other')} ask what it does not offer" if missing else ""
    click.echo(f"{as_said} of {counted(len(seen) - missing, 'switch', 'switches')} as the dialect {dialect} says{rest}")
    if untold := [one.field for one in seen if one.untold and one.offered]:
        click.echo(f"not told apart by what it answers: {', '.join(untold)}")
    for one in seen:
        if not one.values:
            click.echo(f"{one.field}: none of its values explains what came: {one.differs}")
    if any("actual unmapped" in one.differs for one in seen if not one.values):
        click.echo(
            "unmapped is an exception without a category: name those that are meant in category() of the adapter, and learn again"
        )
    otherwise = [one for one in seen if one.otherwise]
    if otherwise:
        click.echo("nothing was written, since choices are measured under a dialect that says what the engine does")
        click.echo("give its BackendInfo a dialect that says so, such as dataclasses.replace(TORCH, ...) with these, and learn again:")
    for one in otherwise:
        first, *others = map(_literal, one.values)
        click.echo(f"    {one.field}={first},  # and not {_literal(one.said)}{''.join(f'; or {other}' for other in others)}")
    return not otherwise


def _literal(value: str | bool) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _varying(found: Learned, out: Path) -> list[str]:
    """Write a case for either option of what is decided both ways, and say where."""
    lines = []
    for choice, options in found.varying.items():
        shown_by = []
        for option, count in options.items():
            path = out / "cases" / f"{found.backend.name}-{re.sub(r'[^a-z0-9_]+', '-', str(choice))}-{option}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(encode(found.cases[choice, option]) + "\n")
            shown_by.append(f"{option} in {counted(count, 'case')} ({path})")
        lines.append(f"inconsistent: {choice}: {' and '.join(shown_by)}")
    return lines


def found_lock(name: str) -> Lock:
    """Read the conventions of a file, or of the newest release of a backend: those measured here, or the package's own.

    Raises:
        UsageError: if there are none.
    """
    if Path(name).suffix == ".toml":
        return read(Path(name))
    files = [path for folder in (MEASURED, FOLDER) for path in sorted(folder.glob("*.toml"), reverse=True)]
    for path in files:
        if name in (path.stem, path.stem.rpartition("-")[0]):
            return read(path)
    known = ", ".join(dict.fromkeys(path.stem for path in files))
    raise click.UsageError(f"nothing was measured of {name!r}; there is {known}, and 'conformance learn' measures another")


def conventions_page(names: tuple[str, ...], *, comparing: bool, as_json: bool) -> str:
    """Write what was measured of backends, in words, an op a row; ``comparing``: where they differ.

    Only what was measured of all of them is compared, choice by choice: an order or an operand that was met on one alone says nothing.
    """
    locks = {name: found_lock(name) for name in names}
    common = set.intersection(*(set(lock.seen) for lock in locks.values()))
    told = {name: _told(lock, common if comparing else None) for name, lock in locks.items()}
    rows = sorted({key for said in told.values() for key in said})
    cells = {key: [said.get(key, "not measured") for said in told.values()] for key in rows}
    if comparing:
        differing = [choice for choice in common if len({frozenset(lock.seen[choice]) for lock in locks.values()}) > 1]
        cells = {key: said for key, said in cells.items() if key in {(choice.kind, choice.op) for choice in differing}}
    if comparing and not cells and not as_json:
        return f"nothing differs in what was measured of all of them, {counted(len(common), 'choice')}\n"
    titles = {name: f"{lock.backend} {lock.version}" for name, lock in locks.items()}
    return printed_table(
        {TITLES[kind]: [(op, *said) for (of, op), said in cells.items() if of == kind] for kind in Kind},
        ("op", *titles.values()),
        as_json=as_json,
    )


def _told(lock: Lock, common: Collection[OpenChoice] | None) -> dict[tuple[str, str], str]:
    """Return in words what is known of each kind of choice and each op.

    Where ``common`` choices are given, of these alone; but the highest order that was met is told in any case.
    """
    of_op: dict[tuple[str, str], dict[OpenChoice, str]] = {}
    for choice, options in lock.seen.items():
        if common is not None and choice not in common and choice.kind is not Kind.OFFERED:
            continue
        of_op.setdefault((choice.kind, choice.op), {})[choice] = " or ".join(options)
    return {key: _in_words(Kind(key[0]), options) for key, options in of_op.items()}


def _in_words(kind: Kind, options: Mapping[OpenChoice, str]) -> str:
    refused = [choice for choice, option in options.items() if option == REFUSED]
    match kind:
        case Kind.OFFERED:
            return f"{min(map(order_of, refused)) - 1} at most" if refused else f"at least {max(map(order_of, options))}"
        case Kind.CONNECTED:
            others = [f"{choice.about}: {option}" for choice, option in sorted(options.items()) if option != "formula"]
            return ", ".join(others) or "what its formula uses"
        case Kind.KEPT:
            kept = (f"{choice.about.split()[-1]} (for {choice.about.split()[-2]}){often}" for choice, often in _refused(options))
            return ", ".join(kept) or "nothing"
        case Kind.FREED:
            if len(refused) == len(options):
                return "refuses"
            return ", ".join(f"for {choice.about}{often}" for choice, often in _refused(options)) or "computes"
        case Kind.ALLOWED:
            return ", ".join(f"{choice.about}: {option}" for choice, option in sorted(options.items()))


def _refused(options: Mapping[OpenChoice, str]) -> list[tuple[OpenChoice, str]]:
    """Return the choices that refuse, each with whether it does so at times alone."""
    return [(choice, "" if options[choice] == REFUSED else ", at times") for choice in sorted(options) if REFUSED in options[choice]]

"""The commands about one case: ``show``, ``replay`` and ``repro``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.codes import CONFORMS, DIVERGES, NO_RESULT
from conformance.cli.options import own_deviations

if TYPE_CHECKING:
    from conformance.case.case import Case


def _read_case(path: Path) -> Case:
    """Read a case, and refuse one that nobody can run."""
    from conformance.case.files import CaseError, read
    from conformance.compare.promise import impossible

    case = read(path)
    if (found := impossible(case)) is not None:
        raise CaseError(f"{path}: steps[{found[0]}]: nobody can run it: {found[1]}")
    return case


def _show_inputs(case: Case) -> None:
    from conformance.case.prose import input_text

    for entry in case.inputs:
        click.echo(f"      {input_text(entry)}")


_case_file = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))


@click.command()
@_case_file
def show(file: Path) -> None:
    """Print a case as a script in words."""
    from conformance.case.prose import step_text

    case = _read_case(file)
    click.echo(f"case {case.id} ({case.lane} lane)")
    _show_inputs(case)
    for number, step in enumerate(case.steps):
        click.echo(f"{number:>4}  {step_text(step)}")


@click.command()
@click.argument("files", type=click.Path(dir_okay=False, path_type=Path), nargs=-1, required=True, metavar="[BEFORE]... CASE")
@click.option("--backend", required=True, help="A name, or module:attribute.")
@own_deviations
def replay(files: tuple[Path, ...], backend: str) -> int:
    """Run a case again on one backend, and ask who is wrong.

    Prints the inputs and every step, expected beside actual, and tries all laws; where the process dies, how and where. Cases that are
    named before it run before it, in the same process.
    """
    from conformance.campaign.findings.explain import explain_case
    from conformance.campaign.findings.write_up import ask_blame
    from conformance.campaign.workers.deaths import is_of_death
    from conformance.campaign.workers.pool import Workers
    from conformance.judge.canary import EVERY
    from conformance.judge.verdict import Bucket
    from conformance.laws.judging import Judging, Sampling
    from conformance.report.terminal import replay_lines, verdict_lines
    from conformance.report.words import blame_text

    cases = tuple(map(_read_case, files))
    *before, case = cases
    judging = Judging(Sampling.EVERY, canary=EVERY)
    with Workers((backend,), 1) as workers:
        described = workers.describe(backend)
        by_laws = workers.call(explain_case, case, backend, judging, before)
        explained = by_laws or workers.call(explain_case, case, backend, None, before)
        differs = explained is not None and explained.verdict.mismatch is not None
        blamed = ask_blame(workers, cases, backend, (), judging=judging) if differs else None
        judged = None if by_laws else workers.judged(cases, backend, judging)[-1].verdicts[described.name]
    death = judged if judged and is_of_death(judged) else None  # what dies of the cases before it may come through without them
    for earlier in before:
        click.echo(f"after case {earlier.id}, in the same process:")
    click.echo(f"case {case.id} on {described.name} {described.version} (dialect {described.dialect})")
    _show_inputs(case)
    for line in replay_lines(explained, death) if explained else verdict_lines(death) if death else ():
        click.echo(line)
    if by_laws is None and death is None:
        click.echo("the process died or hung" + (" when laws were tried" if explained else ""))
    for line in blame_text(blamed):
        click.echo(f"  {line}")
    of_the_suite = explained is not None and explained.verdict.bucket is Bucket.HARNESS_ERROR
    if of_the_suite or (blamed is not None and blamed.who == "reference"):
        return NO_RESULT
    return DIVERGES if differs or by_laws is None else CONFORMS


@click.command()
@_case_file
@click.option("--backend", "--framework", "framework", required=True, help="One that prints scripts, such as torch or paddle.")
def repro(file: Path, framework: str) -> None:
    """Print a case as a script of one framework.

    It imports that framework and NumPy alone, and asserts what is promised of the last call.
    """
    from conformance.backends.repro import printers
    from conformance.judge.reproduction import reproduction

    if framework not in printers():
        raise click.BadParameter(f"{framework!r} is not one of {', '.join(map(repr, printers()))}", param_hint="--backend")
    click.echo(reproduction(_read_case(file), framework), nl=False)

"""What is done with a baseline: findings are accepted and dropped, and a run that has one checks whether it still holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.campaign.baseline import acceptance, read_baseline, today, write_baseline
from conformance.campaign.findings.explain import explain_case
from conformance.campaign.records import RecordError
from conformance.campaign.records.files import read
from conformance.campaign.workers.pool import Workers
from conformance.case.prose import counted
from conformance.laws.judging import LAWS_TIMEOUT
from conformance.report.terminal import run_of
from conformance.report.words import blame_text, headline, summary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import date
    from pathlib import Path

    from conformance.campaign.findings.explain import Explanation
    from conformance.campaign.options import Options
    from conformance.campaign.records.accepted import Accepted
    from conformance.report.terminal import Checked

ASKED_AGAIN = 12
"""How often a case that did not show what is known of it is asked again before that is called stale: it may be a race."""


def add(ids: Sequence[str], baseline: Path, record: Path, reason: str, until: date | None) -> str:
    """Accept findings of a run, all if none is named; return what was done.

    Raises:
        RecordError: if the run did not end, or a finding cannot be accepted.
        UsageError: if the run has no such finding.
    """
    run = run_of(read(record))
    if run is None:
        raise RecordError(f"{record}: has no footer: the run did not end, and nothing of it can be accepted")
    found = {finding.id: finding for finding in run.findings}
    before = {one.id: one for one in read_baseline(baseline)} if baseline.exists() else {}
    after = dict(before)
    for name in _named(ids or tuple(found), found, record):
        what = f"{headline(found[name])}: {summary(found[name])}"
        said = what, *blame_text(found[name].blame)
        after[name] = acceptance(found[name], (run.header, run.footer), said, reason, until)
    return _written(baseline, before, after)


def remove(ids: Sequence[str], baseline: Path) -> str:
    """Take findings out of a baseline; return what was done.

    Raises:
        RecordError: if the file is no baseline.
        UsageError: if it has no such finding.
    """
    before = {one.id: one for one in read_baseline(baseline)}
    dropped = _named(ids, before, baseline)
    return _written(baseline, before, {name: one for name, one in before.items() if name not in dropped})


def _named(ids: Sequence[str], known: Collection[str], path: Path) -> Sequence[str]:
    for name in ids or ("",):
        if name not in known:
            what = f"{name!r} is not in {path}" if name else f"no finding of {path} is named"
            raise click.UsageError(f"{what}; allowed are {', '.join(known) or 'those of a run that has some'}")
    return ids


def _written(path: Path, before: dict[str, Accepted], after: dict[str, Accepted]) -> str:
    write_baseline(path, after.values())
    more, fewer = len(after.keys() - before.keys()), len(before.keys() - after.keys())
    return f"{path}: {counted(len(after), 'accepted finding')}; {more} more and {fewer} fewer than before"


def check_accepted(options: Options, checked: Checked) -> None:
    """Check that the case of every accepted finding still shows it, and that none has expired."""
    mine = [one for one in options.accepted if one.fingerprint.backend in options.backends]
    if not mine:
        return
    with Workers(options.backends, options.jobs) as workers:
        versions = {name: workers.describe(name).version for name in options.backends}
        gone = [one for one, shown in _showing(mine, options, workers) if not shown]
    stale = [one for one in gone if versions[one.fingerprint.backend] == one.version]
    checked.measures.append(f"baseline {len(mine) - len(gone)}/{len(mine)} still show")
    checked.tables += [f"not in this release: {one.id}: {one.summary}" for one in gone if one not in stale]
    drop = f"--drop --baseline {options.baseline}"
    checked.broken += [f"{one.id}: no longer shows; 'conformance accept {one.id} {drop}' takes it out" for one in stale]
    checked.broken += [f"{one.id}: was accepted until {one.until} ({one.reason})" for one in mine if one.expired(today())]


def _showing(accepted: Sequence[Accepted], options: Options, workers: Workers) -> Iterator[tuple[Accepted, bool]]:
    """Say of each accepted finding whether its case shows it."""

    def answers(some: Iterable[Accepted]) -> Iterator[Explanation | None]:
        asked = ((one.cases[-1], one.fingerprint.backend, one.fingerprint.judging(options.judging), one.cases[:-1]) for one in some)
        return workers.calls(explain_case, asked, LAWS_TIMEOUT)

    for one, first in zip(accepted, answers(accepted), strict=True):
        yield one, _shows(one, first) or any(_shows(one, answer) for answer in answers([one] * ASKED_AGAIN))


def _shows(accepted: Accepted, explained: Explanation | None) -> bool:
    fingerprint = accepted.fingerprint
    return fingerprint.ends_processes if explained is None else fingerprint.is_shown_by(explained.verdict)

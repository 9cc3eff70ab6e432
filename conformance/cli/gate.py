"""The gate's fixed part: curated cases must agree, known deviations must still show, as often as ever, mutants must be found out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from conformance.backends.registry import registration
from conformance.campaign.records.gate import PointsRecord
from conformance.campaign.shares import counts, incomparable, read_shares
from conformance.campaign.sweep import line_of, sweep
from conformance.campaign.workers.pool import Workers
from conformance.case.case import Case, input_of
from conformance.case.files import read
from conformance.case.rewrite import dead_branch
from conformance.clauses import CURATED
from conformance.clauses.table import clause_table
from conformance.cli.baseline import ASKED_AGAIN
from conformance.cli.mutants import hunted, score_table
from conformance.cli.progress import part
from conformance.deviations.entries import CRASH, LAW, Deviation, known
from conformance.deviations.findings import evidence
from conformance.judge.verdict import FAILING, Bucket
from conformance.laws.judging import LAWS_TIMEOUT, Judging, Sampling
from conformance.mutants.exceeding import exceed, excuses, overreaches, unexceeded
from conformance.mutants.measure import chosen
from conformance.mutants.mutant import Kind
from conformance.ops import catalogue
from conformance.report.terminal import Checked, short_names
from conformance.report.words import share_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from conformance.campaign.options import Options
    from conformance.campaign.records import Footer, Header
    from conformance.campaign.records.verdicts import VerdictRecord
    from conformance.campaign.shares import Count
    from conformance.campaign.workers.pool import Heard
    from conformance.mutants.exceeding import Exceeded
    from conformance.mutants.measure import Power

CRASH_ASKED_AGAIN = 6
"""How often the case of a crash is asked again for where it dies: where the heap is damaged the printer of stacks may die, too."""
ELSEWHERE_ASKED_AGAIN = 2
"""How often a case is asked again in a release in which nobody saw it: that it does not show is no surprise, and nothing is red."""
MUTANTS_FLOOR = {False: 0.68, True: 0.95}
"""The part of the mutants that must be found out within the gate's few cases, without the grid of their ops and with it.

The targets are for fifty times as many cases.
"""
CONDITIONAL_FLOOR = 0.93
"""The part of the conditional faults that must be; they have the grid, too."""


def check_before(options: Options, console: Console, *, points: bool, mutant_cases: int) -> Checked:
    """Check what the gate checks before its campaign."""
    checked = Checked()
    check_curated(options, checked, console)
    if points:
        check_points(options, checked, console)
    if mutant_cases:
        power = hunted(console, chosen(None), cases=mutant_cases, jobs=options.jobs, grid=options.grid)
        checked.tables.append(score_table(power))
        of_kinds = (("power", power.only(Kind.CONDITIONAL, without=True)), ("conditional faults", power.only(Kind.CONDITIONAL)))
        checked.measures += [f"{words} {found.killed}/{found.total}" for words, found in of_kinds]
        checked.broken += weak(power)
        checked.records.append(power.record())
    return checked


def check_after(header: Header, footer: Footer, checked: Checked) -> None:
    """Check that the campaign showed every known deviation as often as was measured, as far as it can be compared."""
    shares = read_shares()
    counted = list(counts(header, footer.drawn, shares))
    unusual = [count for count in counted if not count.usual]
    names = short_names(header.backends)
    notices = [f"counts of {names[b.name]}: {why}" for b in header.backends if (why := incomparable(header, b, shares))]
    measured = [f"counts {len(counted) - len(unusual)}/{len(counted)} as measured"] if counted else []
    checked.measures += [*measured, *notices]
    checked.broken += [strays(count) for count in unusual]


def strays(count: Count) -> str:
    """Say that a run shows a known deviation more or less often than was measured, although each time it is explained."""
    fewest, most = count.expected
    how = "more" if count.seen > most else "less"
    return (
        f"{count.entry}: shows {how} often than was measured: in {count.seen} of {count.cases} cases "
        f"where {fewest} to {most} are usual ({share_text(count.shown, count.of)})"
    )


def check_points(options: Options, checked: Checked, console: Console) -> None:
    """Ask every op at its special points on the eager backends."""
    eager = [name for name in options.backends if not registration(name).static]
    with (
        Workers(options.backends, options.jobs) as workers,
        part(console, "special points of ops", len(eager) * len(catalogue())) as heard,
    ):
        swept = list(sweep(eager, workers, heard=heard))
    lacking = sum(record.points.get(Bucket.NOT_OFFERED, 0) for record in swept)
    asked = sum(sum(record.points.values()) for record in swept) - lacking
    failed = sum(record.points.get(bucket, 0) for record in swept for bucket in FAILING)
    checked.measures.append(f"points {asked - failed}/{asked}" + (f", {lacking} not offered" if lacking else ""))
    checked.tables += [f"special points of {line_of(record)}" for record in swept]
    checked.broken += [line for record in swept for line in record.failures]
    checked.records.append(PointsRecord(tuple(swept)))


def weak(power: Power) -> list[str]:
    """Say that too few mutants were found out, if it is so."""
    measured = (
        ("mutants", power.only(Kind.CONDITIONAL, without=True), MUTANTS_FLOOR[power.grid], " and the grid" if power.grid else ""),
        ("conditional faults", power.only(Kind.CONDITIONAL), CONDITIONAL_FLOOR, " and the grid"),
    )
    return [
        f"only {found.share():.1%} of the {words} were found out within {power.cases} cases{more}; the floor is {floor:.0%}"
        for words, found, floor, more in measured
        if found.total and found.share() < floor
    ]


def check_curated(options: Options, checked: Checked, console: Console) -> None:
    """Run the curated cases and the evidence of every known deviation."""
    with Workers(options.backends, options.jobs) as workers:
        with part(console, "curated cases", len(CURATED) * len(options.backends)) as heard:
            table = clause_table(options.backends, workers, heard=heard)
        facts = {name: workers.describe(name) for name in options.backends}
        mine = [d for d in known() if d.backend in facts and not d.was_mended_in(facts[d.backend].version)]
        entries = [d for d in mine if d.shows_on(facts[d.backend].cpu)]
        with part(console, "whether known deviations hide more than themselves", len(entries)) as heard:
            asked = list(exceed_all(entries, workers, heard))
        shown = {exceeded.entry for exceeded in asked if exceeded.shown}
        others = [entry for entry in entries if entry.id not in shown]  # crashes, laws and damage, which nothing is done beyond
        with part(console, "whether the others still show", 2 * len(others)) as heard:
            gone = stale(others, workers, heard)
    beyond = [exceeded for exceeded in asked if exceeded.tried]
    elsewhere = f", {len(mine) - len(entries)} need another CPU" if len(mine) > len(entries) else ""
    checked.measures.append(f"curated {len(CURATED) - len(table.differing())}/{len(CURATED)}")
    checked.measures.append(f"deviations {len(entries) - len(gone)}/{len(entries)} still show{elsewhere}")
    hidden = [exceeded for exceeded in beyond if exceeded.excused]
    silent = unanswered(entries, asked)
    checked.measures.append(
        f"excess {len(beyond) - len(hidden)}/{len(beyond)}" + (f", {len(silent)} without an answer" if silent else "")
    )
    checked.tables += [f"excess of {line}" for exceeded in hidden for line in excuses(exceeded)]
    checked.tables += [f"not exceeded: {unexceeded(exceeded)}" for exceeded in asked if not exceeded.tried]
    checked.tables += [f"not exceeded: {name}: its process died, or gave no answer within {LAWS_TIMEOUT:g} s" for name in silent]
    checked.broken += [*table.faults, *table.differences()]
    enter_gone(gone, {name: backend.version for name, backend in facts.items()}, checked)
    checked.broken += [line for one in hidden for line in overreaches(one)]
    checked.records.append(table.record())


def enter_gone(gone: Mapping[Deviation, Ending], versions: Mapping[str, str], checked: Checked) -> None:
    """Enter the entries that do not show: one that was seen in this very release is missed; one of other releases is worth a word.

    Where its case fails in another way, that release has another bug there, which is no news that this one is gone.
    """
    absent, otherwise = [], []
    for entry, ending in sorted(gone.items(), key=lambda item: item[0].id):
        if entry.was_seen_in(versions[entry.backend]):
            checked.broken.append(f"{entry.id}: stale: {ending.words} now ends as {ending}")
            continue
        checked.tables.append(f"not in this release: {entry.id}: {ending.words} ends as {ending}")
        if ending.fails:
            otherwise.append(f"{entry.id} ({ending})")
        else:
            absent.append(entry.id)
    if absent:
        checked.notes.append(f"known deviations that do not show in this release: {', '.join(absent)}")
    if otherwise:
        checked.notes.append(f"known deviations whose cases fail in this release, and in another way: {', '.join(otherwise)}")


def unanswered(entries: Iterable[Deviation], asked: Iterable[Exceeded]) -> list[str]:
    """Return the entries of which it is not known whether they hide more than themselves."""
    answered = {exceeded.entry for exceeded in asked}
    return [entry.id for entry in entries if entry.id not in answered]


def exceed_all(entries: Sequence[Deviation], workers: Workers, heard: Heard) -> Iterator[Exceeded]:
    """Have every entry exceeded in the case of its finding, and in that case among others; ``heard`` hears of each."""
    asked = []
    for entry in entries:
        alone = read(evidence(entry.finding))
        asked.append(((alone, beside_others(alone)), entry.backend, entry.id))
    answers = workers.calls(exceed, asked, LAWS_TIMEOUT)
    for answer in answers:
        heard(1)
        if answer is not None:
            yield answer


class Ending(NamedTuple):
    """How a case ended that does not show its known deviation, each time that it was asked; ``words``: which case it is."""

    words: str
    verdicts: tuple[VerdictRecord, ...]

    def __str__(self) -> str:
        """Name the buckets, and what else was known."""
        ended = (f"{v.bucket} ({v.deviation})" if v.deviation else str(v.bucket) for v in self.verdicts)
        return ", ".join(dict.fromkeys(ended))

    @property
    def fails(self) -> bool:
        """Whether something is wrong there that nobody knows."""
        return any(v.bucket in FAILING for v in self.verdicts)


class Asked(NamedTuple):
    """A case that must show a known deviation, and which it is in words."""

    entry: Deviation
    case: Case
    words: str

    @property
    def judging(self) -> Judging:
        """How it is judged: by every law, where a law is what is broken."""
        return Judging(Sampling.EVERY if LAW in self.entry.kinds else Sampling.NONE, timeout=LAWS_TIMEOUT)


def stale(entries: Sequence[Deviation], workers: Workers, heard: Heard = lambda _: None) -> dict[Deviation, Ending]:
    """Return the entries that do not show, with how it ended: each is asked in the case of its finding, and in that case among others.

    ``heard`` hears of each of these cases.
    """
    asked: dict[tuple[str, Judging], list[Asked]] = {}
    for entry in entries:
        case = read(evidence(entry.finding))
        both = (case, f"the case of {entry.finding}"), (beside_others(case), f"{entry.finding} beside a dead branch")
        for one in (Asked(entry, *each) for each in both):
            asked.setdefault((entry.backend, one.judging), []).append(one)
    found: dict[Deviation, Ending] = {}
    for (name, judging), some in asked.items():
        version = workers.describe(name).version
        for one, record in zip(some, workers.judged([one.case for one in some], name, judging, heard=heard), strict=True):
            if one.entry not in found and (ending := _staleness(one, record.verdicts[name], version, workers)):
                found[one.entry] = ending
    return found


def _staleness(asked: Asked, first: VerdictRecord, version: str, workers: Workers) -> Ending | None:
    ended = []
    for verdict in _answers(asked, first, version, workers):
        if asked.entry.id in (*verdict.deviations, verdict.deviation):  # the latter alone where a law is what is broken
            return None
        ended.append(verdict)
    return Ending(asked.words, tuple(ended))


def _answers(asked: Asked, first: VerdictRecord, version: str, workers: Workers) -> Iterator[VerdictRecord]:
    """Yield the verdict on a case, and then further ones, each from a process of its own."""
    entry = asked.entry
    yield first
    again = CRASH_ASKED_AGAIN if CRASH in entry.kinds else ASKED_AGAIN
    for _ in range(again if entry.was_seen_in(version) else ELSEWHERE_ASKED_AGAIN):
        (record,) = workers.judged([asked.case], entry.backend, asked.judging, alone=True)
        yield record.verdicts[entry.backend]


def beside_others(case: Case) -> Case:
    """Return a case with a dead branch before its steps: what it shows must not depend on being alone."""
    other = input_of("beside_0", np.array([1.0, 2.0], case.inputs[0].dtype))
    return Case((*case.inputs, other), (dead_branch(other.name, "beside_1"), *case.steps), case.lane)

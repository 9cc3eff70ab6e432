"""In which share of the cases a known deviation shows, and whether a run shows it as often as was measured.

Every single mismatch of an engine may be explained, and the engine be wrong all the same: it shows a known deviation where it should
not, or no longer does. Then the explanations are right and their number is not. So the share of every entry is measured on the releases
that the suite is pinned to, over runs of several seeds (`conformance deviations --measure`), and lies as data beside the findings.

A run and the measurement are two samples. If their share is one, then of all cases that showed the entry those of the run are drawn at
random, whatever the share is, which is the exact test of R. A. Fisher, Statistical Methods for Research Workers, 5th edition (1934),
§21.02. Nothing about the true share is assumed, and an entry that was measured in few cases has a wide range by itself.
"""

from __future__ import annotations

import functools
import math
from collections import deque
from typing import TYPE_CHECKING

import msgspec

from conformance.campaign.records import Footer, Header, RecordError
from conformance.campaign.records.files import read
from conformance.campaign.records.shares import ShareRecord
from conformance.deviations.entries import known
from conformance.deviations.findings import findings_folder
from conformance.judge.nulls import upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from conformance.campaign.records import BackendRecord
    from conformance.campaign.records.shares import DrawnRecord

LEVEL = 1e-6
"""A run of a right release is called unusual with at most this probability for each entry: one run in some 5,000 over all of them."""
CONFIDENCE = 0.95
"""Of the interval for a share, half of the rest on either side."""
SHARES = "shares.json"
NEGLIGIBLE = 1e-9
"""The part of a sum below which the rest of its falling terms is left out."""


class MeasuredBackend(msgspec.Struct, frozen=True):
    """A backend that was measured: its version, its CPU (`BackendInfo.cpu`), how many cases it ran, how many showed each entry."""

    version: str
    cpu: str
    cases: int
    shown: dict[str, int]


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was measured: with which generator (``odds``, see `Header`), from which seeds, and what each backend showed."""

    odds: dict[str, float]
    seeds: tuple[int, ...]
    backends: dict[str, MeasuredBackend]


class Count(msgspec.Struct, frozen=True):
    """How often an entry was seen in the cases of a run, and in those that were measured (``shown`` of ``of``)."""

    entry: str
    seen: int
    cases: int
    shown: int
    of: int

    @property
    def usual(self) -> bool:
        """Whether the run shows the entry as often as was measured."""
        return same_share(self.seen, self.cases, self.shown, self.of) >= LEVEL

    @property
    def expected(self) -> tuple[int, int]:
        """The fewest and the most cases of a run of this size that are usual."""
        middle = round(self.cases * self.shown / self.of)
        return self._furthest(middle, -1), self._furthest(middle, 1)

    def record(self) -> ShareRecord:
        """Write down what was measured, and what is usual for the run."""
        return ShareRecord(self.shown, self.of, *self.expected)

    def _furthest(self, number: int, step: int) -> int:
        while 0 <= number + step <= self.cases and same_share(number + step, self.cases, self.shown, self.of) >= LEVEL:
            number += step
        return number


@functools.cache
def interval(shown: int, cases: int) -> tuple[float, float]:
    """Return the shares that are compatible with what was measured: the exact bounds of Clopper and Pearson (`upper_bound`)."""
    left = (1 - CONFIDENCE) / 2
    return upper_bound(shown - 1, cases, left) if shown else 0.0, upper_bound(shown, cases, 1 - left)


def same_share(one: int, cases: int, other: int, of: int) -> float:
    """Return how probable such a difference is if two samples have the same share: ``one`` of ``cases``, ``other`` of ``of``.

    Twice the tail of the hypergeometric distribution, on the side on which the first sample lies: what it has of all that were seen,
    given how many these are. Terms that no longer count are left out.
    """
    both = one + other
    whole = _log_choose(cases + of, both)
    step = 1 if one * of > other * cases else -1
    tail = 0.0
    for k in range(one, (min(both, cases) if step > 0 else max(0, both - of)) + step, step):
        term = math.exp(_log_choose(cases, k) + _log_choose(of, both - k) - whole)
        tail += term
        if term < tail * NEGLIGIBLE:
            break
    return min(1.0, 2 * tail)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def shares_file() -> Path:
    """Return the file of the measured shares, beside the findings."""
    return findings_folder() / SHARES


def read_shares() -> Measured | None:
    """Read what was measured; ``None`` if nothing was.

    Raises:
        RecordError: if the file cannot be used.
    """
    path = shares_file()
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Measured)
    except msgspec.MsgspecError as error:
        raise RecordError(f"{path}: {error}") from None


def measured(runs: Sequence[tuple[Header, Footer]]) -> Measured:
    """Add up runs of several seeds, over all that their generator draws.

    Raises:
        RecordError: if they are runs of one seed, of some ops alone, or of different generators or versions, or one is no result.
    """
    first = runs[0][0]
    for header, footer in runs:
        if why := _unfit(header, footer, first):
            raise RecordError(f"the run of seed {header.seed} {why}")
    seeds = [header.seed for header, _ in runs]
    if len(set(seeds)) < max(2, len(seeds)):
        said = ", ".join(map(str, seeds))
        raise RecordError(f"shares are measured by runs of several seeds, each another one; these have {said}")
    backends = {b.name: _added(b, [footer for _, footer in runs]) for b in sorted(first.backends, key=lambda b: b.name)}
    return Measured(first.odds, tuple(sorted(seeds)), backends)


def _unfit(header: Header, footer: Footer, first: Header) -> str:
    if header.ops is not None or {*header.lanes} != {"exact", "numeric"} or header.judging.laws_only:
        return "draws some cases alone; allowed is a run of all ops in both lanes"
    if footer.faults:
        return "is no result, and says nothing"
    if header.odds != first.odds or header.suite != first.suite:
        return "has another generator than the first"
    if [(b.name, b.version) for b in header.backends] != [(b.name, b.version) for b in first.backends]:
        return "has other backends, or other versions, than the first"
    return ""


def _added(backend: BackendRecord, footers: Iterable[Footer]) -> MeasuredBackend:
    cases, shown = 0, {entry.id: 0 for entry in known() if entry.backend == backend.name}
    for footer in footers:
        drawn = footer.drawn[backend.name]
        cases += drawn.cases
        for entry, count in drawn.deviations.items():
            shown[entry] = shown.get(entry, 0) + count
    return MeasuredBackend(backend.version, backend.cpu, cases, dict(sorted(shown.items())))


def write_shares(paths: Sequence[Path]) -> str:
    """Measure the shares by runs that ended, write them beside the findings, and say so.

    Raises:
        RecordError: if a run did not end, or they cannot be added up (`measured`).
    """
    runs = []
    for path in paths:
        records = read(path)
        header, footer = next(records, None), deque(records, 1)
        if not isinstance(header, Header) or not footer or not isinstance(footer[0], Footer):
            raise RecordError(f"{path}: has no footer: the run did not end")
        runs.append((header, footer[0]))
    made = measured(runs)
    shares_file().write_bytes(msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")
    said = ", ".join(f"{name} {b.version}: {b.cases} cases" for name, b in made.backends.items())
    return f"{shares_file()}: {said}; seeds {', '.join(map(str, made.seeds))}"


def counts(header: Header, drawn: Mapping[str, DrawnRecord], shares: Measured | None) -> Iterator[Count]:
    """Yield how often a run showed each entry, beside what was measured with the same generator and release."""
    if shares is None:
        return
    for backend in header.backends:
        if backend.name not in shares.backends or incomparable(header, backend, shares):
            continue
        mine, before = drawn[backend.name], shares.backends[backend.name]
        for entry in known():
            measured = entry.backend == backend.name and entry.id in before.shown  # somebody's own entries are not
            if measured and entry.shows_on(backend.cpu) and entry.shows_on(before.cpu):
                yield Count(entry.id, mine.deviations.get(entry.id, 0), mine.cases, before.shown[entry.id], before.cases)


def incomparable(header: Header, backend: BackendRecord, shares: Measured | None) -> str:
    """Say why the counts of a backend say nothing; empty where they do."""
    before = None if shares is None else shares.backends.get(backend.name)
    if shares is None or before is None:
        return "nothing was measured" if any(entry.backend == backend.name for entry in known()) else ""
    if before.version != backend.version:
        return f"measured on {before.version}, and this is {backend.version}"
    if header.ops is not None or header.odds != shares.odds or {*header.lanes} != {"exact", "numeric"} or header.judging.laws_only:
        return "measured over other cases than these"
    return ""

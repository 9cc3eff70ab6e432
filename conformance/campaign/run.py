"""A campaign from its options to its record, its findings and its report."""

from __future__ import annotations

import re
import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from conformance.backends.registry import voters
from conformance.campaign.baseline import accepting, today
from conformance.campaign.findings.triage import is_open, triaged
from conformance.campaign.findings.write_up import Writing, findings
from conformance.campaign.options import header_of, prepare
from conformance.campaign.records import CaseRecord, DeviationRecord, ExitReason, Header, RunVerdict
from conformance.campaign.records.files import WORK, Writer, clear_work, extent, read
from conformance.campaign.records.tally import Tally
from conformance.campaign.resume import begin, go_on, interrupt, sole
from conformance.campaign.shares import counts, read_shares
from conformance.campaign.workers.chunk import Chunk
from conformance.campaign.workers.cluster import reached
from conformance.campaign.workers.pool import Workers
from conformance.case.prose import counted
from conformance.deviations.entries import known
from conformance.generate.grid import CALLED_BY
from conformance.generate.offered import BY_PARAMETER, LEFT_OUT
from conformance.ops import catalogue
from conformance.ops.dtypes import DTYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from conformance.campaign.options import Options
    from conformance.campaign.records import BackendRecord, Footer, Record
    from conformance.campaign.workers.cluster import Cluster

CHUNK = 100
"""How many cases a worker gets at once."""
LAST_CHUNK = 10
"""How many it gets at the end of a run, where chunks get smaller, so that no worker waits long for the last one of another."""
SHARES = 4
"""In how many chunks for each worker the rest of a run is cut then."""
GRID_SAMPLE = 8
"""Laws and null pairs look at one in `GRID_SAMPLE` cases of the grid: random cases show engines and judges better."""
PATIENCE = 0.1
"""The part of its time-out after which a case is set aside for the end of the campaign; most need a hundredth of that."""
AFTERWARDS = 0.1
"""The part of a budget that is kept for what comes after the cases: second chances of slow ones, and the findings."""


@dataclass(frozen=True)
class Progress:
    """How far a campaign is: cases that are recorded, of all, and findings that were made; or which of them is being reduced."""

    done: int
    of: int
    findings: int
    reducing: int = 0

    def __str__(self) -> str:
        if self.reducing:
            return f"reducing finding {self.reducing} of {self.findings}"
        return f"{self.done:,} of {self.of:,} cases, {counted(self.findings, 'finding')}"


def run_campaign(
    options: Options,
    progress: Callable[[Progress], None] = lambda _: None,
    checked: Iterable[Record] = (),
    broken: Callable[[Header, Footer], Iterable[str]] = lambda *_: (),
    *,
    resume: bool = False,
) -> Footer:
    """Run a campaign, write ``run.ndjson``, and return the footer.

    ``progress`` hears how far it is every second or so; ``checked``: records of what was checked before, which come after the header;
    ``broken`` says what beside the cases is not as it should be, once they are summed up; ``resume``: go on with the run in
    ``options.out`` that did not end. Whatever ends a run early leaves in its record what was recorded up to then, and an
    `Interruption`.

    Raises:
        BackendError: if a backend cannot be opened.
        ClusterError: if the cluster is not there, or cannot run the cases.
        RecordError: if there is no run to go on with, or another one is writing there.
        OSError: if there is no room for the record.
    """
    started = time.monotonic()
    prepare(options)
    with sole(options.out), reached(options.dask, options.jobs) as cluster, Workers(options.backends, options.jobs) as workers:
        workers.schedule(len, [()])  # they start while the grid is made
        described = tuple(workers.describe(name) for name in options.backends)
        options = replace(options, draw=replace(options.draw, without=nowhere_taken(described)))
        header = header_of(options, described)
        if cluster is not None:
            header = msgspec.structs.replace(header, jobs=cluster.admitted(header.backends))
        if resume:
            header = go_on(options.record, header)
        else:
            _clear_cases(options.out)
            begin(options.record, (header, *checked))
        try:
            return _Campaign(options, header, workers, cluster or workers, started, progress, broken).run()
        except BaseException as error:
            workers.stop()
            interrupt(options.record, error)
            raise


def _clear_cases(out: Path) -> None:
    """Remove the case files of an earlier run from the folder that is this run's now; a case that a person named stays."""
    for path in out.glob("cases/*.json"):
        if re.fullmatch(r".+-[0-9a-f]{8}(-before-\d+)?", path.stem):
            path.unlink()


class _Campaign:
    """A run whose record has its header, and perhaps some of its cases; ``crew`` runs the cases, and ``workers`` make the findings."""

    def __init__(
        self,
        options: Options,
        header: Header,
        workers: Workers,
        crew: Workers | Cluster,
        started: float,
        progress: Callable[[Progress], None],
        broken: Callable[[Header, Footer], Iterable[str]],
    ) -> None:
        self.options, self.header, self.workers, self.crew = options, header, workers, crew
        self.progress, self.broken = progress, broken
        self.tally = Tally(options.backends, options.halves)
        self.started = started
        self.until = None if options.budget is None else started + options.budget
        self.no_cases_after = None if options.budget is None else started + options.budget * (1 - AFTERWARDS)

    def run(self) -> Footer:
        """Run the cases that have no record, and write what comes after them."""
        recorded = extent(self.options.record)
        for record in read(self.options.record):
            if isinstance(record, CaseRecord):
                self.tally.add(record)
        with Writer(self.options.record, recorded.size) as writer:
            self._cases(recorded.cases, writer)
            ended = time.monotonic() - self.started
            self.tally.add_processes(self.crew.ended, self.crew.seconds)
            self._findings(writer)
            footer = self._footer(ended)
            writer.write(footer)
        return footer

    def _cases(self, recorded: Collection[int], writer: Writer) -> None:
        folder = tempfile.mkdtemp(dir=self.options.out, prefix=WORK)
        for records in self.crew.run(self._chunks(folder, recorded), self.until, self._tell):
            for record in records:
                writer.write(record)
                self.tally.add(record)
            self._tell()
        clear_work(self.options.out)

    def _tell(self, more: int = 0, reducing: int = 0) -> None:
        self.progress(Progress(self.tally.cases + more, self.header.cases, len(self.tally.failures), reducing))

    def _chunks(self, folder: str, recorded: Collection[int]) -> Iterator[Chunk]:
        options, until = self.options, self.no_cases_after
        patience = PATIENCE * options.judging.timeout
        for start, stop in missing(options.total, recorded, options.alike, self.header.jobs):
            backends = options.half(start)
            if until is not None and time.monotonic() >= until:
                return
            points = {i: options.points[i - options.cases] for i in range(max(start, options.cases), stop)}
            judging = replace(options.judging, sample=GRID_SAMPLE) if points else options.judging
            yield Chunk(
                *(backends, folder, f"{start:09d}", start, stop, judging, options.seed, options.draw),
                points=points,
                patience=patience,
                until=until,
                ahead=(options.total - stop) // self.header.jobs if backends == options.halves[0] else None,  # programs are few
            )

    def _findings(self, writer: Writer) -> None:
        """Write up what failed; who votes is asked in a worker that has imported all voters, or every vote would do it."""
        tally, options = self.tally, self.options
        if not tally.failures:
            return
        is_accepted = partial(accepting, options.accepted, today=today())
        tally.failures = triaged(tally, self.workers, self.until)
        with Workers(tuple(dict.fromkeys([*options.backends, *voters()])), 1) as judges:
            if not all(is_open(fingerprint) or is_accepted(fingerprint) for fingerprint in tally.failures):
                judges.schedule(len, [()])  # it starts while the first case is shrunk
            writing = Writing(
                *(self.workers, judges, options.backends, options.judging, options.out, self.until),
                case_at=options.case_at,
                cases=options.total,
                accepting=is_accepted,
            )
            for found in findings(tally, writing, lambda number: self._tell(reducing=number)):
                writer.write(found)
                if found.blame is not None and found.blame.who == "reference":
                    tally.wrong_references.append(found.id)

    def _footer(self, wall: float) -> Footer:
        """Sum up a run that ended; it stopped early only if the budget was spent."""
        tally, header = self.tally, self.header
        reason = ExitReason.CASES if tally.cases == header.cases else ExitReason.BUDGET
        seen = {name for counts in tally.deviations.values() for name in counts}
        counted = {c.entry: c.record() for c in counts(header, tally.drawn_records(), read_shares()) if c.entry in seen}
        info = {
            d.id: DeviationRecord(d.reason, d.finding, d.wrong_values, counted.get(d.id), d.unpromised) for d in known() if d.id in seen
        }
        lacking = {backend.name: backend.not_offered for backend in header.backends}
        footer = tally.footer(reason, wall, self.crew.jobs, lacking, info)
        broken = tuple(self.broken(header, footer))
        verdict = RunVerdict.DIVERGES if broken and footer.verdict is RunVerdict.CONFORMS else footer.verdict
        return msgspec.structs.replace(footer, broken=broken, verdict=verdict)


def missing(
    cases: int, recorded: Collection[int], alike: Callable[[int, int], bool] = lambda *_: True, jobs: int = 1
) -> Iterator[tuple[int, int]]:
    """Yield the ranges of cases, each from a start to a stop, that have no record.

    A range has at most `CHUNK` cases, and fewer towards the end, so that all of the ``jobs`` workers are done at about the same time.
    All cases of a range are ``alike``, so that one process may run them.
    """
    start = 0
    while start < cases:
        stop = start
        most = CHUNK if jobs == 1 else min(CHUNK, max(LAST_CHUNK, (cases - start) // (SHARES * jobs)))
        while stop < min(start + most, cases) and stop not in recorded and alike(start, stop):
            stop += 1
        if stop > start:
            yield start, stop
        start = max(stop, start + 1)


def nowhere_taken(backends: Sequence[BackendRecord]) -> tuple[str, ...]:
    """Return the dtypes that no backend takes, and the ops (``op:erf``), steps and parameters that none has; no run need draw them."""

    def nowhere(word: str) -> bool:
        return all(word in backend.not_offered for backend in backends)

    dtypes = (dtype for dtype in DTYPES if nowhere(f"dtype:{dtype}"))
    words = dict.fromkeys((*map("op:{}".format, catalogue()), *sorted(CALLED_BY), *BY_PARAMETER, *LEFT_OUT))
    return *dtypes, *filter(nowhere, words)

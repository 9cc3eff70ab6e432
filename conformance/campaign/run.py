"""A campaign from its options to its record, its findings and its report."""

from __future__ import annotations

import platform
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from conformance import __version__
from conformance.backends.registry import registration, voters
from conformance.backends.repro import printers, script
from conformance.campaign.chunk import Chunk
from conformance.campaign.explain import blame_case, explain_case
from conformance.campaign.pool import Workers
from conformance.campaign.record_files import Writer, read_chunk
from conformance.campaign.records import SCHEMA, DeviationRecord, ExitReason, FindingRecord, Header, Interruption
from conformance.campaign.shrink import ShrinkResult, shrink_case
from conformance.campaign.tally import Tally
from conformance.case.files import encode
from conformance.case.steps import Op
from conformance.deviations.entries import known
from conformance.generate.scripts import DrawOptions, odds_of
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging, LawSampling
from conformance.ops import not_offered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.campaign.fingerprint import Fingerprint
    from conformance.campaign.records import Footer, Record
    from conformance.campaign.tally import Failure
    from conformance.case.case import Case
    from conformance.judge.blame import Blame

PATIENCE = 0.1
"""The part of its time-out after which a case is set aside for the end of the campaign; most need a hundredth of that."""
CHUNK = 100
"""How many cases a worker gets at once."""
SHRUNK_AT_MOST = 40
"""How many findings have their case shrunk, the most frequent first."""


@dataclass(frozen=True)
class Options:
    """What a campaign is asked to do.

    ``budget``: seconds after which no more cases are started.
    """

    backends: tuple[str, ...]
    cases: int = 2000
    budget: float | None = None
    seed: int = 1
    draw: DrawOptions = field(default_factory=DrawOptions)
    jobs: int = 1
    out: Path = Path("reports")
    command: str = ""
    judging: Judging = field(default_factory=partial(Judging, LawSampling.SOME))


def run_campaign(options: Options, progress: Callable[[int, int], None] | None = None, checked: Iterable[Record] = ()) -> Footer:
    """Run a campaign, write ``run.ndjson``, and return the footer.

    ``progress`` hears of cases done and findings made; ``checked``: records of what was checked before, which come after the header.

    Raises:
        BackendError: if a backend cannot be opened.
    """
    started = time.perf_counter()
    known()  # a broken deviations file is refused before anything runs
    options.out.mkdir(parents=True, exist_ok=True)
    with Workers(options.backends, options.jobs) as workers:
        header = header_of(options, workers)
        _clear_cases(options.out)
        with Writer(options.out / "run.ndjson") as writer:
            for record in (header, *checked):
                writer.write(record)
            tally = _tallied(options, workers, writer, started, progress)
            ended = time.perf_counter() - started
            tally.add_processes(workers.ended, workers.seconds)
            for found in findings(tally, options, workers):
                writer.write(found)
                if found.blame is not None and found.blame.who == "reference":
                    tally.wrong_references.append(found.id)
            footer = _footer(tally, header, ended)
            writer.write(footer)
    return footer


def _clear_cases(out: Path) -> None:
    """Remove the case files of an earlier run from the folder that is this run's now; a case that a person named stays."""
    for path in out.glob("cases/*.json"):
        if re.fullmatch(r".+-[0-9a-f]{8}", path.stem):
            path.unlink()


def _tallied(options: Options, workers: Workers, writer: Writer, started: float, progress: Callable[[int, int], None] | None) -> Tally:
    """Run and record the cases, and add them up; an interrupted run keeps what its unfinished chunks recorded, too."""
    tally = Tally(options.backends)
    with tempfile.TemporaryDirectory(dir=options.out, prefix=".work-") as folder:
        try:
            for records in workers.run(_chunks(options, folder, started)):
                for record in records:
                    writer.write(record)
                    tally.add(record)
                if progress is not None:
                    progress(tally.cases, len(tally.failures))
        except BaseException as error:
            for path in sorted(Path(folder).glob("*.ndjson")):
                for record in read_chunk(path):
                    writer.write(record)
            writer.write(Interruption(type(error).__name__))
            raise
    return tally


def _chunks(options: Options, folder: str, started: float) -> Iterator[Chunk]:
    def in_time(_: int) -> bool:
        return options.budget is None or time.perf_counter() - started < options.budget

    whole = Chunk(options.backends, folder, "", 0, options.cases, options.judging, options.seed, options.draw)
    for start in takewhile(in_time, range(0, options.cases, CHUNK)):
        stop = min(start + CHUNK, options.cases)
        yield replace(whole, name=f"{start:09d}", start=start, stop=stop, patience=PATIENCE * options.judging.timeout)


def _footer(tally: Tally, header: Header, wall: float) -> Footer:
    """Sum up a run that ended; it stopped early only if the budget was spent."""
    reason = ExitReason.CASES if tally.cases == header.cases else ExitReason.BUDGET
    seen = {name for counts in tally.deviations.values() for name in counts}
    info = {d.id: DeviationRecord(d.reason, d.finding, d.wrong_values) for d in known() if d.id in seen}
    return tally.footer(reason, wall, header.jobs, {backend.name: backend.not_offered for backend in header.backends}, info)


def header_of(options: Options, workers: Workers) -> Header:
    """Write the header; the backends describe themselves in a worker.

    Raises:
        BackendError: if one cannot be opened.
    """
    return Header(
        schema=SCHEMA,
        suite=__version__,
        command=options.command,
        seed=options.seed,
        cases=options.cases,
        lanes=tuple(options.draw.lanes),
        ops=None if options.draw.ops is None else tuple(options.draw.ops),
        ops_not_offered=not_offered(),
        odds=odds_of(options.draw),
        jobs=options.jobs,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        environment={
            "python": sys.version.split()[0],
            "platform": platform.platform(),
            "numpy": np.__version__,
        },
        backends=tuple(workers.describe(name) for name in options.backends),
    )


def findings(tally: Tally, options: Options, workers: Workers) -> Iterator[FindingRecord]:
    """Shrink one case of every fingerprint and write it up as a finding; its case file goes to ``cases/``."""
    ranked = sorted(tally.failures.items(), key=lambda item: -item[1].count)
    for number, (fingerprint, failure) in enumerate(ranked):
        case, rounds = ShrinkResult(failure.case, {})
        if number < SHRUNK_AT_MOST and fingerprint.bucket is not Bucket.TIMED_OUT:  # each candidate would cost the time-out again
            case, rounds = shrink_case(workers, case, fingerprint, options.judging)
        yield finding(fingerprint, failure, case, rounds, options, workers)


def ask_blame(workers: Workers, case: Case, name: str, chosen: Sequence[str]) -> Blame | None:
    """Ask who is wrong: every voter that is installed, and the eager backends of the run; ``None`` if the process died.

    A voter may die of the case itself, so without an answer the rest is asked alone.
    """
    others = tuple(dict.fromkeys(other for other in [*chosen, *voters()] if other != name and not registration(other).static))
    return workers.call(blame_case, case, name, others) or workers.call(blame_case, case, name, ())


def finding(
    fingerprint: Fingerprint, failure: Failure, case: Case, rounds: dict[str, int], options: Options, workers: Workers
) -> FindingRecord:
    """Write one finding."""
    folder = options.out / "cases"
    folder.mkdir(exist_ok=True)
    path = folder / f"{fingerprint.id}.json"
    path.write_text(encode(case) + "\n")
    backend = fingerprint.backend
    judging = fingerprint.judging(options.judging)
    explained = workers.call(explain_case, case, backend, judging, timeout=2 * judging.timeout)
    mismatch = None if explained is None else explained.verdict.mismatch
    return FindingRecord(
        id=fingerprint.id,
        backend=backend,
        bucket=fingerprint.bucket,
        at=fingerprint.at,
        count=failure.count,
        index=failure.index,
        ops=tuple(sorted({step.op for step in case.steps if isinstance(step, Op)})),
        case=case,
        mismatch=mismatch or failure.mismatch,
        blame=ask_blame(workers, case, backend, options.backends),
        steps=() if explained is None else explained.steps,
        replay=f"conformance replay {path.as_posix()} --backend {backend}",
        script=script(case, backend if registration(backend).script else printers()[0]),
        shrink_rounds=rounds,
    )

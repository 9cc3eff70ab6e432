"""A campaign from its options to its record, its findings and its report."""

from __future__ import annotations

import hashlib
import platform
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance import __version__
from conformance.campaign.pool import Workers, read_records
from conformance.campaign.tally import Tally
from conformance.campaign.worker import Chunk, explain_case
from conformance.case import Case, encode
from conformance.deviations import known
from conformance.generate.scripts import Plan
from conformance.judge.verdict import Bucket
from conformance.ops import NOT_OFFERED
from conformance.records import SCHEMA, Writer
from conformance.reduce import reduce_case
from conformance.repro import FRAMEWORKS, script
from conformance.steps import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from conformance.campaign.tally import Failure
    from conformance.signature import Signature

CHUNK = 100
TIMEOUT = 5.0
REDUCED_AT_MOST = 40


@dataclass(frozen=True)
class Options:
    """What a campaign is asked to do.

    ``budget``: seconds after which no more cases are started. ``every_null``: judge every null pair on every case that it fits.
    """

    backends: tuple[str, ...]
    cases: int = 2000
    budget: float | None = None
    seed: int = 1
    plan: Plan = field(default_factory=Plan)
    jobs: int = 1
    out: Path = Path("reports")
    timeout: float = TIMEOUT
    command: str = ""
    every_null: bool = False


def run_campaign(
    options: Options, progress: Callable[[int, int], None] | None = None, checked: Iterable[dict[str, Any]] = ()
) -> dict[str, Any]:
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
        writer = Writer(options.out / "run.ndjson")
        writer.write(header)
        for record in checked:
            writer.write(record)
        tally = Tally(options.backends)
        with tempfile.TemporaryDirectory(dir=options.out, prefix=".work-") as folder:
            try:
                for records in workers.run(_chunks(options, folder, started)):
                    for record in records:
                        writer.write(record)
                        tally.add(record)
                    if progress is not None:
                        progress(tally.cases, len(tally.failures))
            except BaseException:  # an interrupted run keeps what its unfinished chunks recorded, too
                for path in sorted(Path(folder).glob("*.ndjson")):
                    for record in read_records(path):
                        writer.write(record)
                raise
        ended = time.perf_counter() - started
        for finding in findings(tally, options, workers):
            writer.write(finding)
    footer = tally.footer()
    footer["seconds"]["wall"] = ended
    footer["not_offered"] = {described["name"]: described["not_offered"] for described in header["backends"]}
    seen = {name for counts in tally.deviations.values() for name in counts}
    footer["deviation_info"] = {d.id: {"reason": d.reason, "finding": d.finding} for d in known() if d.id in seen}
    writer.write(footer)
    writer.close()
    return footer


def _chunks(options: Options, folder: str, started: float) -> Iterator[Chunk]:
    def in_time(_: int) -> bool:
        return options.budget is None or time.perf_counter() - started < options.budget

    for start in takewhile(in_time, range(0, options.cases, CHUNK)):
        stop = min(start + CHUNK, options.cases)
        yield Chunk(
            options.seed,
            start,
            stop,
            options.plan,
            options.backends,
            folder,
            options.timeout,
            name=f"{start:09d}",
            every_null=options.every_null,
        )


def header_of(options: Options, workers: Workers) -> dict[str, Any]:
    """Write the header record; the backends describe themselves in a worker.

    Raises:
        BackendError: if one cannot be opened.
    """
    return {
        "kind": "header",
        "schema": SCHEMA,
        "suite": __version__,
        "command": options.command,
        "seed": options.seed,
        "cases": options.cases,
        "lanes": options.plan.lanes,
        "ops": options.plan.ops,
        "ops_not_offered": NOT_OFFERED,
        "jobs": options.jobs,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": {
            "python": sys.version.split()[0],
            "platform": platform.platform(),
            "numpy": np.__version__,
        },
        "backends": [workers.describe(name) for name in options.backends],
    }


def findings(tally: Tally, options: Options, workers: Workers) -> Iterator[dict[str, Any]]:
    """Reduce one case of every signature and write it up as a finding; its case file goes to ``cases/``."""
    ranked = sorted(tally.failures.items(), key=lambda item: -item[1].count)
    for number, (signature, failure) in enumerate(ranked):
        case = msgspec.convert(failure.record["case"], Case, strict=False)
        if number < REDUCED_AT_MOST and signature.bucket != Bucket.TIMED_OUT:  # each candidate would cost the time-out again
            case = reduce_case(workers, case, signature, signature.backend, options.timeout)
        yield finding(signature, failure, case, options, workers)


def finding(signature: Signature, failure: Failure, case: Case, options: Options, workers: Workers) -> dict[str, Any]:
    """Write one finding."""
    name = f"{signature.backend.replace(':', '.')}-{hashlib.blake2b(repr(signature).encode(), digest_size=4).hexdigest()}"
    folder = options.out / "cases"
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(encode(case) + "\n")
    explained = workers.call(explain_case, case, signature.backend, timeout=2 * options.timeout) or {"steps": [], "verdict": {}}
    mismatch = explained["verdict"].get("mismatch") or failure.record["verdicts"][signature.backend].get("mismatch")
    framework = signature.backend if signature.backend in FRAMEWORKS else FRAMEWORKS[0]
    return {
        "kind": "finding",
        "id": name,
        "backend": signature.backend,
        "bucket": signature.bucket,
        "at": signature.at,
        "count": failure.count,
        "index": failure.record["index"],
        "ops": sorted({step.op for step in case.steps if isinstance(step, Op)}),
        "case": case,
        "mismatch": mismatch,
        "steps": explained["steps"],
        "replay": f"conformance replay {path.as_posix()} --backend {signature.backend}",
        "script": script(case, framework),
    }

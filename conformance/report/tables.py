"""The tables of the report, computed from the header and the footer of a run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from conformance.campaign.records import DeviationRecord
from conformance.campaign.records.coverage import CELLS, OF_OP, ORDERS, Cell, gaps, key_of
from conformance.campaign.records.tally import DECADES
from conformance.case.prose import percent
from conformance.case.steps import Op
from conformance.judge.nulls import null_pairs
from conformance.judge.verdict import COMPARED, FAILING, Bucket
from conformance.laws.table import law_rows
from conformance.report.costs import ALONE, is_whole, over_bare, rows
from conformance.report.words import COUNTERS, lacking_texts, per_million, share_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.campaign.records import Footer
    from conformance.campaign.records.gate import ClausesRecord, MutantsRecord
    from conformance.campaign.records.shares import ShareRecord


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table with one number per backend. ``tone``: how the first cell is coloured."""

    name: str
    numbers: list[int]
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """One backend's ledger as a bar; ``parts`` are tone, percent and what it is."""

    backend: str
    parts: list[tuple[str, float, str]]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where the cases ended."""

    backends: list[str]
    rows: list[Row]
    sums: list[int]
    compared: list[str]
    bars: list[Bar]
    lacking: list[str]


@dataclass(frozen=True, slots=True)
class CellRow:
    """A value of a parameter; ``cells`` are, for each backend and order, the text and ``gap``, ``absent`` (not offered) or empty."""

    value: str
    cells: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was compared.

    ``counts`` and ``orders`` are rows. ``groups`` has, for each call and for all other steps, the rows of every parameter.
    ``gaps``: for each backend how many cells it offers, and in how many of them nothing was compared.
    """

    backends: list[str]
    counts: list[Row]
    orders: list[Row]
    groups: list[tuple[str, list[tuple[str, list[CellRow]]]]]
    gaps: list[tuple[str, int, int]]
    cases: list[tuple[str, int, str]]


@dataclass(frozen=True, slots=True)
class Speed:
    """Where the time went: ``ratio`` is workers x wall time over what the frameworks need alone.

    ``parts`` are words, seconds, percent, percent in words, and whether it is the frameworks' own.
    """

    parts: list[tuple[str, str, float, str, bool]]
    ratio: str
    wall: str
    rate: str


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors over bounds; ``steps``: backend, step, its number of cases in each decade."""

    decades: tuple[str, ...]
    steps: list[tuple[str, str, list[int]]]
    worst: list[tuple[str, str, str, str]]


@dataclass(frozen=True, slots=True)
class Innocence:
    """Null comparisons: how many, the false alarms, and the bound per million.

    ``rows`` are the pairs with their words and, for each of ``dtypes``, a number.
    """

    comparisons: int
    alarms: int
    near_kink: int
    per_million: str
    dtypes: list[str]
    rows: list[tuple[str, str, list[int]]]


@dataclass(frozen=True, slots=True)
class KnownDeviation:
    """A deviation that was seen, why it is accepted, what its wrong values are, and how often it was measured.

    ``usual``: in how many cases of the run it would be seen as often as that.
    """

    id: str
    backend: str
    count: int
    reason: str
    finding: str
    wrong_values: str
    share: str
    usual: str


def tone_of(bucket: str) -> str:
    """Choose the colour of a bucket."""
    if bucket in FAILING:
        return "bad"
    return {"agreed": "good", "same_error": "fair", "unpromised": "fair", "known_deviation": "known"}.get(bucket, "none")


def innocence_of(footer: Footer) -> Innocence | None:
    """Put the null comparisons together; ``None`` if the run made none."""
    nulls = footer.nulls
    if not nulls.comparisons:
        return None
    dtypes = sorted({dtype for counts in nulls.pairs.values() for dtype in counts})
    words = {pair.id: pair.words for pair in null_pairs()}
    return Innocence(
        nulls.comparisons,
        nulls.alarms,
        nulls.near_kink,
        per_million(nulls),
        dtypes,
        [(pair, words.get(pair, ""), [counts.get(dtype, 0) for dtype in dtypes]) for pair, counts in sorted(nulls.pairs.items())],
    )


def laws_of(footer: Footer, backends: list[str]) -> list[tuple[Row, str]]:
    """List the laws, each with what it says; red where a backend broke one, and without a colour where none was tried by it."""
    rows = law_rows(footer.laws, backends)
    return [(Row(r.law, r.numbers, "bad" if r.broken else "good" if any(r.numbers) else "none"), r.statement) for r in rows]


def ledger_of(footer: Footer, backends: list[str]) -> Ledger:
    """Put the ledger together; buckets that the suite does not know are shown too."""
    ledger = footer.ledger
    buckets = dict.fromkeys([*(str(b) for b in Bucket), *(b for name in backends for b in ledger.get(name, {}))])
    rows = [Row(b.replace("_", " "), [ledger.get(n, {}).get(b, 0) for n in backends], tone_of(b)) for b in buckets]
    bars = []
    for column, name in enumerate(backends):
        total = sum(row.numbers[column] for row in rows) or 1
        shown = [row for row in rows if row.numbers[column]]
        bars.append(Bar(name, [(r.tone, 100 * r.numbers[column] / total, f"{r.name}: {r.numbers[column]:,}") for r in shown]))
    return Ledger(
        backends,
        rows,
        [total_of(footer, n) for n in backends],
        [share_compared(footer, n) for n in backends],
        bars,
        [*lacking_texts(footer, {name: name for name in backends})],
    )


def total_of(footer: Footer, backend: str) -> int:
    """Count the cases that a backend was asked; of a run of both halves those of its own."""
    return sum(footer.ledger.get(backend, {}).values())


def compared(footer: Footer, backend: str) -> int:
    """Count the cases of a backend that were really compared."""
    entries = footer.ledger.get(backend, {})
    return sum(entries.get(b, 0) for b in COMPARED)


def share_compared(footer: Footer, backend: str) -> str:
    """Write which share of its cases that is."""
    return percent(compared(footer, backend), total_of(footer, backend))


def coverage_of(footer: Footer, backends: list[str]) -> Coverage:
    """Sort the counters into tables: plain counts, orders, and the cells of each call and of the other steps."""
    counts = footer.counts
    names = dict.fromkeys([*COUNTERS, *sorted({key for n in backends for key in counts.get(n, {})})])
    rows = {key: [counts.get(n, {}).get(key, 0) for n in backends] for key in names}
    orders = [key for key in rows if key.startswith("order ")]
    plain = [key for key in rows if key not in orders and "@" not in key and (any(rows[key]) or key in ("calls", "gradients"))]
    cases = footer.cases
    told = [(f"{lane} lane", count) for lane, count in footer.lanes.items()]
    told += [(f"highest order {order}", count) for order, count in sorted(footer.orders.items())]
    told += [("with a second derivative, sharing, accumulation or refusal", footer.rich)]
    told += [("where the derived tolerance was needed", footer.bounded)]
    return Coverage(
        backends,
        [Row(COUNTERS.get(key, key.replace("_", " ")), rows[key]) for key in plain],
        [Row(key, rows[key]) for key in orders],
        list(_groups(footer, backends)),
        [_gaps(footer, name) for name in backends],
        [(name, count, percent(count, cases)) for name, count in told],
    )


def _groups(footer: Footer, backends: list[str]) -> Iterator[tuple[str, list[tuple[str, list[CellRow]]]]]:
    """Yield the rows by group and parameter, but for groups that no backend offers; what another version counted is shown too."""
    known = {cell.words for cell in CELLS}
    counted = {
        key.rpartition(" @")[0] for name in backends for key in footer.counts.get(name, {}) if " @" in key and not key.startswith(OF_OP)
    }
    cells = [*CELLS, *(Cell(words, Op, bool) for words in sorted(counted - known))]
    for group in dict.fromkeys(cell.group for cell in cells):
        rows = groupby((cell for cell in cells if cell.group == group), key=lambda cell: cell.parameter)
        shown = [(parameter, [_cell_row(footer, backends, cell) for cell in found]) for parameter, found in rows]
        if any(state != "absent" for _, found in shown for row in found for _, state in row.cells):
            yield group, shown


def _cell_row(footer: Footer, backends: list[str], cell: Cell) -> CellRow:
    cells = []
    for name in backends:
        for order in ORDERS:
            offered = cell.offered(footer.not_offered.get(name, {}), order)
            count = footer.counts.get(name, {}).get(key_of(cell.words, order), 0)
            cells.append((f"{count:,}", "" if count else "gap") if offered or count else ("-", "absent"))
    return CellRow(cell.value, cells)


def _gaps(footer: Footer, backend: str) -> tuple[str, int, int]:
    not_offered = footer.not_offered.get(backend, {})
    offered = sum(cell.offered(not_offered, order) for cell in CELLS for order in ORDERS)
    return backend, offered, len(gaps(footer.counts.get(backend, {}), not_offered))


def speed_of(footer: Footer) -> Speed:
    """Compare all the time that the workers had with the time that the frameworks need alone."""
    wall, ratio = footer.seconds.get("wall", 0.0), over_bare(footer)
    whole = footer.jobs * wall
    return Speed(
        [
            (f"{words}: {count}" if count else words, f"{spent:,.1f} s", 100 * spent / whole, percent(spent, whole), words == ALONE)
            for words, spent, count in rows(footer)
            if whole
        ],
        "-" if ratio is None else f"{ratio:.1f}",
        f"{wall:,.1f} s" if wall else "-",
        f"{footer.cases / wall:,.0f}" if wall and is_whole(footer) else "-",
    )


def errors_of(footer: Footer, backends: list[str]) -> Errors | None:
    """Sort errors over bounds by backend and step; ``None`` where no bound was computed."""
    steps = [
        (name, step, [decades.get(d, 0) for d in DECADES])
        for name in backends
        for step, decades in sorted(footer.ratios.get(name, {}).items())
    ]
    worst = [(name, *footer.worst[name]) for name in backends if name in footer.worst]
    largest = [(name, f"{ratio:.2g}", step, case) for name, ratio, step, case in worst]
    return Errors(DECADES, steps, largest) if steps else None


@dataclass(frozen=True, slots=True)
class Clause:
    """A line of the clause table; ``cells``: for each backend the tone and the text."""

    id: str
    promise: str
    cells: list[tuple[str, str]]


TONES = {"conforms": "good", "not offered": "", "deviates": "known", "diverges": "bad", "unchecked": "bad"}


def clauses_of(record: ClausesRecord, backends: list[str]) -> list[tuple[str, list[Clause]]]:
    """List the clauses by document."""
    documents: dict[str, list[Clause]] = {}
    for row in record.rows:
        cells = [row.backends[name] for name in backends]
        shown = [(TONES.get(cell.standing, "bad"), cell.text) for cell in cells]
        documents.setdefault(row.document, []).append(Clause(row.id, row.promise, shown))
    return list(documents.items())


UNEXPLAINED = DeviationRecord("", "", "")


def deviations_of(footer: Footer, *, unpromised: bool = False) -> list[KnownDeviation]:
    """List the known deviations that were seen, the most frequent first; or those that break no promise, since nobody makes one."""
    seen = [
        KnownDeviation(name, backend, count, known.reason, known.finding, known.wrong_values, *_shares(known.share))
        for backend, entries in footer.deviations.items()
        for name, count in entries.items()
        for known in [footer.deviation_info.get(name, UNEXPLAINED)]
        if known.unpromised is unpromised
    ]
    return sorted(seen, key=lambda d: (d.backend, -d.count, d.id))


def _shares(share: ShareRecord | None) -> tuple[str, str]:
    return ("", "") if share is None else (share_text(share.shown, share.cases), f"{share.fewest} to {share.most}")


@dataclass(frozen=True, slots=True)
class Score:
    """How many mutants of one kind were found out, and after how many cases."""

    sort: str
    killed: int
    total: int
    share: str
    median: str
    worst: int
    equivalent: int


@dataclass(frozen=True, slots=True)
class Power:
    """The suite's measured power; ``survivors``: id, kind, what is wrong and why nobody saw it, of those that were not found out."""

    cases: int
    host: str
    grid: bool
    rows: list[Score]
    survivors: list[tuple[str, str, str, str]]


def power_of(record: MutantsRecord) -> Power:
    """Read the record of a measurement."""
    rows = [Score(s.sort, s.killed, s.total, percent(s.killed, s.total), f"{s.median:g}", s.worst, s.equivalent) for s in record.scores]
    return Power(record.cases, record.host, record.grid, rows, [(s.id, s.sort, s.what, s.reason) for s in record.survivors])

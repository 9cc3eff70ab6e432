"""Learning: which option an engine takes at each open choice, call by call, op by op and in random scripts.

A case that agrees shows an option where another one would have been told apart; one that was followed shows it, too. In a first pass a
refusal among several ops may be put down to the wrong one; so another one starts from what most cases of the first said, and so on,
until a pass ends with what it started from. Later passes run what asks for a choice that has turned out otherwise, and the rest would
only say the same again. Where cases disagree about a choice, most of them may be put down to the wrong one, and agree with what was
expected; so another pass expects of it what the fewest said. What each case said last counts alone: that is a measurement of the
engine, for the file that its runs start from. An engine that decides one choice now so and now so is told, with a case for each.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from conformance.backends import measured
from conformance.backends.registry import registration, slowness
from conformance.campaign.records.choices import choice_of, text_of
from conformance.campaign.workers.chunk import Chunk
from conformance.campaign.workers.pool import Workers
from conformance.generate.call_probes import call_probes
from conformance.generate.grid import grid
from conformance.generate.probes import probes
from conformance.generate.scripts import DrawOptions
from conformance.judge.verdict import FAILING
from conformance.laws.judging import Judging, Sampling
from conformance.ops import catalogue
from conformance.ops.spec import Drawn
from reference_impl import DIALECTS
from reference_impl.dialects.conventions import HANDED, Lock, OpenChoice, conventions, read

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from conformance.campaign.records import BackendRecord, CaseRecord
    from conformance.case.case import Case
    from reference_impl.dialects.conventions import Conventions

    Tell = Callable[[int, int], None]
    Seen = Mapping[OpenChoice, Mapping[str, int]]
    Shown = dict[str, Sequence[CaseRecord]]

PASSES = 6
"""How many passes are made at most. The reference with random conventions needed four at most, in two dozen draws."""
OF_EACH_OP = 8
"""How many cases each op has for itself."""
CHANGING = 0.3
"""The share of them that writes in place: what an op keeps shows there alone."""
CHUNK = 50
ANY = "any-"
"""Begins the names of the chunks of random cases: the first pass, which may put things down to the wrong op, leaves them out."""
LEARNING_TIMEOUT = 20.0
"""Seconds for a case: every choice that it asks is tried the other way."""


@dataclass
class Learned:
    """What was observed of a backend: of each choice how often each option, with the first case of it.

    ``vague``: the choices of which no case so far shows which of several options it is. One that does outweighs all of them.
    ``followed``: those that a case decided otherwise than was expected, with the options that they had then.
    """

    backend: BackendRecord
    seen: dict[OpenChoice, Mapping[str, int]] = field(default_factory=dict)
    cases: dict[tuple[OpenChoice, str], Case] = field(default_factory=dict)
    vague: set[OpenChoice] = field(default_factory=set)
    followed: dict[OpenChoice, set[str]] = field(default_factory=dict)
    failed: int = 0

    @property
    def lock(self) -> Lock:
        """What is written down."""
        return Lock(self.backend.name, self.backend.version.partition("+")[0], self.seen)

    @property
    def varying(self) -> dict[OpenChoice, Mapping[str, int]]:
        """The choices that were decided both ways, now, and not as an earlier measurement of other ops says."""
        return {
            choice: options
            for choice, options in self.seen.items()
            if len(options) > 1 and all((choice, option) in self.cases for option in options)
        }

    @property
    def fewest(self) -> dict[OpenChoice, str]:
        """What the fewest cases said of those choices."""
        return {choice: min(options, key=options.__getitem__) for choice, options in self.varying.items()}

    @property
    def turned(self) -> set[OpenChoice]:
        """The choices of which most cases say otherwise than was expected of them when the pass began."""
        said = conventions(self.lock).options
        return {choice for choice, options in self.followed.items() if said[choice] in options}

    def add(self, chunk: Chunk, record: CaseRecord) -> None:
        """Add what a case showed."""
        verdict = record.verdicts[self.backend.name]
        self.failed += verdict.bucket in FAILING and not verdict.followed
        for text, option in verdict.followed.items():
            self.followed.setdefault(choice_of(text), set()).add(option)
        for text, (option, *others) in {**{text: (one,) for text, one in verdict.followed.items()}, **verdict.observed}.items():
            choice = choice_of(text)
            if others and choice in self.seen and choice not in self.vague:
                continue
            if not others and choice in self.vague:
                del self.seen[choice]
            (self.vague.add if others else self.vague.discard)(choice)
            counts = self.seen[choice] = Counter(self.seen.get(choice, {}))
            counts[option] += 1
            if counts[option] == 1:
                self.cases[choice, option] = chunk.case_at(record.index)


def learn(
    name: str,
    cases: int,
    seed: int,
    jobs: int,
    path: Callable[[BackendRecord], Path],
    tell: Tell,
    ops: Sequence[str] | None = None,
) -> Learned:
    """Measure a backend on each of its ops, and then on these and on so many random cases; the file is written after each pass.

    ``path``: where; ``tell`` hears how many cases of a pass are done, and of how many; ``ops``: these alone, or what calls are handed
    (`HANDED`), and what was measured of others stays, of which their cases show little.

    Raises:
        BackendError: if it cannot be opened.
    """
    shown: Shown = {}
    with Workers((name,), jobs) as workers:
        backend = workers.describe(name)
        before = _measured(backend)
        file = path(backend)
        file.parent.mkdir(parents=True, exist_ok=True)  # whether it can be made is better known before all is measured
        chunks = list(_chunks(backend, cases, seed, None if ops is None else tuple(ops), frozenset(_of_others(before, ops))))
        expected, turned, doubted = None, set[OpenChoice](), set[OpenChoice]()
        for number in range(PASSES):
            due = [c for c in chunks if (number or not c.name.startswith(ANY)) and _is_due(shown.get(c.name), name, turned)]
            shown |= _pass(workers, due, expected, tell)
            learned = Learned(backend)
            for chunk in chunks:
                for record in shown.get(chunk.name, ()):
                    learned.add(chunk, record)
            learned.seen = {**before, **learned.seen, **_of_others(before, ops)}
            file.write_text(text_of(learned.lock), "utf-8")
            doubts = {choice: said for choice, said in learned.fewest.items() if number and choice not in doubted}
            doubted |= doubts.keys()
            expected, turned = conventions(learned.lock).unheld().but(doubts), learned.turned | doubts.keys()
            if number and not turned:
                break
    return learned


def _is_due(records: Sequence[CaseRecord] | None, name: str, turned: Collection[OpenChoice]) -> bool:
    """Whether a chunk was not run yet, or may say something else now that these choices have turned out otherwise.

    What a case asks is known where nothing differs; the script of a known deviation may ask more than the case.
    """
    if records is None or not turned:
        return records is None
    words = set(map(str, turned))
    verdicts = [record.verdicts[name] for record in records]
    return any(verdict.mismatch is not None or not words.isdisjoint(verdict.asked) for verdict in verdicts)


def _measured(backend: BackendRecord) -> Seen:
    """Return what an earlier measurement of the same release says: it stands where this one meets nothing."""
    path = measured(backend.name, backend.version)
    lock = None if path is None else read(path)
    return lock.seen if lock and lock.version == backend.version.partition("+")[0] else {}


def _of_others(before: Seen, ops: Sequence[str] | None) -> Seen:
    """Return what was measured of other ops than those that are learned, and than what a framework makes of them."""
    if ops is None:
        return {}
    learned = {*ops, *(dialect.spelled.get(op, op) for dialect in DIALECTS.values() for op in ops)}
    return {choice: options for choice, options in before.items() if choice.op not in learned}


def _pass(workers: Workers, chunks: Sequence[Chunk], expected: Conventions | None, tell: Tell) -> Shown:
    """Run chunks, under what is expected at open choices, and return their records by their names."""
    shown: Shown = {}
    total, done = sum(chunk.stop - chunk.start for chunk in chunks), 0
    with tempfile.TemporaryDirectory() as folder:
        given = [replace(chunk, folder=folder, expected=expected) for chunk in chunks]
        for chunk, records in zip(given, workers.run(given), strict=True):
            shown[chunk.name] = records
            done += len(records)
            tell(done, total)
    return shown


def _chunks(
    backend: BackendRecord, cases: int, seed: int, ops: tuple[str, ...] | None, settled: frozenset[OpenChoice]
) -> Iterator[Chunk]:
    """Yield the cases of the calls, those of each op, and random ones.

    An op that random scripts do not draw unasked has the cases of its grid, which meets it alone.
    """
    judging = Judging(nulls=Sampling.NONE, timeout=LEARNING_TIMEOUT * slowness((backend.name,)), observing=True)
    static = registration(backend.name).static
    calls = call_probes()
    yield Chunk((backend.name,), "", "calls", 0, len(calls), judging, cases=calls, settled=settled)
    for op, row in catalogue().items():
        if ops is not None and op not in ops:
            continue
        if (static or row.drawn is not Drawn.IN_PROGRAMS) and f"op:{op}" not in backend.not_offered:
            draw = DrawOptions(ops=(op,), static=static, changing=CHANGING)
            yield Chunk((backend.name,), "", f"op-{op}", 0, OF_EACH_OP, judging, seed, draw, settled=settled)
            if probed := tuple(probes(op)):
                yield Chunk((backend.name,), "", f"probe-{op}", 0, len(probed), judging, cases=probed, settled=settled)
            points = tuple(point.case() for point in grid([op])) if row.drawn is Drawn.NAMED and not static else ()
            for start in range(0, len(points), CHUNK):
                some = points[start : start + CHUNK]
                yield Chunk((backend.name,), "", f"grid-{op}-{start}", 0, len(some), judging, cases=some, settled=settled)
    drawn = None if ops is None else tuple(op for op in ops if op not in HANDED)
    for start in range(0, 0 if drawn == () else cases, CHUNK):
        stop = min(start + CHUNK, cases)
        draw = DrawOptions(static=static, ops=drawn)
        yield Chunk((backend.name,), "", f"{ANY}{start}", start, stop, judging, seed, draw, settled=settled)

"""An engine that decides open choices as it is told, and what is learned of it."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import pytest

from conformance.backends import BackendInfo
from conformance.backends.reference import reference
from conformance.campaign.learn import Learned, learn
from conformance.campaign.records import BackendRecord, CaseRecord
from conformance.campaign.records.verdicts import VerdictRecord
from conformance.campaign.workers.chunk import Chunk
from conformance.campaign.workers.trial import run_case
from conformance.case.outcome import plainly
from conformance.generate.call_probes import call_probes
from conformance.generate.probes import probes
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging, Sampling
from reference_impl import TORCH
from reference_impl.dialects.conventions import Conventions, Kind, OpenChoice, conventions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from reference_impl import Dialect


AROUND = tuple(case for op in ("clone", "sum") for case in probes(op))
"""Of what every probe is made, beside its op."""
PROBES = (*AROUND, *(case for op in ("mul", "sin", "cos", "exp", "abs", "mul_scalar") for case in probes(op)), *call_probes())
VERSION = "4.2"
SEEDS = range(5)
BLANK = replace(TORCH, conventions=Conventions())
PLAIN, OBSERVING = (Judging(nulls=Sampling.NONE, observing=observing) for observing in (False, True))
"""How cases are judged: nobody here looks at pairs of right answers."""


class Deciding:
    """The reference, which decides some choices otherwise; if that is said, every so many times that it runs a case in another way.

    ``flipped``: what is decided otherwise then; nothing, if that is not said.
    """

    def __init__(
        self, options: dict[OpenChoice, str], start: Dialect, flips: int = 0, flipped: Mapping[OpenChoice, str] = MappingProxyType({})
    ) -> None:
        self.info = BackendInfo("deciding", VERSION, start, start.not_offered)
        self.flips, self.runs = flips, Counter[str]()
        self.usual, self.rare = (
            reference(replace(TORCH, conventions=TORCH.conventions.but(decided)), TORCH.not_offered) for decided in (options, flipped)
        )

    def run(self, case: Case) -> Outcome:
        self.runs[case.id] += 1
        return (self.rare if self.flips and self.runs[case.id] % self.flips == 0 else self.usual).run(case)

    def shows(self, case: Case) -> bool:
        """Whether a case shows which of the two ways it is run in."""
        return plainly(self.usual.run(case)) != plainly(self.rare.run(case))


def observed(engine: Any, cases: tuple[Case, ...]) -> tuple[Learned, list[CaseRecord]]:
    records = [run_case(case, [engine], OBSERVING, index=index) for index, case in enumerate(cases)]
    learned = Learned(BackendRecord("deciding", VERSION, "torch", {}))
    for record in records:
        learned.add(Chunk(("deciding",), "", "given", 0, len(cases), cases=cases), record)
    return learned, records


class Passes:
    """Workers without processes, which note down the chunks of each pass; ``answer`` gives the records of a chunk."""

    def __init__(self, answer: Callable[[Chunk], Sequence[CaseRecord]]) -> None:
        self.answer = answer
        self.made: list[list[Chunk]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def describe(self, name: str) -> BackendRecord:
        return BackendRecord(name, VERSION, "torch", {})

    def run(self, chunks: Sequence[Chunk]) -> Iterator[Sequence[CaseRecord]]:
        self.made.append(list(chunks))
        return map(self.answer, chunks)

    def learn(self, folder: Path, chunks: Sequence[Chunk] | None = None, ops: Sequence[str] | None = None) -> Learned:
        """Learn by these workers, of these chunks, and write what was learned to a folder."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("conformance.campaign.learn.Workers", lambda *_: self)
            if chunks is not None:
                patched.setattr("conformance.campaign.learn._chunks", lambda *_: chunks)
            return learn("deciding", 0, 1, 1, lambda _: folder / "deciding.toml", lambda *_: None, ops)


def given(name: str, cases: tuple[Case, ...]) -> Chunk:
    return Chunk(("deciding",), "", name, 0, len(cases), OBSERVING, cases=cases)


def asking(options: dict[OpenChoice, str], start: Dialect = BLANK, **how: Any) -> Passes:
    """Return workers that ask the reference which decides these choices so, of which nothing is known but what its start says."""
    engine = Deciding(options, start, **how)

    def answer(chunk: Chunk) -> list[CaseRecord]:
        return [run_case(c, [engine], chunk.judging, index=i, expected=chunk.expected) for i, c in enumerate(chunk.cases or ())]

    return Passes(answer)


def learned_of(options: dict[OpenChoice, str], cases: tuple[Case, ...] = PROBES, **how: Any) -> Learned:
    """Learn from nothing, of these cases in this process."""
    chunks = [given(f"from {start}", cases[start : start + 10]) for start in range(0, len(cases), 10)]
    with tempfile.TemporaryDirectory() as folder:
        return asking(options, **how).learn(Path(folder), chunks)


def after_learning(options: dict[OpenChoice, str], cases: tuple[Case, ...] = PROBES) -> Dialect:
    return replace(TORCH, conventions=conventions(learned_of(options, cases).lock))


OF_CALLS = {
    OpenChoice(Kind.ALLOWED, "flag", "that is no bool"): "refused",
    OpenChoice(Kind.ALLOWED, "input", "that requires no gradient"): "refused",
    OpenChoice(Kind.ALLOWED, "root", "that requires no gradient"): "refused",
    OpenChoice(Kind.ALLOWED, "seed", "of another kind"): "refused",
    OpenChoice(Kind.ALLOWED, "seed", "of another precision"): "refused",
}


@cache
def known_of_reference() -> tuple[OpenChoice, ...]:
    return tuple(learned_of({}).seen)


def judged(**said: Any) -> CaseRecord:
    """A record of the first probe, of which the verdict says this, and which asks nothing else."""
    asked = (*said.get("followed", {}), *said.get("observed", {}))
    verdicts = {"deciding": VerdictRecord(Bucket.AGREED, {}, asked=asked, **said)}
    return CaseRecord(0, PROBES[0].id, "numeric", 1, False, verdicts, {}, False, ())


def learned_from(*records: CaseRecord) -> Learned:
    learned = Learned(BackendRecord("deciding", VERSION, "torch", {}))
    for record in records:
        learned.add(Chunk(("deciding",), "", "given", 0, 1, cases=PROBES[:1]), record)
    return learned

"""Running mutants on cases of the grid and of the default campaign, in order, until the judge says that they diverge.

The mutants of an op that the default campaign does not draw unasked have cases of their own, which are about that op. So have those
that show where numbers are not finite, of which a campaign has few.

Every case is drawn once, and the right reference runs it once for each dialect, noting which vjp rules it calls: a mutant whose fault
is in one rule is run only where that rule is called, since anywhere else it is the reference. The judge is that of the campaign,
the canary after a refusal included.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from conformance.backends.reference import reference
from conformance.campaign.workers.watchdog import alarm, note, progress_file, rang, set_alarm, under_way
from conformance.case.queries import label
from conformance.compare.promise import Promise
from conformance.generate.scripts import DrawOptions, draw_case
from conformance.generate.sources import FastSource
from conformance.judge.canary import ailment_after
from conformance.judge.judgement import judged
from conformance.judge.verdict import Bucket
from conformance.mutants.mutant import Kind, Mutant
from conformance.mutants.registry import mutant
from conformance.mutants.samples import about, row_of, trust
from conformance.ops import catalogue
from conformance.ops.spec import Drawn
from reference_impl.tape.rules import intercepted_rules, noted_lookups
from reference_impl.tape.tensor import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.generate.grid import Point
    from conformance.mutants.samples import Origin
    from reference_impl import Dialect
    from reference_impl.tape.primitive import Application, Primitive
    from reference_impl.tape.rules import Pull, Pulled

KILLING = (Bucket.DIVERGED, Bucket.TIMED_OUT, Bucket.CRASHED)
"""The buckets that count as a kill. A harness error, a near kink and a known deviation do not."""


SELDOM = 4
"""One case in so many is about an op that is not drawn unasked: all of these begin with it, and there are as many sorts as ops."""


class Kill(NamedTuple):
    """When and how a mutant was found out: at which case, in which bucket, and at which step.

    ``tries``: in how many cases it was run until then, where it is run in those alone in which its condition holds.
    """

    case: int
    bucket: str
    at: str
    tries: int = 0

    @property
    def cases(self) -> int:
        """How many cases it took."""
        return self.tries or self.case + 1


@dataclass(frozen=True)
class Hunt:
    """A range of cases for one worker, and the mutants that are still alive.

    ``timeout``: the seconds that all mutants together may take for one case. ``lost``: mutants that are known to take the process
    down, or never to come back, with the index of the case and the bucket. ``points``: those cases that are of the grid, by index;
    ``drawn``: the index of the first of those that are drawn. ``origins``: where those ops of these mutants were met that stand in no
    row; or else each worker would look for them.
    """

    seed: int
    start: int
    stop: int
    alive: tuple[str, ...]
    folder: str
    timeout: float
    lost: dict[str, tuple[int, str]] = field(default_factory=dict)
    points: dict[int, Point] = field(default_factory=dict)
    drawn: int = 0
    origins: Mapping[str, Origin | None] = field(default_factory=dict)

    @property
    def progress(self) -> Path:
        """Where the case and mutant under way are noted."""
        return Path(self.folder) / f"{self.start:09d}.progress"

    @property
    def watchdog(self) -> Path:
        """Where the watchdog writes before it ends a process that hangs."""
        return Path(self.folder) / f"{self.start:09d}.hang"

    def after_death(self) -> Self:
        """Return the hunt, whose worker died, with the mutant that did it counted as found out.

        Raises:
            RuntimeError: if nothing says which mutant was under way.
        """
        words = under_way(self.progress)
        if len(words) != 2 or words[1] in self.lost:
            raise RuntimeError(f"a worker died at the cases from {self.start} on, and no mutant did it")
        return self.without(words[1], int(words[0]))

    def without(self, name: str, case: int) -> Self:
        """Return the hunt without what took its process down in a case."""
        bucket = str(Bucket.TIMED_OUT if rang(self.watchdog) else Bucket.CRASHED)
        return replace(self, lost={**self.lost, name: (case, bucket)})


Called = set[tuple[str, int, bool]]
"""The rules that were called: of which op, for which operand, and whether they were recorded."""


class Suspect(NamedTuple):
    """A mutant that is alive, and its engine."""

    mutant: Mutant
    engine: Backend


def calls_of(run: Callable[[Case], Outcome], case: Case) -> tuple[Outcome, Called]:
    """Run a case and note which vjp rules are called."""
    called: Called = set()

    def note_rule(primitive: Primitive, position: int) -> None:
        called.add((primitive.name, 0 if primitive.variadic else position, Mode.recording))

    def noting(right: Pull, primitive: Primitive, node: Application, asked: Sequence[int], *given: Any) -> Pulled:
        for position in asked:
            note_rule(primitive, position)
        return right(node, asked, *given)

    with intercepted_rules(noting), noted_lookups(note_rule):
        return run(case), called


def can_show(mutant: Mutant, called: Called) -> bool:
    """Whether a mutant differs from the reference in a case in which these rules are called."""
    if mutant.rule is None:
        return True
    return (*mutant.rule, True) in called or (mutant.kind is not Kind.SECOND and (*mutant.rule, False) in called)


def run_hunt(hunt: Hunt) -> dict[str, Kill]:
    """Run the mutants of a hunt on its cases, each until it is found out; return when and how, for those that were."""
    trust(hunt.origins)
    alive = {name: Suspect(mutant(name), mutant(name).open()) for name in hunt.alive}
    killed: dict[str, Kill] = {}
    with progress_file(hunt.progress) as progress, alarm(hunt.watchdog):
        for index in range(hunt.start, hunt.stop):
            set_alarm(hunt.timeout)
            for name, (case, bucket) in hunt.lost.items():
                if case == index and alive.pop(name, None) is not None:
                    killed[name] = Kill(index, bucket, "")
            for name, kill in _killed(hunt, index, alive, partial(note, progress, index)):
                killed[name] = kill
                del alive[name]
    hunt.progress.unlink()
    hunt.watchdog.unlink()
    return killed


def _killed(hunt: Hunt, index: int, alive: dict[str, Suspect], entering: Callable[[str], None]) -> Iterable[tuple[str, Kill]]:
    found = []
    for case, names in _cases(hunt, index, alive):
        right: dict[str, tuple[Outcome, Called]] = {}
        for name in names:
            wrong, engine = alive[name]
            dialect = engine.info.dialect
            if dialect.name not in right:
                right[dialect.name] = calls_of(_reference(dialect), case)
            expected, called = right[dialect.name]
            if can_show(wrong, called):
                entering(name)
                actual = engine.run(case)
                # Only what breaks can be broken afterwards; any other fault is gone when the canary would be run.
                ailment = ailment_after(case, actual, engine) if wrong.breaks else None
                verdict = judged(Promise(case, engine.info, expected), actual, ailment)
                if verdict.bucket in KILLING:
                    step = "" if verdict.mismatch is None else label(case, verdict.mismatch.step)
                    found.append((name, Kill(index, str(verdict.bucket), step)))
    return found


def _cases(hunt: Hunt, index: int, alive: dict[str, Suspect]) -> Iterator[tuple[Case, list[str]]]:
    """Yield the point of the grid at an index, or the cases that are drawn there, each with the mutants that it is for."""
    if index in hunt.points:
        point = hunt.points[index]
        if names := [name for name, suspect in alive.items() if of_grid(suspect.mutant) == point.op]:
            yield point.case(), names
        return
    number = index - hunt.drawn
    drawn_of = {name: _drawn_of(suspect) for name, suspect in alive.items()}
    for options in dict.fromkeys(drawn_of.values()):
        if options.about is None or number % SELDOM == 0:
            yield draw_case(FastSource(hunt.seed, number), options), [name for name, of in drawn_of.items() if of == options]


def of_grid(mutant: Mutant) -> str | None:
    """Return the op whose points of the grid a mutant is for; ``None`` if there is none."""
    row = None if mutant.rule is None else row_of(mutant.part)
    return None if row is None or catalogue()[row].drawn is Drawn.IN_PROGRAMS else row


def _drawn_of(suspect: Suspect) -> DrawOptions:
    """Return what cases a mutant is run on: programs or eager scripts, about which op if any, with which numbers."""
    wrong, engine = suspect
    named = None if wrong.rule is None else about(wrong.part)
    return DrawOptions(static=engine.info.dialect.static, about=named, unbounded=wrong.unbounded)


def _reference(dialect: Dialect) -> Callable[[Case], Outcome]:
    return reference(dialect, dialect.not_offered).run

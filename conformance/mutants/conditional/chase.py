"""Chasing conditional faults: each case is watched once, and a fault is run only where its condition held, until it is found out.

The cases are the grid, and behind it those of the default campaign. On an engine that is not the reference a verdict counts only if the
engine without the fault gives none like it for the same case: known deviations are excused, and a case in which the plain engine fails
is left out. Such an engine may die, or no longer differentiate after a refusal; then the rest goes to another process.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self

from conformance.campaign.workers.watchdog import alarm, note, progress_file, set_alarm
from conformance.case.outcome import plainly
from conformance.case.queries import label
from conformance.case.steps import Op, kind
from conformance.compare.promise import Promise
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.canary import ailment_after, read_past_its_end
from conformance.judge.judgement import judged
from conformance.mutants.conditional.carried import REFERENCE, Carried, Watch, host_of
from conformance.mutants.hunt import KILLING, Hunt, Kill
from conformance.mutants.registry import mutant

if TYPE_CHECKING:
    from collections.abc import Callable
    from mmap import mmap

    from conformance.backends.interpreter import Interpreter
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.mutants.conditional.fault import ConditionalFault

PLAIN = "plain"
"""The engine without a fault, as the note of what is under way calls it."""
OF_GRID = ("grad", "backward", "toggle", "hook", "remove_hook")
"""What every point of the grid may ask of an engine beside its op."""


@dataclass(frozen=True)
class Chase(Hunt):
    """A range of cases for one worker, and the faults that are still alive, on a ``host``.

    ``timeout``: the seconds of one engine for one case. ``fatal``: cases in which the host itself takes the process down.
    ``unbounded``: every case that is drawn may have infinities and NaN.
    """

    host: str = REFERENCE
    fatal: frozenset[int] = frozenset()
    unbounded: bool = False

    def case(self, index: int) -> Case:
        """Return a case."""
        if index in self.points:
            return self.points[index].case()
        return case_of(self.seed, index - self.drawn, DrawOptions(unbounded=self.unbounded))

    def is_for(self, index: int, parts: set[str]) -> bool:
        """Whether a case may show faults of these parts of an engine, as far as can be told before it is drawn."""
        return bool(parts) and (index not in self.points or not parts.isdisjoint({self.points[index].op, *OF_GRID}))

    def without(self, name: str, case: int) -> Self:
        """Return the chase without what took its process down in a case, the engine itself or one of its faults."""
        return replace(self, fatal=self.fatal | {case}) if name == PLAIN else super().without(name, case)


class Caught(NamedTuple):
    """What came of a chase: kills, how many cases each fault was run in, the case before which it ended.

    ``excused``: with each fault, the known deviations of the engine that it was taken for.
    """

    kills: dict[str, Kill]
    tries: Counter[str]
    stop: int
    excused: set[tuple[str, str]]


class Pack:
    """Those faults of a chase that are on one engine, in one dialect: the engine itself, watched, and each with its fault."""

    def __init__(self, host: Interpreter, faults: list[ConditionalFault]) -> None:
        self.host = host
        self.is_reference = host.info.name == REFERENCE
        self.alive = {fault.id: fault for fault in faults}
        self.watch = Watch(faults)
        self.watched = Carried(host.info.name, host, self.watch)

    def run(self, case: Case) -> Outcome:
        """Run a case without a fault, and watch."""
        self.watch.held.clear()
        self.past = self.watched.carrier.process.copied()
        return self.watched.run(case)

    def held(self) -> list[str]:
        """Return the faults that are alive and whose condition held in the last case."""
        return [name for name in self.alive if name in self.watch.held]

    def run_with(self, name: str, case: Case) -> Outcome:
        """Run the last case again with a fault, with the past of the process that was there before it."""
        faulty = Carried(self.host.info.name, self.host, self.alive[name].answer)
        faulty.carrier.process = self.past.copied()
        return faulty.run(case)


def run_chase(chase: Chase) -> Caught:
    """Run the faults of a chase where their conditions hold, each until it is found out."""
    packs, tries, kills = _packs(chase), Counter[str](), dict[str, Kill]()
    excused = set[tuple[str, str]]()
    with progress_file(chase.progress) as progress, alarm(chase.watchdog):
        for index in range(chase.start, chase.stop):
            if index in chase.fatal:
                continue
            for name, (fatal, bucket) in chase.lost.items():
                for pack in packs:
                    if fatal == index and pack.alive.pop(name, None) is not None:
                        tries[name] += 1
                        kills[name] = Kill(index, bucket, "", tries[name])
            wanted = {fault.part for pack in packs for fault in pack.alive.values()}
            if not chase.is_for(index, wanted):
                continue
            case = chase.case(index)
            if index not in chase.points and wanted.isdisjoint(parts_of(case)):
                continue
            spoiled = False
            for pack in packs:
                spoiled |= _pursue(pack, case, index, partial(_enter, chase, progress, index), tries, kills, excused)
            if spoiled:
                break
        set_alarm(0)
    chase.progress.unlink()
    chase.watchdog.unlink()
    return Caught(kills, tries, index + 1, excused)


def _enter(chase: Chase, progress: mmap, index: int, name: str) -> None:
    """Say who is under way in which case, and give it its time."""
    note(progress, index, name)
    set_alarm(chase.timeout)


def parts_of(case: Case) -> set[str]:
    """Return the parts of an engine that a case asks."""
    ops = {step.op for step in case.steps if isinstance(step, Op)}
    regions = {"no_grad" for step in case.steps if getattr(step, "no_grad", False)}
    return ops | regions | {kind(step) for step in case.steps}


def fault_of(name: str) -> ConditionalFault:
    """Return the fault of a mutant that is conditional."""
    fault = mutant(name).conditional
    assert fault is not None  # noqa: S101 - no other is chased
    return fault


def _packs(chase: Chase) -> list[Pack]:
    packs: dict[str, tuple[Interpreter, list[ConditionalFault]]] = {}
    for name in chase.alive:
        fault = fault_of(name)
        host = host_of(chase.host, fault)
        if host is not None:
            packs.setdefault(host.info.dialect.name, (host, []))[1].append(fault)
    return [Pack(*found) for found in packs.values()]


def _pursue(
    pack: Pack,
    case: Case,
    index: int,
    entering: Callable[[str], None],
    tries: Counter[str],
    kills: dict[str, Kill],
    excused: set[tuple[str, str]],
) -> bool:
    """Run the faults of a pack on a case, if their conditions hold; return whether the process differentiates no longer."""
    entering(PLAIN)
    plain = pack.run(case)
    held = pack.held()
    promise = Promise(case, pack.host.info, plain if pack.is_reference else None)
    if not pack.is_reference and (ailment_after(case, plain, pack.host) or read_past_its_end(promise.outcome, plain)):
        return True
    if not held:
        return False
    before = plainly(plain)
    fails = functools.cache(lambda: not pack.is_reference and judged(promise, plain).bucket in KILLING)
    for name in held:
        entering(name)
        actual = pack.run_with(name, case)
        ailment = None if pack.is_reference else ailment_after(case, actual, pack.host)
        healthy = pack.is_reference or not (ailment or read_past_its_end(promise.outcome, actual))
        tries[name] += 1
        if healthy and plainly(actual) == before:  # judging takes longer than all else
            continue
        verdict = judged(promise, actual, ailment)
        excused.update((name, deviation) for deviation in verdict.deviations)
        if verdict.bucket in KILLING and not fails():
            at = "" if verdict.mismatch is None else label(case, verdict.mismatch.step)
            kills[name] = Kill(index, str(verdict.bucket), at, tries[name])
            del pack.alive[name]
        if not healthy:
            return True
    return False

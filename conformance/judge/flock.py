"""The flock: the canaries of several ops as one script, by which an engine is asked about all of them at one go.

Part of what a canary costs is not its op but what surrounds it: a call for gradients, and a script. That is an eighth for an eager
engine, and a third for one that compiles a program of each script. In a flock the ops have one script and one call. They share nothing
else, so what each answers is to the last bit what it would have answered alone, and is told in that form:

    ops = "exp", "sum"
    of_exp, of_sum = apart(ops, engine.run(flock(ops)))     # what their canaries answer
"""

from __future__ import annotations

import functools
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Outcome
from conformance.case.rewrite import rename
from conformance.case.steps import Grad, Op, results
from conformance.judge.canary_case import canary_of

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 16
"""How many ops a flock has at most: a few more than one refusal asks about."""


class _Bird(NamedTuple):
    """A canary in a flock. ``names``: what each of its values is called there, by what it is called alone."""

    names: dict[str, str]
    inputs: tuple[Input, ...]
    op: Op
    grad: Grad
    watched: int


@functools.lru_cache(maxsize=SIZE)
def flock(ops: tuple[str, ...]) -> Case:
    """Return the script of the canaries of several ops, each of which has one."""
    birds = list(map(_bird, ops))
    calls = [bird.grad for bird in birds]
    joined = {
        name: tuple(chain.from_iterable(map(attrgetter(name), calls))) for name in ("outputs", "inputs", "results", "grad_outputs")
    }
    return Case(tuple(chain.from_iterable(bird.inputs for bird in birds)), (*(bird.op for bird in birds), replace(calls[0], **joined)))


def apart(ops: tuple[str, ...], outcome: Outcome) -> list[Outcome] | None:
    """Return what the canary of each op answered; ``None`` if the call was refused, which says nothing of any one of them."""
    called = outcome.observations[-1]
    return list(_apart(ops, outcome, called)) if isinstance(called, Computed) else None


def _apart(ops: tuple[str, ...], outcome: Outcome, called: Computed) -> Iterator[Outcome]:
    gradients, final = iter(called.values), iter(outcome.final)
    for bird, seen in zip(map(_bird, ops), outcome.observations, strict=False):
        own = Computed(tuple(islice(gradients, len(bird.grad.results))), called.state, called.events)
        mutated = tuple([name for name, there in bird.names.items() if there in outcome.mutated]) if outcome.mutated else ()
        yield Outcome([seen, own], tuple(islice(final, bird.watched)), mutated)


def prepare(op: str) -> None:
    """Find out now what every flock asks of the canary of an op, so that no process has to that is forked from this one."""
    for entry in _bird(op).inputs:
        _ = entry.elements


@functools.cache
def _bird(op: str) -> _Bird:
    case = canary_of(op)
    assert case is not None, "it was asked alone before"  # noqa: S101
    names = {name: f"{op}.{name}" for name in (*(entry.name for entry in case.inputs), *chain.from_iterable(map(results, case.steps)))}
    made, called = (rename(step, names) for step in case.steps)
    assert isinstance(made, Op), "a canary is an op"  # noqa: S101
    assert isinstance(called, Grad), "and its gradient"  # noqa: S101
    return _Bird(names, tuple(replace(entry, name=names[entry.name]) for entry in case.inputs), made, called, len(case.watched))

"""The contract of a backend, as a check that anybody can run on an adapter of their own.

A verdict on an engine is worth as much as the adapter beneath it. An adapter makes a right engine look wrong, or worse, a wrong one
right, if it shows zeros where a gradient is absent, gives the nearest category to a message that it does not know, or returns an array
to which the engine goes on writing. Types cannot exclude that, so `check` tries it, with a few small cases whose answers nobody
disputes::

    from conformance.backends.contract import check
    from my_package.adapter import open_backend


    def test_my_adapter_keeps_the_contract():
        assert not check(open_backend)

It judges the adapter, not the engine: whether the engine keeps what its dialect promises is for a campaign to find out.
"""

from __future__ import annotations

import functools
import traceback
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from conformance.backends import CHOSEN, BackendInfo
from conformance.backends.probes import NUMBER, PROBES, SQUARE, TOTAL, X
from conformance.case.case import Case
from conformance.case.files import decode, encode
from conformance.case.needs import AGAIN, ANEW, BETWEEN
from conformance.case.outcome import Blocked, Computed, NotOffered, Observation, Outcome, Raised, Value
from conformance.case.steps import NO_VALUE, Backward, Step, results
from conformance.ops import catalogue
from conformance.ops.dtypes import DTYPES
from reference_impl import Category, Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.backends import Backend
    from conformance.backends.probes import Probe
    from conformance.case.outcome import State

UNHEARD = "the contract asks for the category of a message that no engine writes"
TWICE = (Backward(("z",), retain_graph=True),) * 2
ACCUMULATING = (
    ("an observation does not change afterwards", Case((X,), (SQUARE, TOTAL, *TWICE)), ([2.0, 4.0, 6.0], [4.0, 8.0, 12.0])),
    ("a .grad without axes is shown like any other", Case((NUMBER,), (SQUARE, TOTAL, *TWICE)), (6.0, 12.0)),
)
"""Claims about a ``.grad`` that two passes accumulate into: the case, and what it is after either pass."""


def check(open_backend: Callable[[], Backend]) -> list[str]:
    """Open a backend, try it, and say in words how it breaks the contract; an empty list if it keeps it."""
    try:
        backend = open_backend()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is wrong
        return [f"open_backend raises {type(error).__name__}: {error}"]
    problems = list(_of_info(getattr(backend, "info", None)))
    if problems:
        return problems
    for probe in PROBES:
        if probe.is_for(backend.info.dialect):
            problems += [f"{probe.claim}: {problem}" for problem in _of_probe(backend, probe)]
    if not backend.info.dialect.static:
        for claim, case, states in ACCUMULATING:
            problems += [f"{claim}: {problem}" for problem in _of_accumulation(backend, case, states)]
    problems += [f"a message that nobody mapped is unmapped: {problem}" for problem in _of_categories(backend)]
    return _each_once(problems)


def _each_once(problems: list[str]) -> list[str]:
    """Keep one of those that differ in the claim alone: what breaks every probe is one fault."""
    first: dict[str, str] = {}
    for problem in problems:
        first.setdefault(problem.partition(": ")[2], problem)
    return list(first.values())


def _of_info(info: Any) -> Iterator[str]:
    if not isinstance(info, BackendInfo):
        yield f"info is a {type(info).__name__}, not a BackendInfo"
        return
    if not info.name or not info.version:
        yield f"info has no name or no version: {info.name!r}, {info.version!r}"
    dialect: object = info.dialect
    if not isinstance(dialect, Dialect):
        yield f"info.dialect is a {type(dialect).__name__}, not a Dialect"
    for fact, allowed in CHOSEN.items():
        if (given := getattr(info, fact)) not in allowed:
            yield f"info.{fact} is {given!r}, not one of {', '.join(allowed)}"
    for parameter, reason in info.not_offered.items():
        if not reason:
            yield f"info.not_offered gives no reason for {parameter!r}"
        if parameter not in (words := offerable()):
            near = get_close_matches(parameter, words) or [
                word for word in words if not word.startswith(("op:", "in_place:", "dtype:"))
            ]
            yield f"info.not_offered has {parameter!r}, which is no word for anything; near it are {', '.join(near)}"


@functools.cache
def offerable() -> tuple[str, ...]:
    """Return all that ``not_offered`` may name: kinds of steps, their optional parameters, dtypes, ops, and ops in place."""
    kinds = get_args(Step)
    parameters = dict.fromkeys(word for kind in kinds for word in kind.PARAMETERS.values())
    ops = [f"op:{name}" for name in catalogue()]
    in_place = [f"in_place:{name}" for name, row in catalogue().items() if row.form is not None]
    dtypes = (f"dtype:{name}" for name in DTYPES)
    words = AGAIN, BETWEEN, ANEW
    return "no_grad", *dtypes, *(f"step:{kind.__struct_config__.tag}" for kind in kinds), *parameters, *words, *ops, *in_place


def _of_probe(backend: Backend, probe: Probe) -> Iterator[str]:
    outcome, problems = _run(backend, probe.case)
    yield from problems
    if outcome is None or problems or any(isinstance(seen, NotOffered) for seen in outcome.observations):
        return
    observed = zip(probe.case.steps, outcome.observations, strict=True)
    found = {name: (i, seen) for step, seen in observed if not isinstance(step, NO_VALUE) for i, name in enumerate(results(step))}
    for name, wanted in probe.seen.items():
        place, seen = found[name]
        yield from _of_observation(name, place, seen, wanted)
        yield from _of_flag(name, seen.values[place] if isinstance(seen, Computed) else None, probe)
    held = dict(zip(probe.case.watched, outcome.final, strict=True))
    for name, wanted in (probe.final or {}).items():
        yield from _of_value(f"{name}.grad", held[name], wanted)
        yield from _of_flag(f"{name}.grad", held[name], probe)


def _of_flag(name: str, value: Value | None, probe: Probe) -> Iterator[str]:
    flag = (probe.flags or {}).get(name)
    if flag is not None and value is not None and value.requires_grad is not flag:
        yield f"{name} has requires_grad={value.requires_grad}, not {flag}"


def _of_observation(name: str, place: int, seen: Observation, wanted: Any) -> Iterator[str]:
    match wanted:
        case Blocked():
            if seen != wanted:
                yield f"{name} is {seen!r}, not {wanted!r}"
        case type():
            if not isinstance(seen, Raised) or not seen.message:
                yield f"{name} is {seen!r}, not {wanted.__name__} with the engine's message"
            elif seen.category not in {Category.UNMAPPED, Category.OP_SHAPE}:
                yield f"that the shapes of an op do not fit has the category {seen.category!r}"
        case _ if not isinstance(seen, Computed):
            yield f"{name} is {seen!r}, not computed"
        case _:
            yield from _of_value(name, seen.values[place], wanted)


def _of_value(name: str, value: Value | None, wanted: Any) -> Iterator[str]:
    if wanted is None or value is None:
        if value is not wanted:
            yield f"{name} is {'absent' if value is None else value.array.tolist()}, not {'absent' if wanted is None else wanted}"
        return
    array = wanted if isinstance(wanted, np.ndarray) else np.array(wanted, np.float32)
    if (value.array.shape, value.array.dtype) != (array.shape, array.dtype):
        yield f"{name} is a {value.array.dtype} of {value.array.shape}, not a {array.dtype} of {array.shape}"
    elif not np.array_equal(value.array, array, equal_nan=True):
        yield f"{name} is {value.array.tolist()}, not {array.tolist()}"


def _of_accumulation(backend: Backend, case: Case, wanted: Sequence[Any]) -> Iterator[str]:
    outcome, problems = _run(backend, case)
    yield from problems
    if outcome is None or problems:
        return
    states = [seen.state for seen in outcome.observations if isinstance(seen, Computed) and seen.state]
    for state, elements in zip(states, wanted, strict=False):
        yield from _of_value("x.grad", state[0], elements)


def _of_categories(backend: Backend) -> Iterator[str]:
    """Ask the engine's adapter, where the backend is made of one; the backend of somebody else's making need not have any."""
    category: Any = getattr(getattr(backend, "engine", None), "category", None)
    for kind in () if category is None else (RuntimeError, ValueError, TypeError, OSError):
        if (given := category(kind(UNHEARD))) is not Category.UNMAPPED:
            yield f"{kind.__name__}({UNHEARD!r}) has the category {given!r}"


def _run(backend: Backend, case: Case) -> tuple[Outcome | None, list[str]]:
    """Run a case twice; return the first answer, and what no answer may be."""
    text = encode(case)
    answers = []
    for _ in range(2):
        given = decode(text)  # a copy, so that an adapter that changes it spoils no other probe
        try:
            answers.append(backend.run(given))
        except Exception as error:  # noqa: BLE001 - this is the question
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}, line {last.lineno}"
            return None, [f"run raises {type(error).__name__}: {error} ({place}); an adapter turns it into an observation, or mends it"]
        if encode(given) != text:
            return None, ["run changes the case that it is given"]
        problems = list(_of_outcome(backend.info, case, answers[-1]))
        if problems:
            return answers[-1], problems
    first, second = map(_plain, answers)
    return answers[0], [] if first == second else [f"the same case gives {first} and then {second}: something is left behind"]


def _of_outcome(info: BackendInfo, case: Case, outcome: Any) -> Iterator[str]:
    if not isinstance(outcome, Outcome):
        yield f"run returns a {type(outcome).__name__}, not an Outcome"
        return
    if len(outcome.observations) != len(case.steps):
        yield f"{len(outcome.observations)} observations of {len(case.steps)} steps"
        return
    if len(outcome.final) != len(case.watched):
        yield f"the final .grad of {len(outcome.final)} values, of {len(case.watched)} that are watched"
    if outcome.mutated:
        yield f"changes {', '.join(outcome.mutated)}, though no step does"
    observations: list[Any] = outcome.observations
    for number, (step, seen, needs) in enumerate(zip(case.steps, observations, case.needs, strict=True)):
        refusal = info.refusal(needs)
        if not isinstance(seen, Observation):
            yield f"step {number} is a {type(seen).__name__}, no observation"
        elif (NotOffered(refusal) if refusal is not None else None) != (seen if isinstance(seen, NotOffered) else None):
            yield f"step {number} is {seen!r}; info says that it is {'offered' if refusal is None else f'not: {refusal}'}"
        elif isinstance(seen, Computed):
            yield from _of_computed(number, step, seen)


def _of_computed(number: int, step: Step, seen: Computed) -> Iterator[str]:
    if not isinstance(step, NO_VALUE) and len(seen.values) != len(results(step)):
        yield f"step {number} has {len(seen.values)} values for {len(results(step))} results"
    shown: list[Any] = [*seen.values, *(seen.state or ())]
    for value in (value for value in shown if value is not None):
        if not isinstance(value, Value) or not isinstance(value.array, np.ndarray):
            yield f"step {number} shows a {type(value).__name__}, not a Value with an array of NumPy"
        elif value.unreadable:
            yield f"step {number} shows a tensor that cannot be looked at ({value.unreadable})"


def _plain(outcome: Outcome) -> list[Any]:
    """Write down what can be compared; the words of messages may differ from run to run."""
    observations = [
        [type(seen).__name__, *(_state(seen.values) if isinstance(seen, Computed) else ())] for seen in outcome.observations
    ]
    return [*observations, _state(outcome.final)]


def _state(values: State) -> list[Any]:
    return [None if v is None else (str(v.array.dtype), str(v.array.tolist()), v.requires_grad) for v in values]

"""The interpreter of the case language for static programs: build first, run once, then say what was seen.

`Programs` writes the steps of a case into a fresh program. A refusal while building is an observation like any other. The program is
run once, everything that was made is fetched, and the elements are filled in. If the run is refused, the first step with which it is
refused is found by running ever longer parts, counts as refused, and is left out. A program has no ``.grad``: the state is absent.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from conformance.case.outcome import Blocked, Computed, Event, NotOffered, Observation, Outcome, Raised, Value
from conformance.case.steps import AppendBackward, Detach, Grad, Op, SetRequiresGrad, observed
from reference_impl import Category

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from conformance.backends import BackendInfo
    from conformance.backends.interpreter import Values
    from conformance.case.case import Case, Input
    from conformance.case.steps import Step


TRIES = 12
"""How often a program is run that is refused as a whole, while none of its parts is: an engine need not be steady.

A program that fails in every other run is refused as a whole, and then in none of its parts, in at most a quarter of the rounds.
"""


@dataclass(frozen=True)
class Regression:
    """A small training: ``x`` of ``(n, k)``, ``y`` of ``(n, 1)``; at first, ``weight`` of ``(k, 1)``, ``bias`` of ``(1,)``; float32."""

    x: np.ndarray[Any, Any]
    y: np.ndarray[Any, Any]
    weight: np.ndarray[Any, Any]
    bias: np.ndarray[Any, Any]
    learning_rate: float
    runs: int


EngineVariable: TypeAlias = Any
"""A variable of a program of the engine, which has no type of ours."""

Called = list[list[str]]
"""For each call of a callback, the names of the variables whose gradients the new operator takes."""


class ProgramEngine(Protocol):
    """What `Programs` asks of an engine. Variables are the engine's own objects."""

    def program(self) -> AbstractContextManager[Any]:
        """Open a fresh program, into which everything goes until it is closed."""

    def leaf(self, entry: Input, *, parameter: bool) -> EngineVariable:
        """Make an input: a variable that is fed, or a parameter with the input's elements."""

    def apply(self, step: Op, operands: list[EngineVariable]) -> tuple[EngineVariable, ...]:
        """Append an op and return the variables of its results."""

    def gradients(self, step: Grad, values: Values) -> list[EngineVariable | None]:
        """Append gradients; a variable or ``None`` for each input."""

    def append_backward(self, step: AppendBackward, values: Values) -> tuple[list[tuple[EngineVariable, Any]], Called]:
        """Append the backward part; pairs of parameter and gradient (or ``None``), and the calls of the callback."""

    def minimize(self, task: Regression) -> EngineVariable:
        """Append a regression of the data ``x`` and ``y``, and what an optimizer does for it; the variable of the loss."""

    def append_backward_to(self, loss: object) -> None:
        """Append the backward part of whatever this is."""

    def detach(self, variable: EngineVariable) -> EngineVariable:
        """Append a copy that nothing flows through."""

    def set_flow(self, variable: EngineVariable, *, flows: bool) -> None:
        """Have gradients flow to the variable from now on, or no more."""

    def no_grad(self) -> AbstractContextManager[Any]:
        """Open a region whose results stop gradients."""

    def name(self, variable: EngineVariable) -> str:
        """Return the engine's own name of a variable."""

    def flows(self, variable: EngineVariable) -> bool:
        """Whether gradients flow to the variable."""

    def start(self) -> None:
        """Give the parameters their first values, before the first run."""

    def run(self, feed: dict[str, np.ndarray[Any, Any]], fetch: list[EngineVariable]) -> list[np.ndarray[Any, Any]]:
        """Run the program once and return copies of the elements."""

    def category(self, error: Exception) -> Category:
        """Map an exception to a category; ``UNMAPPED`` if nobody did."""


class Programs:
    """A `Backend` made of an engine of programs and its facts."""

    def __init__(self, info: BackendInfo, engine: ProgramEngine) -> None:
        self.info = info
        self.engine = engine

    def run(self, case: Case) -> Outcome:
        """Build the program, run it and observe every step."""
        refused: dict[int, Raised] = {}
        unsteady = 0
        while unsteady < TRIES:
            try:
                return self._attempt(case, len(case.steps), refused)
            except _RunError:
                found = self._culprit(case, refused)
                if found is None:
                    unsteady += 1
                else:
                    refused.update([found])
        msg = f"a program is refused as a whole, but none of its parts is, {TRIES} times"
        raise RuntimeError(msg)

    def bare_seconds(self, case: Case) -> float:
        """Return how long a run takes: of a program nothing is observed but what it fetches anyway."""
        started = perf_counter()
        self.run(case)
        return perf_counter() - started

    def train(self, task: Regression) -> list[float]:
        """Train by the optimizer's ``minimize``; the loss of every run, before its update."""
        with self.engine.program():
            loss = self.engine.minimize(task)
            self.engine.start()
            return [float(self.engine.run({"x": task.x, "y": task.y}, [loss])[0]) for _ in range(task.runs)]

    def refusal_of_loss(self, loss: object) -> str:
        """Have a backward part appended to what is no variable; the type of the error, or ``nothing``."""
        with self.engine.program():
            try:
                self.engine.append_backward_to(loss)
            except Exception as error:  # noqa: BLE001 - which one it is, is the answer
                return type(error).__name__
        return "nothing"

    def _attempt(self, case: Case, count: int, refused: dict[int, Raised]) -> Outcome:
        with self.engine.program():
            draft = _Draft(case, self.info, self.engine, refused)
            for number, step in enumerate(case.steps[:count]):
                draft.add(number, step)
            return draft.outcome()

    def _culprit(self, case: Case, refused: dict[int, Raised]) -> tuple[int, Raised] | None:
        """Return the first step with which the program is refused, and why; ``None`` if it is not refused any more."""
        for number in range(len(case.steps)):
            if number not in refused:
                try:
                    self._attempt(case, number + 1, refused)
                except _RunError as error:
                    return number, error.reason
        return None


class _RunError(Exception):
    """The engine refused to run the program."""

    def __init__(self, reason: Raised) -> None:
        super().__init__(reason.message)
        self.reason = reason


class _Draft:
    """One program in the making: the variables by name, and what is to be said of each step."""

    def __init__(self, case: Case, info: BackendInfo, engine: ProgramEngine, refused: dict[int, Raised]) -> None:
        self.case = case
        self.info = info
        self.engine = engine
        self.refused = refused
        self.taken = info.taken(case.inputs)
        self.values: Values = {e.name: engine.leaf(e, parameter=e.name in case.parameters) for e in self.taken}
        self.inputs = dict(self.values)
        self.makers: dict[str, str] = {}
        self.former_flags: dict[str, list[tuple[int, bool]]] = {}
        self.steps: list[Observation | tuple[list[Any], tuple[Event, ...]]] = []

    def add(self, number: int, step: Step) -> None:
        """Write one step into the program."""
        refusal = self.info.refusal(self.case.needs[number])
        if refusal is None and isinstance(step, Grad) and not step.only_inputs:
            refusal = "gradients of a program has no only_inputs"
        missing = [name for name in self.case.names_used[number] if self.values.get(name) is None]
        if refusal is not None:
            self.steps.append(NotOffered(refusal))
        elif missing:
            self.steps.append(Blocked(missing[0]))
        elif number in self.refused:
            self.steps.append(self.refused[number])
        else:
            self.steps.append(self._tried(step))

    def _tried(self, step: Step) -> Observation | tuple[list[Any], tuple[Event, ...]]:
        events: tuple[Event, ...] = ()
        try:
            with self.engine.no_grad() if getattr(step, "no_grad", False) else nullcontext():
                match step:
                    case Op():
                        made = list(self.engine.apply(step, [self.values[n] for n in step.operands]))
                    case Grad():
                        made = self.engine.gradients(step, self.values)
                    case AppendBackward():
                        made, events = self._append_backward(step)
                    case Detach():
                        made = [self.engine.detach(self.values[step.tensor])]
                    case SetRequiresGrad():
                        made = [self.values[step.tensor]]
                        self._set_flow(made[0], len(self.steps), flows=step.requires_grad)
                    case _:
                        return NotOffered("programs have no such step")
        except Exception as error:  # noqa: BLE001 - whatever an engine raises is an observation
            return self._raised(error)
        names = observed(step)
        if len(made) != len(names):
            return Raised(Category.UNMAPPED, f"{len(made)} results were returned for {len(names)} that were asked for")
        self.values.update(zip(names, made, strict=True))
        for variable in made:
            if variable is not None:
                self.makers.setdefault(self.engine.name(variable), names[0])
        return made, events

    def _set_flow(self, variable: EngineVariable, number: int, *, flows: bool) -> None:
        """Set a flag, and remember which one all steps before this one saw.

        All others are read when the program has run: an engine may return a variable that dies when it is looked at.
        """
        self.former_flags.setdefault(self.engine.name(variable), []).append((number, self.engine.flows(variable)))
        self.engine.set_flow(variable, flows=flows)

    def _flag(self, variable: EngineVariable, number: int) -> bool:
        """Return the flag that a variable had when a step was written: a later step may have set another one."""
        former = self.former_flags.get(self.engine.name(variable), [])
        return next((flag for later, flag in former if number < later), self.engine.flows(variable))

    def _append_backward(self, step: AppendBackward) -> tuple[list[Any], tuple[Event, ...]]:
        pairs, calls = self.engine.append_backward(step, self.values)
        found = {self.engine.name(parameter): gradient for parameter, gradient in pairs}
        wanted = self.case.parameters if step.parameter_list is None else step.parameter_list
        made = [found.get(self.engine.name(self.values[n])) for n in wanted]
        makers = [next((self.makers[n] for n in names if n in self.makers), None) for names in calls]
        return made, tuple(Event(name) for name in makers if name is not None)

    def _raised(self, error: Exception) -> Raised:
        return Raised(self.engine.category(error), f"{type(error).__name__}: {error}"[:2000])

    def outcome(self) -> Outcome:
        """Run the program and fill in what was seen.

        Raises:
            _RunError: if it is refused.
        """
        made = [v for step in self.steps if isinstance(step, tuple) for v in step[0] if v is not None]
        feed = {e.name: e.array() for e in self.taken if e.name not in self.case.parameters}
        try:
            self.engine.start()
            arrays = self.engine.run(feed, [*self.inputs.values(), *made])
        except Exception as error:
            raise _RunError(self._raised(error)) from error
        before = [feed.get(e.name) for e in self.taken]
        changed = [
            entry.name
            for entry, fed, seen in zip(self.taken, before, arrays, strict=False)
            if any(a is not None and not _same(a, entry.array()) for a in (fed, None if fed is None else seen))
        ]
        elements = iter(arrays[len(self.inputs) :])
        observations: list[Observation] = []
        for number, step in enumerate(self.steps):
            if isinstance(step, tuple):
                seen = [None if v is None else Value(next(elements), self._flag(v, number)) for v in step[0]]
                observations.append(Computed(tuple(seen), None, step[1]))
            else:
                observations.append(step)
        return Outcome(observations, (None,) * len(self.case.watched), tuple(changed))


def _same(after: np.ndarray[Any, Any], before: np.ndarray[Any, Any]) -> bool:
    return after.shape == before.shape and np.array_equal(after.astype(before.dtype), before, equal_nan=True)

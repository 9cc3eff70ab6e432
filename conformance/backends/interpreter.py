"""The interpreter of the case language, over a small engine adapter.

`Interpreter` walks the steps, keeps the values by name, and turns whatever the engine does into an observation. What differs
between engines is in the `Engine` that it is given: how to make a leaf, apply an op, call `backward` and `grad`, look at a tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from conformance.case import Backward, Case, ClearGrad, Detach, Grad, Op, Step, uses
from conformance.outcome import Blocked, Computed, NotOffered, Observation, Outcome, Raised, State, Value

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import numpy as np

    from conformance.backends import BackendInfo
    from conformance.case import Input
    from reference_impl import Category

type_of_values = dict[str, Any]


class Engine(Protocol):
    """What the interpreter asks of an engine. Tensors are the engine's own objects."""

    def leaf(self, entry: Input) -> Any:
        """Make an input; the array is copied."""

    def apply(self, step: Op, operands: list[Any]) -> tuple[Any, ...]:
        """Apply an op and return all its results."""

    def backward(self, step: Backward, values: type_of_values) -> None:
        """Call the engine's ``backward`` with the parameters that the step passes."""

    def grad(self, step: Grad, values: type_of_values) -> list[Any]:
        """Call the engine's ``grad`` and return a tensor or ``None`` for each input."""

    def clear_grad(self, tensor: Any, to: str) -> None:
        """Make ``.grad`` absent or zero."""

    def detach(self, tensor: Any) -> Any:
        """Return the elements without history."""

    def grad_of(self, tensor: Any) -> Any:
        """Return ``.grad``."""

    def look(self, tensor: Any) -> Value:
        """Copy a tensor's elements and flags out."""

    def no_grad(self) -> AbstractContextManager[Any]:
        """Open a region where nothing is recorded."""

    def category(self, error: Exception) -> Category:
        """Map an exception to a category; ``UNMAPPED`` if nobody did."""


class Interpreter:
    """A `Backend` made of an engine adapter and its facts."""

    def __init__(self, info: BackendInfo, engine: Engine) -> None:
        self.info = info
        self.engine = engine

    def run(self, case: Case) -> Outcome:
        """Run every step and observe it."""
        engine = self.engine
        originals = {entry.name: entry.array() for entry in case.inputs}
        values = {entry.name: engine.leaf(entry) for entry in case.inputs}
        observations = [self._observe(step, values, case.watched) for step in case.steps]
        mutated = tuple(n for n, array in originals.items() if _changed(engine.look(values[n]).array, array))
        return Outcome(observations, self._state(values, case.watched), mutated)

    def _observe(self, step: Step, values: type_of_values, watched: tuple[str, ...]) -> Observation:
        refusal = self.info.refusal(step)
        if refusal is not None:
            return NotOffered(refusal)
        for _, name in uses(step):
            if values.get(name) is None:
                return Blocked(name)
        changes_state = isinstance(step, Backward | ClearGrad)
        try:
            if getattr(step, "no_grad", False):
                with self.engine.no_grad():
                    made = self._perform(step, values)
            else:
                made = self._perform(step, values)
        except Exception as error:  # noqa: BLE001 - whatever an engine raises is an observation
            state = self._state(values, watched) if changes_state else None
            return Raised(self.engine.category(error), f"{type(error).__name__}: {error}"[:2000], state)
        look = self.engine.look
        seen = tuple(None if tensor is None else look(tensor) for tensor in made)
        return Computed(seen, self._state(values, watched) if changes_state else None)

    def _perform(self, step: Step, values: type_of_values) -> tuple[Any, ...]:
        engine = self.engine
        made: tuple[Any, ...]
        match step:
            case Op():
                made = engine.apply(step, [values[n] for n in step.operands])
            case Grad():
                made = tuple(engine.grad(step, values))
            case Backward():
                engine.backward(step, values)
                return ()
            case ClearGrad():
                engine.clear_grad(values[step.tensor], step.to)
                return ()
            case Detach():
                made = (engine.detach(values[step.tensor]),)
        values.update(zip(step.results, made, strict=True))
        return made

    def _state(self, values: type_of_values, watched: tuple[str, ...]) -> State:
        engine = self.engine
        state = []
        for name in watched:
            tensor = values.get(name)
            held = None if tensor is None else engine.grad_of(tensor)
            state.append(None if held is None else engine.look(held))
        return tuple(state)


def _changed(after: np.ndarray[Any, Any], before: np.ndarray[Any, Any]) -> bool:
    return after.shape != before.shape or after.tobytes() != before.tobytes()


def pick(values: type_of_values, names: tuple[str | None, ...] | None) -> list[Any] | None:
    """Look up a list of names that may hold ``None`` or be ``None``."""
    return None if names is None else [None if n is None else values[n] for n in names]

"""The interpreter of the case language, over a small engine adapter.

`Interpreter` walks the steps, keeps the values by name, and turns whatever the engine does into an observation. What differs
between engines is in the `Engine` that it is given: how to make a leaf, apply an op, call `backward` and `grad`, look at a tensor.
What a hook or a custom function does is written in the case, so it is run here, with the engine's own ops.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from conformance.backends.dumped import events_of, folder
from conformance.backends.methods import demand
from conformance.case import steps
from conformance.case.outcome import Blocked, Computed, Event, NotOffered, Observation, Outcome, Raised, State, Value

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from conformance.backends import BackendInfo
    from conformance.case.case import Case, Input
    from reference_impl import Category

EngineTensor: TypeAlias = Any
"""A tensor of the engine, which has no type of ours."""

Values: TypeAlias = dict[str, EngineTensor]
"""What a script knows by name so far: tensors, handles of hooks, edges; ``None`` where a result is absent."""

Forward: TypeAlias = "Callable[[list[EngineTensor]], tuple[list[EngineTensor], list[EngineTensor]]]"
Pullback: TypeAlias = "Callable[[list[EngineTensor], list[EngineTensor]], list[EngineTensor]]"


class CallbackError(Exception):
    """What a hook raises that is meant to raise, and what is raised by an op of a custom backward."""


class Engine(Protocol):
    """What the interpreter asks of an engine. Tensors are the engine's own objects."""

    def leaf(self, entry: Input) -> EngineTensor:
        """Make an input; the array is copied."""

    def apply(self, step: steps.Op, operands: list[EngineTensor]) -> tuple[EngineTensor, ...]:
        """Apply an op and return all its results."""

    def in_place(self, step: steps.InPlace, tensor: EngineTensor, operands: list[EngineTensor]) -> None:
        """Apply the in-place form of an op to a tensor."""

    def custom(self, forward: Forward, backward: Pullback, operands: list[EngineTensor]) -> tuple[EngineTensor, ...]:
        """Apply a custom function and return its outputs.

        ``forward(operands)`` returns the outputs and what is saved; ``backward(saved, cotangents)`` the gradients.
        """

    def backward(self, step: steps.Backward, values: Values, dump: str | None) -> Any:
        """Call the engine's ``backward`` with the parameters that the step passes and return what it returns.

        ``dump``: the folder for debugging files.
        """

    def grad(self, step: steps.Grad, values: Values) -> list[EngineTensor]:
        """Call the engine's ``grad`` and return a tensor or ``None`` for each input."""

    def clear_grad(self, tensor: EngineTensor, to: str) -> None:
        """Make ``.grad`` absent or zero."""

    def detach(self, tensor: EngineTensor) -> EngineTensor:
        """Return the elements without history."""

    def retain_grad(self, tensor: EngineTensor) -> None:
        """Ask a computed tensor to keep its ``.grad``."""

    def toggle(self, tensor: EngineTensor, requires_grad: bool) -> None:
        """Set whether a tensor requires a gradient."""

    def hook(self, tensor: EngineTensor, function: Callable[[EngineTensor], EngineTensor]) -> Any:
        """Register a hook and return its handle."""

    def remove_hook(self, handle: Any) -> None:
        """Remove a hook by its handle."""

    def edge(self, tensor: EngineTensor) -> Any:
        """Return the gradient edge of a tensor."""

    def recording(self) -> bool:
        """Whether ops are being recorded."""

    def grad_of(self, tensor: EngineTensor) -> EngineTensor | None:
        """Return ``.grad``."""

    def look(self, tensor: EngineTensor) -> Value:
        """Copy a tensor's elements and flags out."""

    def no_grad(self) -> AbstractContextManager[Any]:
        """Open a region where nothing is recorded."""

    def category(self, error: Exception) -> Category:
        """Map an exception to a category; ``UNMAPPED`` if nobody did."""


UNSEEN = Value(np.zeros(0), False)
"""What stands for a tensor where nobody looks."""


class Interpreter:
    """A `Backend` made of an engine adapter and its facts."""

    def __init__(self, info: BackendInfo, engine: Engine) -> None:
        demand(engine, info.not_offered)
        self.info = info
        self.engine = engine

    def run(self, case: Case) -> Outcome:
        """Run every step and observe it."""
        return _Run(case, self.info, self.engine).outcome()

    def bare_seconds(self, case: Case) -> float:
        """Run every step with nobody looking, and return how long the engine took: what a run of the case costs without this suite."""
        return _Run(case, self.info, self.engine, looks=False).seconds()


class _Run:
    """One case on one engine: the values by name, and what was last seen of those that nothing may change."""

    def __init__(self, case: Case, info: BackendInfo, engine: Engine, *, looks: bool = True) -> None:
        self.case = case
        self.info = info
        self.looks = looks
        self.engine = engine
        self.values: Values = {entry.name: engine.leaf(entry) for entry in info.taken(case.inputs)}
        self.seen = {entry.name: entry.elements for entry in case.inputs if entry.name in self.values}
        self.sees_all = steps.InPlace in case.kinds or bool(case.computed_seeds)
        self.watched = info.watched(case)
        retained = (steps.Grad,) if steps.RetainGrad in case.kinds else ()
        self.changing = (steps.Backward, steps.ClearGrad, *retained)  # the kinds that may change a ``.grad``
        self.events: list[Event] = []
        self.mutated: dict[str, Value] = {}

    def outcome(self) -> Outcome:
        case = self.case
        observations = [self._observe(*found) for found in zip(case.steps, case.needs, case.names_used, strict=True)]
        state, mutated = self._state(), self.mutated | dict(self._changed())
        return Outcome(observations, state, tuple(mutated), tuple(mutated.values()))

    def seconds(self) -> float:
        started = perf_counter()
        for step, needs, names in zip(self.case.steps, self.case.needs, self.case.names_used, strict=True):
            if self.info.refusal(needs) is None and all(self.values.get(name) is not None for name in names):
                with suppress(Exception):
                    self._perform(step)
        return perf_counter() - started

    def _observe(self, step: steps.Step, needs: tuple[str, ...], names: tuple[str, ...]) -> Observation:
        refusal = self.info.refusal(needs)
        if refusal is not None:
            return NotOffered(refusal)
        for name in names:
            if self.values.get(name) is None:
                return Blocked(name)
        kind = type(step)
        changes = kind in self.changing
        self.events = []
        if self.sees_all and kind in (steps.InPlace, steps.Drop):
            self._note_mutated()
        try:
            made = self._perform(step)
        except Exception as error:  # noqa: BLE001 - whatever an engine raises is an observation
            if kind is steps.InPlace:
                self._note_in_place(None)  # what it changed although it was refused
            state = self._state() if changes else None
            category = self.engine.category(error)
            return Raised(category, f"{type(error).__name__}: {error}"[:2000], state, tuple(self.events))
        seen = tuple([None if tensor is None else self._look(tensor) for tensor in made])
        if isinstance(step, steps.InPlace):
            self._note_in_place(step.tensor)
        elif self.sees_all or kind is steps.Grad:
            self.seen.update((n, v.array) for n, v in zip(getattr(step, "results", ()), seen, strict=False) if v is not None)
        return Computed(seen, self._state() if changes else None, tuple(self.events))

    def _note_mutated(self) -> None:
        """Note what changed although no step may change it. Looked for before a step that may, while that can still be told."""
        for name, value in self._changed():
            self.seen[name] = value.array
            self.mutated[name] = value

    def _note_in_place(self, target: str | None) -> None:
        """Keep what an in-place step changed; besides its target, that is an event."""
        for name, value in self._changed():
            self.seen[name] = value.array
            if name != target:
                self.events.append(Event(name, value))

    def _perform(self, step: steps.Step) -> tuple[EngineTensor, ...]:
        if getattr(step, "no_grad", False):
            with self.engine.no_grad():
                return self._made(step)
        return self._made(step)

    def _made(self, step: steps.Step) -> tuple[EngineTensor, ...]:
        engine, values = self.engine, self.values
        made: tuple[EngineTensor, ...]
        match step:
            case steps.Op():
                made = engine.apply(step, [values[n] for n in step.operands])
            case steps.Grad():
                made = tuple(engine.grad(step, values))
            case steps.Backward():
                self._backward(step)
                return ()
            case steps.InPlace():
                engine.in_place(step, values[step.tensor], [values[n] for n in step.operands])
                return (values[step.tensor],)
            case steps.Custom():
                made = engine.custom(*self._functions(step), [values[n] for n in step.operands])
            case steps.ClearGrad():
                engine.clear_grad(values[step.tensor], step.to)
                return ()
            case steps.Detach():
                made = (engine.detach(values[step.tensor]),)
            case steps.RetainGrad():
                engine.retain_grad(values[step.tensor])
                return ()
            case steps.SetRequiresGrad():
                engine.toggle(values[step.tensor], step.requires_grad)
                return (values[step.tensor],)
            case steps.Hook():
                values[step.results[0]] = engine.hook(values[step.tensor], self._hook(step))
                return ()
            case steps.RemoveHook():
                engine.remove_hook(values[step.hook])
                return ()
            case steps.Edge():
                values[step.results[0]] = engine.edge(values[step.tensor])
                return ()
            case steps.Drop():
                self._drop(step.tensor)
                return ()
        values.update(zip(step.results, made, strict=True))
        return made

    def _backward(self, step: steps.Backward) -> None:
        if step.dump_backward_graph:
            with folder() as written:
                returned = self.engine.backward(step, self.values, str(written))
                self.events += events_of(written, ends=not any(getattr(s, "create_graph", False) for s in self.case.steps))
        else:
            returned = self.engine.backward(step, self.values, None)
        if returned is not None:
            self.events.append(Event("returned something"))

    def _drop(self, name: str) -> None:
        self.seen.pop(name, None)
        dropped = weakref.ref(self.values.pop(name))
        if dropped() is not None:
            self.events.append(Event(f"{name} lives on"))

    def _hook(self, step: steps.Hook) -> Callable[[EngineTensor], EngineTensor]:
        engine, name = self.engine, step.results[0]

        def called(g: EngineTensor) -> EngineTensor:
            self.events.append(Event(name, None if g is None else self._look(g), engine.recording()))
            match step.returns:
                case "error":
                    raise CallbackError(name)
                case "tensor":
                    return self.values[step.tensor_returned or ""]
                case "scaled" if g is not None:
                    return engine.apply(steps.Op("mul_scalar", (), (), {"other": step.factor}), [g])[0]
                case "another_dtype" if g is not None:
                    dtype = "float64" if engine.look(g).array.dtype == "float32" else "float32"
                    return engine.apply(steps.Op("cast", (), (), {"dtype": dtype}), [g])[0]
                case _:
                    return None

        return called

    def _functions(self, step: steps.Custom) -> tuple[Forward, Pullback]:
        def apply(ops: tuple[steps.Op, ...], known: Values) -> None:
            for op in ops:
                known.update(zip(op.results, self.engine.apply(op, [known[n] for n in op.operands]), strict=True))

        def forward(operands: list[EngineTensor]) -> tuple[list[EngineTensor], list[EngineTensor]]:
            known = dict(zip(step.operands, operands, strict=True))
            apply(step.forward, known)
            return [known[n] for n in step.outputs], [known[n] for n in step.saved]

        def backward(saved: list[EngineTensor], cotangents: list[EngineTensor]) -> list[EngineTensor]:
            for name, cotangent in zip(step.results, cotangents, strict=True):
                seen = replace(self._look(cotangent), requires_grad=False)  # nobody promises the flag of a cotangent
                self.events.append(Event(name, seen, self.engine.recording()))
            known = dict(zip((*step.saved, *step.cotangents), (*saved, *cotangents), strict=True))
            try:
                apply(step.backward, known)
            except Exception as error:
                msg = f"{type(error).__name__}: {error}"
                raise CallbackError(msg) from error
            return [None if n is None else known[n] for n in step.gradients]

        return forward, backward

    def _changed(self) -> list[tuple[str, Value]]:
        now = [(name, self._look(self.values[name]), array) for name, array in self.seen.items()]
        return [(name, value) for name, value, array in now if _differs(value.array, array)]

    def _look(self, tensor: EngineTensor) -> Value:
        """Look at a tensor; one that the engine hands out but will not show is an observation, too."""
        if not self.looks:
            return UNSEEN
        try:
            return self.engine.look(tensor)
        except Exception as error:  # noqa: BLE001 - see above
            return Value(np.zeros(0), False, f"{type(error).__name__}: {error}"[:200])

    def _state(self) -> State:
        engine = self.engine
        tensors = [self.values.get(name) for name in self.watched]
        held = [None if tensor is None else engine.grad_of(tensor) for tensor in tensors]
        return tuple([None if tensor is None else self._look(tensor) for tensor in held])


def _differs(after: np.ndarray[Any, Any], before: np.ndarray[Any, Any]) -> bool:
    """Whether elements changed; the sign of a zero counts no more here than where values are compared."""
    same = after is before or (after.shape == before.shape and after.tobytes() == before.tobytes())
    return not same and not np.array_equal(after, before, equal_nan=True)


def pick(values: Values, names: tuple[str | None, ...] | None, form: steps.Form | None = None) -> Any:
    """Look up a list of names that may hold ``None`` or be ``None``, and hand it over in a form."""
    if names is None:
        return None
    found = [None if n is None else values[n] for n in names]
    match form:
        case "bare":
            return found[0]
        case "tuple":
            return tuple(found)
        case "set":
            return set(found)
        case "iterator":
            return iter(found)
        case _:
            return found

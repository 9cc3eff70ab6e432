"""The carrier: an engine that does what another one does, and is asked at every moment whether it has a fault there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.mutants.conditional.moment import Moment, Past, Script

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from conformance.backends.interpreter import Engine, EngineTensor, Forward, Pullback, Values
    from conformance.case.case import Case, Input
    from conformance.case.outcome import Value
    from conformance.case.steps import Backward, Grad, InPlace, Op
    from reference_impl import Category


class Carrier:
    """`Engine` around another one. Ops inside custom functions and hooks are the engine's own, and no part of the script.

    ``answers``: what answers at a moment; it is given the engine's own method as well, which needs no arguments but those it changes.
    """

    def __init__(self, engine: Engine, answers: Callable[[Moment, Callable[..., Any]], Any]) -> None:
        self.engine = engine
        self.answers = answers
        self.process = Past()

    def begin(self, case: Case) -> None:
        """Begin with a script."""
        self.script = Script(case)
        self.past = Past()
        self.names: dict[int, str] = {}

    def _asked(self, part: str, right: Callable[..., Any], **known: Any) -> Any:
        at = Moment(part, self.engine, self.script, self.past, self.process, **known)
        try:
            return self.answers(at, right)
        except Exception:
            self.past.refused += 1
            self.process.refused += 1
            raise
        finally:
            for past in (self.past, self.process):
                past.asked[part] += 1

    def _of_tensor(self, part: str, right: Callable[..., Any], tensor: EngineTensor, *more: Any) -> Any:
        names = (self.names.get(id(tensor), ""),)
        return self._asked(part, lambda *given: right(*(given or (tensor, *more))), given=(tensor,), names=names, more=more)

    def leaf(self, entry: Input) -> EngineTensor:
        """Make an input."""
        made = self.engine.leaf(entry)
        self.names[id(made)] = entry.name
        return made

    def apply(self, step: Op, operands: list[EngineTensor]) -> tuple[EngineTensor, ...]:
        """Apply an op."""
        if id(step) not in self.script.numbers:
            return self.engine.apply(step, operands)
        right = self.engine.apply
        made: tuple[EngineTensor, ...] = self._asked(
            step.op, lambda: right(step, operands), step=step, given=tuple(operands), names=step.operands
        )
        self._note(step.results, made)
        for past in (self.past, self.process):
            past.applied[step.op] += 1
        return made

    def in_place(self, step: InPlace, tensor: EngineTensor, operands: list[EngineTensor]) -> None:
        """Change a tensor."""
        self._asked(
            "in_place",
            lambda: self.engine.in_place(step, tensor, operands),
            step=step,
            given=(tensor, *operands),
            names=(step.tensor, *step.operands),
        )

    def custom(self, forward: Forward, backward: Pullback, operands: list[EngineTensor]) -> tuple[EngineTensor, ...]:
        """Apply a custom function."""

        def right(pulled: Pullback = backward) -> tuple[EngineTensor, ...]:
            return self.engine.custom(forward, pulled, operands)

        names = tuple(self.names.get(id(tensor), "") for tensor in operands)
        made: tuple[EngineTensor, ...] = self._asked("custom", right, given=tuple(operands), names=names, more=(backward,))
        return made

    def backward(self, step: Backward, values: Values, dump: str | None) -> Any:
        """Call backward."""

        def right(asked: Backward = step, given: Values = values) -> Any:
            return self.engine.backward(asked, given, dump)

        returned = self._asked("backward", right, step=step, values=values)
        self._passed(step)
        return returned

    def grad(self, step: Grad, values: Values) -> list[EngineTensor]:
        """Call grad."""

        def right(asked: Grad = step, given: Values = values) -> list[EngineTensor]:
            return self.engine.grad(asked, given)

        found: list[EngineTensor] = self._asked("grad", right, step=step, values=values)
        self._passed(step)
        self._note(step.results, found)
        self.past.found = found
        return found

    def _note(self, names: tuple[str, ...], tensors: Any) -> None:
        self.names.update((id(tensor), name) for name, tensor in zip(names, tensors, strict=False))

    def _passed(self, step: Grad | Backward) -> None:
        self.past.passes[step.roots] += 1
        self.past.graphs += step.create_graph

    def clear_grad(self, tensor: EngineTensor, to: str) -> None:
        """Clear a gradient."""
        self._of_tensor("clear_grad", self.engine.clear_grad, tensor, to)

    def detach(self, tensor: EngineTensor) -> EngineTensor:
        """Return the elements without history."""
        return self._of_tensor("detach", self.engine.detach, tensor)

    def retain_grad(self, tensor: EngineTensor) -> None:
        """Ask a tensor to keep its gradient."""
        self._of_tensor("retain_grad", self.engine.retain_grad, tensor)

    def toggle(self, tensor: EngineTensor, requires_grad: bool) -> None:
        """Set whether a tensor requires a gradient."""
        self._of_tensor("toggle", self.engine.toggle, tensor, requires_grad)

    def hook(self, tensor: EngineTensor, function: Callable[[EngineTensor], EngineTensor]) -> Any:
        """Register a hook."""
        handle = self._of_tensor("hook", self.engine.hook, tensor, function)
        self.past.handles.append(handle)
        return handle

    def remove_hook(self, handle: Any) -> None:
        """Remove a hook."""
        self._asked("remove_hook", lambda: self.engine.remove_hook(handle), more=(handle,))

    def no_grad(self) -> AbstractContextManager[Any]:
        """Open a region where nothing is recorded."""
        region: AbstractContextManager[Any] = self._asked("no_grad", self.engine.no_grad)
        return region

    def edge(self, tensor: EngineTensor) -> Any:
        """Return the gradient edge of a tensor."""
        return self.engine.edge(tensor)

    def recording(self) -> bool:
        """Whether ops are being recorded."""
        return self.engine.recording()

    def grad_of(self, tensor: EngineTensor) -> EngineTensor | None:
        """Return a gradient."""
        return self.engine.grad_of(tensor)

    def look(self, tensor: EngineTensor) -> Value:
        """Look at a tensor."""
        return self.engine.look(tensor)

    def category(self, error: Exception) -> Category:
        """Map an exception to a category."""
        return self.engine.category(error)

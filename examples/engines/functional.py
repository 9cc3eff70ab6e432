"""Functional engines as an `Engine`: those that differentiate functions, and have no tensor that remembers how it was made.

A script says "the gradient of this value with respect to that one". A functional engine wants a function. So every value here knows how
it was made (`Node`), and the function is: this value, computed anew, with another one in the place of that. Calls of a script are
values like all others, so derivatives of derivatives are functions within functions, which is what these engines are good at.

An engine is how it calls its ops, and four small methods (`ReverseMode`). Random *programs* suit it (`Registration.static`): nothing is
freed, and there is no ``.grad``.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from conformance.backends.error_rules import categorise
from conformance.case.needs import BETWEEN
from conformance.case.outcome import Value
from conformance.ops.dtypes import COMPLEX
from reference_impl import PADDLE_STATIC, Category
from reference_impl.dialects.conventions import Conventions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.backends.calls import Calls
    from conformance.backends.error_rules import Rule
    from conformance.backends.interpreter import Values
    from conformance.case.case import Input
    from conformance.case.steps import Grad, Op


NO_STATE = "a functional engine has no tensors that hold a gradient"
FUNCTIONAL = replace(
    PADDLE_STATIC,
    name="functional",
    unreached="zeros",
    promotion="cast_to_widest",
    conventions=Conventions(),
    spelled={},
    not_offered={
        **{name: reason for name, reason in PADDLE_STATIC.not_offered.items() if not name.startswith("op:")},
        **dict.fromkeys(
            (f"dtype:{dtype}" for dtype in COMPLEX), "which factors are conjugated is a convention that has not been adapted"
        ),
        BETWEEN: "as a function of the inputs, which it is here, a gradient does not depend on what lies between",
        **dict.fromkeys(("step:backward", "step:clear_grad", "step:retain_grad", "step:append_backward", "step:toggle"), NO_STATE),
    },
)
"""What functional engines promise: what programs do, of which nothing is freed, zeros for what the outputs do not depend on, and that
of two dtypes the wider one is that of the result: https://numpy.org/neps/nep-0050-scalar-promotion.html, and so in JAX."""


@dataclass(eq=False)
class Node:
    """A value of a script: the engine's ``array``, and how to make it anew in an `Environment` where something above it is another.

    ``above``: what it depends on, as far as gradients flow; nothing, for a constant.
    """

    array: Any
    make: Callable[[Environment], Any] | None = None
    above: frozenset[Node] = frozenset()


@dataclass
class Environment:
    """The values of a script where some are ``replaced``; what does not depend on these is as it is ``outside``."""

    replaced: dict[Node, Any]
    outside: Environment | None = None

    def __call__(self, node: Node) -> Any:
        """Return the value of a node here."""
        if node in self.replaced:
            return self.replaced[node]
        if self.outside is None:
            return node.array
        if node.make is None or node.above.isdisjoint(self.replaced):
            return self.outside(node)
        self.replaced[node] = made = node.make(self)
        return made


AS_THEY_ARE = Environment({})


class MisfitError(Exception):
    """A call that this module refuses, and why."""

    def __init__(self, category: Category, message: str) -> None:
        super().__init__(message)
        self.category = category


class ReverseMode(Protocol):
    """What is asked of a functional engine."""

    def array(self, elements: Any) -> Any:
        """Make an array of NumPy one of the engine's."""

    def plain(self, array: Any) -> Any:
        """Make an array of the engine one of NumPy's, a copy."""

    def ones_like(self, array: Any) -> Any:
        """Return ones of the shape and dtype of an array."""

    def gradient(self, function: Callable[[Any], list[Any]], x: Any, seeded: Callable[[list[Any]], list[Any]]) -> Any:
        """Differentiate ``function`` at ``x``; ``seeded(function(x))`` are the cotangents. ``None`` where the engine says so."""


class Functional:
    """`Engine` over the reverse mode of a functional engine."""

    def __init__(self, calls: Calls, mode: ReverseMode, rules: Sequence[Rule]) -> None:
        self.calls, self.mode, self.rules = calls, mode, rules
        self.records = True

    def leaf(self, entry: Input) -> Node:
        return self._node(self.mode.array(entry.array()), None, (), in_any_case=entry.differentiable)

    def apply(self, step: Op, operands: list[Node]) -> tuple[Node, ...]:
        def make(values: Environment) -> tuple[Any, ...]:
            return self.calls.apply(step.op, [values(node) for node in operands], step.attrs)

        whole = self._node(make(AS_THEY_ARE), make, operands)
        _ = [part.shape for part in whole.array]  # an engine that is lazy finds out now that shapes do not fit
        return tuple(self._node(part, _part(whole, i), (whole,)) for i, part in enumerate(whole.array))

    def grad(self, step: Grad, values: Values) -> list[Any]:
        outputs, inputs = ([values[name] for name in names] for names in (step.outputs, step.inputs))
        seeds = [None if name is None else values[name] for name in step.grad_outputs or (None,) * len(outputs)]
        cut = [values[name] for name in step.no_grad_vars or ()]
        self._check(outputs, seeds)
        found = {x: self._gradient(outputs, x, seeds, cut) for x in inputs}  # one that is asked for twice has one gradient
        return [found[x] for x in inputs]

    def _check(self, outputs: list[Node], seeds: list[Any]) -> None:
        """Refuse seeds that do not fit: this call is ours, since functional engines have none with seeds, and not all of them look.

        Raises:
            MisfitError: if they do not.
        """
        if len(outputs) != len(seeds):
            raise MisfitError(Category.SEED_LENGTH, f"{len(outputs)} outputs have {len(seeds)} seeds")
        for made, given in ((self.mode.plain(o.array), self.mode.plain(s.array)) for o, s in zip(outputs, seeds, strict=True) if s):
            if made.shape != given.shape:
                raise MisfitError(Category.SEED_SHAPE, f"an output of shape {made.shape} has a seed of shape {given.shape}")
            if made.dtype != given.dtype:
                raise MisfitError(Category.DTYPE, f"an output of {made.dtype} has a seed of {given.dtype}")

    def _gradient(self, outputs: list[Node], x: Node, seeds: list[Any], cut: list[Node]) -> Node | None:
        def make(values: Environment) -> Any:
            constants = {node: values(node) for node in cut}
            for node in outputs:
                values(node)  # what does not depend on x is made out here, and not while the engine traces the function

            def function(array: Any) -> list[Any]:
                inside = Environment({x: array, **constants} if x.above else constants, values)
                return [inside(node) for node in outputs]

            def seeded(arrays: list[Any]) -> list[Any]:
                return [self.mode.ones_like(arrays[i]) if seed is None else values(seed) for i, seed in enumerate(seeds)]

            return self.mode.gradient(function, values(x), seeded)

        made = make(AS_THEY_ARE)
        if made is None:
            return None
        return self._node(made, make, [node for node in (*outputs, x, *seeds) if node is not None], in_any_case=True)

    def _node(self, array: Any, make: Any, operands: Sequence[Node], *, in_any_case: bool = False) -> Node:
        node = Node(array, make)
        if in_any_case or (self.records and any(operand.above for operand in operands)):
            node.above = frozenset({node}).union(*(operand.above for operand in operands))
        return node

    def detach(self, tensor: Node) -> Node:
        return Node(tensor.array)

    @contextmanager
    def _recording_nothing(self) -> Iterator[None]:
        before, self.records = self.records, False
        try:
            yield
        finally:
            self.records = before

    def no_grad(self) -> AbstractContextManager[None]:
        return self._recording_nothing()

    def recording(self) -> bool:
        return self.records

    def grad_of(self, tensor: Node) -> None:  # noqa: ARG002 - no tensor has one
        return None

    def look(self, tensor: Node) -> Value:
        return Value(self.mode.plain(tensor.array), bool(tensor.above))

    def category(self, error: Exception) -> Category:
        return error.category if isinstance(error, MisfitError) else categorise(error, self.rules)


def _part(whole: Node, position: int) -> Callable[[Environment], Any]:
    return lambda values: values(whole)[position]

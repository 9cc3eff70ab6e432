"""Engines whose tensors remember how they were made, as an `Engine`: what they share, and what they promise.

They have a ``backward`` that leaves gradients in ``.grad``, and no ``grad``. So scripts suit them that call `backward` alone; random
programs ask for gradients by name, see `examples.engines.functional`. A call with several roots is ours, where an engine has none: that
of the sum of the products with the cotangents, which is what it means.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from conformance.backends.error_rules import categorise
from conformance.backends.interpreter import pick
from conformance.case.needs import AGAIN
from conformance.ops.dtypes import COMPLEX
from examples.engines.functional import MisfitError
from reference_impl import TORCH, Category
from reference_impl.dialects.conventions import Conventions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.backends.calls import Calls
    from conformance.backends.error_rules import Rule
    from conformance.backends.interpreter import Values
    from conformance.case.case import Input
    from conformance.case.outcome import Value
    from conformance.case.steps import Backward, Op


TAPES = replace(
    TORCH,
    name="tapes",
    implicit_seed="ones",
    retaining="every",
    promotion="cast_to_widest",
    joined=frozenset(),
    hidden={},
    reshaped={},
    copies=frozenset(),
    conventions=Conventions(),
    spelled={},
    not_offered={
        **dict.fromkeys(
            (f"dtype:{dtype}" for dtype in COMPLEX), "which factors are conjugated is a convention that has not been adapted"
        ),
        AGAIN: "there is no second derivative without grad",
        "step:grad": "it has no such call; random programs ask for gradients of what a script names",
        **dict.fromkeys(("step:hook", "step:remove_hook"), "its tensors have no hooks"),
        **dict.fromkeys(("step:edge", "gradient_edge"), "it has no GradientEdge"),
        "step:toggle": "whether a gradient is wanted is settled when a tensor is made",
        "step:custom": "functions of a user's own have not been adapted",
        "step:in_place": "updates in place have not been adapted",
        "step:drop": "what it keeps of tensors that nobody names has not been adapted",
        "step:append_backward": "it has no programs",
        **dict.fromkeys(
            ("backward.create_graph", "backward.inputs", "grad_variables", "dump_backward_graph_path"),
            "its backward has no such parameter",
        ),
    },
)
"""What small engines with a tape promise: every tensor that a pass goes through has a ``.grad`` afterwards, a root that is given no
cotangent has ones, and constants among the roots count for nothing."""


class Tape(Protocol):
    """What is asked of an engine whose tensors remember. Tensors are its own objects, or what the adapter makes of them."""

    def leaf(self, elements: Any, *, differentiable: bool) -> Any:
        """Make an input; the array is copied."""

    def made(self, result: Any, operands: Sequence[Any]) -> Any:
        """Return what stands for a result of an op with these operands."""

    def of_engine(self, tensor: Any) -> Any:
        """Return the engine's own tensor."""

    def tracked(self, tensor: Any) -> bool:
        """Whether a tensor wants a gradient."""

    def backward(self, roots: Sequence[tuple[Any, Any]]) -> None:
        """Differentiate the sum of the products of roots, which want gradients, with their cotangents; ``None``: ones."""

    def grad(self, tensor: Any) -> Any:
        """Return ``.grad``; ``None`` where there is none."""

    def look(self, tensor: Any) -> Value:
        """Copy a tensor's elements and its flag out, or those of what `grad` gave."""

    def detach(self, tensor: Any) -> Any:
        """Return the elements without history."""


class Eager:
    """`Engine` over a tape. What is not here is not offered, or is the tape's own: an engine's adapter adds it."""

    def __init__(self, calls: Calls, tape: Tape, rules: Sequence[Rule]) -> None:
        self.calls, self.tape, self.rules = calls, tape, rules

    def leaf(self, entry: Input) -> Any:
        return self.tape.leaf(entry.array(), differentiable=entry.differentiable)

    def apply(self, step: Op, operands: list[Any]) -> tuple[Any, ...]:
        made = self.calls.apply(step.op, [self.tape.of_engine(tensor) for tensor in operands], step.attrs)
        return tuple(self.tape.made(result, operands) for result in made)

    def backward(self, step: Backward, values: Values, dump: str | None) -> None:  # noqa: ARG002 - not offered
        roots = pick(values, step.tensors)
        seeds = pick(values, step.grad_tensors) or [None] * len(roots)
        self._check(roots, seeds)
        pairs = [(root, seed) for root, seed in zip(roots, seeds, strict=True) if self.tape.tracked(root)]
        if pairs:
            self.tape.backward(pairs)

    def _check(self, roots: list[Any], seeds: list[Any]) -> None:
        """Refuse cotangents that do not fit: this call is ours, since these engines have none with lists.

        Raises:
            MisfitError: if they do not.
        """
        if len(roots) != len(seeds):
            raise MisfitError(Category.SEED_LENGTH, f"{len(roots)} roots have {len(seeds)} cotangents")
        for root, seed in zip(roots, seeds, strict=True):
            if seed is not None and (made := self.tape.of_engine(root).shape) != (given := self.tape.of_engine(seed).shape):
                raise MisfitError(Category.SEED_SHAPE, f"a root of shape {made} has a cotangent of shape {given}")

    def retain_grad(self, tensor: Any) -> None:
        """Do nothing: every tensor retains its gradient."""

    def detach(self, tensor: Any) -> Any:
        return self.tape.detach(tensor)

    def recording(self) -> bool:
        return True

    def grad_of(self, tensor: Any) -> Any:
        return self.tape.grad(tensor)

    def look(self, tensor: Any) -> Value:
        return self.tape.look(tensor)

    def category(self, error: Exception) -> Category:
        return error.category if isinstance(error, MisfitError) else categorise(error, self.rules)

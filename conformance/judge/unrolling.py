"""A derivative written out: the pass that a `Grad` step runs, as steps of one rule each.

In a pass of second order the first wrong node may be a whole first derivative, which names no op. So that derivative is taken apart.
For each rule that it ran (of an op, for an operand) the op is applied once more, to copies that nobody else uses, and differentiated
by itself, with a copy of the cotangent that arrived there. So every cotangent that is inside the engine otherwise is a value of the
script, and what the second pass sends to these copies comes from the derivative of this rule alone. Example: ``g = grad(z, x)`` of
``z = sin(exp(x))`` becomes ``c = grad(sin(e'), e')`` and ``g = grad(exp(x'), x', c')``.

The rule of a custom function is written in ops already. These are applied in its place, each to copies as well, and it is their own
derivatives that the second pass goes through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from conformance.case.case import Case
from conformance.case.queries import upstream_of
from conformance.case.rewrite import rename
from conformance.case.steps import Custom, Detach, Grad, Op, Step, results
from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.backends import BackendInfo

COPIES: tuple[tuple[str, dict[str, Any]], ...] = (("clone", {}), ("mul_scalar", {"other": 1.0}))
"""The ops of a copy, whose derivative is the seed; a small engine need not have the first."""


Copying: TypeAlias = "Callable[[str, str], Op]"
"""Writes a copy of a value, of which the name is given, and then that of the copy."""


class UnrolledError(Exception):
    """Why a derivative is not taken apart."""


class Rule(NamedTuple):
    """A rule that the pass ran: that of an op for an operand, or an op that a custom function's rule applies; which one, in ``words``.

    ``inside``: what each value is that its derivative may depend on.
    """

    op: str
    words: str
    inside: dict[str, str]


class Unrolled(NamedTuple):
    """The script with the derivative written out; ``moved``: where the steps behind it are; ``rules``: the steps that are of a rule."""

    case: Case
    moved: dict[int, int]
    rules: dict[int, Rule]


def copying(info: BackendInfo) -> Copying | None:
    """Return how values are copied in a script for an engine; ``None`` if it has no op for that."""
    for op, attrs in COPIES:
        if info.refusal((f"op:{op}",)) is None:
            return lambda value, made: Op(op, (value,), (made,), attrs)
    return None


def unrolled(case: Case, number: int, tracked: frozenset[str], copied: Copying) -> Unrolled:
    """Write out the pass of a `Grad` step; ``tracked``: the values that require a gradient.

    Raises:
        UnrolledError: if it is more than a pass through ops.
    """
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Grad) or call.constants or call.is_grads_batched or not call.create_graph or call.no_grad:
        raise UnrolledError("it is no plain call of grad with create_graph")
    behind = upstream_of(before, call.roots)
    passed = [i for i, step in enumerate(before) if not behind.isdisjoint(results(step))]
    if any(isinstance(before[i], Grad) for i in passed):
        raise UnrolledError("it is a derivative of a derivative")
    if not all(isinstance(before[i], Op | Custom) for i in passed):
        raise UnrolledError("it goes through steps that are neither ops nor custom functions")
    writer = _Writer(before, call, tracked, copied)
    for i in reversed(passed):
        writer.pull(i)
    writer.answer()
    moved = {i: len(writer.steps) + i - number - 1 for i in range(number + 1, len(case.steps))}
    return Unrolled(Case(case.inputs, (*writer.steps, *case.steps[number + 1 :]), case.lane), moved, writer.rules)


class _Writer:
    """The script in the making: its steps, and the cotangent of each value so far; ``None`` stands for ones that nobody gave."""

    def __init__(self, before: Sequence[Step], call: Grad, tracked: frozenset[str], copied: Copying) -> None:
        self.steps: list[Step] = list(before)
        self.call, self.tracked, self.copied = call, tracked, copied
        self.rules: dict[int, Rule] = {}
        if len(set(call.roots)) < len(call.roots):
            raise UnrolledError("a root stands twice in it")
        self.cotangents: dict[str, str | None] = dict(zip(call.roots, call.seeds or (None,) * len(call.roots), strict=True))

    def name(self) -> str:
        return f"unrolled_{len(self.steps)}"

    def copy(self, value: str) -> str:
        """Write a copy of a value."""
        made = self.name()
        self.steps.append(self.copied(value, made))
        return made

    def pull(self, number: int) -> None:
        """Write the rules of an op, for each of its operands that requires a gradient, or that of a custom function."""
        step = self.steps[number]
        assert isinstance(step, Op | Custom)  # noqa: S101 - it was looked at
        arrived = [i for i, name in enumerate(step.results) if name in self.cotangents]
        if not arrived or step.no_grad:
            return
        given = [self.cotangents[step.results[i]] for i in arrived]
        if len(given) > 1 and None in given:
            raise UnrolledError("several results of one op are roots without seeds")
        if isinstance(step, Custom):
            self._apply(number, step)
        else:
            self._differentiate(number, step, arrived, given)

    def _differentiate(self, number: int, step: Op, arrived: list[int], given: list[str | None]) -> None:
        row = catalogue()[step.op]
        names = [row.operands[0] if row.variadic else row.operands[i] for i in range(len(step.operands))]
        for position, operand in enumerate(step.operands):
            if operand not in self.tracked:
                continue
            copies = [self.copy(name) for name in step.operands]
            seeds = tuple(None if name is None else self.copy(name) for name in given)
            outs = tuple(f"{self.name()}_{i}" for i in range(len(step.results)))
            inside = dict(zip(copies, (f"the operand {name}" for name in names), strict=True))
            inside |= {name: "its cotangent" for name in seeds if name is not None} | dict.fromkeys(outs, "its result")
            rule = Rule(step.op, f"the rule of {step.op} (step {number}) for its operand {names[position]}", inside)
            self.rules[len(self.steps)] = self.rules[len(self.steps) + 1] = rule
            self.steps.append(Op(step.op, tuple(copies), outs, step.attrs))
            made = self.name()
            roots, asked = tuple(outs[i] for i in arrived), (copies[position],)
            self.steps.append(Grad(roots, asked, (made,), None if None in seeds else seeds, True, create_graph=True, allow_unused=True))
            self._arrive(operand, made)

    def _apply(self, number: int, step: Custom) -> None:
        """Apply the ops of a custom function's rule, to what its forward saved and to the cotangents."""
        if len(step.gradients) != len(step.operands):
            raise UnrolledError("it goes through a custom function that returns too few or too many gradients")
        known = dict(zip(step.operands, step.operands, strict=True)) | self._kept(step)
        for name, result in zip(step.cotangents, step.results, strict=True):
            if (cotangent := self.cotangents.get(result, "")) is None:
                raise UnrolledError("a result of a custom function is a root without a seed")
            known[name] = cotangent or self._zeros(result)
        for op in step.backward:
            copies = {name: self.copy(known[name]) for name in dict.fromkeys(op.operands)}
            known |= {name: f"{self.name()}_{i}" for i, name in enumerate(op.results)}
            inside = {copy: f"its operand {name}" for name, copy in copies.items()}
            self.rules[len(self.steps)] = Rule(op.op, f"{op.op} in the rule of the custom function (step {number})", inside)
            self.steps.append(rename(op, copies | {name: known[name] for name in op.results}))
        for operand, gradient in zip(step.operands, step.gradients, strict=True):
            if gradient is not None and operand in self.tracked:
                self._arrive(operand, self.copy(known[gradient]))

    def _kept(self, step: Custom) -> dict[str, str]:
        """Say where the values of a custom function's forward are: its results, and constants that are computed once more."""
        known = {}
        for name in dict.fromkeys(step.operands):
            known[name] = self.name()
            self.steps.append(Detach(name, (known[name],)))
        for op in step.forward:
            known |= {name: f"{self.name()}_{i}" for i, name in enumerate(op.results)}
            self.steps.append(msgspec.structs.replace(rename(op, known), no_grad=True))
        made = {name: value for name, value in known.items() if name not in step.operands}
        return made | {name: result for name, result in zip(step.outputs, step.results, strict=True) if name in made}

    def _zeros(self, value: str) -> str:
        made = self.name()
        self.steps.append(Op("mul_scalar", (value,), (made,), {"other": 0.0}, no_grad=True))
        return made

    def _arrive(self, name: str, cotangent: str) -> None:
        before = self.cotangents.get(name, "")
        if before is None:
            raise UnrolledError("a root without a seed is used by another one")
        if before:
            total = self.name()
            self.steps.append(Op("add", (before, cotangent), (total,)))
            cotangent = total
        self.cotangents[name] = cotangent

    def answer(self) -> None:
        """Give the results of the call their names."""
        for asked, made in zip(self.call.inputs, self.call.results, strict=True):
            cotangent = self.cotangents.get(asked)
            if cotangent is None:
                raise UnrolledError("it has a result that no rule makes")
            self.steps.append(self.copied(cotangent, made))

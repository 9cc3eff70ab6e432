"""Wrong versions of vjp rules: how one is written down, and how it takes the place of the right one.

A wrong rule is a function of the right rule and of what that is given. It is entered for rules by name, ``op.operand``; the op need
not know. That every rule of every op has a wrong version is a test.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from conformance.mutants.mutant import Kind, Mutant, patch
from reference_impl import OPS, PADDLE, PADDLE_STATIC, TORCH
from reference_impl.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from conformance.mutants.mutant import Fault
    from reference_impl import Dialect

    WrongRule: TypeAlias = Callable[..., Any]
    """Called as ``wrong(right, g, out, *operands, **attrs)``."""

DIALECTS: dict[str, Dialect] = {
    "conv2d": PADDLE_STATIC,
    "div_by_quotient": PADDLE,
    "link": PADDLE,
}
"""Ops that the engine meets in one dialect alone; any other is run in PyTorch's."""


@dataclass(frozen=True)
class Entry:
    """A wrong rule: for which rule (``op.operand``), what is wrong with it, the function."""

    name: str
    what: str
    wrong: WrongRule

    @property
    def op(self) -> str:
        """The op that the rule belongs to."""
        return self.name.partition(".")[0]

    @property
    def position(self) -> int:
        """Position of the operand that the rule is for."""
        made = OPS[self.op]
        assert isinstance(made, Primitive)  # noqa: S101 - composites have no rules
        return made.operands.index(self.name.partition(".")[2])

    def mutant(self, kind: Kind) -> Mutant:
        """Make a mutant of the entry."""
        fault = rule_fault(self.op, self.position, self.wrong)
        label = f"{self.name.replace('.', '-')}-{self.wrong.__name__.strip('_')}"
        dialect = DIALECTS.get(self.op, TORCH)
        return Mutant(label, kind, self.op, f"the gradient of {self.name} {self.what}", fault, dialect, rule=(self.op, self.position))


class Entries:
    """Wrong rules of a family, in the order in which they are written down."""

    def __init__(self) -> None:
        self.all: list[Entry] = []

    def __call__(self, *names: str, what: str) -> Callable[[WrongRule], WrongRule]:
        """Enter a wrong version of the rules of these names."""

        def enter(wrong: WrongRule) -> WrongRule:
            self.all.extend(Entry(name, what, wrong) for name in names)
            return wrong

        return enter

    def mutants(self, kind: Kind) -> Iterator[Mutant]:
        """Make a mutant of every entry."""
        return (entry.mutant(kind) for entry in self.all)


def rule_fault(op: str, position: int, wrong: WrongRule) -> Fault:
    """Make a fault of a wrong rule. Ops that share their rules with this one keep the right ones."""
    primitive = OPS[op]
    assert isinstance(primitive, Primitive)  # noqa: S101 - composites have no rules
    rules = list(primitive.rules)
    right = rules[position]
    assert right is not None  # noqa: S101 - only rules that there are have wrong versions
    rules[position] = functools.partial(wrong, right)
    return patch((primitive, "rules", rules))


def rules_of(ops: Iterable[str]) -> Iterator[str]:
    """Yield the names of all rules, ``op.operand``."""
    for name in ops:
        op = OPS[name]
        if isinstance(op, Primitive):
            yield from (f"{name}.{operand}" for operand, rule in zip(op.operands, op.rules, strict=True) if rule is not None)

"""Wrong versions of vjp rules that are written by hand, and how a wrong rule takes the place of the right one.

Any rule gets wrong versions without a line, see `derived`. One is written by hand where it says what no operator can: the mistake that
one would really make in this rule, like a missing term or the wrong side of a kink. It is a function of the right rule and of what that
is given, entered for rules by name, ``op.operand``; the op need not know.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from conformance.mutants.mutant import Kind, Mutant
from conformance.mutants.samples import dialect_of
from reference_impl import OPS
from reference_impl.tape.primitive import Primitive
from reference_impl.tape.rules import replaced_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.mutants.mutant import Fault

    WrongRule: TypeAlias = Callable[..., Any]
    """Called as ``wrong(right, g, out, *operands, **attrs)``."""


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

    @property
    def id(self) -> str:
        """The id of its mutant."""
        return f"{self.name.replace('.', '-')}-{self.wrong.__name__.strip('_')}"

    def mutant(self, kind: Kind) -> Mutant:
        """Make a mutant of the entry."""
        fault = rule_fault(self.op, self.position, self.wrong)
        dialect = dialect_of(self.op, kind.order)
        assert dialect is not None, f"no framework has {self.op} to order {kind.order}"  # noqa: S101 - nobody writes such an entry
        return Mutant(self.id, kind, self.op, f"the gradient of {self.name} {self.what}", fault, dialect, rule=(self.op, self.position))


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
    return functools.partial(replaced_rule, primitive, position, functools.partial(functools.partial, wrong))

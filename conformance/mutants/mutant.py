"""What a mutant is: the reference engine with one fault, which is there only while the engine runs a case.

The reference that it is compared with in the same process is never touched. Most faults replace one function of the engine for the
length of a run; some make the engine follow a convention of the other framework than the one that it claims to speak.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

import conformance
from conformance.backends import BackendInfo
from conformance.backends.reference import reference
from conformance.case.outcome import Raised
from conformance.mutants.conditional.carried import REFERENCE, carried, host_of
from reference_impl import TORCH, Dialect
from reference_impl.tape.tensor import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.mutants.conditional.fault import ConditionalFault

Fault: TypeAlias = "Callable[[], AbstractContextManager[Any]]"


class Kind(StrEnum):
    """What sort of fault a mutant has."""

    RULE = "rule"
    SECOND = "order 2"
    ENGINE = "engine"
    STATIC = "static"
    CONDITIONAL = "conditional"

    @property
    def order(self) -> int:
        """The order of derivative at which a wrong rule shows."""
        return 2 if self is Kind.SECOND else 1


class WrongEngine:
    """The reference as a backend, with a fault while it runs a case.

    ``dialect``: what it claims to speak, as the release that this was measured of; ``behaves``: what it speaks, if that is something
    else.
    """

    def __init__(self, name: str, fault: Fault = nullcontext, dialect: Dialect = TORCH, behaves: Dialect | None = None) -> None:
        self.info = BackendInfo(name, dialect.conventions.release[1] or conformance.__version__, dialect, dialect.not_offered)
        self.fault = fault
        self.engine = reference(behaves or dialect, dialect.not_offered)

    def run(self, case: Case) -> Outcome:
        """Run a case with the fault, and take the fault away again, with whatever it left in the engine's mode."""
        with Mode.restored(), self.fault():
            return self.engine.run(case)


class Breaks(WrongEngine):
    """Right until something is refused; from then on, as long as the process lives, it has the fault."""

    broken = False

    def run(self, case: Case) -> Outcome:
        """Run a case, with the fault if an earlier one broke the engine."""
        outcome = super().run(case) if self.broken else self.engine.run(case)
        self.broken |= any(isinstance(seen, Raised) for seen in outcome.observations)
        return outcome


@dataclass(frozen=True)
class Mutant:
    """One fault.

    Attributes:
        id: its name; the engine can be opened as the backend ``conformance.mutants.engines:ID``.
        kind: what sort of fault it is.
        part: the op, or the part of the engine, that is wrong.
        what: what is wrong, in one line.
        fault: puts the fault in place for the length of a ``with`` block.
        dialect: what the engine claims to speak.
        behaves: what it speaks, if that is something else.
        breaks: the fault is there from the first refusal on, and stays.
        rule: the op and the position of the operand whose vjp rule is wrong, so that cases which never call it need not be run.
        conditional: the fault, if it is one that holds under a condition alone, and that any engine can carry.
        unbounded: it shows in scripts with infinities and NaN alone.
        equivalent: why the fault cannot change anything observable, where it cannot.
    """

    id: str
    kind: Kind
    part: str
    what: str
    fault: Fault = nullcontext
    dialect: Dialect = TORCH
    behaves: Dialect | None = None
    breaks: bool = False
    rule: tuple[str, int] | None = None
    conditional: ConditionalFault | None = None
    unbounded: bool = False
    equivalent: str = ""

    def can_be_on(self, host: str) -> bool:
        """Whether an engine can carry it."""
        if self.conditional is None:
            return host == REFERENCE
        return host_of(host, self.conditional) is not None

    def open(self, host: str = REFERENCE) -> Backend:
        """Open the wrong engine; a conditional fault may be carried by another ``host`` than the reference.

        Raises:
            BackendError: if the host cannot carry it, or does not offer what it needs.
        """
        if self.conditional is not None:
            return carried(self.id, host, self.conditional)
        return (Breaks if self.breaks else WrongEngine)(self.id, self.fault, self.dialect, self.behaves)


@contextmanager
def replaced(target: Any, name: str, replacement: Any) -> Iterator[None]:
    """Replace an attribute of a module, a class or an object inside."""
    before = getattr(target, name)
    setattr(target, name, replacement)
    try:
        yield
    finally:
        setattr(target, name, before)


def patch(*places: tuple[Any, str, Any]) -> Fault:
    """Make a fault of replaced attributes: each a target, a name and what stands there instead."""

    @contextmanager
    def fault() -> Iterator[None]:
        with ExitStack() as stack:
            for place in places:
                stack.enter_context(replaced(*place))
            yield

    return fault

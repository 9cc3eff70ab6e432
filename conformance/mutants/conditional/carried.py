"""Backends that carry conditional faults, and the one that watches which of their conditions hold."""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends import BackendError, open_backend
from conformance.backends.interpreter import Interpreter
from conformance.backends.reference import reference
from conformance.mutants.conditional.carrier import Carrier
from reference_impl import PADDLE, TORCH
from reference_impl.tape.tensor import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.mutants.conditional.fault import ConditionalFault
    from conformance.mutants.conditional.moment import Moment
    from reference_impl import Dialect

REFERENCE = "reference"


class Watch:
    """An answer without a fault; ``held``: the ids of those whose conditions held, since they were last forgotten."""

    def __init__(self, faults: Iterable[ConditionalFault]) -> None:
        self.held: set[str] = set()
        self._of_part: dict[str, list[ConditionalFault]] = defaultdict(list)
        for fault in faults:
            self._of_part[fault.part].append(fault)

    def __call__(self, at: Moment, right: Callable[..., Any]) -> Any:
        """Answer rightly, and note which faults would have answered."""
        self.held.update(fault.id for fault in self._of_part.get(at.part, ()) if fault.id not in self.held and fault.holds(at))
        return right()


class Carried:
    """A backend whose engine is inside a carrier."""

    def __init__(self, name: str, host: Interpreter, answers: Callable[[Moment, Callable[..., Any]], Any]) -> None:
        self.info = replace(host.info, name=name)
        self.carrier = carrier = Carrier(host.engine, answers)
        self.interpreter = Interpreter(self.info, carrier)

    def run(self, case: Case) -> Outcome:
        """Run a case; what is not finite is no warning, and what the fault left in the mode of the reference is taken away again."""
        self.carrier.begin(case)
        with Mode.restored(), np.errstate(all="ignore"):
            return self.interpreter.run(case)


def host_of(name: str, fault: ConditionalFault) -> Interpreter | None:
    """Open what carries a fault; ``None`` if it does not offer what that needs. The reference speaks a dialect that does.

    Raises:
        BackendError: if the engine cannot be wrapped.
    """
    opened: Any = _opened(name, PADDLE if name == REFERENCE and fault.needs in TORCH.not_offered else TORCH)
    if not isinstance(opened, Interpreter):
        raise BackendError(f"backend {name!r} is no Interpreter over an Engine, which is what can carry a fault")
    dialect = opened.info.dialect
    highest = dialect.conventions.highest_order(dialect.spelled.get(fault.part, fault.part))
    return None if fault.needs in opened.info.not_offered or fault.order > highest else opened


@functools.cache
def _opened(name: str, dialect: Dialect) -> Backend:
    return reference(dialect, dialect.not_offered) if name == REFERENCE else open_backend(name)


def carried(name: str, host: str, fault: ConditionalFault) -> Carried:
    """Open an engine with a fault.

    Raises:
        BackendError: if the host cannot carry it, or does not offer what it needs.
    """
    opened = host_of(host, fault)
    if opened is None:
        raise BackendError(
            f"backend {host!r} does not offer {fault.needs or 'that order of derivative'}, without which {name} is no fault"
        )
    return Carried(name, opened, fault.answer)

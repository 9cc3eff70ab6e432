"""Engines for tests of the suite that are no mutants: right ones, and such as damage the process that they run in.

Mutants, engines with one fault, are in `conformance.mutants`. Use one of these on the command line as
``--backends tests.wrong_engines:dies_on_sin``.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from conformance.backends.reference import ReferenceEngine
from conformance.mutants.mutant import WrongEngine, patch
from conformance.steps import Op
from reference_impl import PADDLE_STATIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.case import Case, Input
    from conformance.outcome import Outcome
    from reference_impl import Tensor

_leaf = ReferenceEngine.leaf
_hoard: list[Tensor] = []


class Damaging(WrongEngine):
    """Right, but that it does something to its process before it runs a case that uses ``sin``."""

    def __init__(self, name: str, damage: Callable[[], object]) -> None:
        super().__init__(name)
        self.damage = damage

    def run(self, case: Case) -> Outcome:
        """Do the damage, and then run the case."""
        if any(isinstance(step, Op) and step.op == "sin" for step in case.steps):
            self.damage()
        return super().run(case)


def _kept(adapter: ReferenceEngine, entry: Input) -> Tensor:
    _hoard.append(_leaf(adapter, entry))
    return _hoard[-1]


def correct() -> WrongEngine:
    """Open the reference under another name."""
    return WrongEngine("correct")


def correct_programs() -> WrongEngine:
    """Open the reference's static half under another name."""
    return WrongEngine("correct_programs", dialect=PADDLE_STATIC)


def hoarding() -> WrongEngine:
    """Open an engine that never lets go of a leaf, which no random script asks for."""
    return WrongEngine("hoarding", patch((ReferenceEngine, "leaf", _kept)))


def dies_on_sin() -> WrongEngine:
    """Open an engine that takes its process down wherever a case uses ``sin``."""
    return Damaging("dies_on_sin", os.abort)


def hangs_on_sin() -> WrongEngine:
    """Open an engine that never comes back from a case that uses ``sin``."""
    return Damaging("hangs_on_sin", threading.Event().wait)

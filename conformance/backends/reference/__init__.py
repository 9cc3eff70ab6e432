"""The reference as a backend; it speaks whichever dialect it is given, and answers what that dialect promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import conformance
from conformance.backends import BackendInfo, Registration
from conformance.backends.interpreter import Interpreter
from conformance.backends.program_interpreter import Programs
from conformance.backends.reference.engine import ReferenceEngine
from conformance.backends.reference.programs import ReferencePrograms
from reference_impl import TORCH, Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome

__all__ = ["REGISTRATION", "ReferenceEngine", "open_backend", "reference"]

REGISTRATION = Registration(opens="conformance.backends.reference:open_backend", title="the reference", forks=True)


def open_backend() -> Backend:
    """Open the reference in PyTorch's dialect."""
    return reference(TORCH, TORCH.not_offered)


def reference(dialect: Dialect, not_offered: Mapping[str, str], *, widen: bool = False) -> Backend:
    """Open the reference in a dialect.

    ``not_offered``: what the backend it stands beside does not offer; steps that need it are left out here too.
    ``widen``: compute in float64, whatever the case says; for judging how far rounding can carry.
    """
    info = BackendInfo("reference", conformance.__version__, dialect, not_offered)
    if dialect.static:
        return Programs(info, ReferencePrograms(dialect, widen=widen))
    return _Eager(info, ReferenceEngine(dialect, widen=widen))


class _Eager(Interpreter):
    """The reference on eager scripts. What is not finite is an answer of an engine, and nothing to warn of, as NumPy does."""

    def run(self, case: Case) -> Outcome:
        with np.errstate(all="ignore"):
            return super().run(case)

"""How a person writes a static program of old for Paddle: as one of today, after a flag that is read when Paddle is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.paddle_static.script import program_script
from conformance.backends.paddle_static_legacy.calls import SPELLING

if TYPE_CHECKING:
    from conformance.backends.repro.claims import Promised
    from conformance.case.case import Case


def script(case: Case, promised: Promised) -> str:
    """Write a case as a script that imports Paddle and NumPy alone."""
    before = ["import os", "os.environ['FLAGS_enable_pir_api'] = '0'"]
    return program_script(case, promised, "paddle-static-legacy", SPELLING, before)

"""Standalone reproductions: a case as a person would write it for one framework, in a script that imports it and NumPy alone.

The printer of a framework is in its folder. What they share is here: what a script asserts (`claims`), the skeleton of one that runs
step by step (`eager`), and pieces of Python text (`python_text`). What is promised of a case `conformance.judge.reproduction` knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.registry import load, registration, registrations

if TYPE_CHECKING:
    from conformance.backends.repro.claims import Promised
    from conformance.case.case import Case


def printers() -> list[str]:
    """Name the backends that print a case as a script."""
    return [name for name, facts in registrations().items() if facts.script and facts.dialect]


def script(case: Case, name: str, promised: Promised) -> str:
    """Write a case as a script for a backend, which need not be installed; it ends with what is promised.

    Raises:
        BackendError: if the backend is unknown.
        ValueError: if it prints no scripts.
    """
    printer = registration(name).script
    if not printer:
        msg = f"{name!r} is not one of {', '.join(map(repr, printers()))}"
        raise ValueError(msg)
    text: str = load(printer)(case, promised)
    return text
